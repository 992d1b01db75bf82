"""Domains of triangles or tetrahedra, read from a mesh file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from pinn.geometry.corners import Corner, corners_of_facets, turning_points
from pinn.geometry.facets import Facets, chosen
from pinn.geometry.holes import Hole, holes_of
from pinn.geometry.parts import Part
from pinn.geometry.pieces import Pieces, PiecesKind, check_file, digest_of, foreign_reader
from pinn.geometry.shape import TOLERANCE, Shape, check_names, default_names
from pinn.schema import Name, declared
from pinn.schema.errors import refuse

_SUFFIXES = (".msh", ".vtk", ".vtu", ".inp", ".mesh", ".bdf", ".nas", ".su2")
# Cells by their kind: the corners of the simplices that they consist of. Solids other than
# tetrahedra may be cut in ways that do not fit to their neighbours.
_CELLS = {
    "triangle": [(0, 1, 2)],
    "quad": [(0, 1, 2), (0, 2, 3)],
    "tetra": [(0, 1, 2, 3)],
}
_UNCUT = ("pyramid", "wedge", "hexahedron", "polyhedron")
_FLAT = {"line": [(0, 1)], "triangle": _CELLS["triangle"], "quad": _CELLS["quad"]}


def _read(name: str) -> Pieces:
    check_file(name, _SUFFIXES)
    with foreign_reader("meshio", name), np.errstate(all="ignore"):
        import meshio

        return _content(name, meshio.read(name))


def _content(name: str, found: Any) -> Pieces:
    points = np.asarray(found.points, dtype=np.float64)
    uncut = {block.type for block in found.cells if block.type.startswith(_UNCUT)}
    if uncut:
        refuse(
            f"{name}: expected tetrahedra, got {', '.join(sorted(uncut))}; write it again with "
            "tetrahedra alone (in Gmsh: no recombination)"
        )
    solid = [c for c in (_simplices(block, _CELLS) for block in found.cells) if c is not None]
    d = max((cells.shape[1] - 1 for cells in solid), default=0)
    if not d:
        kinds = ", ".join(sorted({block.type for block in found.cells})) or "none"
        refuse(f"{name}: expected triangles or tetrahedra among its cells, got {kinds}")
    cells = np.concatenate([cells for cells in solid if cells.shape[1] == d + 1])
    if cells.size and not 0 <= cells.min() <= cells.max() < len(points):
        refuse(f"{name}: its cells name points that it does not have; it is damaged")
    if not np.isfinite(points).all():
        refuse(f"{name}: its points are not all finite; it is damaged")
    if d == 2 and points.shape[1] == 3 and len(np.unique(points[np.unique(cells), 2])) > 1:
        refuse(
            f"{name}: its triangles do not lie in a plane z = const, and there are no tetrahedra; "
            "use surface (pinn.Surface in Python) for the solid inside of a closed surface"
        )
    points = points[:, :d]
    volumes = _volumes(points[cells])
    cells = cells[volumes > 1e-14 * volumes.max(initial=0.0)]
    if not len(cells) or not np.isfinite(volumes).all():
        refuse(f"{name}: expected cells that are not flat, of finite size")
    rim, opposite = _rim(cells)
    corners = _outward(points[rim], points[opposite])
    labels = np.array(_labels(found, rim))
    names = sorted(set(labels.tolist()) - {""})
    groups = {name: np.flatnonzero(labels == name) for name in names}
    return Pieces(name, digest_of(name), corners, points[cells], groups)


def _simplices(block: Any, known: Mapping[str, list]) -> np.ndarray | None:
    """Return the simplices of a block of cells, (m, corners), None for another kind."""
    kind = re.sub(r"\d+$", "", block.type)  # triangle6 has its corners first
    if kind not in known:
        return None
    return np.concatenate([np.asarray(block.data)[:, list(one)] for one in known[kind]])


def _volumes(cells: np.ndarray) -> np.ndarray:
    edges = cells[:, 1:] - cells[:, :1]
    return np.abs(np.linalg.det(edges)) / (2 if edges.shape[1] == 2 else 6)


def _rim(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the facets that one cell alone has, and the corner of the cell beyond each."""
    count = cells.shape[1]
    facets = np.concatenate([np.delete(cells, k, axis=1) for k in range(count)])
    beyond = np.concatenate([cells[:, k] for k in range(count)])
    _, first, times = np.unique(
        np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True
    )
    alone = first[times == 1]
    return facets[alone], beyond[alone]


