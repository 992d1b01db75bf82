"""python -m experiments.bench: our training step beside the peers', and what it costs.

Every engine lives in a process of its own (so that thread pools do not meet) and is told when to
run; only one runs at a time, in interleaved rounds.  Measured are the median time of a step, the
first call, peak memory, the matrix products alone, and how all this grows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.bench import workloads
from experiments.bench.engines import ENGINES, Engine
from experiments.bench.measure import cold, compare, usable_engines
from experiments.bench.plots import rows_figure, scaling_figure
from experiments.bench.remote import ROOT, Remote
from experiments.bench.report import markdown, speed_table, targets_table
from experiments.bench.summary import best_way, summarize, targets
from experiments.bench.training import rates
from pinn.checks import nearest
from pinn.figures.style import figure_png
from pinn.files import write_json, write_text
from pinn.runs.machine import machine_and_versions

_PEER_POINTS = 100_000  # the study of N takes the peers this far; the row of a million goes further
_VERSIONS = ("torch", "jax", "jaxlib", "optax", "numba")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; returns 0, 1 where an engine gave a wrong gradient, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        rows = workloads.select(options.rows)
        _check_engines(options.engines)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.merge is not None:
        try:
            results = _merged(options, {workload.name for workload in rows})
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)
            return 2
    else:
        results = _measure(options, rows)
    print(speed_table(results), "", targets_table(results), sep="\n")
    wrong = [
        f"{row['name']}: {name} {way}: {entry['error']}"
        for row in results["rows"]
        for name, ways in row["engines"].items()
        for way, entry in ways.items()
        if entry.get("kind") == "wrong"
    ]
    for text in wrong:
        print(f"wrong result: {text}", file=sys.stderr)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.bench", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="only these rows of the table")
    parser.add_argument("--engines", nargs="+", metavar="NAME", default=list(ENGINES),
                        help=f"only these of {', '.join(ENGINES)}")
    parser.add_argument("--rounds", type=_positive, default=None, help="interleaved rounds (7)")
    parser.add_argument("--threads", type=_positive, default=None, help="cores to use (all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300.0,
                        help="seconds that one command of an engine may take")
    parser.add_argument("--quick", action="store_true",
                        help="few points and rounds, to see that everything works")
    parser.add_argument("--no-scaling", action="store_true", help="leave out the scaling studies")
    parser.add_argument("--no-training", action="store_true",
                        help="leave out the steps a second of a shipped config")
    parser.add_argument("--merge", type=Path, metavar="FILE",
                        help="measure nothing: take the rows of another results file of the same "
                        "machine and versions (of --rows, those) over into the one in --out")
    parser.add_argument("--out", type=Path, default=ROOT / "experiments" / "results", metavar="DIR",
                        help="where the results go (experiments/results)")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text}")
    return value


def _check_engines(names: Sequence[str]) -> None:
    for name in names:
        if name not in ENGINES:
            raise ValueError(
                f"--engines: expected some of {', '.join(ENGINES)}; got {name!r}"
                f"{nearest(name, ENGINES)}"
            )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _measure(options: argparse.Namespace, rows: list[workloads.Workload]) -> dict[str, Any]:
    about = machine_and_versions()
    rounds = options.rounds or (2 if options.quick else 7)
    threads = options.threads or about["machine"]["cores"]
    engines, left_out = usable_engines(options.engines, _say)
    about["versions"].update(
        {name: metadata.version(name) for name in _VERSIONS if _installed(name)}
    )
    results: dict[str, Any] = {
        "command": _command(options),
        **about,
        "seed": options.seed,
        "threads": threads,
        "rounds": rounds,
        "left_out": left_out,
        "rows": [],
        "scaling": {},
        "peak": {} if options.quick else _peak(options.timeout),
        "training": [],
    }
    if not options.no_training:
        share, turns = (0.05, 1) if options.quick else (1.0, min(rounds, 3))
        results["training"] = rates(turns, options.timeout, _say, share)
    with ExitStack() as stack:
        remotes = [
            stack.enter_context(Remote(engine, threads, options.seed, options.timeout))
            for engine in engines
        ]
        for workload in rows:
            if options.quick:
                workload = workloads.quick(workload)
            row = compare(remotes, workload, rounds, _say, profile=True)
            row = {"name": workload.name, **row, "summary": summarize(row)}
            results["rows"].append(row)
            _write(results, options)
        if not options.no_scaling:
            results["scaling"] = _scaling(remotes, results, options, rounds)
    for row, workload in zip(results["rows"], rows, strict=True):
        if options.quick:
            workload = workloads.quick(workload)
        row["cold"] = _cold(engines, row, workload, threads, options)
    _write(results, options)
    return results


def _peak(timeout: float) -> dict[str, Any]:
    """Return what a process of its own measures; RuntimeError where it fails."""
    _say("the multiply-add peak of one core")
    done = subprocess.run(
        [sys.executable, "-m", "experiments.bench.peak"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT,
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"experiments.bench.peak: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def _merged(options: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    """Return the results in --out with the rows of these names of another file in place of theirs.

    Each of these rows keeps the command that measured it.  Raises ValueError where the files are
    not of one machine and one set of versions.
    """
    ours = json.loads((options.out / "bench.json").read_text(encoding="utf-8"))
    other = json.loads(options.merge.read_text(encoding="utf-8"))
    for key in ("machine", "versions", "seed", "threads"):
        if ours[key] != other[key]:
            raise ValueError(
                f"--merge {options.merge.name}: expected {key} {ours[key]} as in the results there "
                f"are, got {other[key]}; measure again instead"
            )
    newer = {
        row["name"]: {**row, "command": row.get("command", other["command"])}
        for row in other["rows"] if row["name"] in names
    }  # fmt: skip
    ours["rows"] = [newer.pop(row["name"], row) for row in ours["rows"]] + list(newer.values())
    for row in ours["rows"]:
        row["summary"] = summarize(row)
    _write(ours, options)
    return ours


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _command(options: argparse.Namespace) -> str:
    words = ["python -m experiments.bench"]
    if options.rows:
        words += ["--rows", *options.rows]
    if options.engines != list(ENGINES):
        words += ["--engines", *options.engines]
    for name in ("rounds", "threads"):
        if getattr(options, name):
            words += [f"--{name}", str(getattr(options, name))]
    words += [f"--{n.replace('_', '-')}" for n in ("quick", "no_scaling", "no_training")
              if getattr(options, n)]
    return " ".join([*words, "--seed", str(options.seed)])


def _cold(
    engines: list[Engine], row: dict[str, Any], workload: workloads.Workload, threads: int,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Measure each engine's fastest way in a fresh process; ours once more, with an empty cache."""
    found = {}
    for engine in engines:
        way = best_way(row["engines"], engine.name)
        if way is None or engine.name == "products":
            continue
        _say(f"{workload.name}: {engine.name} {way} in a fresh process")
        given = way, workload, threads, options.seed, options.timeout
        found[engine.name] = cold(engine, *given)
        if not engine.peer:
            with tempfile.TemporaryDirectory() as empty:
                place = *engine.environment, ("AUTOGRAD_CACHE_DIR", empty)
                bare = cold(replace(engine, environment=place), *given)
            found[engine.name]["empty_cache_s"] = bare.get("first_call_s")
    return found


