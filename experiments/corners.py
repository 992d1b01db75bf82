"""Solve problems whose slopes are infinite at corners, with the defaults and a limit in time.

    python -m experiments.corners [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and the limit, and then once more with a
network that is told to see the coordinates alone. Every problem has a solution as a formula, which
goes like a power of the distance below one at a point of the boundary but for the last, and the
error is measured when training has ended.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pinn
from experiments.by_default import beside_coordinates_alone, both_in_lines, cells, page
from experiments.one_by_one import measure_seed

_X, _Y = pinn.Interval("x", -1, 1), pinn.Interval("y", -1, 1)
_ELL = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
_LIMIT = 20.0
# Of two walls at 270 degrees: the least root of sin(3 pi/2 e) = e, and what a plate without
# traction has beside it. Of a clamped and a free one at 90 degrees, kappa = 2.7/1.3.
_E, _Q = 0.544483736782464, 0.543075578836737
_CLAMPED = 0.7583491578824921
_R, _ANGLE = "hypot(x, y)", "atan2(x - y, -x - y)"  # from the corner of the L, and its bisector


@dataclass(frozen=True)
class Row:
    """A problem whose reference is a formula; told: what it is, in a line."""

    told: str
    problem: Callable[[], pinn.Problem]


def _of_laplace(domain: pinn.Shape, exact: str, more: str = "") -> pinn.Problem:
    """Return laplacian(u) = 0, or what `more` makes of it, with the values of a solution."""
    return pinn.Problem(
        domain, ["u"], {"e": f"laplacian(u){more}"}, [pinn.Dirichlet("u", exact)],
        reference={"u": exact},
    )  # fmt: skip


def _root(power: float, angle: str = _ANGLE, r: str = _R) -> str:
    return f"{r}**{power!r}*cos({power!r}*{angle})"


def _ell() -> pinn.Problem:
    return _of_laplace(_ELL, f"{_root(2 / 3)} + x*y")


def _source() -> pinn.Problem:
    """-laplacian(u) = f for what vanishes on all walls of the L: g = (1 - x^2)(1 - y^2) times w."""
    exact = f"(1 - x**2)*(1 - y**2)*{_root(2 / 3)}"
    # the slopes of w = r^(2/3) cos(2/3 angle) along the bisector and across it
    along, across = (f"2/3*{_R}**(-1/3)*{one}({_ANGLE}/3)" for one in ("cos", "sin"))
    w_x, w_y = f"(-({along}) + ({across}))/sqrt(2)", f"(-({along}) - ({across}))/sqrt(2)"
    source = (
        f"-2*(2 - x**2 - y**2)*{_root(2 / 3)} "
        f"- 4*(x*(1 - y**2)*({w_x}) + y*(1 - x**2)*({w_y}))"
    )
    return pinn.Problem(
        _ELL, ["u"], {"e": f"laplacian(u) - ({source})"}, [pinn.Dirichlet("u", 0)],
        reference={"u": exact},
    )  # fmt: skip


def _switch() -> pinn.Problem:
    """u = 0 up to the middle of a side, no slope from there on."""
    exact = _root(1 / 2, "atan2(y, x)")
    return pinn.Problem(
        _X * pinn.Interval("y", 0, 1), ["u"], {"e": "laplacian(u)"},
        [
            pinn.Dirichlet("u", 0, on="y=0 and x < 0"), pinn.Neumann("u", 0, on="y=0 and x > 0"),
            pinn.Dirichlet("u", exact, on=["x=-1", "x=1", "y=1"]),
        ],
        reference={"u": exact},
    )  # fmt: skip


def _mixed() -> pinn.Problem:
    """u = 0 on one side of the L's corner, no slope on the other: r^(1/3)."""
    exact = _root(1 / 3, f"({_ANGLE} + 3*pi/4)")
    return pinn.Problem(
        _ELL, ["u"], {"e": "laplacian(u)"},
        [
            pinn.Neumann("u", 0, on="x=0 and y > 0"), pinn.Dirichlet("u", 0, on="y=0 and x > 0"),
            pinn.Dirichlet("u", exact, on=["x=-1", "x=1", "y=-1", "y=1"]),
        ],
        reference={"u": exact},
    )  # fmt: skip


