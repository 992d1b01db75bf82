"""Clouds of points: a domain that is known by its points alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from pinn.files import Columns
from pinn.geometry.parts import Part
from pinn.geometry.shape import TOLERANCE, Shape, check_names, default_names
from pinn.schema import Name, declared
from pinn.schema.errors import Path, refuse, refuse_kind
from pinn.schema.kinds import Items, Kind, Number, Optional
from pinn.schema.reader import INVALID, Reader
from pinn.schema.tree import Node, Scalar

# A point belongs to the cloud within so many times the usual distance of neighbours. Of uniform
# random points in a plane, two in a thousand places lie further from all of them.
_NEAR = 3.0
_FEWEST = 8


@dataclass(frozen=True)
class Rows(Kind):
    """Points, one a row; in a file rows of numbers, or the name of a CSV or npz file."""

    what: str = "points, one a row"

    def check(self, value: Any) -> tuple[tuple[float, ...], ...]:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (ValueError, TypeError):
            refuse_kind(f"{self.what}, all with as many numbers", value)
        if array.ndim != 2 or not array.size:
            refuse(f"expected {self.what}, shape (n, d), got shape {array.shape}")
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            refuse(f"expected finite numbers, got {array[bad[0]].tolist()} in row {bad[0]}")
        return tuple(map(tuple, array.tolist()))

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if isinstance(node, Scalar) and not node.is_null:
            return self._from_file(node, path, reader)
        rows = reader.read(Items(Items(Number()), self.what, least=1), node, path)
        return rows if rows is INVALID else self._checked(rows, path, reader)

    def _from_file(self, node: Scalar, path: Path, reader: Reader) -> Any:
        try:
            columns = Columns(path=(reader.folder / node.text).absolute())
            found = columns.rows(columns.names, ())
        except ValueError as error:
            return reader.complain(path, str(error), node.place)
        return self._checked(np.stack(list(found.values()), axis=1), path, reader)

    def _checked(self, rows: Any, path: Path, reader: Reader) -> Any:
        try:
            return self.check(rows)
        except ValueError as error:
            return reader.complain(path, str(error))

    def dump(self, value: Any) -> list[list[float]]:
        return [list(row) for row in value]


Points = Annotated[np.ndarray | Sequence[Sequence[float]], Rows()]
MaybePoints = Annotated[np.ndarray | Sequence[Sequence[float]] | None, Optional(Rows())]


@declared(repr=False)
class PointCloud(Shape):
    """A domain that is known by points of its inside, and by points of its boundary if any.

    points: shape (n, d), d of two or more; in a file rows of numbers or the name of a CSV file. The
    points of equations are drawn among these, and repeat where more are asked for; one that is
    given several times counts once. boundary: points (m, d), one part that `on` calls by `name`,
    "boundary" where left out. normals: (m, d), outward; where left out they are those of planes
    through neighbours, right to first order in their distance. names: of the coordinates; x, y, z
    or x1, x2 ... where left out.

    `contains` is a guess: what is near to a point, three times as far as neighbours are from each
    other, and on the inner side of the nearest boundary point. There is no distance and no formula
    for hard conditions. Raises ValueError for fewer than 8 points, rows of different length, and
    normals that are not as many as the boundary's points.
    """

    points: Points
    boundary: MaybePoints = None
    normals: MaybePoints = None
    names: Sequence[Name] | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        d = len(self.points[0])
        if d < 2:
            refuse("expected points of two numbers or more; use an interval for one", "points")
        if len(self.points) < _FEWEST:
            refuse(f"expected {_FEWEST} points or more, got {len(self.points)}", "points")
        check_names(self.names, d)
        for field in ("boundary", "normals"):
            rows = getattr(self, field)
            if rows is not None and len(rows[0]) != d:
                refuse(f"expected {d} numbers a row, as points have, got {len(rows[0])}", field)
        if self.normals is not None and len(self.normals) != len(self.boundary or ()):
            refuse(
                f"expected a normal for each of the {len(self.boundary or ())} boundary points, "
                f"got {len(self.normals)}",
                "normals",
            )
        if self.boundary is not None and len(self.boundary) <= d:
            refuse(f"expected more than {d} boundary points, got {len(self.boundary)}", "boundary")
        if self.normals is not None:
            short = np.flatnonzero(~np.any(self.normals, axis=1))
            if len(short):
                refuse(f"expected normals other than zero, row {short[0]} is", "normals")
        if not all(low < high for low, high in self.bounds.values()):
            refuse("expected points that do not have a coordinate in common", "points")

    def __repr__(self) -> str:
        edge = f", {len(self.boundary)} on its boundary" if self.boundary else ""
        return f"PointCloud({len(self.points)} points{edge})"

    @cached_property
    def _points(self) -> np.ndarray:
        return _distinct(self.points)

    @cached_property
    def _boundary(self) -> np.ndarray:
        # Of a corner there may be two, each with the normal of its side.
        return _distinct(self.boundary) if self.normals is None else np.array(self.boundary)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._points)

    @cached_property
    def _boundary_tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._boundary)

    @cached_property
    def _spacing(self) -> float:
        return _usual_spacing(self._tree, self._points)

    @cached_property
    def _normals(self) -> np.ndarray:
        found = np.array(self.normals) if self.normals else self._estimated()
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def _estimated(self) -> np.ndarray:
        """Return the normals of planes through neighbours, away from the points inside."""
        d = self._points.shape[1]
        near = min(2 * d - 1, len(self._boundary))
        _, places = self._boundary_tree.query(self._boundary, near)
        offsets = self._boundary[places] - self._boundary[places].mean(axis=1, keepdims=True)
        # The direction in which neighbours differ least.
        normals = np.linalg.svd(offsets)[2][:, -1]
        _, inside = self._tree.query(self._boundary, min(2 * d, len(self._points)))
        inwards = self._points[inside].mean(axis=1) - self._boundary
        side = np.einsum("nd,nd->n", normals, inwards)
        return np.where(side > 0, -1.0, 1.0)[:, None] * normals

    @cached_property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        every = self._points
        if self.boundary is not None:
            every = np.concatenate([every, self._boundary])
        pairs = zip(every.min(axis=0).tolist(), every.max(axis=0).tolist(), strict=True)
        names = self.names or default_names(every.shape[1])
        return dict(zip(names, pairs, strict=True))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        if self.boundary is None:
            return ()
        spacing = _usual_spacing(self._boundary_tree, self._boundary)
        size = len(self._boundary) * spacing ** (self._points.shape[1] - 1)
        label = self.name or "boundary"
        return (Part(label, measure=size, owner=label),)

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        given = ~np.isnan(points).any(axis=1)
        distance = np.full(len(points), np.inf)
        distance[given] = self._tree.query(points[given])[0]
        slack = tolerance * self.size
        found = distance <= _NEAR * self._spacing + slack
        if self.boundary is not None:
            beside, place = self._boundary_tree.query(points[given])
            outwards = points[given] - self._boundary[place]
            height = np.einsum("nd,nd->n", outwards, self._normals[place])
            within = found[given] | (beside <= _NEAR * self._spacing)
            found[given] = within & (height <= slack)
        return found | (distance <= slack)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        return self._points[_places(unit, len(self._points))]

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = _places(unit, len(self._boundary))
        return self._boundary[places], self._normals[places]


def _places(unit: np.ndarray, count: int) -> np.ndarray:
    """Return which of so many things the first column of `unit` chooses, each as often."""
    return np.minimum((unit[:, 0] * count).astype(int), count - 1)


def _distinct(points: tuple[tuple[float, ...], ...]) -> np.ndarray:
    """Return points as an array, (n, d), each once: the corners of triangles come many times."""
    return np.array(list(dict.fromkeys(points)))


def _usual_spacing(tree: Any, points: np.ndarray) -> float:
    """Return the median distance to the nearest other point."""
    distance = tree.query(points, 2)[0][:, 1]
    return float(np.median(distance[distance > 0])) if (distance > 0).any() else 0.0
