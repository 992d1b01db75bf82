"""Kill a run at random moments, go on with it until it has ended, and compare with a whole one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.kills.cases import Kill
from experiments.kills.left import differences, left
from experiments.resumable import ROOT
from pinn.runs.run import Run

_LONGEST = 600.0
# The part of the kills whose moment is one of time, and the seconds that others wait at a step.
_BY_TIME, _A_STEP = 0.3, 0.1


class NotAsMeant(RuntimeError):
    """A run ended otherwise than by itself or by the kill."""


def kill_and_compare(case: Kill, times: int, seed: int) -> dict[str, Any]:
    """Kill runs of a case so often in all, and return what came of it.

    A run is begun, killed at a random moment and gone on with, until it ends before its kill; then
    the next is begun. The last one goes on to its end. A moment is, as chance has it, after a
    random part of the time that a whole run takes, or a random step that is still to come.
    `kills` has what each hit: the steps that had been logged, and the number of the run; `differ`
    the parts of each run that are not those of the whole one.
    """
    draw = np.random.default_rng([seed, sum(case.name.encode())])
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        seconds = _run(case, whole)
        expected, steps = left(whole / "run"), _steps(whole)
        kills: list[dict[str, Any]] = []
        differ: list[list[str]] = []
        while len(kills) < times:
            place = Path(folder) / f"run{len(differ)}"
            while len(kills) < times and _killed(case, place, _moment(draw, place, steps, seconds)):
                kills.append({"run": len(differ), "steps": _steps(place)})
            _run(case, place)  # goes on to the end, or finds that it is there
            differ.append(differences(expected, left(place / "run")))
    return {
        "name": case.name, "what": case.what, "seconds": seconds, "parts": len(expected),
        "runs": len(differ), "kills": kills, "differ": differ,
    }  # fmt: skip


def _started(case: Kill, folder: Path) -> subprocess.Popen[str]:
    settings = [part for setting in case.settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "pinn", "train", case.config, "--out", "run", "--resume",
               "--quiet", *settings]  # fmt: skip
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


def _run(case: Kill, folder: Path) -> float:
    """Run to the end; returns the seconds. Raises NotAsMeant for another exit code than 0."""
    began = time.monotonic()
    process = _started(case, folder)
    _, said = process.communicate(timeout=_LONGEST)
    if process.returncode:
        raise NotAsMeant(f"{case.name}: exit code {process.returncode}: {said.strip()}")
    return time.monotonic() - began


class Moment(NamedTuple):
    """When a run is killed: so many seconds after it has logged a step, or its start at step 0."""

    step: int
    seconds: float


def _moment(draw: np.random.Generator, folder: Path, steps: int, seconds: float) -> Moment:
    done = _steps(folder)
    if done >= steps or draw.random() < _BY_TIME:
        return Moment(0, draw.uniform(0.0, seconds))
    return Moment(int(draw.integers(done + 1, steps, endpoint=True)), draw.uniform(0.0, _A_STEP))


def _killed(case: Kill, folder: Path, moment: Moment) -> bool:
    """Start or go on, and kill at a moment; False where it had ended before."""
    process = _started(case, folder)
    while process.poll() is None and _steps(folder) < moment.step:
        time.sleep(0.002)
    try:
        process.wait(moment.seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    _, said = process.communicate()
    if process.returncode not in (0, -9):
        raise NotAsMeant(f"{case.name}: exit code {process.returncode}: {said.strip()}")
    return process.returncode != 0


def _steps(folder: Path) -> int:
    """Return the last step that a killed run had logged; 0 where it had none."""
    records = Run(folder / "run").metrics()
    return records[-1]["step"] if records else 0
