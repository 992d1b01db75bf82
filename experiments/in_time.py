"""Solve equations in time alone with the defaults, beside integrators of scipy.

    python -m experiments.in_time [--only NAME ...] [--seconds S] [--seed N] [--anew] [--out FOLDER]

Nothing is given to `pinn.solve` but the problem, the seed and, where asked for, a limit in time.
The error is measured when training has ended, against a formula or two integrators whose difference
is told beside it: what is smaller than that is theirs. After every row the results are written.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import erf

import pinn
from experiments.bench.report import number, table
from experiments.command_line import parser
from experiments.one_by_one import measure_all
from experiments.resumable import machine_line

_TIMES = 2001
# Integrators of two families, as tight as they go.
_METHODS = ("DOP853", "Radau")
_TOLERANCES = {"DOP853": (2.3e-14, 1e-15), "Radau": (1e-12, 1e-15)}  # relative, absolute


@dataclass(frozen=True)
class Row:
    """A system of equations from t = 0, and what it is compared with.

    equations: as texts. starts: unknown -> value at 0, and its first derivative where the equation
    is of second order. right: (t, y) -> dy/dt, y being the starts in order; or exact, t -> the
    unknowns. stiff: only an implicit integrator gets through.
    """

    end: float
    equations: Mapping[str, str]
    starts: Mapping[str, Sequence[float]]
    right: Callable[[float, np.ndarray], Sequence[float]] | None = None
    exact: Callable[[np.ndarray], Sequence[np.ndarray]] | None = None
    stiff: bool = False

    def problem(self) -> pinn.Problem:
        """Return the problem, with hard conditions."""
        conditions = [
            pinn.Initial(name, value, order=order, hard=True)
            for name, values in self.starts.items()
            for order, value in enumerate(values)
        ]
        return pinn.Problem(
            pinn.Time("t", 0, self.end), list(self.starts), self.equations, conditions
        )

    def reference(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the unknowns at times, (unknowns, n), and how far two references of each are."""
        if self.exact is not None:
            found = np.array(self.exact(t))
            return found, np.zeros(len(found))
        y0 = [value for values in self.starts.values() for value in values]
        places = np.cumsum([0, *map(len, self.starts.values())])[:-1]
        methods = _METHODS[1:] if self.stiff else _METHODS
        found = [self._integrated(t, y0, method, 1.0)[places] for method in methods]
        if self.stiff:  # the other one is the same with a tenth of its digits left out
            found.append(self._integrated(t, y0, _METHODS[1], 10.0)[places])
        return found[0], np.abs(found[0] - found[1]).max(axis=1)

    def _integrated(
        self, t: np.ndarray, y0: Sequence[float], method: str, looser: float
    ) -> np.ndarray:
        relative, absolute = _TOLERANCES[method]
        return solve_ivp(
            self.right, (0, self.end), y0, method, t, rtol=looser * relative, atol=absolute
        ).y  # fmt: skip


def _pulse(t: np.ndarray) -> list[np.ndarray]:
    """u' + u = 100 exp(-((t - 5) / w)^2), u(0) = 1, w = 0.01."""
    w = 0.01
    bell = 50 * w * np.sqrt(np.pi) * np.exp(5 - t + w * w / 4)
    return [np.exp(-t) + bell * (1 + erf((t - 5) / w - w / 2))]


def _chain(t: np.ndarray) -> list[np.ndarray]:
    """a -> b -> c with rates 1 and 1000."""
    b = (np.exp(-t) - np.exp(-1000 * t)) / 999
    return [np.exp(-t), b, 1 - np.exp(-t) - b]


def _stiff(t: np.ndarray) -> list[np.ndarray]:
    """u' = -1000 (u - cos t), u(0) = 0."""
    k = 1000.0
    return [(k * k * (np.cos(t) - np.exp(-k * t)) + k * np.sin(t)) / (1 + k * k)]


def _oscillator(mu: float, end: float) -> Row:
    return Row(
        end, {"e": f"u_tt - {mu:g}*(1 - u**2)*u_t + u"}, {"u": (2.0, 0.0)},
        lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]], stiff=mu > 10,
    )  # fmt: skip


