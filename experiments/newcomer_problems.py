"""Problems as a newcomer states them: domain, equation, conditions, and something to compare with.

Every function below is what a user would write, with nothing given but the problem itself. `ROWS`
lists them with the figure to compare with: the relative L2 error of the worst unknown that a user
reached who chose the training, the points and the network for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pinn
from experiments import newcomer_references as references

WAYS = {"soft": False, "hard": True}


@dataclass(frozen=True)
class Row:
    """A problem of the table: its name, how it is made, and the best figure known, if there is."""

    name: str
    problem: Callable[[], pinn.Problem]
    best: float | None


def poisson(hard: bool) -> pinn.Problem:
    """-lap u = 2 pi^2 sin(pi x) sin(pi y) on the unit square."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), unknowns=["u"],
        equations={"poisson": "u_xx + u_yy + 2*pi**2*sin(pi*x)*sin(pi*y)"},
        conditions=[pinn.Dirichlet("u", 0.0, hard=hard)],
        reference={"u": "sin(pi*x)*sin(pi*y)"}, name="poisson",
    )


def helmholtz(hard: bool) -> pinn.Problem:
    """lap u + u = q with u = sin(pi x) sin(4 pi y) on [-1, 1]^2."""
    return pinn.Problem(
        domain=pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1), unknowns=["u"],
        equations={"helmholtz": "u_xx + u_yy + u - (1 - 17*pi**2)*sin(pi*x)*sin(4*pi*y)"},
        conditions=[pinn.Dirichlet("u", 0.0, hard=hard)],
        reference={"u": "sin(pi*x)*sin(4*pi*y)"}, name="helmholtz",
    )


def heat(hard: bool) -> pinn.Problem:
    """u_t = 0.4 u_xx on [0, 1], to t = 1."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"heat": "u_t - a*u_xx"}, constants={"a": 0.4},
        conditions=[
            pinn.Initial("u", "sin(pi*x)", hard=hard), pinn.Dirichlet("u", 0.0, hard=hard)
        ],
        reference={"u": "exp(-a*pi**2*t)*sin(pi*x)"}, name="heat",
    )


def heat_2d(hard: bool) -> pinn.Problem:
    """u_t = 0.1 lap u on the unit square, to t = 1."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1) * pinn.Time("t", 0, 1),
        unknowns=["u"], equations={"heat": "u_t - a*laplacian(u)"}, constants={"a": 0.1},
        conditions=[
            pinn.Initial("u", "sin(pi*x)*sin(pi*y)", hard=hard),
            pinn.Dirichlet("u", 0.0, hard=hard),
        ],
        reference={"u": "exp(-2*a*pi**2*t)*sin(pi*x)*sin(pi*y)"}, name="heat-2d",
    )


def wave(hard: bool) -> pinn.Problem:
    """u_tt = u_xx on [0, 1], at rest at the start, to t = 1."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"wave": "u_tt - u_xx"},
        conditions=[
            pinn.Initial("u", "sin(pi*x)", hard=hard),
            pinn.Initial("u", 0.0, order=1, hard=hard),
            pinn.Dirichlet("u", 0.0, hard=hard),
        ],
        reference={"u": "cos(pi*t)*sin(pi*x)"}, name="wave",
    )


def wave_two_modes(hard: bool) -> pinn.Problem:
    """u_tt = 4 u_xx on [0, 1], two modes of ten and two half waves in the time to t = 1."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"wave": "u_tt - c**2*u_xx"}, constants={"c": 2},
        conditions=[
            pinn.Initial("u", "sin(pi*x) + 0.5*sin(5*pi*x)", hard=hard),
            pinn.Initial("u", 0.0, order=1, hard=hard),
            pinn.Dirichlet("u", 0.0, hard=hard),
        ],
        reference={"u": "cos(c*pi*t)*sin(pi*x) + 0.5*cos(5*c*pi*t)*sin(5*pi*x)"},
        name="wave-two-modes",
    )


def allen_cahn(hard: bool) -> pinn.Problem:
    """u_t = 0.001 u_xx + 5 u - 5 u^3 on [-1, 1], u = -1 at both ends."""
    return pinn.Problem(
        domain=pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"allen_cahn": "u_t - d*u_xx - 5*u + 5*u**3"}, constants={"d": 0.001},
        conditions=[
            pinn.Initial("u", "x**2*cos(pi*x)", hard=hard), pinn.Dirichlet("u", -1.0, hard=hard)
        ],
        reference=lambda s: references.allen_cahn()(s.x, s.t), name="allen-cahn",
    )


