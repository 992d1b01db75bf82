"""Late times that are trained before early ones hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.examination import Examination, unsolved_orders
from pinn.diagnosis.finding import Change, Finding
from pinn.objective.weighting import Causal, Combined, Weighting

_SLICES = 8
# How many times as large the residual is early as late, where late times hold by themselves.
_EARLIER = 5.0
# The share of the time that is solved first.
_FIRST = 0.25


def causality(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation in time whose residual is large early and small late, and not solved.

    Late times then follow from a wrong state, and hold with it: a field that died out has no
    residual. What helps most surely is a shorter time, from whose end the rest is solved.
    """
    domain = seen.problem.domain
    share = seen.unsolved
    weighting = seen.experiment.weighting
    if domain.time is None or share is None or seen.overfit or _is_causal(weighting):
        return
    if seen.has_found("long_time"):
        return
    losses = np.zeros(_SLICES)
    for residual in seen.equations:
        if not residual.whole:
            losses += seen.weights[residual.name] * _by_time(seen, residual.name)
    early, late = losses[: _SLICES // 4].max(), float(np.median(losses[_SLICES // 2 :]))
    if not (early > _EARLIER * late and seen.is_stuck):
        return
    low, high = domain.bounds[domain.time]
    shorter = {"time": [low, low + _FIRST * (high - low)]}
    shown = ", ".join(f"{loss:.1e}" for loss in losses)
    yield Finding(
        "causality", "late times are trained before early ones hold",
        f"the mean square of the residual in {_SLICES} equal parts of {domain.time}: {shown}; "
        f"a residual is off by {share:.2g} of its terms",
        (Change(f"problem.domain.{domain.time}", shorter, "first, and the rest from its end"),),
        unsolved_orders(share),
    )  # fmt: skip


def _by_time(seen: Examination, name: str) -> np.ndarray:
    domain, points = seen.problem.domain, seen.fresh_points[name].coordinates
    low, high = domain.bounds[domain.time]
    times = (points[:, domain.coordinates.index(domain.time)] - low) / (high - low)
    slices = np.clip((times * _SLICES).astype(int), 0, _SLICES - 1)
    sums = np.bincount(slices, seen.residuals[name] ** 2, _SLICES)
    return sums / np.maximum(np.bincount(slices, minlength=_SLICES), 1)


def _is_causal(weighting: Weighting) -> bool:
    parts = weighting.schemes if isinstance(weighting, Combined) else (weighting,)
    return any(isinstance(part, Causal) for part in parts)
