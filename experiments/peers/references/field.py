"""A finite element function, evaluated anywhere."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from skfem import Basis

# Newton's steps towards a point in an element: edges are almost straight.
_STEPS = 8
# Of so many elements whose centers are nearest to a point, by dimensions, one has it.
_TRIED = {2: 24, 3: 120}
_INSIDE = 1e-8


class Located:
    """Points of a mesh with curved elements, found once for all functions on it.

    points: (n, dimensions). Raises ValueError for a point that no element has.
    """

    def __init__(self, basis: Basis, points: np.ndarray) -> None:
        mapping, mesh = basis.mapping, basis.mesh
        corners = mesh.p[:, mesh.t[: points.shape[1] + 1]]
        tried = min(_TRIED[points.shape[1]], mesh.t.shape[1])
        _, near = cKDTree(corners.mean(axis=1).T).query(points, tried)
        self._elements = np.full(len(points), -1)
        self._local = np.empty(points.shape)
        for element in near.T:
            missing = np.flatnonzero(self._elements < 0)
            if not len(missing):
                break
            local = _local(mapping, points[missing], element[missing])
            held = (local.min(axis=0) > -_INSIDE) & (local.sum(axis=0) < 1 + _INSIDE)
            self._elements[missing[held]] = element[missing[held]]
            self._local[missing[held]] = local[:, held].T
        if (self._elements < 0).any():
            raise ValueError(f"no element has {points[self._elements < 0][0]}")
        self._basis = basis
        self._shapes = [
            basis.elem.gbasis(mapping, self._local.T[:, :, None], i, tind=self._elements)[0]
            for i in range(basis.Nbfun)
        ]

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the function of given degrees of freedom at the points, (n,)."""
        dofs = self._basis.element_dofs[:, self._elements]
        total = sum(
            values[dofs[i]] * np.asarray(shape.value)[:, 0]
            for i, shape in enumerate(self._shapes)
        )
        return total


def _local(mapping, points: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Return the points' coordinates in their elements, (dimensions, n)."""
    found = np.full((points.shape[1], len(points), 1), 1 / 3)
    for _ in range(_STEPS):
        miss = points.T[:, :, None] - mapping.F(found, elements)
        slope = np.moveaxis(mapping.DF(found, elements)[..., 0], 2, 0)
        found = found + np.linalg.solve(slope, miss[:, :, 0].T[:, :, None])[..., 0].T[:, :, None]
    return found[:, :, 0]