def _outward(corners: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return facets with their corners in the order that has the inside behind."""
    normals = Facets(corners).normals
    turned = np.einsum("md,md->m", normals, inside - corners[:, 0]) > 0
    corners = corners.copy()
    corners[turned] = corners[turned][:, ::-1]
    return corners


def _labels(found: Any, rim: np.ndarray) -> list[str]:
    """Return the label of each facet: the name of the group that it is in, or ""."""
    named: dict[tuple[int, ...], str] = {}
    d = rim.shape[1]
    tags = getattr(found, "cell_data", {}).get("gmsh:physical")
    fields = getattr(found, "field_data", {}).items()
    called = {int(tag): name for name, (tag, of) in fields if of == d - 1}
    sets = getattr(found, "cell_sets", {})
    for i, block in enumerate(found.cells):
        facets = _simplices(block, _FLAT)
        if facets is None or facets.shape[1] != d:
            continue
        pieces = len(facets) // max(len(block.data), 1)
        names = np.full(len(block.data), "", dtype=object)
        if tags is not None:
            names[:] = [called.get(int(tag), f"group_{int(tag)}") for tag in tags[i]]
        for name, members in sets.items():
            if not name.startswith("gmsh:") and members[i] is not None:
                names[np.asarray(members[i], dtype=int)] = name
        for facet, name in zip(np.sort(facets, axis=1), np.tile(names, pieces), strict=True):
            named[tuple(facet.tolist())] = _as_label(name)
    return [named.get(tuple(facet), "") for facet in np.sort(rim, axis=1).tolist()]


def _as_label(name: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", name)
    label = "_".join(words)
    return label if not label or label[0].isalpha() else f"group_{label}"


@declared
class Mesh(Shape):
    """The domain of a mesh of triangles (two dimensions) or tetrahedra (three): Mesh("part.msh").

    path: a file that meshio reads (Gmsh, VTK, Abaqus, Medit, Nastran, SU2; pip install
    "pinn[mesh]"); quadrilaterals are cut into triangles, curved cells are taken as straight. What
    was read is kept with a solution, which needs the file no longer. Named groups of lines (of
    faces) become parts of the boundary under their names, the rest of it is one part. names: of the
    coordinates; x, y, z where left out. name: of the whole boundary in `on`, "mesh" where left out.
    A mesh has no formula for hard conditions. Raises ValueError, with the file's name, for a file
    that is not there, is damaged or has no cells.
    """

    path: Annotated[str | Pieces, PiecesKind(_read)]
    names: Sequence[Name] | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        if self.path.cells is None:
            refuse("expected what was read from a mesh, got what was read from a surface", "path")
        check_names(self.names, self.path.cells.shape[2])

    @property
    def cells(self) -> np.ndarray:
        """The corners of its triangles or tetrahedra, (m, d + 1, d)."""
        return self.path.cells

    @cached_property
    def _boundary(self) -> Facets:
        return Facets(self.path.facets)

    @cached_property
    def _groups(self) -> Mapping[str, Facets]:
        return self.path.parts()

    @cached_property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        corners = self.cells.reshape(-1, self.cells.shape[2])
        low, high = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        names = self.names or default_names(len(low))
        return dict(zip(names, zip(low, high, strict=True), strict=True))

    @property
    def measure(self) -> float:
        return float(self._ends[-1])

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum(_volumes(self.cells))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        owner = self.name or "mesh"
        return tuple(
            Part(label or owner, measure=facets.measure, owner=owner)
            for label, facets in self._groups.items()
        )

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return self._boundary.contains(points, tolerance * self.size)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        which, unit = chosen(self._ends, unit)
        d = unit.shape[1]
        # The shares of the corners are gaps between 1, a, b ..., of which a is the largest of d
        # uniform numbers, b that of d - 1 below it, and so on.
        steps = np.cumprod(unit ** (1 / np.arange(d, 0, -1)), axis=1)
        shares = -np.diff(steps, axis=1, prepend=1.0, append=0.0)
        return np.einsum("nk,nkd->nd", shares, self.cells[which])

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(holes_of(self.coordinates, self._boundary))

    @property
    def corners(self) -> np.ndarray:
        box = super().corners
        in_plane = len(self.coordinates) == 2
        return np.vstack([box, turning_points(self._boundary)]) if in_plane else box

    @cached_property
    def inward_corners(self) -> tuple[Corner, ...]:
        return corners_of_facets(self, self._boundary) if len(self.coordinates) == 2 else ()

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        groups = zip(self.parts, self._groups.values(), strict=True)
        return next(facets for own, facets in groups if own == part).place(unit)

    def distance(self, points: np.ndarray) -> np.ndarray:
        return self._boundary.signed_distance(points)

    def reach(self, direction: np.ndarray) -> float:
        return float((self.cells @ direction).max())
