"""Poisson's equation on a square of blocks, by elements of high order whose sides are theirs."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.sparse.linalg import splu
from skfem import Basis, BilinearForm, ElementQuadP, FacetBasis, LinearForm, MeshQuad
from skfem.helpers import dot, grad

from experiments.case import Reference, disagreement
from experiments.peers.measurements import blocks

_HALF, _BLOCKS, _POINTS = 10.0, 5, 101


@cache
def twenty_five_blocks() -> Reference:
    """lap u = -f/a on [-10, 10]^2 with a and f by block; dn(u) = -u."""
    # Within elements: the values of f/a at their sides are those of either block.
    x = _HALF * (2 * (np.arange(_POINTS) + 0.5) / _POINTS - 1)
    x, y = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
    coarse, fine = ({"u": _solved(order)(np.array([x, y]))} for order in (6, 10))
    points, method = {"x": x, "y": y}, "finite elements of order 10"
    return Reference(points, fine, disagreement(coarse, fine), method)


def _solved(order: int):
    """Return the solution with two by two elements a block, as a function of points (2, n)."""
    sides = np.linspace(-_HALF, _HALF, 2 * _BLOCKS + 1)
    mesh = MeshQuad.init_tensor(sides, sides)
    basis = Basis(mesh, ElementQuadP(order), intorder=2 * order + 4)
    edge = FacetBasis(mesh, basis.elem, intorder=2 * order)
    table = blocks()

    def source(x: np.ndarray) -> np.ndarray:
        place = (x + _HALF) / (2 * _HALF / _BLOCKS)
        i, j = np.floor(place).astype(int)
        bump = np.prod(np.sin(np.pi * (place - np.floor(place))), axis=0)
        return (table["c0"][i, j] + table["c1"][i, j] * bump) / table["a"][i, j]

    a = BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(basis)
    a += BilinearForm(lambda u, v, w: u * v).assemble(edge)
    b = LinearForm(lambda v, w: source(w.x) * v).assemble(basis)
    found = splu(a.tocsc()).solve(b)
    return lambda points: basis.probes(points) @ found
