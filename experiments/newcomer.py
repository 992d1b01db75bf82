"""Solve the problems of a newcomer with the defaults only, and write down how far that goes.

    python -m experiments.newcomer [--only NAME ...] [--seed N] [--seconds S] [--anew] [--out DIR]

Nothing is given to `pinn.solve` but the problem, the seed and the limit in time: no network, points
or training. The error against the reference is measured when training has ended and takes no part
in it. After every row the results are written; rows that a results file of the same command's
settings, sources, machine and versions has already are kept, unless --only names them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pinn
from experiments.bench.report import number, table
from experiments.command_line import positive
from experiments.newcomer_problems import LEFT_OUT, ROWS, Row
from experiments.resumable import installed_versions
from pinn.checks import nearest
from pinn.files import write_json, write_text
from pinn.runs.machine import machine_and_versions

ROOT = Path(__file__).resolve().parents[1]
_BUDGET = 60.0  # seconds in which the best figure is to be reached ...
_FACTOR = 3.0  # ... up to this factor
_SAME = ("seed", "budget_seconds", "machine", "versions", "executor", "sources")


def measure(row: Row, seed: int, seconds: float) -> dict[str, Any]:
    """Solve one row; returns its figures. A problem that is refused has `refused`, the message."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            problem = row.problem()
            began = time.perf_counter()
            solution = pinn.solve(problem, seed=seed, seconds=seconds)
        except ValueError as error:
            return {"name": row.name, "best": row.best, "refused": str(error), "reached": False}
        wall = time.perf_counter() - began
    report = solution.report
    # nan counts as the worst: max() alone would pass over it.
    error = max(report.rel_l2.values(), key=lambda e: math.inf if math.isnan(e) else e)
    return {
        "name": row.name,
        "error": error,
        "errors": report.rel_l2,
        "seconds": wall,
        "best": row.best,
        "ratio": None if row.best is None else error / row.best,
        "reached": _reached(error, row.best, seconds),
        "loss": report.loss,
        "fresh_loss": report.fresh_loss,
        "steps": report.steps,
        "parameters": solution.theta.size,
        "stop_reason": str(report.stop_reason),
        "warnings": [str(warning.message) for warning in caught],
    }


def _reached(error: float, best: float | None, seconds: float) -> bool | None:
    """Return whether the budget sufficed for the best figure; None where there is no figure."""
    return None if best is None else error <= _FACTOR * best and seconds <= _BUDGET


def markdown(results: dict[str, Any]) -> str:
    """Return the results as a page."""
    header = ["problem", "error", "seconds", "best", "ratio", "reached", "loss", "fresh loss"]
    lines = [_line(row) for row in results["rows"]]
    judged = [row for row in results["rows"] if row["reached"] is not None]
    cpu, cores = results["machine"]["cpu"], results["machine"]["cores"]
    versions = installed_versions(results["versions"])
    page = [
        "# What the defaults do",
        f"`{results['command']}`",
        f"{cpu}, {cores} cores; {versions}; executor {results['executor']}; "
        f"seed {results['seed']}.",
        "Each problem is stated as in `experiments/newcomer_problems.py` and given to `pinn.solve` "
        f"with `seconds={results['budget_seconds']:g}` and nothing else. The error is the relative "
        "L2 error of the worst unknown; `seconds` is the whole call; `best` is the figure of a "
        "user who chose network, points and training for the problem. Reached means an error "
        f"within a factor {_FACTOR:g} of it and a limit of at most {_BUDGET:g} seconds: "
        f"{sum(row['reached'] for row in judged)} of {len(judged)} rows.",
        table(header, lines),
        *(f"{row['name']}: refused: {row['refused']}"
          for row in results["rows"] if "refused" in row),
        *(f"{row['name']}: warning: {text}"
          for row in results["rows"] for text in row.get("warnings", [])),
        *(f"Left out: {name}: {why}." for name, why in results["left_out"].items()),
    ]
    return "\n\n".join(page) + "\n"


def _line(row: dict[str, Any]) -> list[str]:
    verdict = {True: "yes", False: "no", None: "-"}[row["reached"]]
    figures = [row.get(key) for key in ("error", "seconds", "best", "ratio")]
    return [
        row["name"], *(number(figure, 2) for figure in figures), verdict,
        number(row.get("loss"), 2), number(row.get("fresh_loss"), 2),
    ]


def _sources() -> str:
    """Return a digest of the code that is measured: its version alone does not tell two apart."""
    digest = hashlib.sha256()
    files = [*(ROOT / "pinn").rglob("*.py"), *(ROOT / "autograd").rglob("*.py"),
             *(ROOT / "experiments").glob("newcomer*.py")]
    for file in sorted(files):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _header(options: argparse.Namespace) -> dict[str, Any]:
    words = ["python -m experiments.newcomer", f"--seed {options.seed}"]
    return {
        "command": " ".join([*words, f"--seconds {options.seconds:g}"]),
        **machine_and_versions(),
        "seed": options.seed,
        "budget_seconds": options.seconds,
        "sources": _sources(),
        "left_out": LEFT_OUT,
        "rows": [],
    }


def _results(options: argparse.Namespace) -> dict[str, Any]:
    """Return the results so far; ValueError where those of the file cannot be gone on with."""
    results = _header(options)
    file = options.out / "newcomer.json"
    if not file.exists() or options.anew:
        return results
    found = json.loads(file.read_text(encoding="utf-8"))
    for key in _SAME:
        if found.get(key) != results[key]:
            raise ValueError(
                f"{file.name}: expected results of {key} {results[key]}, as of now, got "
                f"{found.get(key)}; give --anew to replace them, or another --out"
            )
    results["rows"] = found["rows"]
    return results


def _write(results: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "newcomer.json", results)
    write_text(folder / "newcomer.md", markdown(results))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows; returns 0, or 2 for wrong usage. A problem refused is a result too."""
    options = _parser().parse_args(arguments)
    try:
        for name in options.only:
            if name not in ROWS:
                raise ValueError(
                    f"--only: expected some of {', '.join(ROWS)}; got {name!r}{nearest(name, ROWS)}"
                )
        results = _results(options)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    done = {row["name"]: row for row in results["rows"]}
    for name in options.only or [name for name in ROWS if name not in done]:
        print(f"{name} ...", file=sys.stderr, flush=True)
        done[name] = measure(ROWS[name], options.seed, options.seconds)
        results["rows"] = [done[name] for name in ROWS if name in done]
        _write(results, options.out)
        print("  ".join(_line(done[name])), flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.newcomer", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        help="measure these rows, again where the file has them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=positive, default=_BUDGET,
                        help="limit of pinn.solve for each row (60)")
    parser.add_argument("--anew", action="store_true",
                        help="begin a new file, also where there is one of another run")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results", metavar="DIR",
                        help="where the results go (experiments/results)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
