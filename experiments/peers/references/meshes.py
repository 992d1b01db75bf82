"""Meshes of plane shapes with curved edges, and what meshes have in common, by Gmsh."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence

import numpy as np
from skfem import MeshTri2

Circle = tuple[float, float, float]
"""x and y of the center, and the radius."""


def plane(
    corners: Sequence[tuple[float, float]],
    size: float,
    holes: Sequence[Circle] = (),
    fine: Mapping[tuple[float, float], float] | None = None,
    scale: float = 1.0,
) -> MeshTri2:
    """Return a mesh of a polygon without some disks, of second order, so that circles are round.

    size: about the length of its edges, at most a sixth of each circle's radius beside it. fine:
    points near which edges are as short as the number says; they grow by a third of the distance.
    scale: a factor of all these lengths beside circles and points, and so of how they grow.
    """
    import gmsh

    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        occ = gmsh.model.occ
        points = [occ.addPoint(x, y, 0) for x, y in corners]
        lines = [occ.addLine(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
        outer = occ.addPlaneSurface([occ.addCurveLoop(lines)])
        disks = [(2, occ.addDisk(x, y, 0, r, r)) for x, y, r in holes]
        if disks:
            occ.cut([(2, outer)], disks)
        occ.synchronize()
        sizes = {(x, y): (r, min(size / scale, r / 6)) for x, y, r in holes}
        sizes |= {point: (0.0, value) for point, value in (fine or {}).items()}

        def wanted(dim, tag, x, y, z, length):
            near = [
                scale * (value + max(np.hypot(x - px, y - py) - r, 0) / 3)
                for (px, py), (r, value) in sizes.items()
            ]
            return min([size, *near])

        gmsh.model.mesh.setSizeCallback(wanted)
        gmsh.option.setNumber("Mesh.RandomFactor", 1e-9)
        points, triangles = second_order(2)
    finally:
        gmsh.finalize()
    return MeshTri2(points[:2], triangles)


def second_order(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Mesh the shape that gmsh has, whose sizes are set, with curved elements of second order.

    dimension: 2 for triangles, 3 for tetrahedra. Returns the points (3, n) that are used, and the
    elements (nodes, m), the corners first, then the middles, as skfem has them.
    """
    import gmsh
    import meshio

    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    gmsh.model.mesh.generate(dimension)
    gmsh.model.mesh.setOrder(2)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "mesh.msh")
        gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
        gmsh.write(file)
        found = meshio.read(file)
    cells = found.cells_dict["triangle6" if dimension == 2 else "tetra10"]
    used, numbered = np.unique(cells, return_inverse=True)
    return found.points[used].T, numbered.reshape(cells.shape).T
