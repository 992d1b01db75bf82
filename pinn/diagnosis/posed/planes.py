"""The planes x = const that a condition holds on, told from its points alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pinn.sampling import Points

# Points that share a coordinate, and values of each other one among them, that make a plane.
_FEWEST = 8
_SPREAD = 3


@dataclass(frozen=True)
class Plane:
    """The points of a condition that share the value of a coordinate: (m, d)."""

    coordinate: str
    value: float
    points: np.ndarray


def planes_of(points: Points, coordinates: tuple[str, ...]) -> tuple[list[Plane], bool]:
    """Return the planes that points lie on, and whether many of them lie on none.

    In one coordinate every point is a plane of its own. A lone point lies on none, and is not many:
    it fixes a constant, no function.
    """
    array = points.coordinates
    found, elsewhere = [], np.full(len(array), len(coordinates) > 1)
    for j, name in enumerate(coordinates):
        order = np.argsort(array[:, j], kind="stable")
        values, begins = np.unique(array[order, j], return_index=True)
        for value, rows in zip(values, np.split(order, begins[1:]), strict=True):
            if len(coordinates) > 1 and len(rows) < _FEWEST:
                continue
            others = (k for k in range(len(coordinates)) if k != j)
            if all(len(np.unique(array[rows, k])) >= _SPREAD for k in others):
                found.append(Plane(name, float(value), array[rows]))
                elsewhere[rows] = False
    return found, bool(np.count_nonzero(elsewhere) > 1)


def places_in_words(given: Sequence[tuple[str, Plane]]) -> str:
    """Return conditions by name, each with its plane, in words; a mean is on none."""
    return ", ".join(
        name if math.isnan(plane.value) else f"{name} at {plane.coordinate} = {plane.value:g}"
        for name, plane in given
    )
