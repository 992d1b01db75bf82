"""Try a number of inputs of every kind, keep what is found, and write the table."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from experiments import fuzz
from experiments.command_line import count, interrupted, parser
from experiments.fuzz.page import page, summary
from experiments.fuzz.part import Part, tried
from experiments.fuzz.targets import TARGETS
from experiments.resumable import ROOT, Rows
from pinn.checks import nearest
from pinn.files import write_text

_COMMAND = "python -m experiments.fuzz"
CORPUS = ROOT / "tests" / "fuzz_corpus"
# Of a part, which is what is gone on with after an interruption.
_MOST_INPUTS = 20_000


def main() -> int:
    made = parser("experiments.fuzz", fuzz.__doc__, "these kinds of input")
    made.add_argument("--inputs", type=count, default=10_000, metavar="N",
                      help="of all kinds together (10000)")
    made.add_argument("--seed", type=int, default=0, metavar="S", help="(0)")
    made.add_argument("--jobs", type=count, default=1, metavar="N",
                      help="so many parts side by side (1)")
    arguments = made.parse_args()
    for name in arguments.only:
        if name not in TARGETS:
            made.error(f"--only: expected some of {', '.join(TARGETS)}; got {name!r}"
                       f"{nearest(name, TARGETS)}")
    command = f"{_COMMAND} --inputs {arguments.inputs} --seed {arguments.seed}"
    rows = Rows(
        arguments.out / "fuzz.json", TARGETS, arguments.anew, ("seed", "inputs_of_all", "part"),
        summary,
    )  # fmt: skip
    parts = [
        part for part in _parts(arguments.inputs, arguments.seed, arguments.only)
        if part.key not in rows
    ]
    try:
        for part, row in _rows(parts, arguments.jobs):
            rows.put(row, command)
            write_text(arguments.out / "fuzz.md", page(rows.rows))
            print(f"{part.target} {part.number}: {row['inputs']} inputs in {row['seconds']:.0f} s, "
                  f"{len(row['findings'])} findings", flush=True)
            for one in row["findings"]:
                print(f"  {one['what']}\n  {one['file']}", flush=True)
    except KeyboardInterrupt:
        return interrupted()
    except BrokenProcessPool:
        print(f"a process died: the inputs that were being tried are in {CORPUS}", file=sys.stderr)
        return 1
    return 1 if any(row["findings"] for row in rows.rows) else 0


def _parts(inputs: int, seed: int, only: list[str]) -> Iterator[Part]:
    """Give the parts, those of all kinds in turns, so that none waits for the end."""
    of_all = {name: max(1, round(inputs * TARGETS[name].share)) for name in only or TARGETS}
    parts = []
    for name, total in of_all.items():
        pieces = math.ceil(total / _MOST_INPUTS)
        for number in range(pieces):
            size = total * (number + 1) // pieces - total * number // pieces
            at = (number + 0.5) / pieces
            parts.append((at, Part(name, seed, inputs, number, size, str(CORPUS))))
    return (part for _, part in sorted(parts, key=lambda one: one[0]))


def _rows(parts: list[Part], jobs: int) -> Iterator[tuple[Part, dict]]:
    if not parts:
        return
    # A process for each: what one has taken of memory is no other's.
    with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        futures = {pool.submit(tried, part): part for part in parts}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


if __name__ == "__main__":
    sys.exit(main())
