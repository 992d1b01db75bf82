"""A step on a GPU: ours and the peers', checked against each other, then timed in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata
from typing import Any

from experiments.bench.engines import ENGINES, GPU
from experiments.bench.measure import Say, compare
from experiments.bench.remote import Remote
from experiments.gpu.rows import POINTS, Row

HOST = "objective"
# Steps of a turn: a burst of ours has a hundred at most.
_TOGETHER = 200
# Of JAX's ways where some are known: those that were the fastest on this network with few points.
_TRIED = 3


@contextmanager
def started(threads: int, seed: int, timeout: float) -> Iterator[list[Remote]]:
    """Give the engines whose packages are there, ours on the host first, a process each."""
    engines = [ENGINES[HOST], *(one for one in GPU.values() if not one.missing())]
    with ExitStack() as stack:
        yield [stack.enter_context(Remote(one, threads, seed, timeout)) for one in engines]


def measure(
    row: Row, known: Sequence[Mapping[str, Any]], remotes: Sequence[Remote], rounds: int, say: Say
) -> dict[str, Any]:
    """Return what each engine took, and how far its gradient is from the first one's.

    The first is ours on the host with few points, where it is timed as well, ours on the GPU with
    more. known: rows that have been measured.
    """
    used = [one for one in remotes if one.engine.name != HOST or row.points == POINTS[0]]
    ways = {"jax-gpu": _fastest(row, known)}
    found = compare(used, row.workload, rounds, say, ways=ways, together=_TOGETHER)
    engines = found["engines"]
    kinds = {entry.get("kind") for ways in engines.values() for entry in ways.values()}
    if row.points == POINTS[-1] or kinds - {None, "cannot run"}:
        # What their allocators keep of such a step would be wanting to the others at the next.
        for one in remotes:
            one.stop()
    names = {one.engine.name for one in remotes}
    left_out = {name: one.missing() for name, one in GPU.items() if name not in names}
    return {**row._asdict(), "engines": engines, "left_out": left_out, "peers": _versions()}


def best(entries: Mapping[str, Mapping[str, Any]]) -> tuple[str | None, float | None]:
    """Return the fastest way of an engine and its milliseconds, None where none has a time."""
    timed = _timed(entries)
    way = min(timed, key=timed.__getitem__, default=None)
    return way, timed.get(way)


def _fastest(row: Row, known: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Return the ways of JAX that are worth a try, all of them for the first row of a network.

    They are those that were the fastest with few points, in this precision or the other.
    """
    few = [
        one for one in known
        if one.get("network") == row.network and one["points"] == POINTS[0]
    ]  # fmt: skip
    few.sort(key=lambda one: one["precision"] != row.precision)
    for one in few:
        timed = _timed(one["engines"].get("jax-gpu", {}))
        if timed and one["name"] != row.name:
            return sorted(timed, key=timed.__getitem__)[:_TRIED]
    return GPU["jax-gpu"].ways


def _versions() -> dict[str, str]:
    """Return the versions of the peers' packages that are there."""
    found = {}
    for name in ("jax", "jaxlib", "optax", "torch"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _timed(entries: Mapping[str, Mapping[str, Any]]) -> dict[str | None, float]:
    return {way: entry["ms"] for way, entry in entries.items() if "ms" in entry}
