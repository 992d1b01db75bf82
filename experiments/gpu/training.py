"""The run of a shipped config on the GPU and on the host, and what it holds of the device's memory.

    python -m experiments.gpu.training DEVICE STAGE

Trains configs/burgers.yaml and prints JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from typing import Any

import pinn
from autograd.devices import as_device, backend
from experiments.bench.remote import ROOT
from pinn.config import Override, load
from pinn.training.callbacks import Callback
from pinn.training.records import StepRecord

CONFIG = ROOT / "configs" / "burgers.yaml"
STAGES = {
    "levenberg_marquardt, as shipped": [],
    "adam": ["training=[{adam: {steps: 5000, learning_rate: 5e-3}}]"],
    "ssbroyden": ["training=[{ssbroyden: {steps: 2000}}]"],
}
"""Name -> what is laid over the config."""
# Memory is flat if what is held after the last step is at most this times what was after a tenth.
FLAT = 1.05


class Memory(Callback):
    """What a device has given away, in bytes, as steps are told; 0 on the host."""

    def __init__(self, device: str) -> None:
        self._device = as_device(device)
        self._free = backend(self._device.type).free_memory
        self._first = self._free(self._device.index)
        self.taken: list[int] = []

    def on_step(self, record: StepRecord) -> None:
        """Look at what is free, every tenth step."""
        if record.step % 10 == 0 or not self.taken:
            now = self._free(self._device.index)
            self.taken.append(0 if now is None else self._first - now)

    def summary(self) -> dict[str, int]:
        """Return what was taken after a tenth of the steps, after the last, and at most."""
        early = self.taken[len(self.taken) // 10]
        return {"early": early, "last": self.taken[-1], "most": max(self.taken)}


def train(device: str, stage: str) -> dict[str, Any]:
    """Return errors, seconds and memory of a run."""
    given = [*STAGES[stage], f"device={device}", "error_bars=false"]
    config = load(CONFIG, [Override.parse(text, "gpu") for text in given])
    memory = Memory(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        solution = pinn.solve(**config.experiment.arguments, callbacks=[memory])
        seconds = time.perf_counter() - began
    report = solution.report
    return {
        "rel_l2": report.rel_l2["u"], "loss": report.loss, "steps": report.steps,
        "seconds": seconds, "memory": memory.summary(),
    }  # fmt: skip


def measure(stage: str, timeout: float) -> dict[str, Any]:
    """Return the same of the GPU and of the host, a process each; `failed` is why there is none."""
    return {"name": stage, "devices": {one: _run(one, stage, timeout) for one in ("cuda", "cpu")}}


def _run(device: str, stage: str, timeout: float) -> dict[str, Any]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "experiments.gpu.training", device, stage],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, cwd=ROOT,
            capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {timeout:g} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["it says nothing"])[-1]}
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(train(*sys.argv[1:])))
