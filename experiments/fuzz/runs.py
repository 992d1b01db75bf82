"""What runs leave behind: summaries, metrics, solutions and checkpoints, forged or damaged."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import tempfile
import warnings
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pinn
from experiments.fuzz.attempts import attempt
from experiments.fuzz.garble import changed_arrays, changed_json, garbled
from pinn.cli.runs import show
from pinn.files import DamagedFile, read_npz
from pinn.runs import Run
from pinn.runs.comparison import results
from pinn.runs.overview import Overview
from pinn.runs.recorder import Recorder
from pinn.solution.checkpoint import read_checkpoint


class _Whole(NamedTuple):
    """A run as it should be: its directory, and what is in it."""

    directory: Path
    summary: dict[str, Any]
    records: list[dict[str, Any]]
    solution: dict[str, np.ndarray]
    checkpoint: dict[str, np.ndarray]


@cache
def _whole() -> _Whole:
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0, hard=True)],
        parameters={"k": 0.5}, reference={"u": "exp(-t)*sin(pi*x)"}, name="heat",
    )  # fmt: skip
    directory = Path(tempfile.mkdtemp())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Recorder(directory, "problem: {}\n", 1, 0.0) as recorder:
            solution = pinn.solve(
                problem, pinn.MLP(3, 1), pinn.Sampling(8, 4, 4), [pinn.Adam(2), pinn.LBFGS(2)],
                weighting={"initial_u": 2.0}, callbacks=[recorder],
            )  # fmt: skip
            recorder.write_results(solution)
    run = Run(directory)
    whole = _Whole(
        directory, run.summary(), run.metrics(), read_npz(run.solution_path),
        read_npz(run.checkpoint_path),
    )  # fmt: skip
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return whole


def make_summary(rng: np.random.Generator) -> bytes:
    """Return a summary.json with some of its values of other kinds, or gone."""
    return changed_json(_whole().summary, rng)


def try_summary(data: bytes, path: Path) -> bool:
    """Show a run with this summary, or refuse it as a damaged file."""
    run = Run(_whole().directory)
    run.summary_path.write_bytes(data)

    class _Asked(NamedTuple):
        run: str

    def show_it() -> None:
        results([Overview.of(run.directory)])  # takes what is damaged for a state
        with redirect_stdout(io.StringIO()):
            show(_Asked(str(run.directory)))

    return attempt(show_it, DamagedFile)


def make_metrics(rng: np.random.Generator) -> bytes:
    """Return metrics.jsonl with a line or two of another form."""
    lines = [json.dumps(record).encode() for record in _whole().records]
    for _ in range(int(rng.integers(1, 3))):
        k = int(rng.integers(len(lines)))
        lines[k] = changed_json(_whole().records[k], rng)
    data = b"\n".join(lines) + b"\n"
    return garbled(data, rng) if rng.random() < 0.1 else data


def try_metrics(data: bytes, path: Path) -> bool:
    """Read metrics, and compare their run."""
    run = Run(_whole().directory)
    run.metrics_path.write_bytes(data)

    def read_them() -> None:
        results([Overview.of(run.directory)])
        run.metrics()

    return attempt(read_them, DamagedFile)


def make_solution(rng: np.random.Generator) -> bytes:
    """Return a solution.npz of which some arrays are of other kinds, damaged or gone."""
    return changed_arrays(_whole().solution, rng)


def try_solution(data: bytes, path: Path) -> bool:
    """Load a solution and evaluate it; ValueError for a model of a class that nobody knows."""
    path.write_bytes(data)

    def load_it() -> None:
        solution = pinn.load(path)
        points = {
            name: np.full(2, low) for name, (low, _) in solution.problem.domain.bounds.items()
        }
        with np.errstate(all="ignore"):
            solution.evaluate(**points)

    return attempt(load_it, DamagedFile, ValueError)


def make_checkpoint(rng: np.random.Generator) -> bytes:
    """Return a checkpoint.npz of which some arrays are of other kinds, damaged or gone."""
    return changed_arrays(_whole().checkpoint, rng)


def try_checkpoint(data: bytes, path: Path) -> bool:
    """Read a checkpoint to go on from."""
    path.write_bytes(data)
    return attempt(lambda: read_checkpoint(path), DamagedFile)
