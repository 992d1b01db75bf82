"""Solve steady problems with thin layers along walls, with the defaults and a limit in time.

    python -m experiments.thin_layers [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and the limit. Every problem has a
solution in closed form, and the error is measured when training has ended, at places that lie
closer in the layers. After every row the results are written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pinn
from experiments.by_default import cells, estimated, page, solved
from experiments.one_by_one import measure_seed

# Along a coordinate: even places, and as many up to so many widths from each wall.
_PLACES, _WIDTHS = 101, 30.0

_LINE = pinn.Interval("x", 0, 1)
_SQUARE = _LINE * pinn.Interval("y", 0, 1)


@dataclass(frozen=True)
class Row:
    """A problem with u = 0 on all walls, as large as one.

    equation: in x, y and eps. exact: columns of coordinates -> u. width: of the thinnest layer.
    seconds: the limit.
    """

    equation: str
    eps: float
    width: float
    exact: Callable[..., np.ndarray]
    seconds: float
    domain: pinn.Shape = _LINE

    def problem(self) -> pinn.Problem:
        """Return the problem."""
        return pinn.Problem(
            self.domain, ["u"], {"e": self.equation}, [pinn.Dirichlet("u", 0)],
            constants={"eps": self.eps},
        )  # fmt: skip

    def places(self) -> list[np.ndarray]:
        """Return a grid of places, a flat array for each coordinate."""
        even = np.linspace(0, 1, _PLACES)
        near = np.minimum(0.5, _WIDTHS * self.width) * even
        line = np.unique(np.concatenate([even, near, 1 - near]))
        grid = np.meshgrid(*[line] * len(self.domain.coordinates))
        return [axis.ravel() for axis in grid]


def _outflow(eps: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution of -eps u'' + u' = 1: a layer where the flow leaves."""

    def u(x: np.ndarray) -> np.ndarray:
        decayed = np.exp(-1 / eps)
        return x - (np.exp((x - 1) / eps) - decayed) / (1 - decayed)

    return u


def _both(eps: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solution of -eps^2 u'' + u = 1: a layer at each end."""

    def u(x: np.ndarray) -> np.ndarray:
        rising = np.exp(-x / eps) + np.exp((x - 1) / eps)
        return 1 - rising / (1 + np.exp(-1 / eps))

    return u


def _product(one: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda x, y: one(x) * one(y)


def _text(name: str) -> str:
    decayed = "exp(-1/eps)"
    return f"({name} - (exp(({name} - 1)/eps) - {decayed})/(1 - {decayed}))"


def _text_of_both(name: str) -> str:
    return f"(1 - (exp(-{name}/eps) + exp(({name} - 1)/eps))/(1 + exp(-1/eps)))"


_FLOW, _REACTION = "-eps*u_xx + u_x - 1", "-eps**2*u_xx + u - 1"
# u = f(x) f(y) with f of the lines above
_FLOW_2 = f"-eps*(u_xx + u_yy) + u_x + u_y - {_text('x')} - {_text('y')}"
_REACTION_2 = f"-eps**2*(u_xx + u_yy) + 2*u - {_text_of_both('x')} - {_text_of_both('y')}"

ROWS = {
    **{
        f"flow along a line, eps = {eps:g}": Row(_FLOW, eps, eps, _outflow(eps), 20)
        for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    },
    **{
        f"reaction along a line, eps = {eps:g}": Row(_REACTION, eps, eps, _both(eps), 20)
        for eps in (1e-2, 1e-4, 1e-6)
    },
    **{
        f"flow in a square, eps = {eps:g}": Row(
            _FLOW_2, eps, eps, _product(_outflow(eps)), 30, _SQUARE
        )
        for eps in (1e-2, 1e-3, 1e-4)
    },
    **{
        f"reaction in a square, eps = {eps:g}": Row(
            _REACTION_2, eps, eps, _product(_both(eps)), 30, _SQUARE
        )
        for eps in (1e-2, 1e-3)
    },
}


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row; returns its figures."""
    solution, figures = solved(row.problem(), row.seconds, seed)
    places = row.places()
    found = solution.evaluate(**dict(zip(row.domain.coordinates, places, strict=True)))["u"]
    error = np.abs(found.ravel() - row.exact(*places)).max()
    estimate = estimated(solution.report.error_estimate.maximum)
    return {"width": row.width, "error": float(error), "estimate": estimate, **figures}


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    told = (
        f"Along a line `{_FLOW}` and `{_REACTION}`; in the square the solution is the product of "
        "two of these. u is about one, and errors are the largest at places of which most lie in "
        "the layers, against the formula."
    )
    return page("Thin layers along walls, with the defaults", "largest error", told, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "thin_layers", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
