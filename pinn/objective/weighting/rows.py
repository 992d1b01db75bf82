"""What schemes remember of each row, also where the points are other ones by now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State
from pinn.sampling import Points


def weighable(view: View, names: Iterable[str] | None, default: Iterable[str]) -> list[str]:
    """Return the blocks whose rows are weighed, in order: those named, or by default others.

    One whose rows are not those of its points, such as a mean over all of them, is never among
    them.
    """
    asked = set(default if names is None else names)
    own = {name for name in view.names if len(view.residuals[name]) == len(view.points[name])}
    return [name for name in view.names if name in asked & own]


def remembered(state: State, block: str, points: Points) -> dict[str, np.ndarray] | None:
    """Return the numbers of each row of a block, (n,), by name; None where there are none yet.

    At points that were drawn anew each row has those of the nearest of the points before, measured
    in shares of their bounding box: what a scheme has learned is a field over the domain.
    """
    prefix = f"{block}/"
    found = {k.removeprefix(prefix): a for k, a in state.items() if k.startswith(prefix)}
    if not found:
        return None
    old, new = found.pop("points"), points.coordinates
    if old is new or np.array_equal(old, new):
        return found
    nearest = nearest_rows(old, new)
    return {name: array[nearest] for name, array in found.items()}


def kept(block: str, points: Points, numbers: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the part of a state that `remembered` takes."""
    named = {f"{block}/{name}": array for name, array in numbers.items()}
    return {f"{block}/points": points.coordinates, **named}


def nearest_rows(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return for each of some points (m, d) which of others (n, d) is nearest, (m,)."""
    from scipy.spatial import cKDTree

    size = np.ptp(old, axis=0)
    size[size == 0] = 1.0
    return cKDTree(old / size).query(new / size)[1]


def steps_since(view: View, state: State) -> int:
    """Return how many steps went by since the last update, 1 at the first."""
    return view.step - int(state["step"]) if state else 1