def _scaling(
    remotes: list[Remote], results: dict[str, Any], options: argparse.Namespace, rounds: int
) -> dict[str, list[dict[str, Any]]]:
    """Run the studies of N, width, order and threads."""
    fastest = _fastest_ways(results)
    studies: dict[str, list[dict[str, Any]]] = {}
    for study, workloads_ in workloads.scaling(options.quick).items():
        given_up: set[tuple[str, str]] = set()
        studies[study] = []
        for value, workload in workloads_:
            few = study == "points" and value > _PEER_POINTS
            used = [r for r in remotes if not (few and r.engine.peer)]
            # The best way of nesting depends on the order, and on little else.
            ways = None if study == "order" else fastest
            one = compare(used, workload, rounds, _say, ways=ways, given_up=given_up)
            studies[study].append({"value": value, **one})
    base = workloads.scaling(options.quick)["points"][1 if options.quick else 2][1]
    studies["threads"] = []
    for threads in range(1, max(2, results["threads"]) + 1):
        with ExitStack() as stack:
            fresh = [
                stack.enter_context(Remote(r.engine, threads, options.seed, options.timeout))
                for r in remotes
            ]
            workload = replace(base, name=f"threads-{threads}")
            one = compare(fresh, workload, rounds, _say, ways=fastest)
            studies["threads"].append({"value": threads, **one})
    return studies


def _fastest_ways(results: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the fastest way of JAX on the first row where it was timed."""
    for row in results["rows"]:
        way = best_way(row["engines"], "jax")
        if way is not None:
            return {"jax": (way,)}
    return {}


def _write(results: dict[str, Any], options: argparse.Namespace) -> None:
    """Judge and write what has been measured so far: a run that is stopped leaves its rows."""
    results["targets"] = targets(results)
    folder, name = options.out, "bench_quick" if options.quick else "bench"
    folder.mkdir(parents=True, exist_ok=True)
    figures = {f"{name}_rows.png": rows_figure(results)}
    if results["scaling"]:
        figures[f"{name}_scaling.png"] = scaling_figure(results)
    for file, figure in figures.items():
        (folder / file).write_bytes(figure_png(figure))
    write_json(folder / f"{name}.json", results)
    write_text(folder / f"{name}.md", markdown(results, list(figures)))
