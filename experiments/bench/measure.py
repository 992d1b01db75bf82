"""Measuring: the same step by every engine, checked against each other, then timed in turn."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.bench.engines import ENGINES, Engine
from experiments.bench.remote import Failed, Remote
from experiments.bench.workloads import Workload

# Largest difference of gradients relative to the largest entry, and of the first loss.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
_TURN_SECONDS = 0.25
_MOST_STEPS = 50
_LONG_ROUND_SECONDS = 20.0
_FEWEST_ROUNDS = 3
_FATAL = frozenset({"too slow", "out of memory", "ended"})

Say = Callable[[str], None]


def compare(
    remotes: Sequence[Remote],
    workload: Workload,
    rounds: int,
    say: Say,
    *,
    ways: Mapping[str, Sequence[str]] | None = None,
    given_up: set[tuple[str, str]] | None = None,
    profile: bool = False,
    together: int | None = None,
) -> dict[str, Any]:
    """Time one workload: each engine in each of its ways in turn, `rounds` times.

    ways      engine -> the ways to take, where not all.
    given_up  (engine, way) pairs left out; one that takes too much time or memory is added.
    together  steps of a turn, after the last of which alone a device is waited for; None: after
              each.
    Every way's gradient (read from Adam's first moment after the first step, so it is that of the
    very step that is timed) and its first three losses are compared before anything is timed; one
    that differs by more than TOLERANCE is not timed.  Returns plain values for the results file.
    """
    given_up = set() if given_up is None else given_up
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    turns: list[tuple[Remote, str, dict[str, Any]]] = []
    reference: dict[str, Any] | None = None
    for remote in remotes:
        name = remote.engine.name
        entries[name] = {}
        for way in (ways or {}).get(name, remote.engine.ways):
            if (name, way) in given_up:
                entries[name][way] = {"kind": "given up", "error": "took too much for less"}
                continue
            say(f"{workload.name}: preparing {name} {way}")
            entry = entries[name][way] = _prepared(remote, workload, way)
            if entry.get("kind") in _FATAL:
                given_up.add((name, way))
                _prepare_again(remote, workload, entries[name])
            if "error" in entry:
                continue
            moment = np.frombuffer(base64.b64decode(entry.pop("moment")))
            if name != "products":
                this = {"moment": moment, "losses": entry["losses"]}
                reference = reference or this
                _check(entry, this, reference, workload.dtype)
            if "error" not in entry:
                turns.append((remote, way, entry))
    _run_turns(turns, workload, rounds, say, together)
    if profile:
        _profile(remotes, entries)
    for remote in remotes:
        _drop(remote)
    return {"workload": workload.to_json(), "engines": entries}


def _prepared(remote: Remote, workload: Workload, way: str) -> dict[str, Any]:
    try:
        return remote.ask("prepare", workload=workload.to_json(), way=way)
    except Failed as error:
        return {"error": str(error), "kind": error.kind}


def _prepare_again(remote: Remote, workload: Workload, entries: dict[str, Any]) -> None:
    """Bring back what a worker had prepared before it was stopped."""
    for way, entry in entries.items():
        if "error" not in entry:
            again = _prepared(remote, workload, way)
            if "error" in again:
                entry.update(error=again["error"], kind=again["kind"])


def _check(
    entry: dict[str, Any], this: dict[str, Any], reference: dict[str, Any], dtype: str
) -> None:
    """Write the differences into the entry; an error where they are too large."""
    tolerance = TOLERANCE[dtype]
    scale = np.abs(reference["moment"]).max()
    gradient = float(np.abs(this["moment"] - reference["moment"]).max() / scale)
    loss = max(
        abs(a - b) / abs(b) for a, b in zip(this["losses"], reference["losses"], strict=True)
    )
    first_loss = abs(this["losses"][0] - reference["losses"][0]) / abs(reference["losses"][0])
    entry["gradient_difference"], entry["loss_difference"] = gradient, loss
    # Adam's first steps have the size of the learning rate also where the gradient is rounding, so
    # the later losses agree to less.
    later = max(1e3 * tolerance, 1e-6) if dtype == "float64" else 20 * tolerance
    if not (gradient <= tolerance and first_loss <= tolerance and loss <= later):
        entry["kind"] = "wrong"
        entry["error"] = (
            f"differs from the first engine: gradient {gradient:.1e}, first loss {first_loss:.1e}, "
            f"first three losses {loss:.1e}; expected {tolerance:g}, {tolerance:g}, {later:g}"
        )


def _run_turns(
    turns: list, workload: Workload, rounds: int, say: Say, together: int | None
) -> None:
    seconds: dict[int, list[float]] = {k: [] for k in range(len(turns))}
    expected = sum(2 * entry["step_s"] for _, _, entry in turns)
    if expected > _LONG_ROUND_SECONDS:  # long steps need no averaging over many rounds
        rounds = min(rounds, _FEWEST_ROUNDS)
    for number in range(rounds):
        say(f"{workload.name}: round {number + 1} of {rounds}")
        for shift in range(len(turns)):
            k = (shift + number) % len(turns)  # nobody always runs after the same one
            remote, way, entry = turns[k]
            if "error" in entry:
                continue
            most = together or _MOST_STEPS
            steps = int(np.clip(_TURN_SECONDS / max(entry["step_s"], 1e-6), 1, most))
            given = {"way": way, "steps": steps} | ({"together": True} if together else {})
            try:
                seconds[k] += remote.ask("run", **given)["seconds"]
            except Failed as error:
                entry.update(error=str(error), kind=error.kind)
                if error.kind in _FATAL:
                    others = {way: one for r, way, one in turns if r is remote}
                    _prepare_again(remote, workload, others)
    for k, (_, _, entry) in enumerate(turns):
        if seconds[k] and "error" not in entry:
            low, middle, high = np.percentile(seconds[k], [25, 50, 75]) * 1e3
            entry.update(
                ms=float(middle), quartiles_ms=[float(low), float(high)],
                fastest_ms=float(min(seconds[k]) * 1e3), steps=len(seconds[k]),
            )


def _profile(remotes: Sequence[Remote], entries: dict[str, Any]) -> None:
    for remote in remotes:
        for way, entry in entries[remote.engine.name].items():
            if remote.engine.name.startswith("ours") and "error" not in entry:
                try:
                    entry["profile"] = remote.ask("profile", way=way)["profile"]
                except Failed as error:
                    entry["profile_error"] = str(error)


def _drop(remote: Remote) -> None:
    try:
        remote.ask("drop")
    except Failed:
        remote.stop()  # it starts afresh for the next workload


def cold(
    engine: Engine, way: str, workload: Workload, threads: int, seed: int, timeout: float
) -> dict[str, Any]:
    """Return the first call's time and the peak memory of three steps in a fresh process."""
    with Remote(engine, threads, seed, timeout) as remote:
        try:
            prepared = remote.ask("prepare", workload=workload.to_json(), way=way)
            memory = remote.ask("memory")
        except Failed as error:
            return {"way": way, "error": str(error), "kind": error.kind}
    return {
        "way": way,
        "first_call_s": prepared["first_call_s"],
        "step_s": prepared["step_s"],
        "above_interpreter_mib": (memory["peak"] - memory["interpreter"]) / 2**20,
        "above_imports_mib": (memory["peak"] - memory["imported"]) / 2**20,
    }


def usable_engines(names: Sequence[str], say: Say) -> tuple[list[Engine], dict[str, str]]:
    """Return the engines whose packages are installed, and why the others are left out."""
    usable, left_out = [], {}
    for name in names:
        missing = ENGINES[name].missing()
        if missing:
            extra = "bench" if ENGINES[name].peer else "jit"
            left_out[name] = (
                f"{', '.join(missing)} not installed; pip install 'pinn[{extra}]' brings it"
            )
            say(f"{name} is left out: {left_out[name]}")
        else:
            usable.append(ENGINES[name])
    return usable, left_out
