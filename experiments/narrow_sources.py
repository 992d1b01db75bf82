"""Solve problems whose sources are narrow, with the defaults and a limit in time.

    python -m experiments.narrow_sources [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and the limit. Every problem has a
solution as a series of sines, which is summed until nothing is left of it, and the error is
measured when training has ended, on a grid all over the domain.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pinn
from experiments.by_default import cells, estimated, page, solved
from experiments.one_by_one import measure_seed

_LINE = pinn.Interval("x", 0, 1)
_SQUARE = _LINE * pinn.Interval("y", 0, 1)
_CUBE = _SQUARE * pinn.Interval("z", 0, 1)
_IN_TIME = _LINE * pinn.Time("t", 0, 1)
# Of exp(-(n w)**2/2), the size of the n-th sine, what is beyond this exponent is nothing.
_NOTHING = 40.0
_GRIDS = {1: 1001, 2: 101, 3: 31}
_DIFFUSIVITY, _SPEED = 0.05, 0.5

Exact = Callable[[float], np.ndarray]


@dataclass(frozen=True)
class Row:
    """A problem with u = 0 on all walls, and in time at the start.

    equation: in the coordinates and w, the width of its source. exact: w -> u on the grid.
    seconds: the limit.
    """

    equation: str
    w: float
    exact: Exact
    seconds: float
    domain: pinn.Shape

    def problem(self) -> pinn.Problem:
        """Return the problem."""
        start = [] if self.domain.time is None else [pinn.Initial("u", 0, hard=True)]
        return pinn.Problem(
            self.domain, ["u"], {"e": self.equation}, [*start, pinn.Dirichlet("u", 0, hard=True)],
            constants={"w": self.w},
        )  # fmt: skip

    def places(self) -> dict[str, np.ndarray]:
        """Return a grid of places by coordinate, each of the shape of the grid."""
        names = self.domain.coordinates
        return dict(zip(names, np.meshgrid(*[_axis(len(names))] * len(names), indexing="ij"),
                        strict=True))  # fmt: skip


def _axis(count: int) -> np.ndarray:
    return np.linspace(0, 1, _GRIDS[count])


def _waves(w: float) -> np.ndarray:
    return np.pi * np.arange(1, math.ceil(math.sqrt(2 * _NOTHING) / (np.pi * w)))


def _of_source(at: float, w: float) -> np.ndarray:
    """Return the sines' amplitudes of exp(-(x - at)**2/(2 w**2)), which is 0 at the walls."""
    k = _waves(w)
    return 2 * math.sqrt(2 * math.pi) * w * np.sin(at * k) * np.exp(-((k * w) ** 2) / 2)


def _sines(w: float, count: int) -> np.ndarray:
    return np.sin(np.outer(_axis(count), _waves(w)))


def _bar(w: float) -> np.ndarray:
    return _sines(w, 1) @ (_of_source(0.4, w) / (_waves(w) ** 2 + 1)) / w


def _strip(w: float) -> np.ndarray:
    along = _sines(w, 2) @ (_of_source(0.4, w) / (_waves(w) ** 2 + np.pi**2)) / w
    return np.outer(along, np.sin(np.pi * _axis(2)))


def _plate(*sources: tuple[float, float, float]) -> Exact:
    """Return u for sources of amounts at places (x, y)."""

    def u(w: float) -> np.ndarray:
        k = _waves(w)
        made = sum(
            amount * np.outer(_of_source(x, w), _of_source(y, w)) for amount, x, y in sources
        )
        found = made / (k[:, None] ** 2 + k**2) / w**2
        return _sines(w, 2) @ found @ _sines(w, 2).T

    return u


def _cube(w: float) -> np.ndarray:
    squares, sines = _waves(w) ** 2, _sines(w, 3)
    made = np.einsum("i,j,k->ijk", *(_of_source(at, w) for at in (0.3, 0.6, 0.5)))
    made /= squares[:, None, None] + squares[:, None] + squares
    return np.einsum("ijk,ai,bj,ck->abc", made, sines, sines, sines, optimize=True) / w**3


def _moving(w: float) -> np.ndarray:
    """Return u of u_t = D u_xx + a source that starts at 0.2; each sine is an equation in t."""
    k, t = _waves(w), _axis(2)[:, None]
    rate, turns = _DIFFUSIVITY * k**2, _SPEED * k
    amount = 2 * math.sqrt(2 * math.pi) * w * np.exp(-((k * w) ** 2) / 2)
    grown = np.exp(1j * (0.2 * k + turns * t)) - np.exp(0.2j * k - rate * t)
    return _sines(w, 2) @ (amount * np.imag(grown / (rate + 1j * turns))).T


def _gaussian(*centre: float | str) -> str:
    squares = (f"({name} - {at})**2" for name, at in zip("xyz", centre, strict=False))
    return f"exp(-({' + '.join(squares)})/(2*w**2))"


_WELL, _SINK = _gaussian(0.3, 0.6), _gaussian(0.7, 0.2)

ROWS = {
    **{
        f"bar, w = {w:g}": Row(f"u_xx - u = -{_gaussian(0.4)}/w", w, _bar, 20, _LINE)
        for w in (0.01, 0.001)
    },
    "strip in a plate, w = 0.005": Row(
        f"laplacian(u) = -{_gaussian(0.4)}/w*sin(pi*y)", 0.005, _strip, 30, _SQUARE
    ),
    **{
        f"spot in a plate, w = {w:g}": Row(
            f"laplacian(u) = -{_WELL}/w**2", w, _plate((1, 0.3, 0.6)), 30, _SQUARE
        )
        for w in (0.05, 0.03, 0.01, 0.003)
    },
    "well and sink, w = 0.01": Row(
        f"laplacian(u) = ({_SINK} - {_WELL})/w**2", 0.01,
        _plate((1, 0.3, 0.6), (-1, 0.7, 0.2)), 30, _SQUARE,
    ),
    "ball in a cube, w = 0.04": Row(
        f"laplacian(u) = -{_gaussian(0.3, 0.6, 0.5)}/w**3", 0.04, _cube, 60, _CUBE
    ),
    **{
        f"source that moves, w = {w:g}": Row(
            f"u_t = {_DIFFUSIVITY}*u_xx + {_gaussian(f'0.2 - {_SPEED}*t')}", w, _moving, 30,
            _IN_TIME,
        )
        for w in (0.03, 0.01)
    },
}  # fmt: skip


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row; returns its figures."""
    solution, figures = solved(row.problem(), row.seconds, seed)
    found, right = solution.evaluate(**row.places())["u"], row.exact(row.w)
    error = np.linalg.norm(found.reshape(right.shape) - right) / np.linalg.norm(right)
    estimate = estimated(solution.report.error_estimate.relative_l2)
    return {"width": row.w, "error": float(error), "estimate": estimate, **figures}


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    told = (
        "Sources are Gaussians of width w in a unit line, square or cube with u = 0 on the walls, "
        "and errors those on an even grid, against a series."
    )
    return page("Narrow sources, with the defaults", "relative L2 error", told, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "narrow_sources", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
