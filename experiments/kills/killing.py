"""Kill a run at random moments, go on with it until it has ended, and compare with a whole one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.kills.cases import Kill
from experiments.kills.left import differences, left
from experiments.resumable import ROOT
from pinn.runs.run import Run

_LONGEST = 600.0


class NotAsMeant(RuntimeError):
    """A run ended otherwise than by itself or by the kill."""


def kill_and_compare(case: Kill, times: int, seed: int) -> dict[str, Any]:
    """Kill runs of a case so often in all, and return what came of it.

    A run is begun, killed after a random part of the time that a whole one takes, and gone on
    with, until it ends before its kill; then the next is begun. The last one goes on to its end.
    `kills` has what each hit: the steps that had been logged, and the number of the run; `differ`
    the parts of each run that are not those of the whole one.
    """
    draw = np.random.default_rng([seed, sum(case.name.encode())])
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        seconds = _run(case, whole)
        expected = left(whole / "run")
        kills: list[dict[str, Any]] = []
        differ: list[list[str]] = []
        while len(kills) < times:
            place = Path(folder) / f"run{len(differ)}"
            while len(kills) < times and _killed(case, place, draw.uniform(0.0, seconds)):
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


def _killed(case: Kill, folder: Path, moment: float) -> bool:
    """Start or go on, and kill after so many seconds; False where it had ended before."""
    process = _started(case, folder)
    try:
        process.wait(moment)
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
