"""Solve problems whose conditions are trained, with equations weighed by default and all alike.

    python -m experiments.equation_weights [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Every problem is as a user states it, with conditions that are terms of the loss, and has a solution
as a formula. It is solved by default and by `pinn.MLP()`, each with the weights that are chosen and
with 1 for all, with a limit in time; the error is measured when training has ended.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pinn
from experiments.bench.report import number
from experiments.by_default import cells, page, solved
from experiments.one_by_one import measure_seed

_X, _Y, _Z = (pinn.Interval(name, 0, 1) for name in "xyz")
_LIMIT = 10.0
_MODELS = {"default": pinn.AutoModel(), "layers": pinn.MLP()}


@dataclass(frozen=True)
class Row:
    """A problem whose reference is a formula; told: what it is, in a line."""

    told: str
    problem: Callable[[], pinn.Problem]


def _problem(
    domain: pinn.Shape, equations: Mapping[str, str], exact: Mapping[str, str], *more: Any,
    given: Sequence[str] | None = None,
) -> pinn.Problem:  # fmt: skip
    """Return a problem with values of the solution on the boundary; given: of which unknowns."""
    on_walls = [pinn.Dirichlet(name, exact[name]) for name in (exact if given is None else given)]
    return pinn.Problem(domain, list(exact), equations, [*on_walls, *more], reference=exact)


def _poisson() -> pinn.Problem:
    u = "sin(2*pi*x)*sin(3*pi*y)"
    return _problem(_X * _Y, {"poisson": f"laplacian(u) = -13*pi**2*{u}"}, {"u": u})


def _laplace() -> pinn.Problem:
    domain = pinn.Interval("x", 0, 2) * _Y
    return _problem(domain, {"laplace": "laplacian(u)"}, {"u": "exp(2*x)*sin(2*y)/20"})


def _mixed() -> pinn.Problem:
    u = "exp(3*x)*sin(3*y)"
    return pinn.Problem(
        _X * _Y, ["u"], {"laplace": "laplacian(u)"},
        [pinn.Dirichlet("u", u, on=["x=0", "y=0", "y=1"]),
         pinn.Neumann("u", "3*exp(3)*sin(3*y)", on="x=1")],
        reference={"u": u},
    )  # fmt: skip


def _cube() -> pinn.Problem:
    u = "exp(x + y + z)"
    return _problem(_X * _Y * _Z, {"poisson": f"laplacian(u) = 3*{u}"}, {"u": u})


def _exponential() -> pinn.Problem:
    u = "sin(pi*x)*cos(2*pi*y)"
    domain = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    return _problem(domain, {"e": f"laplacian(u) = exp(u) - exp({u}) - 5*pi**2*{u}"}, {"u": u})


def _helmholtz() -> pinn.Problem:
    u = "sin(8*(0.6*x + 0.8*y))"
    return _problem(_X * _Y, {"helmholtz": "laplacian(u) + 64*u"}, {"u": u})


def _beam() -> pinn.Problem:
    w = "100*exp(x)"
    bent = pinn.Operator(f"w_xx - {w}", on=["x=0", "x=1"], name="moment")
    return _problem(_X, {"beam": f"w_xxxx = {w}"}, {"w": w}, bent)


def _elastic() -> pinn.Problem:
    u, v = "sin(pi*x)*sin(pi*y)", "sin(2*pi*x)*sin(pi*y)"
    return _problem(
        _X * _Y,
        {"balance_x": f"3*u_xx + u_yy + 2*v_xy = 4*pi**2*(cos(2*pi*x)*cos(pi*y) - {u})",
         "balance_y": f"3*v_yy + v_xx + 2*u_xy = pi**2*(2*cos(pi*x)*cos(pi*y) - 7*{v})"},
        {"u": u, "v": v},
    )  # fmt: skip


def _darcy() -> pinn.Problem:
    return _problem(
        _X * _Y,
        {"law_x": "a = -(1 + x)*p_x", "law_y": "b = -(1 + x)*p_y",
         "mass": "a_x + b_y = 5*pi**2*(1 + x)*sin(pi*x)*sin(2*pi*y) - pi*cos(pi*x)*sin(2*pi*y)"},
        {"p": "sin(pi*x)*sin(2*pi*y)", "a": "-(1 + x)*pi*cos(pi*x)*sin(2*pi*y)",
         "b": "-(1 + x)*2*pi*sin(pi*x)*cos(2*pi*y)"}, given=["p"],
    )  # fmt: skip


def _stokes() -> pinn.Problem:
    exact = {
        "u": "sin(pi*x)*cos(3*pi*y)", "v": "-cos(pi*x)*sin(3*pi*y)/3", "p": "30*sin(pi*x) + 20*y",
    }
    return _problem(
        _X * _Y,
        {"momentum_x": f"p_x - laplacian(u) = 10*pi**2*{exact['u']} + 30*pi*cos(pi*x)",
         "momentum_y": f"p_y - laplacian(v) = 10*pi**2*({exact['v']}) + 20", "mass": "u_x + v_y"},
        exact, pinn.Dirichlet("p", exact["p"], on="x=0"), given=["u", "v"],
    )  # fmt: skip


def _kovasznay() -> pinn.Problem:
    rate = "(20 - sqrt(400 + 4*pi**2))"
    exact = {
        "u": f"1 - exp({rate}*x)*cos(2*pi*y)", "v": f"{rate}/(2*pi)*exp({rate}*x)*sin(2*pi*y)",
        "p": f"(1 - exp(2*{rate}*x))/2",
    }
    return _problem(
        pinn.Interval("x", -0.5, 1) * pinn.Interval("y", -0.5, 1.5),
        {"momentum_x": "u*u_x + v*u_y + p_x - laplacian(u)/40",
         "momentum_y": "u*v_x + v*v_y + p_y - laplacian(v)/40", "mass": "u_x + v_y"},
        exact, pinn.Dirichlet("p", exact["p"], on="x=1"), given=["u", "v"],
    )  # fmt: skip


def _heat() -> pinn.Problem:
    start = "sin(pi*x) + 0.5*sin(3*pi*x/2)"
    later = "sin(pi*x)*exp(-0.3*pi**2*t) + 0.5*sin(3*pi*x/2)*exp(-0.675*pi**2*t)"
    return pinn.Problem(
        pinn.Interval("x", 0, 2) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t = 0.3*u_xx"},
        [pinn.Initial("u", start), pinn.Dirichlet("u", 0)], reference={"u": later},
    )  # fmt: skip


def _carried() -> pinn.Problem:
    u = "sin(2*pi*(x - 2*t))*exp(-0.2*pi**2*t)"
    return pinn.Problem(
        _X * pinn.Time("t", 0, 1), ["u"], {"e": "u_t + 2*u_x = 0.05*u_xx"},
        [pinn.Initial("u", "sin(2*pi*x)"), pinn.Dirichlet("u", u)], reference={"u": u},
    )  # fmt: skip


def _wave() -> pinn.Problem:
    return pinn.Problem(
        pinn.Interval("x", 0, 2) * pinn.Time("t", 0, 2), ["u"], {"wave": "u_tt = 4*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Initial("u", 0, order=1), pinn.Dirichlet("u", 0)],
        reference={"u": "sin(pi*x)*cos(2*pi*t)"},
    )  # fmt: skip


ROWS = {
    "Poisson": Row("two waves by three", _poisson),
    "Laplace": Row("exp(2x) sin(2y) in a rectangle", _laplace),
    "Laplace, a slope": Row("values on three sides, a slope on the fourth", _mixed),
    "Poisson in a cube": Row("exp(x + y + z)", _cube),
    "exponential": Row("laplacian(u) = exp(u) + f", _exponential),
    "Helmholtz": Row("a plane wave, k = 8", _helmholtz),
    "beam": Row("w_xxxx = f, values and moments at the ends", _beam),
    "elasticity": Row("two displacements, given on the boundary", _elastic),
    "Darcy": Row("a pressure and its flux, first order", _darcy),
    "Stokes": Row("velocities on the boundary, a pressure of 30", _stokes),
    "Kovasznay": Row("a flow with Re = 40", _kovasznay),
    "heat": Row("two waves that fade", _heat),
    "carried": Row("a wave that is carried and fades", _carried),
    "wave": Row("a standing wave, twice", _wave),
}


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row by both models, weighed by default and not; returns its figures."""
    problem, found = row.problem(), {}
    like = {name: 1.0 for name in problem.equations}
    for name, model in _MODELS.items():
        for key, weighting in ((name, None), (f"{name}, all 1", like)):
            estimated = key == "default"
            solution, figures = solved(
                problem, _LIMIT, seed, model=model, weighting=weighting, error_bars=estimated
            )
            found[key] = max(solution.report.rel_l2.values())
            if estimated:
                errors, estimate = solution.report.rel_l2, solution.report.error_estimate
                worst = max(errors, key=errors.__getitem__)
                told = float(estimate.relative_l2.get(worst, float("nan")))
                first = {"error": errors[worst], "estimate": told, **figures}
                weights = solution.experiment.weighting.initial
    return {**first, "errors": found, "weights": dict(weights)}


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    told = (
        "Conditions are terms of the loss. The lines that follow have this, beside it "
        "`pinn.MLP()`, and both with a weight of 1 for all; solutions are formulas, errors "
        "those of the worst unknown.\n\n" + "\n".join(map(_line, rows))
    )
    return page("Equations weighed by what they make of an error", "relative L2 error", told, rows)


def _line(row: Mapping[str, Any]) -> str:
    errors = row["errors"]
    weighed = ", ".join(f"{name} {weight:g}" for name, weight in row["weights"].items())
    pairs = (
        f"{name} {number(errors[f'{name}, all 1'], 2)} with 1 for all, "
        f"**{number(errors[name], 2)}** weighed"
        for name in _MODELS
    )
    return f"- {row['name']} ({ROWS[row['name']].told}; {weighed}): {'; '.join(pairs)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "equation_weights", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
