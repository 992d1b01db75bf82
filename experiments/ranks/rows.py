"""What is measured: networks, their precision, and numbers of points."""

from __future__ import annotations

from typing import NamedTuple

import pinn
from autograd.ranks import Ranks
from experiments.burgers import PROBLEM
from pinn.objective import Objective
from pinn.training.experiment import Experiment

# Points inside; the conditions have a tenth of them each.
_BOUNDARY = 0.1


class Row(NamedTuple):
    """A network for Burgers' equation, and how many points its loss is of."""

    name: str
    depth: int
    width: int
    precision: str
    points: int


ROWS = [
    Row(f"{depth}x{width}-{precision}-{points:.0e}".replace("e+0", "e"), depth, width, precision,
        points)
    for depth, width, precision in ((4, 20, "float64"), (4, 64, "float64"), (4, 64, "float32"))
    for points in (100_000, 1_000_000)
]  # fmt: skip


def objective(row: Row, ranks: Ranks, threads: int) -> Objective:
    """Return the loss of a row, which `ranks` share out."""
    few = int(_BOUNDARY * row.points)
    sampling = pinn.Sampling(interior=row.points, initial=few, boundary=few, method="uniform")
    run = Experiment(PROBLEM, pinn.MLP(row.width, row.depth), sampling, precision=row.precision)
    return Objective(
        PROBLEM, run.initial_parameters(), run.draw_points(), dtype=run.dtype, threads=threads,
        ranks=ranks,
    )  # fmt: skip
