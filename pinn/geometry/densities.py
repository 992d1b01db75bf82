"""Densities of points that lie closer around some places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol


class Place(Protocol):
    """A hole, a corner: what many points are to lie around."""

    def density(self, amount: float, bounds: Mapping[str, tuple[float, float]]) -> str:
        """Return the text of a density; amount: its mean over the bounding box, about."""


def density_around(
    places: Sequence[Place], bounds: Mapping[str, tuple[float, float]]
) -> str | None:
    """Return the text of a density by which half of the points lie around places; None for none."""
    added = [place.density(1 / len(places), bounds) for place in places]
    return " + ".join(["1", *added]) if added else None


def at_any_scale(
    amount: float,
    names: Sequence[str],
    squared: str,
    bounds: Mapping[str, tuple[float, float]],
) -> str:
    """Return the text of a density that has as many points at any scale of a distance.

    amount: its mean over the bounding box for each scale, of e. squared: the text of the distance
    squared, by the coordinates of these names.
    """
    d = len(names)
    sphere = 2 * math.pi ** (d / 2) / math.gamma(d / 2)
    box = math.prod(high - low for low, high in (bounds[name] for name in names))
    power = "" if d == 2 else f"**{d / 2:g}"
    return f"{amount * box / sphere:.6g}/({squared}){power}"