def _square_hole() -> pinn.Problem:
    """Roots at two corners of a square hole, whose cuts end in its middle."""
    parts = []
    for a, b, share in ((0.3, 0.3, 1.0), (-0.3, 0.3, 0.5)):
        x, y = f"(x - {a})", f"(y - {b})"
        angle = f"atan2(x*{y} - y*{x}, x*{x} + y*{y})"
        parts.append(f"{share}*(hypot({x}, {y})/{_R})**(2/3)*cos(2/3*{angle})")
    hole = pinn.Interval("x", -0.3, 0.3) * pinn.Interval("y", -0.3, 0.3)
    return _of_laplace(_X * _Y - hole, " + ".join(parts))


def _two_disks() -> pinn.Problem:
    """Two disks that overlap: two corners of 240 degrees, r^(3/4) at the upper one."""
    height = math.sqrt(0.75)
    exact = _root(3 / 4, f"atan2(x, {height!r} - y)", f"hypot(x, y - {height!r})")
    return _of_laplace(pinn.Disk((-0.5, 0), 1) | pinn.Disk((0.5, 0), 1), exact)


def _reaction() -> pinn.Problem:
    exact = _root(2 / 3)
    return _of_laplace(_ELL, exact, f" - u**3 + ({exact})**3")


def _heat() -> pinn.Problem:
    exact = f"exp(-t)*{_root(2 / 3)}"
    return pinn.Problem(
        _ELL * pinn.Time("t", 0, 1), ["u"], {"e": f"u_t - laplacian(u) + {exact}"},
        [pinn.Initial("u", _root(2 / 3)), pinn.Dirichlet("u", exact)], reference={"u": exact},
    )  # fmt: skip


def _edge() -> pinn.Problem:
    return _of_laplace(_ELL * pinn.Interval("z", 0, 1), f"{_root(2 / 3)}*(1 + z)")


def _stokes() -> pinn.Problem:
    """The flow around the corner of the L that its walls allow: Moffatt's, r^0.5445."""
    e, angle, c = _E, f"({_ANGLE} + 3*pi/4)", math.cos(1.5 * math.pi * _E)
    up, low = 1 + e, 1 - e
    stream = (
        f"({c / up!r}*sin({up!r}*{angle}) - cos({up!r}*{angle}) "
        f"- {c / low!r}*sin({low!r}*{angle}) + cos({low!r}*{angle}))"
    )
    first = (
        f"({c!r}*cos({up!r}*{angle}) + {up!r}*sin({up!r}*{angle}) "
        f"- {c!r}*cos({low!r}*{angle}) - {low!r}*sin({low!r}*{angle}))"
    )
    third = (
        f"({-(up**2) * c!r}*cos({up!r}*{angle}) - {up**3!r}*sin({up!r}*{angle}) "
        f"+ {low**2 * c!r}*cos({low!r}*{angle}) + {low**3!r}*sin({low!r}*{angle}))"
    )
    exact = {
        "u": f"{_R}**{e!r}*({up!r}*cos({angle})*{stream} - sin({angle})*{first})",
        "v": f"{_R}**{e!r}*({up!r}*sin({angle})*{stream} + cos({angle})*{first})",
    }
    return pinn.Problem(
        _ELL, ["u", "v", "p"],
        {"along_x": "p_x - laplacian(u)", "along_y": "p_y - laplacian(v)", "mass": "u_x + v_y"},
        [
            *(pinn.Dirichlet(name, text) for name, text in exact.items()),
            pinn.PointValue(
                "p", f"-{_R}**{e - 1!r}*({up**2!r}*{first} + {third})/{low!r}",
                at={"x": -0.5, "y": -0.5},
            ),
        ],
        reference=exact,
    )  # fmt: skip


def _elastic() -> pinn.Problem:
    """A plate whose corner is pulled open, plane stress, E = 1, nu = 0.3; no traction at it."""
    e, nu = _E, 0.3
    shear, kappa = 0.5 / (1 + nu), (3 - nu) / (1 + nu)
    near = f"{_R}**{e!r}/{2 * shear!r}"
    plain, turned = kappa - _Q * (e + 1), kappa + _Q * (e + 1)
    along = f"{near}*({plain!r}*cos({e!r}*{_ANGLE}) - {e!r}*cos({e - 2!r}*{_ANGLE}))"
    across = f"{near}*({turned!r}*sin({e!r}*{_ANGLE}) + {e!r}*sin({e - 2!r}*{_ANGLE}))"
    exact = {
        "u": f"(-({along}) + ({across}))/sqrt(2)", "v": f"(-({along}) - ({across}))/sqrt(2)",
    }
    outer, inner = ["x=-1", "x=1", "y=-1", "y=1"], ["x=0 and y > 0", "y=0 and x > 0"]
    return _plate(_ELL, exact, outer, *inner)


