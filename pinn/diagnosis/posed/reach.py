"""How many conditions reach the points of a boundary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pinn.diagnosis.posed.statement import Stated
from pinn.diagnosis.posed.systems import System
from pinn.equations.leaves import At
from pinn.equations.names import normal_name
from pinn.geometry import Face, Part, Piece, Shape
from pinn.residuals import Boundary

# Two places are one below this distance.
_ROUNDING = 1e-9


def reach(
    domain: Shape, system: System, part: Part, points: np.ndarray, normals: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return how many conditions reach each point, (n,), and unknown -> whether one asks for it.

    points, normals: of a part of the boundary, (n, d). A condition that ties a point to the other
    end of a coordinate is half of one at each; equal ones on pieces count once.
    """
    columns = {
        **dict(zip(domain.coordinates, points.T, strict=True)),
        **dict(zip(map(normal_name, domain.space), normals.T, strict=True)),
    }
    counts: dict[object, np.ndarray] = {}
    asked: dict[str, np.ndarray] = {}
    for condition in system.conditions:
        reached = _reached_by(condition, part, points, columns)
        what = condition.leaves[0] if len(condition.leaves) == 1 else condition.name
        counts[what] = np.maximum(counts.get(what, 0.0), reached)
        for leaf in condition.leaves:
            asked[leaf.unknown] = asked.get(leaf.unknown, False) | (reached > 0)
    return sum(counts.values(), start=np.zeros(len(points))), asked


def _reached_by(
    condition: Stated, side: Part, points: np.ndarray, columns: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return whether a condition reaches each point of a part of the boundary, or half of it."""
    source = condition.residual.source
    found = np.zeros(len(points))
    if not isinstance(source, Boundary):
        found[:] = _is_at_end(condition, points)
        return found
    ties = any(isinstance(leaf, At) for leaf in condition.leaves)
    for part in source.parts:
        if ties and _faces(part, side, condition):
            found[:] = 0.5
        elif (within := _within(part, side, columns)) is not None:
            found[within] = 0.5 if ties else 1.0
    return found


def _is_at_end(condition: Stated, points: np.ndarray) -> bool:
    """Whether a condition at points is one at the end of a line."""
    if points.shape[1] > 1 or len(condition.points) != 1:
        return False
    return bool(np.allclose(condition.points.coordinates, points[0], atol=_ROUNDING))


def _within(part: Part, side: Part, columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return which points of a part of the boundary a condition's part has; None for others."""
    if part == side:
        return np.ones(len(next(iter(columns.values()))), bool)
    if not isinstance(part, Piece):
        return None
    whole = _within(part.part, side, columns)
    return None if whole is None else whole & part.holds(columns)


def _faces(part: Part, side: Part, condition: Stated) -> bool:
    """Whether a part is the other end of the coordinate across which a condition ties points."""
    names = {name for leaf in condition.leaves if isinstance(leaf, At) for name in leaf.names}
    return (
        isinstance(part, Face) and isinstance(side, Face) and part != side
        and names == {part.coordinate} == {side.coordinate}
    )  # fmt: skip
