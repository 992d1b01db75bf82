"""Solve problems whose inputs are functions, with the defaults and a limit in time.

    python -m experiments.operators [--only NAME ...] [--seed N] [--anew] [--out FOLDER] [--peer]

Nothing is given to `pinn.solve` but the problem, the seed and the limit. When training has ended
the solution is compared, for twenty functions that it was not trained on and for one that is
no draw, with formulas, quadratures or spectral methods on a grid all over the domain. --peer has
DeepXDE, where it is installed, train its own examples for the same functions as long.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pinn
from experiments.bench.report import number, table
from experiments.by_default import estimated, solved
from experiments.command_line import parser
from experiments.one_by_one import measure_all
from experiments.resumable import machine_line
from pinn.functions import Drawn

_LINE = pinn.Interval("x", 0, 1)
_IN_TIME = _LINE * pinn.Time("t", 0, 1)
_SQUARE = _LINE * pinn.Interval("y", 0, 1)
DRAWN = 20
# Rows that DeepXDE has an example of.
PEERS = ("antiderivative", "diffusion and reaction")
_X, _T = np.linspace(0, 1, 101), np.linspace(0, 1, 21)
_NODES = 64

Function = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Row:
    """A problem of functions v. exact: v -> u on the grid; known: v that is no draw."""

    title: str
    given: Mapping[str, Any]
    exact: Callable[[Function], np.ndarray]
    known: str
    known_function: Function
    seconds: float = 60

    def problem(self) -> pinn.Problem:
        """Return the problem."""
        return pinn.Problem(unknowns=["u"], **self.given)

    def places(self) -> dict[str, np.ndarray]:
        """Return the grid by coordinate, each of its shape."""
        axes = {"x": _X, "y": _X, "t": _T}
        names = [n for n in self.given["domain"].coordinates if n in axes]
        meshed = np.meshgrid(*(axes[n] for n in names), indexing="ij")
        return dict(zip(names, meshed, strict=True))


# ---- what solutions are compared with


def chebyshev(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes on [0, 1], increasing, and the matrix of the derivative there.

    Trefethen, Spectral Methods in MATLAB, 2000, program 6.
    """
    k = np.arange(count + 1)
    x = np.cos(np.pi * k / count)
    c = np.where((k == 0) | (k == count), 2.0, 1.0) * (-1.0) ** k
    apart = x[:, None] - x
    matrix = np.outer(c, 1 / c) / (apart + np.eye(count + 1))
    matrix -= np.diag(matrix.sum(axis=1))
    return (1 - x) / 2, -2 * matrix