def schroedinger() -> pinn.Problem:
    """i h_t + h_xx / 2 + |h|^2 h = 0, h = u + i v = 2 sech x at the start, |x| <= 5.

    At the ends h is that of the whole line: Satsuma and Yajima, Prog. Theor. Phys. Suppl. 55
    (1974) 284. The values to compare with are computed without that formula.
    """
    below = "(cosh(4*x) + 4*cosh(2*x) + 3*cos(4*t))"
    u_end = f"4*(cos(t/2)*cosh(3*x) + 3*cos(4.5*t)*cosh(x))/{below}"
    v_end = f"4*(sin(t/2)*cosh(3*x) + 3*sin(4.5*t)*cosh(x))/{below}"

    def reference(s):
        h = references.schroedinger()(s.x, s.t)
        return {"u": h.real, "v": h.imag}

    return pinn.Problem(
        domain=pinn.Interval("x", -5, 5) * pinn.Time("t", 0, math.pi / 2), unknowns=["u", "v"],
        equations={
            "real": "u_t + v_xx/2 + (u**2 + v**2)*v",
            "imaginary": "v_t - u_xx/2 - (u**2 + v**2)*u",
        },
        conditions=[
            pinn.Initial("u", "2*sech(x)"), pinn.Initial("v", 0.0),
            pinn.Dirichlet("u", u_end), pinn.Dirichlet("v", v_end),
        ],
        reference=reference, name="schroedinger",
    )


def lotka_volterra(hard: bool) -> pinn.Problem:
    """Prey and predators to t = 10."""

    def reference(s):
        return dict(zip("xy", references.lotka_volterra()(s.t), strict=True))

    return pinn.Problem(
        domain=pinn.Time("t", 0, 10), unknowns=["x", "y"],
        equations={"prey": "x_t - 2/3*x + 4/3*x*y", "predators": "y_t - x*y + y"},
        conditions=[pinn.Initial("x", 1.0, hard=hard), pinn.Initial("y", 1.0, hard=hard)],
        reference=reference, name="lotka-volterra",
    )


def van_der_pol(hard: bool) -> pinn.Problem:
    """u'' - (1 - u^2) u' + u = 0 to t = 10."""
    return pinn.Problem(
        domain=pinn.Time("t", 0, 10), unknowns=["u"],
        equations={"van_der_pol": "u_tt - (1 - u**2)*u_t + u"},
        conditions=[
            pinn.Initial("u", 2.0, hard=hard), pinn.Initial("u", 0.0, order=1, hard=hard)
        ],
        reference=lambda s: references.van_der_pol()(s.t)[0], name="van-der-pol",
    )


def oscillator(hard: bool) -> pinn.Problem:
    """u'' + u = 0, u = sin t, over two periods."""
    return pinn.Problem(
        domain=pinn.Time("t", 0, 4 * math.pi), unknowns=["u"], equations={"oscillator": "u_tt + u"},
        conditions=[
            pinn.Initial("u", 0.0, hard=hard), pinn.Initial("u", 1.0, order=1, hard=hard)
        ],
        reference={"u": "sin(t)"}, name="oscillator",
    )


def kovasznay(hard: bool) -> pinn.Problem:
    """Steady Navier-Stokes flow behind a grid at Re = 20; the pressure is given at the outflow."""
    re = 20
    m = re / 2 - math.sqrt(re**2 / 4 + 4 * math.pi**2)
    u = "1 - exp(m*x)*cos(2*pi*y)"
    v = "m/(2*pi)*exp(m*x)*sin(2*pi*y)"
    p = "(1 - exp(2*m*x))/2"
    return pinn.Problem(
        domain=pinn.Interval("x", -0.5, 1) * pinn.Interval("y", -0.5, 1.5),
        unknowns=["u", "v", "p"], constants={"re": re, "m": m},
        equations={
            "momentum_x": "u*u_x + v*u_y + p_x - (u_xx + u_yy)/re",
            "momentum_y": "u*v_x + v*v_y + p_y - (v_xx + v_yy)/re",
            "continuity": "u_x + v_y",
        },
        conditions=[
            pinn.Dirichlet("u", u, hard=hard), pinn.Dirichlet("v", v, hard=hard),
            pinn.Dirichlet("p", p, on="x=1", hard=hard),
        ],
        reference={"u": u, "v": v, "p": p}, name="kovasznay",
    )


