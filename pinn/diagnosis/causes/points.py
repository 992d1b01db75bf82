"""Points that are too few: they are fitted, and what lies between them is not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pinn.diagnosis.examination import OVERFIT, Examination, orders
from pinn.diagnosis.finding import Change, Finding
from pinn.residuals import Residual

# Rows that a trained number takes: 3 to 4 of them leave nothing to fit between the points.
_PER_NUMBER = 4
# A block matters that has so large a part in the loss on fresh points.
_PART = 0.1


def points(seen: Examination) -> Iterator[Finding]:
    """Tell of blocks whose loss on fresh points is several times that on the trained ones."""
    total = seen.total(seen.fresh)
    few = [
        residual for residual in seen.problem.residuals
        if seen.fresh[residual.name] > OVERFIT * seen.trained[residual.name]
        and seen.weights[residual.name] * seen.fresh[residual.name] >= _PART * total
    ]  # fmt: skip
    if not few:
        return
    held = {r.name: seen.trained[r.name] for r in few}
    counts = {block.name: len(block.points) for block in seen.objective.blocks}
    evidence = "; ".join(
        f"{r.name}: loss {seen.fresh[r.name]:.2g} on fresh points, "
        f"{_times(seen.fresh[r.name], seen.trained[r.name])} that on its {counts[r.name]}"
        for r in few
    )
    numbers = seen.numbers
    evidence += f"; {seen.objective.rows} rows for {numbers} trainable numbers"
    changes: dict[str, Change] = {}
    for residual in few:
        key = _key(seen, residual)
        if key is not None:
            enough = _PER_NUMBER * numbers / max(1, len(seen.equations))
            many = max(2 * counts[residual.name], enough if key.endswith("interior") else 0)
            changes[key] = Change(key, _round_up(many))
    yield Finding(
        "points", "too few points", evidence, tuple(changes.values()),
        orders(total, seen.total({**seen.fresh, **held})),
    )  # fmt: skip


def _times(high: float, low: float) -> str:
    return f"{high / low:.2g} times" if low > 0 else "infinitely many times"


def _key(seen: Examination, residual: Residual) -> str | None:
    """Return the key that says how many points a block has; None where it has what it has."""
    sampling = seen.experiment.sampling
    if residual.name in sampling.blocks:
        own = sampling.blocks[residual.name]
        return None if own.points is not None else f"sampling.blocks.{residual.name}.count"
    resolved = sampling.resolved(
        len(seen.problem.domain.coordinates), bool(seen.problem.functions)
    )
    now = residual.source.count(resolved)
    for key in ("interior", "initial", "boundary"):
        more = replace(resolved, candidates=None, **{key: 2 * getattr(resolved, key)})
        if residual.source.count(more) != now:
            return f"sampling.{key}"
    return None


def _round_up(number: float) -> int:
    """Return a number that is no smaller, with two digits."""
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return int(math.ceil(number / unit) * unit)
