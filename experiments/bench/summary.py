"""What a row's measurements say: the best peer, ratios, the floor, and the targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.bench.engines import ENGINES
from experiments.bench.workloads import MEMORY_ROW, SMALL_ROW

PEERS = tuple(name for name, engine in ENGINES.items() if engine.peer)
_MIB = 1024.0
_COMPILED, _COMPILED_WIDE, _WIDE = 4, 3, 64  # times the best peer, up to that width and beyond
_FIRST_STEPS = (("ours", "numpy", 0.5), ("ours-llvm", "compiled", 1.0))
_LONG_STEP = 0.25  # seconds; a first step as long as this says nothing about the start


def best(engines: dict[str, Any], names: Iterable[str]) -> tuple[str, float] | None:
    """Return "engine way" and milliseconds of the fastest among the named engines."""
    timed = [
        (entry["ms"], f"{name} {way}")
        for name in names
        for way, entry in engines.get(name, {}).items()
        if "ms" in entry
    ]
    return min(timed)[::-1] if timed else None


def best_way(engines: dict[str, Any], name: str) -> str | None:
    """Return the fastest way of an engine."""
    found = best(engines, [name])
    return None if found is None else found[0].split(" ", 1)[1]


def milliseconds(engines: dict[str, Any], name: str, way: str | None = None) -> float | None:
    """Return the median of an engine in one way (its fastest for None)."""
    if way is not None:
        return engines.get(name, {}).get(way, {}).get("ms")
    found = best(engines, [name])
    return None if found is None else found[1]


def ratio(a: float | None, b: float | None) -> float | None:
    """Return a / b, None where one is missing."""
    return a / b if a is not None and b else None


def summarize(row: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a row's line in the table."""
    engines = row["engines"]
    peer = best(engines, PEERS)
    peer_ms = None if peer is None else peer[1]
    ours, fused = milliseconds(engines, "ours"), milliseconds(engines, "ours-numba")
    compiled = milliseconds(engines, "ours-llvm")
    floor = milliseconds(engines, "products", "plain")
    fastest = min((ms for ms in (ours, fused, compiled) if ms is not None), default=None)
    taken = next((ms for ms in (compiled, fused, ours) if ms is not None), None)
    objective = milliseconds(engines, "objective")
    return {
        "ours_ms": ours,
        "ours_numba_ms": fused,
        "objective_ms": objective,
        "ours_llvm_ms": compiled,
        # training takes the best executor that is there
        "objective_over_joined": ratio(objective, taken),
        "torch_ms": milliseconds(engines, "torch"),
        "jax_ms": milliseconds(engines, "jax"),
        "jax_way": best_way(engines, "jax"),
        "best_peer": None if peer is None else peer[0],
        "speedup_numpy": ratio(peer_ms, ours),
        "speedup_numba": ratio(peer_ms, fused),
        "speedup_llvm": ratio(peer_ms, compiled),
        "llvm_over_numba": ratio(compiled, fused),
        "speedup_jax": ratio(milliseconds(engines, "jax"), fastest),
        "products_ms": floor,
        "products_ours_ms": milliseconds(engines, "products", "ours"),
        "over_products": ratio(fastest, floor),
    }


def _target(
    name: str, row: str, measured: float | None, wanted: float, at_least: bool
) -> dict[str, Any]:
    hit = None
    if measured is not None:
        hit = measured >= wanted if at_least else measured <= wanted
    return {
        "target": name,
        "row": row,
        "wanted": ("at least " if at_least else "at most ") + f"{wanted:g}",
        "measured": measured,
        "verdict": "not measured" if hit is None else "hit" if hit else "missed",
        "missed_by": abs(measured - wanted) if hit is False else None,
    }


def targets(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every target with the figure measured and whether it was hit."""
    found = []
    rows = {row["name"]: row for row in results["rows"]}
    for name, row in rows.items():
        line = row["summary"]
        found += [
            _target("faster than the best peer, numpy", name, line["speedup_numpy"], 2, True),
        ]
        wanted = _COMPILED_WIDE if row["workload"]["network"]["width"] > _WIDE else _COMPILED
        speedup = line["speedup_llvm"]
        found.append(_target("faster than the best peer, compiled", name, speedup, wanted, True))
        joined = line["objective_over_joined"]
        found.append(_target("objective over the blocks joined by hand", name, joined, 1.1, False))
        if row["workload"]["network"]["width"] >= 64:
            over = line["over_products"]
            found.append(_target("time over matrix products", name, over, 2, False))
    if SMALL_ROW in rows:
        line = rows[SMALL_ROW]["summary"]
        found.append(_target("faster than JAX", SMALL_ROW, line["speedup_jax"], 2, True))
        over = line["llvm_over_numba"]
        found.append(_target("compiled over numba's loops", SMALL_ROW, over, 0.55, False))
    for name, row in rows.items():
        for engine, what, most in _FIRST_STEPS:
            cold = row.get("cold", {}).get(engine, {})
            if "first_call_s" in cold and cold["step_s"] < _LONG_STEP:
                first = cold.get("empty_cache_s")
                found.append(_target(f"first step from an empty cache, {what}, seconds", name,
                                     first, most, False))  # fmt: skip
    if MEMORY_ROW in rows:
        memory = rows[MEMORY_ROW].get("cold", {}).get("ours", {}).get("above_interpreter_mib")
        gib = ratio(memory, _MIB)
        found.append(_target("memory above the interpreter, GiB", MEMORY_ROW, gib, 1, False))
    for engine, what in (("ours", "numpy"), ("ours-llvm", "compiled")):
        spread = linearity(results, engine)
        name = f"spread of time a point, N from 10 000, {what}"
        found.append(_target(name, "points", spread, 0.1, False))
    for dtype, peak in results.get("peak", {}).items():
        for one in peak["shares"]:
            row = f"width {one['width']}, {dtype}"
            for name, what in (("product", "products"), ("sum", "sums over points")):
                found.append(_target(f"{what} over the multiply-add peak", row, one[name],
                                     0.8, True))  # fmt: skip
    for one in results.get("training", []):
        over = ratio(one["rates"]["llvm"], one["rates"]["numba"])
        name = "steps a second, compiled over numba's loops"
        found.append(_target(name, f"burgers.yaml, {one['solver']}", over, 2, True))
    return found


def linearity(results: dict[str, Any], engine: str, least: int = 10_000) -> float | None:
    """Return how much an engine's time a point varies over N: largest / smallest - 1."""
    each = [
        ratio(milliseconds(one["engines"], engine), one["value"])
        for one in results.get("scaling", {}).get("points", [])
        if one["value"] >= least
    ]
    each = [value for value in each if value]
    return max(each) / min(each) - 1 if len(each) > 1 else None
