"""A linear equation in a cube without some balls, by quadratic finite elements (scikit-fem)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.sparse import diags
from scipy.sparse.linalg import cg
from skfem import Basis, BilinearForm, ElementTetP2, LinearForm, MeshTet2
from skfem.helpers import dot, grad

from experiments.case import Reference, disagreement
from experiments.peers.references.field import Located
from experiments.peers.references.meshes import second_order

Sphere = tuple[float, float, float, float]
"""The center and the radius."""

BALLS = [(0.4, 0.3, 0.6, 0.2), (0.6, 0.7, 0.6, 0.2), (0.2, 0.8, 0.7, 0.1), (0.6, 0.2, 0.3, 0.1)]
_POINTS = 4000
# The source has five waves along y and half a one along x: elements are as flat as that allows.
_STRETCH = np.array([0.6, 2.0, 1.0])


@cache
def four_balls() -> Reference:
    """-lap u + c u = f in the unit cube without four balls, c = 64 or 100, no flux anywhere."""
    points = np.random.default_rng(0).random((4 * _POINTS, 3))
    for *center, radius in BALLS:
        points = points[np.linalg.norm(points - center, axis=1) > radius * (1 + 1e-3)]
    points = points[:_POINTS]
    coarse, fine = ({"u": _solved(size, points)} for size in (0.06, 0.04))
    columns = dict(zip("xyz", points.T, strict=True))
    return Reference(columns, fine, disagreement(coarse, fine), "quadratic finite elements")


def _source(x: np.ndarray) -> np.ndarray:
    a, b, c = np.sin(np.pi * x[0]), np.sin(10 * np.pi * x[1]), np.sin(5 * np.pi * x[2])
    s = x[0] ** 2 + x[1] ** 2 + x[2] ** 2
    return 20 * np.exp(a + b + c) * (s - 1) / (s + 1) + 100 * a * b * c


def _solved(size: float, points: np.ndarray) -> np.ndarray:
    basis = Basis(cube(size, BALLS), ElementTetP2(), intorder=5)
    a = BilinearForm(
        lambda u, v, w: dot(grad(u), grad(v)) + np.where(w.x[2] < 0.5, 64, 100) * u * v
    ).assemble(basis)
    b = LinearForm(lambda v, w: _source(w.x) * v).assemble(basis)
    found, left = cg(a, b, rtol=1e-9, M=diags(1 / a.diagonal()))
    if left:
        raise RuntimeError(f"conjugate gradients did not settle in {left} steps")
    return Located(basis, points)(found)


def cube(size: float, balls: Sequence[Sphere]) -> MeshTet2:
    """Return a mesh of the unit cube without some balls, of second order, so that they are round.

    size: about the length of its edges along z, at most a third of each radius beside a ball. No
    element lies on both sides of z = 1/2.
    """
    import gmsh

    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        occ = gmsh.model.occ
        lower, upper = (3, occ.addBox(0, 0, 0, 1, 1, 0.5)), (3, occ.addBox(0, 0, 0.5, 1, 1, 0.5))
        layers, _ = occ.fragment([lower], [upper])
        parts, _ = occ.cut(layers, [(3, occ.addSphere(*ball)) for ball in balls])
        occ.dilate(parts, 0, 0, 0, *_STRETCH)
        occ.synchronize()

        def wanted(dim, tag, x, y, z, length):
            place = np.array([x, y, z]) / _STRETCH
            away = ((np.linalg.norm(place - center) - r, r) for *center, r in balls)
            return min(size, *(min(size, r / 3) + max(gap, 0) / 3 for gap, r in away))

        gmsh.model.mesh.setSizeCallback(wanted)
        points, cells = second_order(3)
    finally:
        gmsh.finalize()
    return MeshTet2(points / _STRETCH[:, None], cells)
