"""Find coefficients from data with noise, with the defaults and with equal weights.

    python -m experiments.noisy_data [--only NAME ...] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and the limit, and the second time equal
weights. Every problem has a solution in closed form, or scipy's with 11 digits, which data are
taken from at random places, with normal noise of a told size. Errors are measured when training
has ended, on a grid all over the domain.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import pinn
from experiments.bench.report import number, table
from experiments.by_default import solved
from experiments.one_by_one import measure_seed
from experiments.resumable import machine_line

_LINE = pinn.Interval("x", 0, 1)
_PLATE = _LINE * pinn.Interval("y", 0, 1)
_GRIDS = {1: 401, 2: 41, 3: 15}
_SECONDS = 20.0

Exact = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Row:
    """An inverse problem.

    seen: unknown -> how many measurements of it there are. noise: as a share of what these vary by.
    exact: unknown or field -> its values at places. coefficients: name -> (start, truth).
    """

    domain: pinn.Shape
    equations: Mapping[str, str]
    exact: Mapping[str, Exact]
    seen: Mapping[str, int]
    noise: float
    coefficients: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    conditions: Sequence[pinn.Condition] = ()
    fields: Sequence[pinn.Field] = ()
    unmeasured: Sequence[str] = ()

    def problem(self, seed: int) -> pinn.Problem:
        """Return the problem with data of its own for each seed."""
        rng = np.random.default_rng(seed)
        data = [self._data(name, count, rng) for name, count in self.seen.items()]
        fields = {one.name for one in self.fields}
        return pinn.Problem(
            self.domain, [*(n for n in self.exact if n not in fields), *self.unmeasured],
            dict(self.equations), [*self.conditions, *data], fields=list(self.fields),
            parameters={name: start for name, (start, _) in self.coefficients.items()},
        )  # fmt: skip

    def _data(self, name: str, count: int, rng: np.random.Generator) -> pinn.Data:
        low, high = np.array(list(self.domain.bounds.values())).T
        columns = rng.uniform(low, high, (count, len(low))).T
        places = dict(zip(self.domain.coordinates, columns, strict=True))
        values = self.exact[name](**places)
        sigma = self.noise * float(np.std(values))
        values = values + sigma * rng.standard_normal(count)
        return pinn.Data(name, {**places, name: values}, sigma=sigma)

    def places(self) -> dict[str, np.ndarray]:
        """Return a grid of places by coordinate, (n,) each."""
        bounds = self.domain.bounds
        axes = [np.linspace(*one, _GRIDS[len(bounds)]) for one in bounds.values()]
        grid = np.meshgrid(*axes, indexing="ij")
        return {name: places.ravel() for name, places in zip(bounds, grid, strict=True)}


def _in_time(
    slopes: Callable[[float, np.ndarray], list[float]], start: Sequence[float], end: float
) -> Callable[[int], Exact]:
    """Return what makes the k-th component of a solution in time."""
    found = solve_ivp(
        slopes, (0, end), start, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )  # fmt: skip
    return lambda k: lambda t: found.sol(t)[k]


_EPIDEMIC = _in_time(
    lambda _, y: [-0.6 * y[0] * y[1], 0.6 * y[0] * y[1] - 0.15 * y[1]], [0.99, 0.01], 50
)
_HUNT = _in_time(
    lambda _, y: [y[0] * (1.1 - 0.4 * y[1]), -y[1] * (0.4 - 0.1 * y[0])], [10, 5], 15
)
_NERVE = _in_time(
    lambda _, y: [3 * (y[0] - y[0] ** 3 / 3 + y[1]), -(y[0] - 0.2 + 0.2 * y[1]) / 3], [-1, 1], 15
)
_PENDULUM = _in_time(lambda _, y: [y[1], -0.2 * y[1] - 4 * np.sin(y[0])], [2, 0], 10)


def _front(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return u of Burgers' equation with viscosity 0.1: a front that travels at speed 1/2."""
    return 0.5 - 0.5 * np.tanh(2.5 * (x - 0.5 * t))


