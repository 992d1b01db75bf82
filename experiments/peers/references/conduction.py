"""Heat in a square with a coefficient of the place, by Chebyshev series."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from experiments.case import Reference, disagreement
from experiments.peers.measurements import diffusivity

_TIMES, _SHOWN = np.linspace(0, 5, 51), np.linspace(0, 1, 33)[1:-1]


@cache
def random_coefficient() -> Reference:
    """u_t = a lap u + 200 sin(pi x) sin(5 pi y) sin(pi t) in the unit square, u = 0 around it."""
    coarse, fine = ({"u": _table(order).ravel()} for order in (30, 38))
    t, x, y = np.meshgrid(_TIMES, _SHOWN, _SHOWN, indexing="ij")
    points = {"x": x.ravel(), "y": y.ravel(), "t": t.ravel()}
    return Reference(points, fine, disagreement(coarse, fine), "Chebyshev series, exact in time")


def _table(order: int) -> np.ndarray:
    """Return u at all times and places: collocation in space, its eigenvectors in time."""
    angles = np.pi * np.arange(order + 1) / order
    x = (1 - np.cos(angles)) / 2
    basis = chebvander(2 * x - 1, order)
    inside, identity = slice(1, order), np.eye(order - 1)
    second = (_slopes(x) @ _slopes(x))[inside, inside]
    grid = np.meshgrid(x[inside], x[inside], indexing="ij")
    laplacian = np.kron(second, identity) + np.kron(identity, second)
    rates, modes = np.linalg.eig(diffusivity(*grid).reshape(-1, 1) * laplacian)
    source = 200 * np.sin(np.pi * grid[0]) * np.sin(5 * np.pi * grid[1])
    driven = np.linalg.solve(modes, source.ravel()) / (rates**2 + np.pi**2)
    # c' = r c + sin(pi t), c(0) = 0
    t = _TIMES[:, None]
    grown = np.pi * np.exp(rates * t) - rates * np.sin(np.pi * t) - np.pi * np.cos(np.pi * t)
    values = np.zeros((len(_TIMES), order + 1, order + 1))
    inner = ((driven * grown) @ modes.T).real
    values[:, inside, inside] = inner.reshape(-1, order - 1, order - 1)
    shown = chebvander(2 * _SHOWN - 1, order) @ np.linalg.inv(basis)
    return shown @ values @ shown.T


def _slopes(x: np.ndarray) -> np.ndarray:
    """Return the matrix of derivatives at Chebyshev's points (Trefethen, chapter 6)."""
    ends = np.ones(len(x))
    ends[[0, -1]] = 2
    weights = ends * (-1.0) ** np.arange(len(x))
    apart = x[:, None] - x + np.eye(len(x))
    matrix = weights[:, None] / weights / apart
    return matrix - np.diag(matrix.sum(axis=1))