def _clamped() -> pinn.Problem:
    """A plate, as above, that is clamped at x = 0 and free at y = 0: Williams' r^0.7583.

    u + i v = kappa A z^e - e A* z (z^(e-1))* - B* (z^e)* with B = -A* - e A, without traction at y
    = 0, and A such that it vanishes at x = 0.
    """
    e, kappa = _CLAMPED, 2.7 / 1.3
    along, across = (
        kappa * a * 1j**e - e * a.conjugate() * 1j ** (2 - e) + (a + e * a.conjugate()) * 1j**-e
        for a in (1 + 0j, 1j)
    )
    a = complex(across.real, -along.real) / math.hypot(across.real, along.real)
    terms = {e: kappa * a, 2 - e: -e * a.conjugate(), -e: a + e * a.conjugate()}
    angle, r = "atan2(y, x)", f"{_R}**{e!r}"
    parts = {"u": [], "v": []}
    for turns, c in terms.items():
        cos, sin = (f"{one}({turns!r}*{angle})" for one in ("cos", "sin"))
        parts["u"].append(f"({c.real!r})*{cos} - ({c.imag!r})*{sin}")
        parts["v"].append(f"({c.real!r})*{sin} + ({c.imag!r})*{cos}")
    exact = {name: f"{r}*({' + '.join(found)})" for name, found in parts.items()}
    domain = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    return _plate(domain, exact, ["x=1", "y=1"], None, "y=0", "x=0")


def _plate(
    domain: pinn.Shape, exact: Mapping[str, str], given: Sequence[str], free_x: str | None,
    free_y: str, clamped: str | None = None,
) -> pinn.Problem:
    """Return a plate in plane stress, E = 1, nu = 0.3, with given displacements on some sides.

    free_x, free_y: sides across x, and y, without traction.
    """
    nu, shear = 0.3, 0.5 / 1.3
    own, other = 1 / (1 - nu**2), nu / (1 - nu**2)
    xx, yy = f"({own!r}*u_x + {other!r}*v_y)", f"({own!r}*v_y + {other!r}*u_x)"
    xy = f"({shear!r}*(u_y + v_x))"
    free = [(xx, free_x), (xy, free_x), (yy, free_y), (xy, free_y)]
    return pinn.Problem(
        domain, ["u", "v"],
        {"along_x": f"diff({xx}, x) + diff({xy}, y)", "along_y": f"diff({xy}, x) + diff({yy}, y)"},
        [
            *(pinn.Dirichlet(name, text, on=given) for name, text in exact.items()),
            *(pinn.Operator(traction, on=side) for traction, side in free if side),
            *(pinn.Dirichlet(name, 0, on=clamped) for name in exact if clamped),
        ],
        reference=exact,
    )  # fmt: skip


def _smooth() -> pinn.Problem:
    exact = "sin(pi*x)*cos(pi*y)"
    return _of_laplace(_ELL, exact, f" + 2*pi**2*{exact}")


ROWS = {
    "L shape": Row("r^(2/3) and x y, given on all walls", _ell),
    "L shape, source": Row("r^(2/3) times a bump, zero on all walls", _source),
    "L shape, reaction": Row("laplacian(u) = u^3 + f", _reaction),
    "values to slopes": Row("along one side, r^(1/2)", _switch),
    "values and slopes": Row("on two sides of the L's corner, r^(1/3)", _mixed),
    "square hole": Row("roots at two of its corners", _square_hole),
    "two disks": Row("that overlap, r^(3/4) at one of two corners of 240 degrees", _two_disks),
    "Stokes": Row("Moffatt's flow around the L's corner, r^0.54", _stokes),
    "plate": Row("an L pulled open, two displacements, r^0.54", _elastic),
    "clamped": Row("a plate, clamped on one side and free on the next, r^0.76", _clamped),
    "heat": Row("in the L and time", _heat),
    "edge": Row("the L in three coordinates", _edge),
    "smooth": Row("sin(pi x) cos(pi y) in the L", _smooth),
}


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row, and again by the coordinates alone; returns its figures."""
    return beside_coordinates_alone(row.problem(), _LIMIT, seed)


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    lines = both_in_lines(rows, {name: row.told for name, row in ROWS.items()})
    told = (
        "Then once more with `pinn.AutoModel(features=[x, y])`, which sees the coordinates alone, "
        "and equations count as much in corners as elsewhere. Solutions are formulas, whose slopes "
        f"are infinite but for the smooth one; errors those of the worst unknown.\n\n{lines}"
    )
    return page("Corners, with the defaults", "relative L2 error", told, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "corners", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
