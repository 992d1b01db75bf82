"""Infinite slopes at a corner that the network does not know of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pinn.diagnosis.adapted.cornered import at_corners
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding
from pinn.diagnosis.posed.singular import Singular, singular
from pinn.models import AutoModel, CornerEmbedding, Network

# Near to a corner, as a share of the domain; what part of the loss it holds where that is so, and
# how many times its share of the points.
_NEAR, _HELD, _TIMES = 0.05, 0.3, 5.0


def corner(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation whose loss lies around corners at which slopes are infinite.

    Not where the network is told of them, or is given features of its own, nor where the default
    model would not see them.
    """
    model = seen.experiment.model
    if not isinstance(model, Network) or model.features or seen.problem.singularities:
        return
    if any(isinstance(one, CornerEmbedding) for one in model.embedding):
        return
    by_default = replace(seen.experiment, model=AutoModel())
    _, decided = at_corners(by_default, by_default)
    places = singular(seen.problem) if decided else []
    for residual in seen.equations if places else ():
        squares = seen.residuals[residual.name] ** 2
        if residual.whole or not squares.sum() > 0:
            continue
        near = _near(seen, residual.name, places)
        held, share = float(squares[near].sum() / squares.sum()), float(near.mean())
        if held < max(_HELD, _TIMES * share):
            continue
        yield Finding(
            "corner", "slopes are infinite at a corner",
            f"{100 * held:.0f} % of the loss of {residual.name} lies "
            f"{'; '.join(map(str, places))} or near; networks of the coordinates alone cannot "
            "follow the solution there, and the mean square of the residual has no bound; the "
            "default model sees what is singular",
            (Change("model", "auto"),), 1 + math.log10(held / max(share, 1e-6)),
        )  # fmt: skip
        return


def _near(seen: Examination, name: str, places: Sequence[Singular]) -> np.ndarray:
    """Return which fresh points of an equation lie near to a place, (n,)."""
    domain, points = seen.problem.domain, seen.fresh_points[name].coordinates
    found = np.zeros(len(points), bool)
    for one in places:
        columns = [domain.coordinates.index(n) for n in one.corner.names]
        away = np.linalg.norm(points[:, columns] - one.corner.at, axis=1)
        found |= away < _NEAR * domain.size
    return found
