"""Ranks beside threads on this machine's cores, and a model of many ranks, checked against that.

    python -m experiments.ranks

Results go to experiments/results/ranks.json and ranks.md.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from experiments import command_line
from experiments.ranks.page import markdown
from experiments.ranks.rows import ROWS, Row
from experiments.resumable import ROOT, Rows
from pinn.files import write_text

# Ranks and the threads of each; the last has more ranks than this machine's two cores.
WAYS = ((1, 1), (1, 2), (2, 1), (4, 1))
# Steps take milliseconds to a second: so many that each way runs for some seconds, twice.
_SECONDS, _LEAST, _TURNS = 2.0, 5, 2
# A step of so few points takes what does not grow with them.
_FEW, _FEW_STEPS = 32, 200


def measure(row: Row) -> dict[str, Any]:
    """Return what each way took, the ways in turns."""
    found: dict[str, dict[str, list[float]]] = {}
    count = _LEAST
    for turn in range(_TURNS):
        for ranks, threads in WAYS:
            told = _started(ranks, row.name, threads, count)
            own = found.setdefault(f"{ranks} x {threads}", {"step_ms": [], "exchange_ms": []})
            for key, values in told.items():
                own[key] += values
            if turn == 0 and (ranks, threads) == WAYS[0]:
                count = max(_LEAST, int(1e3 * _SECONDS / median(told["step_ms"])))
    ways = {
        name: {key: median(values) for key, values in own.items()} | {"steps": len(own["step_ms"])}
        for name, own in found.items()
    }
    few = _started(1, row.name, 1, _FEW_STEPS, _FEW)
    return {**row._asdict(), "ways": ways, "few_points_ms": median(few["step_ms"])}


def _started(ranks: int, *arguments: Any) -> dict[str, list[float]]:
    """Run the worker as so many ranks; RuntimeError, with what it said, where it fails."""
    beside = str(Path(sys.executable).parent)
    mpiexec = shutil.which("mpiexec", path=beside) or shutil.which("mpiexec")
    if mpiexec is None:
        raise RuntimeError("it needs mpiexec and mpi4py: pip install mpi4py mpich")
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", "experiments.ranks.worker"]
    done = subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main(arguments: list[str] | None = None) -> int:
    """Measure what is not there yet, and write the results."""
    by_name = {row.name: [row] for row in ROWS}
    parser = command_line.parser("experiments.ranks", __doc__, "these rows")
    given = parser.parse_args(arguments)
    try:
        rows = command_line.chosen(given.only, by_name, "one of the rows " + ", ".join(by_name))
        table = Rows(given.out / "ranks.json", by_name)
        for row in rows:
            if given.anew or row.name not in table:
                print(row.name, flush=True)
                table.put(measure(row), "python -m experiments.ranks")
    except (ValueError, RuntimeError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return command_line.interrupted()
    page = markdown(table.rows)
    write_text(given.out / "ranks.md", page)
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
