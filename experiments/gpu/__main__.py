"""Steps and runs on a GPU, beside JAX, PyTorch and the host; without one, what they ask of it.

    python -m experiments.gpu --seconds 450

Results go to experiments/results/gpu.json and gpu.md, row after row: the same command goes on with
those that are there. A row takes up to two minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from autograd.devices import cuda_is_available
from experiments import command_line
from experiments.gpu import counts
from experiments.gpu.page import markdown
from experiments.gpu.rows import ROWS
from experiments.gpu.steps import measure, started
from experiments.gpu.training import STAGES
from experiments.gpu.training import measure as trained
from experiments.resumable import Rows
from pinn.files import write_text
from pinn.runs.machine import usable_cores

_COUNTS = "counts"
_NAMES = [*STAGES, *(row.name for row in ROWS), _COUNTS]
_RUN_SECONDS = 120.0


def main(arguments: list[str] | None = None) -> int:
    """Measure what is not there yet, and write the results."""
    parser = command_line.parser("experiments.gpu", __doc__, "these rows")
    parser.add_argument("--seconds", type=command_line.positive, default=float("inf"),
                        help="begin no row after this time (no limit)")
    parser.add_argument("--rounds", type=command_line.count, default=5,
                        help="interleaved rounds (5)")
    parser.add_argument("--timeout", type=command_line.positive, default=60.0,
                        help="seconds that one command of an engine may take (60)")
    given = parser.parse_args(arguments)
    names = {name: [name] for name in _NAMES}
    try:
        wanted = command_line.chosen(given.only, names, "some of " + ", ".join(_NAMES))
        results = Rows(given.out / "gpu.json", _NAMES)
        _fill(results, [n for n in wanted if given.anew or n not in results], given)
    except (ValueError, RuntimeError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return command_line.interrupted()
    print(_write(given.out, results))
    return 0


def _fill(results: Rows, wanted: list[str], given: argparse.Namespace) -> None:
    """Measure what is wanted, and write it row after row."""
    end = time.monotonic() + given.seconds
    gpu, rows = _gpu(), {row.name: row for row in ROWS}
    if gpu is None:
        _say("no usable GPU: what a step asks of one is counted, and nothing is timed")
    with started(usable_cores(), 0, given.timeout) as remotes:
        for name in wanted:
            if (name == _COUNTS) == (gpu is not None):
                continue  # time on a GPU is for what needs one
            if time.monotonic() > end:
                _say(f"{given.seconds:g} s have passed: the same command goes on")
                return
            _say(name)
            if name == _COUNTS:
                found = _counted()
            elif name in rows:
                found = measure(rows[name], results.rows, remotes, given.rounds, _say)
            else:
                found = trained(name, _RUN_SECONDS)
            results.put({"gpu": gpu, **found}, f"python -m experiments.gpu --rounds {given.rounds}")
            _write(given.out, results)


def _counted() -> dict[str, Any]:
    return {
        "name": _COUNTS, "networks": counts.of_networks(), "solvers": counts.of_solvers(),
        "redraw": counts.of_redraw(),
    }  # fmt: skip


def _gpu() -> str | None:
    """Return what the first GPU is, or None where there is none."""
    if not cuda_is_available():
        return None
    import cupy

    about = cupy.cuda.runtime.getDeviceProperties(0)
    name, version = about["name"].decode(), cupy.cuda.runtime.runtimeGetVersion()
    return f"{name}, CUDA {version // 1000}.{version % 1000 // 10}"


def _write(folder: Path, results: Rows) -> str:
    """Write the page, and return it."""
    by_name = {row["name"]: row for row in results.rows}
    steps = [by_name[row.name] for row in ROWS if row.name in by_name]
    runs = [by_name[name] for name in STAGES if name in by_name]
    page = markdown(steps, runs, by_name.get(_COUNTS))
    write_text(folder / "gpu.md", page)
    return page


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
