"""python -m experiments.bench.loops: loops as research code writes them, beside PyTorch's.

One text, nested `grad` in the coordinates, the gradient in the parameters, the library's own Adam,
is run by PyTorch, by our autograd as it is, and with its loss compiled (`autograd.compile`).  Each
engine has a process of its own; one runs at a time, in interleaved rounds; every way's gradient
and first losses are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.bench import workloads
from experiments.bench.engines import LOOPS
from experiments.bench.measure import compare
from experiments.bench.remote import ROOT, Remote
from experiments.bench.report import number, table, times
from pinn.files import write_json, write_text
from pinn.runs.machine import machine_and_versions

_WAYS = ("eager", "compiled", "compiled-numba", "compiled-llvm")
# Times of PyTorch's: eager on wide rows and on the others, compiled on all.
_WIDE, _OTHER, _COMPILED = 1.1, 1.3, 1 / 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all rows; returns 0, 1 where an engine gave a wrong gradient or could not run."""
    options = _parser().parse_args(arguments)
    about = machine_and_versions()
    missing = [name for name in LOOPS["loop"].needs + LOOPS["torch"].needs if not _has(name)]
    if missing:
        print(f"not installed: {', '.join(missing)}; pip install 'pinn[bench,jit]' brings them",
              file=sys.stderr)  # fmt: skip
        return 2
    about["versions"]["torch"] = metadata.version("torch")
    threads = options.threads or about["machine"]["cores"]
    rounds = options.rounds or (2 if options.quick else 7)
    words = ["python -m experiments.bench.loops", *["--quick"] * options.quick]
    results: dict[str, Any] = {
        "command": " ".join([*words, f"--rounds {rounds} --threads {threads}"]), **about,
        "threads": threads, "rounds": rounds, "seed": 0, "rows": [],
    }  # fmt: skip
    with ExitStack() as stack:
        remotes = [
            stack.enter_context(Remote(engine, threads, 0, options.timeout))
            for engine in LOOPS.values()
        ]
        for workload in workloads.LOOPS:
            chosen = workloads.quick(workload) if options.quick else workload
            row = compare(remotes, chosen, rounds, lambda text: print(text, file=sys.stderr))
            results["rows"].append({"name": workload.name, **row})
            _write(results, options)
    print(speeds(results))
    entries = [e for row in results["rows"] for ways in row["engines"].values()
               for e in ways.values()]  # fmt: skip
    return int(any("error" in entry for entry in entries))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.bench.loops", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rounds", type=int, help="interleaved rounds (7)")
    parser.add_argument("--threads", type=int, help="cores to use (all)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of one command")
    parser.add_argument("--quick", action="store_true", help="few points and rounds")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results",
                        metavar="DIR", help="where the results go (experiments/results)")
    return parser


def _has(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _write(results: dict[str, Any], options: argparse.Namespace) -> None:
    name = "loops_quick" if options.quick else "loops"
    options.out.mkdir(parents=True, exist_ok=True)
    write_json(options.out / f"{name}.json", results)
    write_text(options.out / f"{name}.md", markdown(results))


def speeds(results: dict[str, Any]) -> str:
    """Return the table: milliseconds a step, and how they compare with PyTorch's."""
    header = ["row", "torch", *_WAYS, "eager / torch", "asked", "torch / llvm", "asked",
              "first call: torch, llvm (s)"]  # fmt: skip
    rows = []
    for row in results["rows"]:
        torch = row["engines"]["torch"]["nested"]
        ours = row["engines"]["loop"]
        theirs, mine = torch.get("ms"), {way: ours[way].get("ms") for way in _WAYS}
        wide = row["workload"]["network"]["width"] >= 64
        rows.append([
            row["name"], number(theirs), *(number(mine[way]) for way in _WAYS),
            _over(mine["eager"], theirs), times(_WIDE if wide else _OTHER),
            _over(theirs, mine["compiled-llvm"]), times(1 / _COMPILED),
            f"{number(torch.get('first_call_s'))}, "
            f"{number(ours['compiled-llvm'].get('first_call_s'))}",
        ])  # fmt: skip
    return table(header, rows)


def _over(one: float | None, other: float | None) -> str:
    return times(one / other if one and other else None)


def markdown(results: dict[str, Any]) -> str:
    """Return the page of the results."""
    machine = ", ".join(f"{k} {v}" for k, v in results["machine"].items())
    versions = ", ".join(f"{k} {v}" for k, v in results["versions"].items())
    return "\n\n".join([
        "# Loops as research code writes them",
        f"`{results['command']}`; medians of milliseconds a step (loss, gradient, Adam), "
        f"{results['threads']} threads, {results['rounds']} interleaved rounds.",
        f"Machine: {machine}.\nVersions: {versions}.",
        speeds(results),
        "One text for both libraries (`experiments/bench/engines/nested.py`): nested `grad` in the "
        "coordinates, each backward pass shared by its derivatives, and the library's own Adam. "
        "`eager` is our autograd as it is, `compiled` the loss by `autograd.compile` with numpy "
        "alone, `compiled-numba` with loops by numba, `compiled-llvm` in tiles of points. In the "
        "row with walls the loss has a second term, at 1000 further points.",
    ]) + "\n"  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