def to_grid(nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values at nodes, along the first axis, on the even grid."""
    from scipy.interpolate import BarycentricInterpolator

    return BarycentricInterpolator(nodes, values)(_X)


def antiderivative(v: Function) -> np.ndarray:
    """Return the integral of v from 0, by Gauss's quadrature from each point of the grid on."""
    t, w = np.polynomial.legendre.leggauss(12)
    h = _X[1] - _X[0]
    pieces = (v(_X[:-1, None] + h * (t + 1) / 2) @ w) * h / 2
    return np.concatenate([[0.0], np.cumsum(pieces)])


def carried(v: Function) -> np.ndarray:
    """Return v, of period 1, carried along with speed 1."""
    return v((_X[:, None] - _T) % 1)


def reacting(v: Function) -> np.ndarray:
    """Return u of u_t = 0.01 u_xx - 0.01 u**2 + v, by Chebyshev's nodes and an implicit method."""
    from scipy.integrate import solve_ivp

    nodes, first = chebyshev(_NODES)
    second, source = (first @ first)[1:-1, 1:-1], v(nodes)[1:-1]

    def rate(_: float, u: np.ndarray) -> np.ndarray:
        return 0.01 * second @ u - 0.01 * u**2 + source

    def slopes(_: float, u: np.ndarray) -> np.ndarray:
        return 0.01 * second - np.diag(0.02 * u)

    found = solve_ivp(
        rate, (0, 1), np.zeros(_NODES - 1), "Radau", _T, rtol=1e-9, atol=1e-11, jac=slopes
    )
    return to_grid(nodes, np.pad(found.y, ((1, 1), (0, 0))))


def darcy(v: Function) -> np.ndarray:
    """Return u of (exp(v) u_x)_x = -1, which two quadratures make."""
    t, w = np.polynomial.legendre.leggauss(12)
    h = _X[1] - _X[0]
    at = _X[:-1, None] + h * (t + 1) / 2
    resistance = np.exp(-v(at))
    parts = [np.concatenate([[0.0], np.cumsum((f @ w) * h / 2)])
             for f in (resistance, at * resistance)]  # fmt: skip
    flux = parts[1][-1] / parts[0][-1]
    return flux * parts[0] - parts[1]


def burgers(v: Function) -> np.ndarray:
    """Return u of u_t + u u_x = 0.05 u_xx from v, of period 1, by waves."""
    from scipy.integrate import solve_ivp

    count = 256
    x = np.arange(count) / count
    waves = 2j * np.pi * np.fft.rfftfreq(count, 1 / count)

    def rate(_: float, u: np.ndarray) -> np.ndarray:
        return np.fft.irfft(0.05 * waves**2 * np.fft.rfft(u) - waves * np.fft.rfft(u * u) / 2)

    found = solve_ivp(rate, (0, 1), v(x), "BDF", _T, rtol=1e-8, atol=1e-10).y
    phases = np.exp(np.outer(_X, waves)) * np.where(np.arange(len(waves)) == 0, 1, 2)
    return np.real(phases @ np.fft.rfft(found, axis=0)) / count


def plate(v: Function) -> np.ndarray:
    """Return u of -laplacian(u) = v in a square with u = 0 around it, by Chebyshev's nodes."""
    nodes, first = chebyshev(40)
    second = (first @ first)[1:-1, 1:-1]
    inner = nodes[1:-1]
    rates, vectors = np.linalg.eig(second)
    back = np.linalg.inv(vectors)
    source = back @ v(*np.meshgrid(inner, inner, indexing="ij")) @ back.T
    found = vectors @ (-source / (rates[:, None] + rates)) @ vectors.T
    whole = np.pad(np.real(found), 1)
    return to_grid(nodes, to_grid(nodes, whole).T).T


def _space(length: float, **others: Any) -> dict[str, Any]:
    return {"v": {"over": "x", "length": length, **others}}


_WALLS = [pinn.Dirichlet("u", 0, hard=True)]
_START = pinn.Initial("u", 0, hard=True)
_RING = pinn.Periodic("u", "x", hard=True)

ROWS = {
    "antiderivative": Row(
        "u_x = v, u(0) = 0",
        {"domain": _LINE, "function_spaces": _space(0.2), "equations": {"e": "u_x = v"},
         "conditions": [pinn.Dirichlet("u", 0, on="x=0", hard=True)]},
        antiderivative, "sin(pi*x)", lambda x: np.sin(np.pi * x),
    ),
    "advection": Row(
        "u_t + u_x = 0, u(x, 0) = v, of period 1",
        {"domain": _IN_TIME, "equations": {"e": "u_t + u_x = 0"},
         "function_spaces": _space(1 / (2 * np.pi), periodic=True),
         "conditions": [_RING, pinn.Initial("u", "v", hard=True)]},
        carried, "sin(2*pi*x)", lambda x: np.sin(2 * np.pi * x),
    ),
    "diffusion and reaction": Row(
        "u_t - 0.01 u_xx + 0.01 u^2 = v, u = 0 at ends and start",
        {"domain": _IN_TIME, "function_spaces": _space(0.2),
         "equations": {"e": "u_t - 0.01*u_xx + 0.01*u**2 = v"}, "conditions": [_START, *_WALLS]},
        reacting, "sin(pi*x)", lambda x: np.sin(np.pi * x),
    ),
    "plate": Row(
        "-laplacian(u) = v(x, y), u = 0 around a square",
        {"domain": _SQUARE, "equations": {"e": "-laplacian(u) = v"}, "conditions": _WALLS,
         "function_spaces": {"v": {"over": ["x", "y"], "length": 0.4}}},
        plate, "sin(pi*x)*sin(pi*y)", lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y),
    ),
    "Darcy's flow": Row(
        "(exp(v) u_x)_x = -1, u = 0 at the ends",
        {"domain": _LINE, "function_spaces": _space(0.3, scale=0.5),
         "equations": {"e": "diff(exp(v)*u_x, x) = -1"}, "conditions": _WALLS},
        darcy, "x - 0.5", lambda x: x - 0.5,
    ),
    "Burgers": Row(
        "u_t + u u_x = 0.05 u_xx, u(x, 0) = v, of period 1",
        {"domain": _IN_TIME, "equations": {"e": "u_t + u*u_x = 0.05*u_xx"},
         "function_spaces": _space(0.3, periodic=True, scale=0.5),
         "conditions": [_RING, pinn.Initial("u", "v", hard=True)]},
        burgers, "0.5*sin(2*pi*x)", lambda x: 0.5 * np.sin(2 * np.pi * x),
    ),
}  # fmt: skip


