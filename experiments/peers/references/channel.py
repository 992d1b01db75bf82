"""A flow in a channel in time, by Taylor-Hood elements (scikit-fem)."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu
from skfem import (
    Basis,
    BilinearForm,
    ElementTriP1,
    ElementTriP2,
    ElementVector,
    LinearForm,
    MeshTri,
)
from skfem.helpers import ddot, div, dot, grad

from experiments.case import Reference, disagreement

_NU, _END, _KEPT = 0.01, 5.0, 50
# Of the semi-implicit differences of order 1 to 3, which begin one after the other: the weight of
# the new value in the derivative, those of the values before, and those of the convection before
# (SBDF: Ascher, Ruuth and Wetton, SIAM J. Numer. Anal. 32 (1995) 797).
_SCHEMES = [
    (1.0, (1.0,), (1.0,)),
    (1.5, (2.0, -0.5), (2.0, -1.0)),
    (11 / 6, (3.0, -1.5, 1 / 3), (3.0, -3.0, 1.0)),
]


@cache
def beating_channel() -> Reference:
    """Flow in [0, 2] x [0, 1], nu = 1/100, up to t = 5: three waves come in, no traction out."""
    coarse, fine = (_solved(*sizes) for sizes in ((20, 1500), (28, 2000)))
    x, y = _places()
    times = _END * np.arange(1, _KEPT + 1) / _KEPT
    points = {"x": np.tile(x, _KEPT), "y": np.tile(y, _KEPT), "t": np.repeat(times, len(x))}
    method = "Taylor-Hood elements, semi-implicit differences of order 3"
    return Reference(points, fine, disagreement(coarse, fine), method)


def inflow(y: np.ndarray, t: float) -> np.ndarray:
    """Return u at x = 0."""
    return np.sin(np.pi * y) * (
        np.sin(np.pi * t) + np.sin(3 * np.pi * t) + np.sin(5 * np.pi * t)
    )


def _places() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.linspace(0, 2, 33), np.linspace(0, 1, 17), indexing="ij")
    return x.ravel(), y.ravel()


def _solved(cells: int, steps: int) -> dict[str, np.ndarray]:
    """Return u, v, p at equal times and places, with so many cells across the channel."""
    # Where the flow turns back to the inlet, a layer as thin as nu / u = 1/200 lies on it.
    along = 2 * np.linspace(0, 1, 2 * cells + 1) ** 2
    mesh = MeshTri.init_tensor(along, np.linspace(0, 1, cells + 1))
    basis = Basis(mesh, ElementVector(ElementTriP2()), intorder=5)
    pressure = basis.with_element(ElementTriP1())
    n, h = basis.N, _END / steps
    mass = BilinearForm(lambda u, v, w: dot(u, v)).assemble(basis)
    viscous = BilinearForm(lambda u, v, w: _NU * ddot(grad(u), grad(v))).assemble(basis)
    gradient = BilinearForm(lambda p, v, w: -p * div(v)).assemble(pressure, basis)
    pull = LinearForm(
        lambda v, w: -np.sin(np.pi * w.x[0]) * np.sin(np.pi * w.x[1]) * v[1]
    ).assemble(basis)
    convection = LinearForm(
        lambda v, w: dot(np.einsum("ij...,j...->i...", w["u"].grad, w["u"].value), v)
    )
    held = basis.get_dofs(lambda x: (x[0] < 1e-9) | (x[1] < 1e-9) | (x[1] > 1 - 1e-9)).all()
    enters = basis.get_dofs(lambda x: x[0] < 1e-9).all(["u^1"])
    height = basis.doflocs[1, enters]
    free = np.setdiff1d(np.arange(n + pressure.N), held)

    def factored(new: float):
        matrix = sparse.bmat([[new / h * mass + viscous, gradient], [gradient.T, None]]).tocsc()
        return matrix, splu(matrix[free][:, free])

    shown_u, shown_p = (b.probes(np.array(_places())) for b in (basis, pressure))
    before: list[np.ndarray] = [np.zeros(n)]
    pushed: list[np.ndarray] = [np.zeros(n)]
    rows = []
    for step in range(1, steps + 1):
        new, old, ahead = _SCHEMES[len(before) - 1]
        if step <= len(_SCHEMES):
            matrix, factor = factored(new)
        right = np.zeros(n + pressure.N)
        right[:n] = mass @ sum(w * u for w, u in zip(old, before, strict=True)) / h
        right[:n] -= sum(w * c for w, c in zip(ahead, pushed, strict=True))
        right[:n] += np.sin(np.pi * step * h) * pull
        state = np.zeros(n + pressure.N)
        state[enters] = inflow(height, step * h)
        state[free] = factor.solve((right - matrix @ state)[free])
        before = [state[:n], *before[:2]]
        pushed = [convection.assemble(basis, u=basis.interpolate(state[:n])), *pushed[:2]]
        if step % (steps // _KEPT) == 0:
            rows.append([*np.split(shown_u @ state[:n], 2), shown_p @ state[n:]])
    return dict(zip("uvp", (np.concatenate(part) for part in zip(*rows, strict=True)), strict=True))
