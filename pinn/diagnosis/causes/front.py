"""A residual that is concentrated in a small part of the domain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding

# Where the residual is like noise a tenth of the points hold half of its square.
_USUAL, _SMALL = 0.1, 0.03
_EVERY = 500


def front(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation half of whose loss lies on a few hundredths of its points."""
    for residual in seen.equations:
        squares = np.sort(seen.residuals[residual.name] ** 2)[::-1]
        if residual.whole or not squares.sum() > 0:
            continue
        part = half(squares)
        weighted = seen.weights[residual.name] * seen.fresh[residual.name]
        if part > _SMALL or weighted < 0.1 * seen.total(seen.fresh):
            continue
        sampling = seen.experiment.sampling
        points = seen.fresh_points[residual.name].coordinates
        held = points[np.argsort(-(seen.residuals[residual.name] ** 2))[: max(2, len(squares) //
                                                                             100)]]  # fmt: skip
        where = ", ".join(
            f"{name} in [{low:.3g}, {high:.3g}]" for name, (low, high) in zip(
                seen.problem.domain.coordinates, np.quantile(held, (0.05, 0.95), axis=0).T,
                strict=True,
            )
        )  # fmt: skip
        if sampling.adaptive is None or sampling.redraw is None:
            changes = [
                *([Change("sampling.adaptive", "rad")] if sampling.adaptive is None else []),
                *([Change("sampling.redraw", _EVERY)] if sampling.redraw is None else []),
            ]
        else:
            count = 2 * len(seen.objective.blocks[0].points)
            changes = [Change("sampling.interior", count)]
        yield Finding(
            "front", "a scale that is not resolved",
            f"{100 * part:.2g} % of the domain hold half of the loss of {residual.name} (of noise "
            f"10 % would); the largest hundredth lies at {where}",
            tuple(changes), np.log10(_USUAL / part) + seen_gap(seen, residual.name),
        )  # fmt: skip


def half(squares: np.ndarray) -> float:
    """Return the share of points that holds half of a sum; squares: from the largest on."""
    sums = np.cumsum(squares)
    return float((1 + np.searchsorted(sums, sums[-1] / 2)) / len(squares))


def seen_gap(seen: Examination, name: str) -> float:
    """Return the orders between a block's loss on fresh points and on those trained on."""
    trained, fresh = seen.trained[name], seen.fresh[name]
    return float(max(0.0, np.log10(fresh / trained))) if trained > 0 else 0.0