ROWS = {
    "decay": Row(
        60, {"e": "u_t + u"}, {"u": (1.0,)}, exact=lambda t: [np.exp(-t)]
    ),
    "logistic growth to 1e6": Row(
        40, {"e": "u_t - u*(1 - u/1e6)"}, {"u": (1.0,)},
        exact=lambda t: [1e6 / (1 + (1e6 - 1) * np.exp(-t))],
    ),
    "pendulum from 2.5": Row(
        20, {"e": "u_tt + sin(u)"}, {"u": (2.5, 0.0)}, lambda t, y: [y[1], -np.sin(y[0])]
    ),
    "Lotka and Volterra": Row(
        20, {"e": "x_t - 1.5*x + x*y", "f": "y_t + 3*y - x*y"}, {"x": (10.0,), "y": (5.0,)},
        lambda t, y: [1.5 * y[0] - y[0] * y[1], -3 * y[1] + y[0] * y[1]],
    ),
    "epidemic of 1e6 people": Row(
        200,
        {"s": "S_t + 0.5*S*I/1e6", "e": "E_t - 0.5*S*I/1e6 + 0.2*E", "i": "I_t - 0.2*E + 0.1*I"},
        {"S": (999999.0,), "E": (0.0,), "I": (1.0,)},
        lambda t, y: [
            -0.5 * y[0] * y[2] / 1e6, 0.5 * y[0] * y[2] / 1e6 - 0.2 * y[1], 0.2 * y[1] - 0.1 * y[2]
        ],
    ),
    "van der Pol, mu = 1": _oscillator(1, 20),
    "van der Pol, mu = 5": _oscillator(5, 20),
    "van der Pol, mu = 100": _oscillator(100, 200),
    "Lorenz": Row(
        10, {"a": "x_t - 10*(y - x)", "b": "y_t - x*(28 - z) + y", "c": "z_t - x*y + 8/3*z"},
        {"x": (1.0,), "y": (1.0,), "z": (1.0,)},
        lambda t, y: [
            10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]
        ],
    ),
    "a stiff equation, k = 1000": Row(
        10, {"e": "u_t + 1000*(u - cos(t))"}, {"u": (0.0,)}, exact=_stiff
    ),
    "a chain of decays, k = 1000": Row(
        10, {"a": "a_t + a", "b": "b_t - a + 1000*b", "c": "c_t - 1000*b"},
        {"a": (1.0,), "b": (0.0,), "c": (0.0,)}, exact=_chain,
    ),
    "Robertson": Row(
        40,
        {
            "a": "a_t + 0.04*a - 1e4*b*c", "b": "b_t - 0.04*a + 1e4*b*c + 3e7*b**2",
            "c": "c_t - 3e7*b**2",
        },
        {"a": (1.0,), "b": (0.0,), "c": (0.0,)},
        lambda t, y: [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2,
        ],
        stiff=True,
    ),
    "a pulse of a hundredth": Row(
        10, {"e": "u_t + u - 100*exp(-((t - 5)/0.01)**2)"}, {"u": (1.0,)}, exact=_pulse
    ),
}  # fmt: skip


def measure(row: Row, seed: int, seconds: float | None) -> dict[str, Any]:
    """Solve one row; returns its figures. Errors are shares of the largest value of an unknown."""
    problem = row.problem()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        solution = pinn.solve(problem, seed=seed, seconds=seconds, error_bars=False)
        solved = time.perf_counter()
        estimate = solution.error_estimate()
        estimated = time.perf_counter()
    # evenly, and closer to the start, where stiff ones change
    t = np.union1d(np.linspace(0, row.end, _TIMES), row.end * np.geomspace(1e-7, 1e-3, 100))
    right, apart = row.reference(t)
    found = solution.evaluate(t=t)
    sizes = np.abs(right).max(axis=1)
    errors = [np.abs(found[n].ravel() - r).max() for n, r in zip(problem.unknowns, right,
                                                                strict=True)]  # fmt: skip
    windows = getattr(solution.experiment.model, "count", 1)
    return {
        "error": float(max(errors / sizes)),
        "reference_apart": float(max(apart / sizes)),
        "estimate": float(max(estimate.maximum[n] / s for n, s in zip(problem.unknowns, sizes,
                                                                     strict=True))),
        "trusted": estimate.trusted,
        "seconds": solved - began,
        "estimate_seconds": estimated - solved,
        "windows": windows,
        "parameters": solution.theta.size,
        "model": solution.report.decisions[0].what,
        "warnings": [str(warning.message) for warning in caught],
    }  # fmt: skip


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    commands = sorted({row["measured"]["command"] for row in rows})
    header = ["equations", "largest error", "references apart", "estimated", "believed", "windows",
              "seconds", "for the estimate"]  # fmt: skip
    return "\n\n".join([
        "# Equations in time alone, with the defaults",
        "\n".join(f"`{command}`" for command in commands),
        "\n".join(sorted({machine_line(row) for row in rows})),
        "Nothing is given to `pinn.solve` but the problem. Errors are the largest at any of some "
        "2100 times, as shares of the largest value of the unknown, of the worst one. They are "
        "measured against a formula, or against scipy's DOP853 (stiff ones: Radau) at tolerances "
        "of 1e-12 and less; `references apart` is how far another integrator, or the same with ten "
        "times the tolerance, is from that.",
        table(header, [_line(row) for row in rows]),
        *(f"{row['name']}: {text}" for row in rows for text in row["warnings"]),
    ]) + "\n"  # fmt: skip


def _line(row: Mapping[str, Any]) -> list[str]:
    return [
        row["name"], *(number(row[key], 2) for key in ("error", "reference_apart", "estimate")),
        "yes" if row["trusted"] else "no", str(row["windows"]),
        *(number(row[key], 3) for key in ("seconds", "estimate_seconds")),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    limit = f" --seconds {options.seconds:g}" if options.seconds else ""
    return measure_all(
        options, "in_time", ROWS, lambda row: measure(row, options.seed, options.seconds), markdown,
        _line, f"python -m experiments.in_time --seed {options.seed}{limit}",
    )  # fmt: skip


def _parser() -> Any:
    made = parser("experiments.in_time", __doc__, "these equations")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--seconds", type=float, help="limit of each run (none)")
    return made


if __name__ == "__main__":
    sys.exit(main())
