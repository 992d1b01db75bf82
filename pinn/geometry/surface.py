"""Solids inside of a closed surface of triangles, read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np

from pinn.geometry.facets import Facets
from pinn.geometry.holes import Hole, holes_of
from pinn.geometry.parts import Part
from pinn.geometry.pieces import Pieces, PiecesKind, check_file, digest_of, foreign_reader
from pinn.geometry.shape import TOLERANCE, Shape, check_names
from pinn.schema import Name, declared
from pinn.schema.errors import refuse

_SUFFIXES = (".stl", ".ply", ".off")


def _read(name: str) -> Pieces:
    check_file(name, _SUFFIXES)
    with foreign_reader("trimesh", name):
        import trimesh

        with Path(name).open("rb") as file:
            found = trimesh.load_mesh(file, file_type=Path(name).suffix.lower()[1:])
        corners = np.asarray(found.vertices, dtype=np.float64)[np.asarray(found.faces)]
        closed = bool(found.is_watertight and found.is_winding_consistent)
    if not len(corners) or not np.isfinite(corners).all():
        refuse(f"{name}: expected triangles with finite corners")
    if not closed:
        refuse(
            f"{name}: its surface is not closed, or some of its triangles are turned over, so it "
            "has no inside; repair it (trimesh.repair, or the program that wrote it)"
        )
    facets = Facets(corners)
    facets = facets.subset(facets.sizes > 0)
    corners = facets.corners if facets.enclosed > 0 else facets.corners[:, ::-1]
    return Pieces(name, digest_of(name), corners)


@declared
class Surface(Shape):
    """The solid inside of a closed surface: pinn.Surface("part.stl").

    path: an STL, PLY or OFF file, read with trimesh (pip install "pinn[mesh]"); what was read is
    kept with a solution, which needs the file no longer. names: of the coordinates. name: of its
    boundary in `on`, "surface" where left out; `on="z=0"` and `on="normal_z > 0.9"` take what lies
    there or looks that way. A surface has no formula for hard conditions. Raises ValueError, with
    the file's name, for a file that is not there or damaged, and for a surface that is not closed.
    """

    path: Annotated[str | Pieces, PiecesKind(_read)]
    names: tuple[Name, Name, Name] = ("x", "y", "z")
    name: Name | None = None

    def __post_init__(self) -> None:
        check_names(self.names, 3)

    @cached_property
    def _facets(self) -> Facets:
        return Facets(self.path.facets)

    @cached_property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        corners = self._facets.corners.reshape(-1, 3)
        low, high = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        return dict(zip(self.names, zip(low, high, strict=True), strict=True))

    @property
    def measure(self) -> float:
        return self._facets.enclosed

    @property
    def parts(self) -> tuple[Part, ...]:
        label = self.name or "surface"
        return (Part(label, measure=self._facets.measure, owner=label),)

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(holes_of(self.coordinates, self._facets))

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self._facets.contains(points, tolerance * self.size)

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._facets.place(unit)

    def distance(self, points: np.ndarray) -> np.ndarray:
        return self._facets.signed_distance(points)

    def reach(self, direction: np.ndarray) -> float:
        return float((self._facets.corners @ direction).max())
