"""Solve problems in domains with holes, with the defaults and a limit in time.

    python -m experiments.holes [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and the limit, and then once more with a
network that is told to see the coordinates alone. Every problem has a solution as a formula, which
is singular in its holes but for the last, and the error is measured when training has ended.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import sub
from typing import Any

import pinn
from experiments.by_default import beside_coordinates_alone, both_in_lines, cells, page
from experiments.one_by_one import measure_seed

_X, _Y, _Z = (pinn.Interval(name, -1, 1) for name in "xyz")
_LIMIT = 20.0


@dataclass(frozen=True)
class Row:
    """A problem whose reference is a formula; told: what it is, in a line."""

    told: str
    problem: Callable[[], pinn.Problem]


def _squared(x: float, y: float) -> str:
    return f"((x - ({x!r}))**2 + (y - ({y!r}))**2)"


def _of_laplace(domain: pinn.Shape, exact: str, more: str = "") -> pinn.Problem:
    """Return laplacian(u) = 0, or what `more` makes of it, with the values of a solution."""
    return pinn.Problem(
        domain, ["u"], {"e": f"laplacian(u){more}"}, [pinn.Dirichlet("u", exact)],
        reference={"u": exact},
    )  # fmt: skip


def _eccentric() -> pinn.Problem:
    """u = 1 on the inner circle, 0 on the outer: two charges at points inverse in both circles."""
    center, radius = 0.4, 0.3
    sum_of_both = (1 + center**2 - radius**2) / center
    inner = (sum_of_both - math.sqrt(sum_of_both**2 - 4)) / 2

    def potential(x: float) -> float:
        return math.log(abs(x - inner) / abs(x - 1 / inner))

    outside, inside = potential(1.0), potential(center + radius)
    exact = (
        f"(log({_squared(inner, 0)}/{_squared(1 / inner, 0)})/2 - ({outside!r}))"
        f"/({inside - outside!r})"
    )
    domain = pinn.Disk(name="outer") - pinn.Disk((center, 0.0), radius, name="inner")
    return pinn.Problem(
        domain, ["u"], {"e": "laplacian(u)"},
        [pinn.Dirichlet("u", 1, on="inner"), pinn.Dirichlet("u", 0, on="outer")],
        reference={"u": exact},
    )  # fmt: skip


def _three() -> pinn.Problem:
    holes = (((0.5, 0.4), 0.2, 0.0, 1.0), ((-0.4, 0.5), 0.15, 0.05, -0.5),
             ((-0.1, -0.5), 0.25, -0.1, 0.7))  # fmt: skip
    shapes = (pinn.Disk(center, radius) for center, radius, *_ in holes)
    parts = []
    for (x, y), radius, off, charge in holes:
        squared = _squared(x + off, y - off / 2)
        parts.append(f"{charge}*log({squared}) + {radius}*(x - ({x + off:g}))/{squared}")
    return _of_laplace(reduce(sub, shapes, _X * _Y), " + ".join(parts))


def _small() -> pinn.Problem:
    return _of_laplace(_X * _Y - pinn.Disk((0.3, 0.2), 0.02), f"log({_squared(0.305, 0.2)})")


def _square() -> pinn.Problem:
    hole = pinn.Box(pinn.Interval("x", -0.3, 0.3), pinn.Interval("y", -0.2, 0.2))
    return _of_laplace(_X * _Y - hole, f"log({_squared(0.1, 0)})")


def _reaction() -> pinn.Problem:
    exact = f"log({_squared(0.25, 0.05)})"
    return _of_laplace(_X * _Y - pinn.Disk((0.2, 0.1), 0.3), exact, f" - u**3 + ({exact})**3")


def _smooth() -> pinn.Problem:
    exact = "sin(pi*x)*cos(pi*y)"
    return _of_laplace(_X * _Y - pinn.Disk((0.2, 0.1), 0.3), exact, f" + 2*pi**2*{exact}")


def _pipe() -> pinn.Problem:
    exact = f"exp(-t)*log({_squared(0.1, 0)})"
    return pinn.Problem(
        (_X * _Y - pinn.Disk((0, 0), 0.25)) * pinn.Time("t", 0, 1), ["u"],
        {"e": f"u_t - laplacian(u) + {exact}"},
        [pinn.Initial("u", f"log({_squared(0.1, 0)})"), pinn.Dirichlet("u", exact)],
        reference={"u": exact},
    )  # fmt: skip


def _ball() -> pinn.Problem:
    domain = _X * _Y * _Z - pinn.Ball((0, 0, 0), 0.35)
    return _of_laplace(domain, "1/sqrt((x - 0.1)**2 + y**2 + (z + 0.05)**2)")


def _stokes() -> pinn.Problem:
    """What a force at a point in the hole drags along: u = -log(r) F + r (F.r)/r^2."""
    squared, along = _squared(0.1, -0.05), "((x - 0.1) + 0.5*(y + 0.05))"
    exact = {
        "u": f"-log({squared})/2 + (x - 0.1)*{along}/{squared}",
        "v": f"-0.5*log({squared})/2 + (y + 0.05)*{along}/{squared}",
    }
    return pinn.Problem(
        _X * _Y - pinn.Disk((0, 0), 0.3), ["u", "v", "p"],
        {"along_x": "p_x - laplacian(u)", "along_y": "p_y - laplacian(v)", "mass": "u_x + v_y"},
        [*(pinn.Dirichlet(name, text) for name, text in exact.items()), pinn.Integral("p", 0.0)],
        reference=exact,
    )  # fmt: skip


def _kirsch() -> pinn.Problem:
    """A plate in tension along x, plane stress, E = 1, nu = 0.3; no traction on the hole."""
    a, nu = 0.3, 0.3
    shear, kappa = 0.5 / (1 + nu), (3 - nu) / (1 + nu)
    cosine, sine = "(x/hypot(x, y))", "(y/hypot(x, y))"

    def moved(angle: str, thrice: str, far: float, near: float) -> str:
        """Return a displacement of functions of an angle and of three times the angle."""
        about = f"2*{a}/hypot(x, y)*({near!r}*{angle} + {thrice})"
        last = f"2*({a}/hypot(x, y))**3*{thrice}"
        return f"{a / (8 * shear)!r}*(hypot(x, y)/{a}*{far!r}*{angle} + {about} - {last})"

    exact = {
        "u": moved(cosine, f"(4*{cosine}**3 - 3*{cosine})", kappa + 1, 1 + kappa),
        "v": moved(sine, f"(3*{sine} - 4*{sine}**3)", kappa - 3, 1 - kappa),
    }
    own, other = 1 / (1 - nu**2), nu / (1 - nu**2)
    xx, yy = f"({own!r}*u_x + {other!r}*v_y)", f"({own!r}*v_y + {other!r}*u_x)"
    xy = f"({shear!r}*(u_y + v_x))"
    walls = ["x=-1", "x=1", "y=-1", "y=1"]
    return pinn.Problem(
        _X * _Y - pinn.Disk((0, 0), a, name="hole"), ["u", "v"],
        {"along_x": f"diff({xx}, x) + diff({xy}, y)", "along_y": f"diff({xy}, x) + diff({yy}, y)"},
        [
            *(pinn.Dirichlet(name, text, on=walls) for name, text in exact.items()),
            pinn.Operator(f"{xx}*normal_x + {xy}*normal_y", on="hole", name="traction_x"),
            pinn.Operator(f"{xy}*normal_x + {yy}*normal_y", on="hole", name="traction_y"),
        ],
        reference=exact,
    )  # fmt: skip


ROWS = {
    "eccentric cylinders": Row("u = 1 and 0 on two circles, one in the other", _eccentric),
    "three holes": Row("a charge and a dipole in each, off their middles", _three),
    "a small hole": Row("of a hundredth of the square's width", _small),
    "a square hole": Row("a charge off its middle", _square),
    "a reaction": Row("laplacian(u) = u^3 + f around a hole", _reaction),
    "a plate in tension": Row("Kirsch's, two displacements, a hole without traction", _kirsch),
    "Stokes": Row("a cylinder that is dragged: u, v and p", _stokes),
    "heat around a pipe": Row("in two coordinates and time", _pipe),
    "a ball in a cube": Row("a charge off its middle", _ball),
    "smooth": Row("sin(pi x) cos(pi y), which does not know of the hole", _smooth),
}


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row, and again by the coordinates alone; returns its figures."""
    return beside_coordinates_alone(row.problem(), _LIMIT, seed)


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    lines = both_in_lines(rows, {name: row.told for name, row in ROWS.items()})
    told = (
        "Then once more with `pinn.AutoModel(features=[x, y])`, which sees the coordinates alone "
        "and has points all over the domain. Solutions are formulas, singular in the holes but for "
        f"the smooth one; errors those of the worst unknown.\n\n{lines}"
    )
    return page("Domains with holes, with the defaults", "relative L2 error", told, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "holes", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
