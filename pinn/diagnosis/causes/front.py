"""A residual that is concentrated in a small part of the domain."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.examination import Examination, orders
from pinn.diagnosis.finding import Change, Finding

# Where the residual is like noise a tenth of the points hold half of its square.
_USUAL, _SMALL = 0.1, 0.03
# What reaches over so much of every coordinate is no scale of the problem.
_WIDE = 0.8
# Points are drawn anew so often in a run, and after so many steps at most.
_DRAWS, _EVERY = 10, 500


def front(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation half of whose loss lies on a few hundredths of its points.

    Not where there are fewer rows than trained numbers: what lies between these is no scale of the
    problem; and not around corners.
    """
    if seen.objective.rows < seen.numbers or seen.has_found("corner"):
        return
    for residual in seen.equations:
        squares = np.sort(seen.residuals[residual.name] ** 2)[::-1]
        if residual.whole or not squares.sum() > 0:
            continue
        part = half(squares)
        weighted = seen.weights[residual.name] * seen.fresh[residual.name]
        if part > _SMALL or weighted < 0.1 * seen.total(seen.fresh):
            continue
        if _is_everywhere(seen, residual.name):
            continue
        sampling = seen.experiment.sampling
        if sampling.adaptive is None or sampling.redraw is None:
            every = min(_EVERY, max(1, seen.report.steps // _DRAWS))
            changes = [
                *([Change("sampling.adaptive", "rad")] if sampling.adaptive is None else []),
                *([Change("sampling.redraw", every)] if sampling.redraw is None else []),
            ]
        else:
            counts = [len(b.points) for b in seen.objective.blocks if b.name == residual.name]
            changes = [Change("sampling.interior", 2 * counts[0])]
        yield Finding(
            "front", "a scale that is not resolved",
            f"{100 * part:.2g} % of the domain hold half of the loss of {residual.name} (of noise "
            f"10 % would); the largest hundredth lies at {_where(seen, residual.name)}",
            tuple(changes), math.log10(_USUAL / part) + _gap(seen, residual.name),
        )  # fmt: skip


def half(squares: np.ndarray) -> float:
    """Return the share of points that holds half of a sum; squares: from the largest on."""
    sums = np.cumsum(squares)
    return float((1 + np.searchsorted(sums, sums[-1] / 2)) / len(squares))


def _gap(seen: Examination, name: str) -> float:
    """Return the orders between a block's loss on fresh points and on those trained on."""
    return orders(seen.fresh[name], seen.trained[name]) if seen.trained[name] > 0 else 0.0


def _where(seen: Examination, name: str) -> str:
    """Name the box that has the largest hundredth of a block's residuals, but for a few."""
    pairs = zip(seen.problem.domain.coordinates, _box(seen, name), strict=True)
    return ", ".join(f"{axis} in [{low:.3g}, {high:.3g}]" for axis, (low, high) in pairs)


def _is_everywhere(seen: Examination, name: str) -> bool:
    """Whether that box is nearly all of the domain, as where features meet at its rim."""
    bounds = np.array(list(seen.problem.domain.bounds.values()))
    shares = np.ptp(_box(seen, name), axis=1) / np.ptp(bounds, axis=1)
    return bool((shares > _WIDE).all())


def _box(seen: Examination, name: str) -> np.ndarray:
    """Return the ends of that box, (coordinates, 2)."""
    count = max(2, len(seen.residuals[name]) // 100)
    largest = np.argsort(-np.abs(seen.residuals[name]), kind="stable")[:count]
    return np.quantile(seen.fresh_points[name].coordinates[largest], (0.05, 0.95), axis=0).T
