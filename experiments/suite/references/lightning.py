"""Poisson's equation on a polygon, by rational functions with poles at its corners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np
from scipy.linalg import lstsq

from experiments.case import Reference, disagreement

L_SHAPE = (0, -1j, -1 - 1j, -1 + 1j, 1 + 1j, 1)
"""The corners of [-1, 1]^2 without its lower right quarter, clockwise from the inner one."""

# How far the poles of a corner spread: their distances are exp(-4 (sqrt m - sqrt k)).
_SPREAD = 4.0


@cache
def l_shape() -> Reference:
    """-lap u = 1 in the L of `L_SHAPE`, u = 0 on its boundary."""
    x = (np.arange(100) + 0.5) / 50 - 1
    x, y = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
    inside = (x < 0) | (y > 0)
    x, y = x[inside], y[inside]
    coarse, fine = ({"u": l_shape_field(poles)(x, y)} for poles in (30, 50))
    return Reference({"x": x, "y": y}, fine, disagreement(coarse, fine), "lightning method")


@lru_cache
def l_shape_field(poles: int = 50) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return (x, y) -> u of -lap u = 1 in the L of `L_SHAPE`, u = 0 on its boundary.

    u = -|z|^2/4 + Re(polynomial + sum of c/(z - p)), with `poles` poles p outside of each corner,
    twice as many of the inner one, that crowd at it along the bisector. The coefficients are those
    of least squares on the boundary. By the maximum principle what is missed there bounds the
    error: 2e-11 for 50 poles (Gopal and Trefethen, SIAM J. Numer. Anal. 57 (2019) 2074).
    """
    corners = np.array(L_SHAPE, complex)
    places, sizes = _poles(corners, poles)
    boundary = around(corners, 16 * poles)
    degree = poles // 2
    basis, recurrence = _orthogonal(boundary, degree)
    columns = np.hstack([basis, sizes / (boundary[:, None] - places)])
    # Of Re(c f) the unknowns are the real and imaginary part of c.
    matrix = np.hstack([columns.real, -columns.imag[:, 1:]])
    found = lstsq(matrix, np.abs(boundary) ** 2 / 4, cond=1e-15)[0]
    count = columns.shape[1]
    coefficients = found[:count] + 1j * np.append(0, found[count:])

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, y = np.broadcast_arrays(x, y)
        z = (x + 1j * y).ravel()
        polynomial = _evaluated(recurrence, z) @ coefficients[: degree + 1]
        rational = (sizes / (z[:, None] - places)) @ coefficients[degree + 1 :]
        return ((polynomial + rational).real - np.abs(z) ** 2 / 4).reshape(x.shape)

    return value


def around(corners: Sequence[complex], count: int) -> np.ndarray:
    """Return points of a polygon's sides, `count` a side, that crowd at the corners."""
    ends = np.array(corners, complex)
    share = np.concatenate([np.geomspace(1e-16, 0.5, count - count // 2)[:-1],
                            1 - np.geomspace(1e-16, 0.5, count // 2 + 1)])
    return (ends[:, None] + share * (np.roll(ends, -1) - ends)[:, None]).ravel()


def _poles(corners: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the poles, and how far each is from its corner."""
    places, sizes = [], []
    for before, corner, after in zip(
        np.roll(corners, 1), corners, np.roll(corners, -1), strict=True
    ):
        one, other = ((end - corner) / abs(end - corner) for end in (before, after))
        inward = (one + other) / abs(one + other)
        turned = (other * np.conj(one)).imag < 0  # clockwise, a corner beyond 180 degrees
        outward = inward if turned else -inward
        m = count * (2 if turned else 1)
        size = np.exp(-_SPREAD * (np.sqrt(m) - np.sqrt(np.arange(1, m + 1))))
        places.append(corner + outward * size)
        sizes.append(size)
    return np.concatenate(places), np.concatenate(sizes)


def _orthogonal(z: np.ndarray, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return polynomials that are orthogonal on the points, and the recurrence that makes them.

    Vandermonde's matrix by Arnoldi's process: Brubeck, Nakatsukasa and Trefethen, SIAM Review 63
    (2021) 405.
    """
    basis = np.ones((len(z), degree + 1), complex)
    recurrence = np.zeros((degree + 1, degree), complex)
    for k in range(degree):
        new = z * basis[:, k]
        for j in range(k + 1):
            recurrence[j, k] = np.vdot(basis[:, j], new) / len(z)
            new = new - recurrence[j, k] * basis[:, j]
        recurrence[k + 1, k] = np.linalg.norm(new) / np.sqrt(len(z))
        basis[:, k + 1] = new / recurrence[k + 1, k]
    return basis, recurrence


def _evaluated(recurrence: np.ndarray, z: np.ndarray) -> np.ndarray:
    degree = recurrence.shape[1]
    basis = np.ones((len(z), degree + 1), complex)
    for k in range(degree):
        new = z * basis[:, k] - basis[:, : k + 1] @ recurrence[: k + 1, k]
        basis[:, k + 1] = new / recurrence[k + 1, k]
    return basis