def _cloud(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return a cloud that drifts with 0.6 and spreads with 0.05."""
    width = 0.1 + 0.2 * t
    return np.sqrt(0.1 / width) * np.exp(-((x - 0.5 - 0.6 * t) ** 2) / width)


def _string(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return two waves on a string, of speed 3/2."""
    first, second = (np.sin(k * x) * np.cos(1.5 * k * t) for k in (np.pi, 2 * np.pi))
    return first + second / 2


def _vortices(x: np.ndarray, y: np.ndarray, t: np.ndarray, turned: float) -> np.ndarray:
    """Return a component of Taylor's vortices, of viscosity 0.1; turned: 0 or pi/2."""
    return np.cos(x + turned) * np.sin(y + turned) * np.exp(-0.2 * t)


_MOMENTUM = "{0}_t + u*{0}_x + v*{0}_y + p_{1} - nu*laplacian({0})"

ROWS = {
    "a spring": Row(
        pinn.Interval("x", 0, 3), {"spring": "u_xx + k*u"}, {"u": lambda x: np.sin(4 * x)},
        {"u": 60}, 0.15, {"k": (12.0, 16.0)},
    ),
    "a pendulum with friction": Row(
        pinn.Time("t", 0, 10), {"swing": "q_tt + c*q_t + g*sin(q)"}, {"q": _PENDULUM(0)},
        {"q": 50}, 0.1, {"c": (0.5, 0.2), "g": (3.0, 4.0)},
    ),
    "an epidemic, the ill seen alone": Row(
        pinn.Time("t", 0, 50), {"well": "S_t + b*S*I", "ill": "I_t - b*S*I + g*I"},
        {"S": _EPIDEMIC(0), "I": _EPIDEMIC(1)}, {"I": 40}, 0.05,
        {"b": (0.3, 0.6), "g": (0.3, 0.15)}, [pinn.Initial("S", 0.99), pinn.Initial("I", 0.01)],
    ),
    "prey and predators": Row(
        pinn.Time("t", 0, 15), {"prey": "x_t - x*(a - b*y)", "hunters": "y_t + y*(c - d*x)"},
        {"x": _HUNT(0), "y": _HUNT(1)}, {"x": 40, "y": 40}, 0.1,
        {"a": (1.0, 1.1), "b": (0.3, 0.4), "c": (0.3, 0.4), "d": (0.2, 0.1)},
    ),
    "a nerve (FitzHugh-Nagumo)": Row(
        pinn.Time("t", 0, 15), {"v": "v_t - c*(v - v**3/3 + r)", "r": "r_t + (v - a + b*r)/c"},
        {"v": _NERVE(0), "r": _NERVE(1)}, {"v": 60, "r": 60}, 0.1,
        {"a": (0.5, 0.2), "b": (0.5, 0.2), "c": (2.0, 3.0)},
    ),
    "a rod that cools, its start not known": Row(
        _LINE * pinn.Time("t", 0, 1), {"heat": "u_t - k*u_xx"},
        {"u": lambda x, t: np.sin(np.pi * x) * np.exp(-0.1 * np.pi**2 * t)},
        {"u": 100}, 0.2, {"k": (0.5, 0.1)}, [pinn.Dirichlet("u", 0)],
    ),
    "waves on a string, their start not known": Row(
        _LINE * pinn.Time("t", 0, 2), {"wave": "u_tt - c**2*u_xx"}, {"u": _string},
        {"u": 120}, 0.15, {"c": (1.0, 1.5)}, [pinn.Dirichlet("u", 0)],
    ),
    "a front (Burgers)": Row(
        pinn.Interval("x", -2, 2) * pinn.Time("t", 0, 2), {"burgers": "u_t + l*u*u_x - nu*u_xx"},
        {"u": _front}, {"u": 200}, 0.12, {"l": (0.5, 1.0), "nu": (0.3, 0.1)},
    ),
    "a cloud that drifts": Row(
        pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 1), {"drift": "u_t + v*u_x - D*u_xx"},
        {"u": _cloud}, {"u": 150}, 0.15, {"v": (0.0, 0.6), "D": (0.2, 0.05)},
        [pinn.Initial("u", "exp(-(x - 0.5)**2/0.1)"), pinn.Neumann("u", 0)],
    ),
    "vortices in a plane, their pressure not seen": Row(
        pinn.Interval("x", 0, 6) * pinn.Interval("y", 0, 6) * pinn.Time("t", 0, 2),
        {"mx": _MOMENTUM.format("u", "x"), "my": _MOMENTUM.format("v", "y"), "mass": "u_x + v_y"},
        {"u": partial(_vortices, turned=0.0), "v": partial(_vortices, turned=np.pi / 2)},
        {"u": 300, "v": 300}, 0.1, {"nu": (0.5, 0.1)}, unmeasured=["p"],
    ),
    "the load of a string": Row(
        _LINE, {"string": "u_xx + q"},
        {"u": lambda x: np.sin(np.pi * x), "q": lambda x: np.pi**2 * np.sin(np.pi * x)},
        {"u": 80}, 0.05, conditions=[pinn.Dirichlet("u", 0)], fields=[pinn.Field("q", ["x"])],
    ),
    "the rate of a reaction along a pipe": Row(
        _LINE * pinn.Time("t", 0, 1),
        {"pipe": "u_t - 0.1*u_xx + k*u - exp(-t)*sin(pi*x)*(0.1*pi**2 - 1)"
                 " - (1 + cos(pi*x)/2)*(exp(-t)*sin(pi*x) + x)"},
        {"u": lambda x, t: np.exp(-t) * np.sin(np.pi * x) + x,
         "k": lambda x, t: 1 + np.cos(np.pi * x) / 2},
        {"u": 150}, 0.05,
        conditions=[pinn.Dirichlet("u", "x"), pinn.Initial("u", "sin(pi*x) + x")],
        fields=[pinn.Field("k", ["x"])],
    ),
    "the conductivity of a plate": Row(
        _PLATE,
        {"plate": "div(a*grad(u)) + 2*pi**2*(1 + x*y)*sin(pi*x)*sin(pi*y)"
                  " - pi*y*cos(pi*x)*sin(pi*y) - pi*x*sin(pi*x)*cos(pi*y)"},
        {"u": lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y), "a": lambda x, y: 1 + x * y},
        {"u": 150}, 0.15,
        conditions=[pinn.Dirichlet("u", 0), pinn.Dirichlet("a", "1 + x*y")],
        fields=[pinn.Field("a", ["x", "y"], lower=0)],
    ),
}  # fmt: skip


