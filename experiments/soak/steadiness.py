"""What samples say: whether memory grows, and how long steps take minute by minute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

WARM_UP = 60.0
"""Seconds that do not count: libraries load, programs are recorded, the first figures are drawn."""

FLAT = 0.05
"""Memory is flat where it ends less than this part above its level after the first minute."""


def of_memory(seconds: Sequence[float], mib: Sequence[float]) -> dict[str, Any]:
    """Return how memory went after the first minute.

    `mib_per_hour` is the slope of a line through the samples; `growth` the median of the last tenth
    of them over that of the first, less 1; `least` and `most` in MiB. Raises ValueError for samples
    of less than two minutes, which tell nothing.
    """
    at, held = np.asarray(seconds), np.asarray(mib)
    if not len(at) or at[-1] < 2 * WARM_UP:
        raise ValueError(
            f"expected samples of at least {2 * WARM_UP:g} seconds, as memory settles in the first "
            f"{WARM_UP:g}, got {at[-1] if len(at) else 0:g}; give more --minutes"
        )
    at, held = at[at >= WARM_UP], held[at >= WARM_UP]
    tenth = max(1, len(held) // 10)
    growth = float(np.median(held[-tenth:]) / np.median(held[:tenth]) - 1)
    return {
        "mib_per_hour": float(np.polyfit(at / 3600, held, 1)[0]),
        "growth": growth, "flat": growth < FLAT,
        "least": float(held.min()), "most": float(held.max()),
    }  # fmt: skip


def of_steps(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each minute of training, quantiles of the time of a step in ms.

    records: the lines of metrics.jsonl. A sample is the time between two lines over the steps
    between them, with whatever else was done then: drawing points, checkpoints, figures.
    """
    wall = np.array([record["wall_s"] for record in records])
    step = np.array([record["step"] for record in records])
    passed, taken = np.diff(wall), np.diff(step)
    samples, minutes = 1e3 * passed[taken > 0] / taken[taken > 0], wall[1:][taken > 0] // 60
    rows = []
    for minute in np.unique(minutes):
        quantiles = np.quantile(samples[minutes == minute], [0.5, 0.9, 0.99])
        rows.append({
            "minute": int(minute), "samples": int(np.sum(minutes == minute)),
            **dict(zip(("median_ms", "p90_ms", "p99_ms"), map(float, quantiles), strict=True)),
        })  # fmt: skip
    return rows


def of_processor(
    seconds: Sequence[float], taken: Sequence[float], records: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return, for each whole minute of training, the processor's ms a step: all that it did.

    seconds, taken: samples of the processor's seconds that the process had had. records: the lines
    of metrics.jsonl. Who shares the core does not change it, but for the caches.
    """
    wall = np.array([record["wall_s"] for record in records])
    step = np.array([record["step"] for record in records])
    # training begins when libraries are loaded, and ends with the process or a little before
    late = max(0.0, seconds[-1] - wall[-1])
    edges = 60.0 * np.arange(int(wall[-1] // 60) + 1)
    used = np.diff(np.interp(edges + late, seconds, taken))
    steps = np.diff(np.interp(edges, wall, step))
    return [
        {"minute": minute, "mean_ms": float(1e3 * cost / count)}
        for minute, (cost, count) in enumerate(zip(used, steps, strict=True))
    ]


def drift(rows: Sequence[Mapping[str, Any]], name: str = "median_ms") -> float:
    """Return a step of the last tenth of the minutes over one of the first, less 1.

    The first minute does not count where there are others.
    """
    medians = [row[name] for row in rows[1:] or rows]
    tenth = max(1, len(medians) // 10)
    return float(np.median(medians[-tenth:]) / np.median(medians[:tenth]) - 1)
