"""Problems that are given to `pinn.solve` with a limit in time and nothing else, as a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import pinn
from experiments.bench.report import number, table
from experiments.resumable import machine_line


def solved(
    problem: pinn.Problem, seconds: float, seed: int, **given: Any
) -> tuple[pinn.Solution, dict[str, Any]]:
    """Solve a problem with the defaults but for what is given; returns figures of the run, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        solution = pinn.solve(problem, seed=seed, seconds=seconds, **given)
        took = time.perf_counter() - began
    return solution, {
        "limit": seconds,
        "trusted": solution.report.error_estimate.trusted,
        "seconds": took,
        "decisions": [str(one) for one in solution.report.decisions],
        "warnings": [str(warning.message) for warning in caught],
    }


def beside_coordinates_alone(problem: pinn.Problem, seconds: float, seed: int) -> dict[str, Any]:
    """Solve a problem, and again with a network that sees coordinates alone; returns figures.

    The error is that of the worst unknown.
    """
    solution, figures = solved(problem, seconds, seed)
    errors, estimate = solution.report.rel_l2, solution.report.error_estimate.relative_l2
    worst = max(errors, key=errors.__getitem__)
    alone = pinn.AutoModel(features=problem.domain.coordinates)
    plain, _ = solved(problem, seconds, seed, model=alone, error_bars=False)
    return {
        "error": errors[worst], "estimate": float(estimate.get(worst, np.nan)),
        "alone": max(plain.report.rel_l2.values()), **figures,
    }  # fmt: skip


def both_in_lines(rows: Sequence[Mapping[str, Any]], told: Mapping[str, str]) -> str:
    """Return a line for each row of `beside_coordinates_alone`; told: what each problem is."""
    return "\n".join(
        f"- {row['name']} ({told[row['name']]}): {number(row['alone'], 2)} by the "
        f"coordinates alone, **{number(row['error'], 2)}** by default"
        for row in rows
    )


def estimated(found: Mapping[str, float], unknown: str = "u") -> float:
    """Return the estimate of an unknown's error, nan where there is none."""
    return float(found.get(unknown, np.nan))


def page(title: str, error: str, told: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a page; error: what is measured. told: a paragraph on the problems."""
    header = ["problem", error, "estimated", "believed", "limit, s", "seconds in all"]
    return "\n\n".join([
        f"# {title}",
        "\n".join(f"`{command}`" for command in _commands(rows)),
        "\n".join(sorted({machine_line(row) for row in rows})),
        f"Nothing is given to `pinn.solve` but the problem and the limit in time. {told}",
        table(header, [cells(row) for row in rows]),
        *(f"{row['name']}: {text}" for row in rows for text in row["warnings"]),
    ]) + "\n"  # fmt: skip


def _commands(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({row["measured"]["command"] for row in rows})


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return what the table says of a row."""
    return [
        row["name"], *(number(row[key], 2) for key in ("error", "estimate")),
        "yes" if row["trusted"] else "no",
        *(number(row[key], 3) for key in ("limit", "seconds")),
    ]  # fmt: skip
