"""Where the time of a recorded program goes, step by step."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

_REPEATS = 15


def profile_executor(executor: Any, rows: int, points: int) -> dict[str, Any]:
    """Time every bound call of an executor on one chunk, one thread.

    Returns milliseconds a step of `points` rows (of one thread), by kind of call, the slowest
    calls, the chunk's rows and the arena's bytes.  A step is what `executor.steps` holds.
    """
    steps = list(executor.steps)
    best = [float("inf")] * len(steps)
    with np.errstate(all="ignore"), threadpool_limits(limits=1, user_api="blas"):
        for _ in range(_REPEATS):
            for k, step in enumerate(steps):
                start = time.perf_counter()
                step()
                best[k] = min(best[k], time.perf_counter() - start)
    factor = 1e3 * points / rows
    by_kind: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for step, seconds in zip(steps, best, strict=True):
        kind, shape = _label(step)
        by_kind[kind] += seconds * factor
        calls[kind] += 1
        labelled[f"{kind} {shape}"] += seconds * factor
    return {
        "chunk_rows": rows,
        "arena_bytes": int(executor.nbytes),
        "calls": len(steps),
        "ms_one_thread": round(sum(by_kind.values()), 4),
        "kinds": {
            kind: {"ms": round(ms, 4), "calls": calls[kind]} for kind, ms in by_kind.most_common()
        },
        "slowest": {label: round(ms, 4) for label, ms in labelled.most_common(12)},
    }


def _label(step: Any) -> tuple[str, str]:
    """Return the kind of a bound call and the shapes of its arrays."""
    if isinstance(step, partial):
        kind = getattr(step.func, "__name__", str(step.func))
        arguments = step.args
        if step.func == np.add.reduce:
            kind = "sum"
    else:
        kind = getattr(step, "__name__", type(step).__name__)
        cells = getattr(step, "__closure__", None) or ()
        arguments = tuple(cell.cell_contents for cell in cells)
        forward = [a for a in arguments if callable(a) and hasattr(a, "__name__")]
        kind = forward[0].__name__ if forward else kind
    shapes = ["x".join(map(str, a.shape)) or "()" for a in arguments if isinstance(a, np.ndarray)]
    return kind, ",".join(shapes[:3])