def measure(row: Row, seed: int) -> dict[str, Any]:
    """Solve one row twice; returns the figures of both runs."""
    equal = dict.fromkeys(row.equations, 1.0)
    return {"default": _figures(row, seed), "equal": _figures(row, seed, weighting=equal)}


def _figures(row: Row, seed: int, **given: Any) -> dict[str, Any]:
    solution, figures = solved(row.problem(seed), _SECONDS, seed, error_bars=False, **given)
    found, errors = solution.evaluate(**row.places()), {}
    for name, exact in row.exact.items():
        right = exact(**row.places())
        errors[name] = float(np.linalg.norm(found[name].ravel() - right) / np.linalg.norm(right))
    sure = solution.report.recovery.standard_errors
    return {
        "errors": errors,
        "coefficients": {
            name: {
                "error": solution.parameters[name] - truth,
                "standard_error": sure.get(name, math.nan),
            }
            for name, (_, truth) in row.coefficients.items()
        },
        "solved": not solution.report.unsolved,
        "steps": solution.report.steps,
        **figures,
    }


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    header = ["problem", "coefficients, standard errors off", "equal weights",
              "unknowns and fields, relative L2", "equal weights", "solved", "equal weights"]
    return "\n\n".join([
        "# Data with noise, with the defaults and with equal weights",
        "\n".join(f"`{one}`" for one in sorted({row["measured"]["command"] for row in rows})),
        "\n".join(sorted({machine_line(row) for row in rows})),
        f"Noise of 5 to 20 % of what the data vary by, whose size is told; {_SECONDS:g} s each. "
        "Nothing else is given but equal weights where it says so. Coefficients are told by how "
        "many of their standard errors they are off: two thirds should be less than one.",
        table(header, [cells(row) for row in rows]),
    ]) + "\n"  # fmt: skip


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return what the table says of a row."""
    both = [row["default"], row["equal"]]
    return [
        row["name"], *map(_coefficients, both), *map(_errors, both),
        *("yes" if one["solved"] else "no" for one in both),
    ]  # fmt: skip


def _coefficients(run: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {number(one['error'] / one['standard_error'], 2)}"
        for name, one in run["coefficients"].items()
    ) or "-"  # fmt: skip


def _errors(run: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number(one, 2)}" for name, one in run["errors"].items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    return measure_seed(arguments, "noisy_data", __doc__, ROWS, measure, markdown, cells)


if __name__ == "__main__":
    sys.exit(main())