def plate() -> pinn.Problem:
    """lap^2 u = 4 pi^4 sin(pi x) sin(pi y), simply supported: deflection u and moment m vanish."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), unknowns=["u", "m"],
        equations={
            "moment": "laplacian(u) + m",
            "load": "laplacian(m) + 4*pi**4*sin(pi*x)*sin(pi*y)",
        },
        conditions=[pinn.Dirichlet("u", 0.0), pinn.Dirichlet("m", 0.0)],
        reference={"u": "sin(pi*x)*sin(pi*y)", "m": "2*pi**2*sin(pi*x)*sin(pi*y)"}, name="plate",
    )


def clamped_plate(hard: bool) -> pinn.Problem:
    """lap^2 u = f with u = x^2 (1 - x)^2 y^2 (1 - y)^2: the edges neither bend nor turn."""
    bump, curve = "{0}**2*(1 - {0})**2", "(2 - 12*{0} + 12*{0}**2)"
    x, y = (bump.format(name) for name in "xy")
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), unknowns=["u"],
        equations={
            "load": f"u_xxxx + 2*u_xxyy + u_yyyy - 24*({x} + {y})"
            f" - 2*{curve.format('x')}*{curve.format('y')}"
        },
        conditions=[pinn.Dirichlet("u", 0.0, hard=hard), pinn.Neumann("u", 0.0, hard=hard)],
        reference={"u": f"{x}*{y}"}, name="plate-clamped",
    )


def advection(hard: bool) -> pinn.Problem:
    """u_t + 30 u_x = 0 on [0, 2 pi], a sine that flows in at the left."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 2 * math.pi) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"advection": "u_t + c*u_x"}, constants={"c": 30},
        conditions=[
            pinn.Initial("u", "sin(x)", hard=hard),
            pinn.Dirichlet("u", "-sin(c*t)", on="x=0", hard=hard),
        ],
        reference={"u": "sin(x - c*t)"}, name="advection",
    )


def convection_diffusion() -> pinn.Problem:
    """-eps u'' + u' = 1 on [0, 1] with a layer of width eps at x = 1."""
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"], constants={"eps": 0.01},
        equations={"flux": "-eps*u_xx + u_x - 1"},
        conditions=[pinn.Dirichlet("u", 0.0, hard=True)],
        reference={"u": "x - (exp((x - 1)/eps) - exp(-1/eps))/(1 - exp(-1/eps))"},
        name="convection-diffusion",
    )


def poisson_10d(hard: bool) -> pinn.Problem:
    """-lap u = (pi/2)^2 sum sin(pi x_i / 2) on the unit cube of ten dimensions."""
    names = [f"x{i}" for i in range(1, 11)]
    exact = " + ".join(f"sin(pi*{name}/2)" for name in names)
    return pinn.Problem(
        domain=pinn.Box(*(pinn.Interval(name, 0, 1) for name in names)), unknowns=["u"],
        equations={"poisson": f"laplacian(u) + (pi/2)**2*({exact})"},
        conditions=[pinn.Dirichlet("u", exact, hard=hard)],
        reference={"u": exact}, name="poisson-10d",
    )


def heat_5d(hard: bool) -> pinn.Problem:
    """u_t = 0.05 lap u on the unit cube of five dimensions, to t = 1."""
    names = [f"x{i}" for i in range(1, 6)]
    start = "*".join(f"sin(pi*{name})" for name in names)
    return pinn.Problem(
        domain=pinn.Box(*(pinn.Interval(name, 0, 1) for name in names), pinn.Time("t", 0, 1)),
        unknowns=["u"], equations={"heat": "u_t - a*laplacian(u)"}, constants={"a": 0.05},
        conditions=[pinn.Initial("u", start, hard=hard), pinn.Dirichlet("u", 0.0, hard=hard)],
        reference={"u": f"exp(-5*a*pi**2*t)*{start}"}, name="heat-5d",
    )


def _both(
    name: str, problem: Callable[[bool], pinn.Problem], soft: float | None, hard: float | None
) -> list[Row]:
    """The rows of a problem whose conditions are terms of the loss, and of one where they hold."""
    best = {"soft": soft, "hard": hard}
    return [Row(f"{name}-{way}", partial(problem, WAYS[way]), best[way]) for way in WAYS]


_LIST = [
    *_both("poisson-2d", poisson, 1.2e-5, 6e-8),
    *_both("helmholtz-1-4", helmholtz, 1.5e-4, 2e-6),
    *_both("heat-1d", heat, 8e-8, 4e-9),
    *_both("heat-2d", heat_2d, 2.7e-5, 8e-8),
    *_both("wave", wave, 5e-6, 5e-9),
    *_both("wave-two-modes", wave_two_modes, 2.5e-1, 8e-2),
    *_both("allen-cahn", allen_cahn, 2.6e-5, 4e-5),
    Row("schroedinger-soft", schroedinger, 2.1e-2),
    *_both("lotka-volterra", lotka_volterra, 1e-7, 1e-7),
    *_both("van-der-pol", van_der_pol, 3e-9, 3e-9),
    *_both("oscillator", oscillator, 7e-9, 3e-2),
    *_both("kovasznay", kovasznay, 7e-5, 3e-6),
    Row("plate-soft", plate, 2e-8),
    *_both("plate-clamped", clamped_plate, None, 2e-12),
    *_both("advection", advection, 1.5e-3, 2.7e-5),
    Row("convection-diffusion-hard", convection_diffusion, 6e-9),
    *_both("poisson-10d", poisson_10d, 1.1e-2, None),
    *_both("heat-5d", heat_5d, 2e-1, 2.4e-5),
]
ROWS: dict[str, Row] = {row.name: row for row in _LIST}
"""The rows of the table by name, in its order."""

LEFT_OUT: dict[str, str] = {}
"""The rows that cannot be stated, and why."""
