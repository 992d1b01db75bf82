"""Train for an hour while every file that is written is read: memory, steps, whole files.

    python -m experiments.soak --minutes 60

Results go to experiments/results/soak.json, soak.md and soak.png.  The exit code is 1 where a file
was not whole or memory grew.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiments.command_line import positive
from experiments.resumable import ROOT, measured
from experiments.soak.figures import draw
from experiments.soak.page import markdown
from experiments.soak.steadiness import drift, of_memory, of_processor, of_steps
from experiments.soak.watching import watch
from pinn.files import write_json, write_text
from pinn.runs.run import Run

_LEAST = 3.0
_RUN = ("-m", "experiments.soak.training")


def soak(minutes: float, figures_seconds: float) -> dict[str, Any]:
    """Return what was measured; RuntimeError where the training fails, ValueError for too short."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        command = [*_RUN, str(directory), f"{60 * minutes:g}", f"{figures_seconds:g}"]
        seen = watch(command, directory)
        records = Run.open(directory).metrics()
    steps = of_steps(records)
    processor = of_processor(seen.seconds, seen.processor, records)
    return {
        "minutes": minutes, "figures_seconds": figures_seconds, "last_step": records[-1]["step"],
        "draws": records[-1]["draw"], "drift": drift(steps),
        "processor": processor, "processor_drift": drift(processor, "mean_ms"), "reads": seen.reads,
        "invalid": seen.invalid, "steps": steps,
        "memory": {
            **of_memory(seen.seconds, seen.mib), "seconds": seen.seconds, "mib": seen.mib,
        },
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.soak", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--minutes", type=positive, default=60.0, help="of training (60)")
    parser.add_argument("--figures", type=positive, default=30.0, metavar="SECONDS",
                        help="between two drawings of the figures (30)")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results",
                        metavar="FOLDER", help="where the results go (experiments/results)")
    given = parser.parse_args(arguments)
    if given.minutes < _LEAST:
        parser.error(f"--minutes: expected {_LEAST:g} or more, as memory settles in the first one")
    facts = soak(given.minutes, given.figures)
    command = f"python -m experiments.soak --minutes {given.minutes:g} --figures {given.figures:g}"
    facts["measured"] = measured(command)
    given.out.mkdir(parents=True, exist_ok=True)
    write_json(given.out / "soak.json", facts)
    draw(facts, given.out / "soak.png")
    page = markdown(facts)
    write_text(given.out / "soak.md", page)
    print(page)
    return int(bool(facts["invalid"]) or not facts["memory"]["flat"])


if __name__ == "__main__":
    sys.exit(main())
