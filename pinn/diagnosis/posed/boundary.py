"""Points of the boundary of a domain, and the conditions that hold inside of it instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.posed.statement import Stated
from pinn.geometry import Part, Shape
from pinn.residuals import Boundary, End, Section, Start, Surface
from pinn.sampling import Sampling, stream

# Points of the whole boundary, and of each part at least.
_POINTS, FEWEST = 2048, 64
# A share of a part below this is the grain of its points.
GRAIN = 0.02
_MOST_NAMED = 6


def boundary_points(domain: Shape) -> Iterator[tuple[Part, np.ndarray, np.ndarray]]:
    """Yield the parts of the boundary, each with points of it and the normals there, (n, d)."""
    whole = max(sum(part.measure for part in domain.parts), 1e-300)
    for part in domain.parts:
        count = max(FEWEST, round(_POINTS * part.measure / whole))
        sampler = Sampling(method="uniform").sampler
        rng = stream(0, "boundary", part.label)
        points, normals = domain.sample_part(part, count, sampler, rng)
        if len(points):
            yield part, points, normals


def has_inside(condition: Stated, domain: Shape) -> bool:
    """Whether a condition has points within the bounds of all coordinates, as data have."""
    if isinstance(condition.residual.source, Boundary | Start | End):
        return False  # a circle lies within its bounds
    low, high = np.array(list(domain.bounds.values())).T
    places = condition.points.coordinates
    return bool(((low < places) & (places < high)).all(axis=1).any())


def is_inside(condition: Stated, domain: Shape, sided: bool) -> bool:
    """Whether a condition holds inside the domain, where it may stand for one of the boundary.

    One between two media does not where each equation is one of its own side, `sided`.
    """
    source = condition.residual.source
    if isinstance(source, Section | Surface):
        return not sided
    if isinstance(source, Boundary | Start | End):
        return False
    # Along a line a mean, and the value at a point of it, stand for one at an end.
    if condition.residual.whole:
        return len(domain.space) == 1
    if len(domain.coordinates) > 1:
        return len(condition.points) > 1
    at_ends = np.isclose(condition.points.coordinates, list(domain.bounds.values())).any(axis=1)
    return not at_ends.all()


def places(parts: list[tuple[Part, float]]) -> str:
    """Return parts of the boundary in words, each with the share of it that is meant."""
    named = [
        f"{'' if share == 1 else f'{100 * share:.0f} % of '}{part}"
        for part, share in parts[:_MOST_NAMED]
    ]
    more = len(parts) - _MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
