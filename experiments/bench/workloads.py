"""The workloads: residuals as text, a network and a number of points, known to every engine."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from experiments.bench.network import Network
from pinn.checks import nearest
from pinn.equations.combine import combine
from pinn.equations.scope import Scope
from pinn.expressions import Expression

NU = 0.01 / np.pi
_BURGERS = ("u_t + u*u_x - nu*u_xx",)
_NAVIER_STOKES = (
    "u_t + u*u_x + v*u_y + p_x - laplacian(u)/Re",
    "v_t + u*v_x + v*v_y + p_y - laplacian(v)/Re",
    "u_x + v_y",
)


@dataclass(frozen=True)
class Workload:
    """One training step: loss = sum over `residuals` of mean(residual^2), its gradient, Adam.

    points   the number N of collocation points, uniform in [-1, 1]^d.
    dtype    "float32" or "float64".
    time     the coordinate that is time (left out of Laplacians), or None.
    walls    how many further points, at which unknowns are to be 0: their mean square is added to
             the loss (of loops alone).
    """

    name: str
    residuals: tuple[str, ...]
    points: int
    dtype: str
    network: Network
    coordinates: tuple[str, ...] = ("x", "t")
    time: str | None = "t"
    unknowns: tuple[str, ...] = ("u",)
    constants: dict[str, float] = field(default_factory=dict)
    walls: int = 0

    @property
    def scope(self) -> Scope:
        """The names that the residuals may use."""
        return Scope(
            unknowns=self.unknowns,
            coordinates=self.coordinates,
            space=tuple(c for c in self.coordinates if c != self.time),
            constants=self.constants,
            parameters=(),
        )

    def trees(self, combined: bool = False) -> list[Expression]:
        """Return the resolved residuals; `combined`: with sums of derivatives taken together."""
        scope = self.scope
        trees = [scope.resolve(text) for text in self.residuals]
        if combined:
            trees = [combine(tree, scope, np.dtype(self.dtype)) for tree in trees]
        return trees

    def rng(self, seed: int, purpose: str) -> np.random.Generator:
        """Return the generator of one purpose: equal in every process."""
        return np.random.default_rng([seed, zlib.crc32(purpose.encode())])

    def draw_points(self, seed: int) -> np.ndarray:
        """Return the points, (N, d), in the workload's dtype."""
        shape = (self.points, len(self.coordinates))
        return self.rng(seed, "points").uniform(-1.0, 1.0, shape).astype(self.dtype)

    def draw_walls(self, seed: int) -> np.ndarray:
        """Return the points at walls, (walls, d), in the workload's dtype."""
        shape = (self.walls, len(self.coordinates))
        return self.rng(seed, "walls").uniform(-1.0, 1.0, shape).astype(self.dtype)

    def parameters(self, seed: int) -> dict[str, np.ndarray]:
        """Return the network's initial parameters by name, in the workload's dtype."""
        drawn = self.network.initial(
            len(self.coordinates), len(self.unknowns), self.rng(seed, "parameters")
        )
        return {name: array.astype(self.dtype) for name, array in drawn.items()}

    def frozen(self, seed: int) -> dict[str, np.ndarray]:
        """Return the arrays of the network that are not trained."""
        drawn = self.network.frozen(len(self.coordinates), self.rng(seed, "frozen"))
        return {name: array.astype(self.dtype) for name, array in drawn.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the workload as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Workload:
        """Return the workload that `to_json` gave."""
        values = dict(values, network=Network(**values["network"]))
        for name in ("residuals", "coordinates", "unknowns"):
            values[name] = tuple(values[name])
        return cls(**values)


def _burgers(name: str, points: int, dtype: str, network: Network) -> Workload:
    return Workload(name, _BURGERS, points, dtype, network, constants={"nu": NU})


_COORDINATES_10 = tuple(f"x{k}" for k in range(1, 11))

ROWS: tuple[Workload, ...] = (
    _burgers("burgers-64-f32", 10_000, "float32", Network(width=64)),
    _burgers("burgers-64-f64", 10_000, "float64", Network(width=64)),
    _burgers("burgers-128-f32", 10_000, "float32", Network(width=128)),
    _burgers("burgers-8x20-f32", 10_000, "float32", Network(width=20, depth=8)),
    _burgers("burgers-20-small-f64", 1_000, "float64", Network(width=20)),
    Workload(
        "kuramoto-64-f64", ("u_t + u*u_x + u_xx + u_xxxx",), 4_096, "float64", Network(width=64)
    ),
    Workload(
        "laplace3d-64-f32", ("laplacian(u)",), 8_192, "float32", Network(width=64),
        coordinates=("x", "y", "z"), time=None,
    ),
    Workload(
        "plate2d-64-f64", ("laplacian(laplacian(u)) - sin(pi*x)*sin(pi*y)",), 4_096, "float64",
        Network(width=64), coordinates=("x", "y"), time=None,
    ),
    Workload(
        "navier-stokes2d-64-f32", _NAVIER_STOKES, 8_192, "float32", Network(width=64),
        coordinates=("x", "y", "t"), unknowns=("u", "v", "p"), constants={"Re": 100.0},
    ),
    Workload(
        "poisson10d-64-f32", ("laplacian(u) + sin(x1)",), 4_096, "float32", Network(width=64),
        coordinates=_COORDINATES_10, time=None,
    ),
    _burgers(
        "modified-mlp-64-f32", 8_192, "float32", Network(kind="modified", width=64, features=32)
    ),
    _burgers("burgers-million-f32", 1_000_000, "float32", Network(width=64)),
)
"""The rows of the table: the seven of DESIGN.md section 5, then the wider ones."""

LOOPS: tuple[Workload, ...] = (
    ROWS[0],
    ROWS[1],
    _burgers("burgers-3x20-f64", 2_500, "float64", Network(width=20, depth=3)),
    ROWS[3],
    _burgers("burgers-3x20-small-f64", 200, "float64", Network(width=20, depth=3)),
    replace(ROWS[0], name="burgers-64-walls-f32", walls=1_000),
)
"""The rows of loops as research code writes them (experiments.bench.loops)."""

DESIGN_ROWS = tuple(row.name for row in ROWS[:7])
SMALL_ROW = "burgers-20-small-f64"
MEMORY_ROW = "burgers-million-f32"


def select(names: Iterable[str] | None) -> list[Workload]:
    """Return the rows of these names, all for None; ValueError for an unknown one."""
    by_name = {row.name: row for row in ROWS}
    if names is None:
        return list(ROWS)
    for name in names:
        if name not in by_name:
            raise ValueError(
                f"--rows: expected some of {', '.join(by_name)}; got {name!r}"
                f"{nearest(name, by_name)}"
            )
    return [by_name[name] for name in names]


def quick(workload: Workload) -> Workload:
    """Return the workload with few points."""
    return replace(workload, points=min(workload.points, 1_000))


_POINTS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def scaling(short: bool) -> dict[str, list[tuple[int, Workload]]]:
    """Return the studies: what varies -> (value, workload) in growing cost."""
    counts = (1_000, 2_000) if short else _POINTS
    widths = (16, 32) if short else (16, 32, 64, 128, 256)
    orders = range(1, 4) if short else range(1, 7)
    n = 500 if short else 2_048
    return {
        "points": [
            (p, _burgers(f"points-{p}", p, "float32", Network(width=64))) for p in counts
        ],
        "width": [
            (w, _burgers(f"width-{w}", 2 * n, "float32", Network(width=w))) for w in widths
        ],
        "order": [
            (
                k,
                Workload(
                    f"order-{k}",
                    ("u_t + u*u_x" + (f" + diff(u, x, {k})" if k > 1 else ""),),
                    n, "float64", Network(width=64),
                ),
            )
            for k in orders
        ],
    }
