"""Train one config with several seeds and write down the errors and times.

    python -m experiments.seeds configs/burgers.yaml --seeds 0 1 2 \
        --out experiments/results/burgers_first.json

Each seed is a run of the command line in a process of its own, one after the other.  The error
against the reference is measured by the run and takes no part in it; the time at which a threshold
is passed is read from the logged errors.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pinn.files import write_json
from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run


def train(config: str, seed: int, settings: list[str], thresholds: list[float]) -> dict[str, Any]:
    """Run one seed; raises RuntimeError with the command's message where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        command = [sys.executable, "-m", "pinn", "train", config, "--seed", str(seed)]
        command += ["--out", str(directory), "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"seed {seed}: exit code {done.returncode}: {done.stderr.strip()}")
        run = Run.open(directory)
        summary = run.summary()
        return {
            "seed": seed,
            "process_seconds": wall,
            "training_seconds": summary["wall_s"],
            "steps": summary["steps"],
            "loss": summary["loss"],
            "rel_l2": summary["rel_l2"],
            "max_error": summary["max_error"],
            "stop_reason": summary["stop_reason"],
            "stages": summary["stages"],
            "seconds_to_rel_l2": {
                f"{level:g}": _first_time(run.metrics(), level) for level in thresholds
            },
        }


def _first_time(records: list[dict], level: float) -> float | None:
    """Return the wall seconds of the first logged error at most `level`, None if there is none."""
    for record in records:
        errors = record.get("rel_l2") or {}
        if errors and max(errors.values()) <= level:
            return record["wall_s"]
    return None


def main(arguments: list[str] | None = None) -> int:
    """Run the seeds and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], metavar="KEY.PATH=VALUE")
    parser.add_argument("--below", type=float, nargs="*", default=[1e-2, 6.5e-3, 1e-3, 1e-4])
    parser.add_argument("--out", required=True, type=Path)
    given = parser.parse_args(arguments)
    runs = []
    for seed in given.seeds:
        runs.append(train(given.config, seed, given.set, given.below))
        print(json.dumps({k: runs[-1][k] for k in ("seed", "rel_l2", "training_seconds")}))
    worst = [max(run["rel_l2"].values()) for run in runs]
    command = "python -m experiments.seeds " + " ".join(
        arguments if arguments is not None else sys.argv[1:]
    )
    write_json(given.out, {
        "command": command,
        **machine_and_versions(),
        "config": Path(given.config).read_text(encoding="utf-8"),
        "median_rel_l2": statistics.median(worst),
        "worst_rel_l2": max(worst),
        "median_training_seconds": statistics.median(run["training_seconds"] for run in runs),
        "runs": runs,
    })
    return 0


if __name__ == "__main__":
    sys.exit(main())
