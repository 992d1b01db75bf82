"""What is measured: the networks of the bench in both precisions, at three numbers of points."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from experiments.bench.workloads import MEMORY_ROW, Workload
from experiments.bench.workloads import ROWS as BENCH

PRECISIONS = {"f32": "float32", "f64": "float64"}
POINTS = (10_000, 100_000, 1_000_000)

NETWORKS: dict[str, Workload] = {
    one.name.rsplit("-", 1)[0].removesuffix("-small"): one
    for one in BENCH if one.name != MEMORY_ROW
}  # fmt: skip
"""By the name of a row of the bench without its precision and size."""


class Row(NamedTuple):
    """A step of one network, precision and number of points."""

    name: str
    network: str
    precision: str
    points: int

    @property
    def workload(self) -> Workload:
        """The step as the bench knows it."""
        found = NETWORKS[self.network]
        return replace(
            found, name=self.name, dtype=PRECISIONS[self.precision], points=self.points
        )


ROWS = [
    Row(f"{network}-{precision}-{points:.0e}".replace("e+0", "e"), network, precision, points)
    for network in NETWORKS for precision in PRECISIONS for points in POINTS
]  # fmt: skip
"""In the order in which they are measured: time on a GPU may end before they do."""