def drawn(problem: pinn.Problem) -> list[Drawn]:
    """Return the functions that errors are measured for."""
    return [problem.functions["v"].draw(1000 + k) for k in range(DRAWN)]


def by_deepxde(name: str, seconds: float, seed: int) -> dict[str, Any]:
    """Return what DeepXDE comes to in so many seconds, in a process of its own."""
    command = [sys.executable, "-m", "experiments.operators_deepxde", name, f"{seconds:g}"]
    done = subprocess.run([*command, str(seed)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(row: Row, seed: int, peer: bool) -> dict[str, Any]:
    """Solve one row; returns its figures. peer: whether DeepXDE trains as long, after us."""
    problem = row.problem()
    solution, figures = solved(problem, row.seconds, seed)
    functions, places = problem.functions["v"], row.places()

    def error(v: Any, exact: np.ndarray) -> float:
        found = solution.evaluate(**places, v=v)["u"].reshape(exact.shape)
        return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))

    errors = [error(v, row.exact(v)) for v in drawn(problem)]
    (name,) = (name for name, one in ROWS.items() if one is row)
    by_peer = by_deepxde(name, row.seconds, seed) if peer and name in PEERS else None
    numbers, left = functions.coefficients(row.known)
    whole = Drawn(functions, numbers)
    return {
        "title": row.title, "modes": len(functions.names), "errors": errors,
        "error": float(np.median(errors)), "worst": max(errors), "left": left,
        "known": row.known, "known_error": error(row.known, row.exact(row.known_function)),
        "known_as_modes": error(row.known, row.exact(whole)),
        "estimate": estimated(solution.report.error_estimate.relative_l2), "peer": by_peer,
        **figures,
    }  # fmt: skip


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page."""
    header = [
        "problem", "equation", "modes", "median error", "worst", "DeepXDE's median", "worst", "of",
        "its error", "estimated", "believed", "limit, s", "seconds in all",
    ]  # fmt: skip
    return "\n\n".join([
        "# Functions as inputs, with the defaults",
        "\n".join(sorted({f"`{row['measured']['command']}`" for row in rows})),
        "\n".join(sorted({machine_line(row) for row in rows})),
        "Nothing is given to `pinn.solve` but the problem and the limit in time. Errors are "
        f"relative L2 errors on a grid, each of one function: the median and the worst of {DRAWN} "
        "functions that are drawn as training draws them, with other seeds, and that of one that "
        "is no draw, whose modes leave out what the solution does not know. DeepXDE trains its own "
        "examples of the same problems, after us and as long, with PyTorch in single precision.",
        table(header, [_cells(row) for row in rows]),
        *(_of_peer(row) for row in rows if row["peer"]),
        *(f"{row['name']}: {text}" for row in rows for text in row["warnings"]),
    ]) + "\n"  # fmt: skip


def _of_peer(row: Mapping[str, Any]) -> str:
    peer = row["peer"]
    versions = ", ".join(f"{name} {version}" for name, version in peer["versions"].items())
    return (
        f"{row['name']}: DeepXDE took {peer['steps']} of its example's {peer['steps_of_example']} "
        f"steps in {peer['seconds']:.3g} s ({versions})."
    )


def _cells(row: Mapping[str, Any]) -> list[str]:
    peer = row["peer"]["errors"] if row["peer"] else None
    return [
        row["name"], row["title"], str(row["modes"]),
        *(number(row[key], 2) for key in ("error", "worst")),
        *(number(of(peer), 2) if peer else "-" for of in (np.median, max)),
        row["known"].replace("*", "\\*"),
        *(number(row[key], 2) for key in ("known_error", "estimate")),
        "yes" if row["trusted"] else "no",
        *(number(row[key], 3) for key in ("limit", "seconds")),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage."""
    made = parser("experiments.operators", __doc__, "these problems")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--peer", action="store_true", help="train DeepXDE as long, too")
    options = made.parse_args(arguments)
    return measure_all(
        options, "operators", ROWS, lambda row: measure(row, options.seed, options.peer), markdown,
        _cells, f"python -m experiments.operators --seed {options.seed}{' --peer' * options.peer}",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
