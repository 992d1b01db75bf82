"""What is measured: networks, their precision, and numbers of points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import pinn
from autograd.ranks import Ranks
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
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        domain=x * t, unknowns=["u"], constants={"nu": 0.01 / np.pi},
        equations={"burgers": "u_t + u*u_x - nu*u_xx"},
        conditions=[pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    few = int(_BOUNDARY * row.points)
    sampling = pinn.Sampling(interior=row.points, initial=few, boundary=few, method="uniform")
    run = Experiment(problem, pinn.MLP(row.width, row.depth), sampling, precision=row.precision)
    return Objective(
        problem, run.initial_parameters(), run.draw_points(), dtype=run.dtype, threads=threads,
        ranks=ranks,
    )  # fmt: skip
