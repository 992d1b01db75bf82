"""Steps a second of configs/burgers.yaml, as training runs it, with each executor.

As it is shipped (Levenberg-Marquardt) and with solvers whose steps are gradients.  Each run is a
process of its own; they take turns.  The rate is that between the first line of metrics and the
last, so that starting and compiling do not count; there are few lines, as each measures the error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bench.remote import ROOT
from pinn.runs.run import Run

CONFIG = "burgers"
_LINES = 5  # of metrics, besides the first
EXECUTORS = ("numpy", "numba", "llvm")
STAGES = {
    "levenberg_marquardt, as shipped": ("training.0.steps={}", 40),
    "adam": ("training=[{{adam: {{steps: {}}}}}]", 800),
    "ssbroyden": ("training=[{{ssbroyden: {{steps: {}}}}}]", 400),
}
"""Name -> how it is set, and the number of steps."""


def rates(
    rounds: int, timeout: float, say: Callable[[str], None], share: float = 1.0
) -> list[dict[str, Any]]:
    """Return steps a second by solver and executor: medians of rounds; `share` of the steps.

    RuntimeError where a run fails, subprocess.TimeoutExpired where it takes too long.
    """
    found = []
    for name, (setting, steps) in STAGES.items():
        count = max(4 * _LINES, round(share * steps))
        seen: dict[str, list[float]] = {executor: [] for executor in EXECUTORS}
        for number in range(rounds):
            for executor, one in seen.items():
                say(f"{CONFIG}, {name}: {executor}, round {number + 1} of {rounds}")
                one.append(_rate(executor, setting.format(count), count // _LINES, timeout))
        found.append({
            "solver": name, "steps": count,
            "rates": {executor: float(np.median(one)) for executor, one in seen.items()},
        })  # fmt: skip
    return found


def _rate(executor: str, setting: str, every: int, timeout: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        done = subprocess.run(
            [
                sys.executable, "-m", "pinn", "train", CONFIG, "--out", str(out), "--quiet",
                "--set", setting, "--set", f"output.log_every={every}",
            ],
            env={**os.environ, "AUTOGRAD_EXECUTOR": executor, "PYTHONPATH": str(ROOT)},
            cwd=folder, capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{CONFIG} with {executor}: {done.stderr.strip()[-300:]}")
        first, *_, last = Run.open(out).metrics()
    return (last["step"] - first["step"]) / (last["wall_s"] - first["wall_s"])
