"""Laplace's equation in a square without four disks, by multipoles and their mirror images."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from scipy.linalg import lstsq

from experiments.case import Reference, disagreement

CENTERS = (0.3 + 0.3j, -0.3 + 0.3j, 0.3 - 0.3j, -0.3 - 0.3j)
RADIUS, HALF = 0.1, 0.5
# z over this is of order one in the square, and so are its powers.
_SCALE = 0.75


@cache
def four_disks() -> Reference:
    """Laplace's equation in the square, 1 on its sides and 0 on the circles."""
    x = (np.arange(100) + 0.5) / 100 - 0.5
    x, y = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
    inside = np.min([np.abs(x + 1j * y - center) for center in CENTERS], axis=0) > RADIUS
    x, y = x[inside], y[inside]
    coarse, fine = ({"u": four_disks_field(*sizes)(x, y)} for sizes in ((12, 30), (18, 50)))
    return Reference({"x": x, "y": y}, fine, disagreement(coarse, fine), "reflected multipoles")


@lru_cache
def four_disks_field(
    order: int = 18, degree: int = 50
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return (x, y) -> u of lap u = 0 in the square, u = 1 on its sides and 0 on the circles.

    u is a sum of harmonic functions: of each disk log|w| and (radius/w)^k up to `order`, w = z -
    center, reflected in the sides such that they almost vanish there, and powers of z up to
    `degree`, with the coefficients of least squares on the boundary. By the maximum principle what
    is missed there bounds the error: 1e-12.
    """
    z = boundary(4 * degree)
    coefficients = lstsq(_columns(z, order, degree), on_boundary(z), cond=1e-15)[0]

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        x, y = np.broadcast_arrays(x, y)
        return (_columns((x + 1j * y).ravel(), order, degree) @ coefficients).reshape(x.shape)

    return value


def boundary(count: int) -> np.ndarray:
    """Return points of the four sides and circles, `count` of each, complex."""
    share = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    sides = [turn * HALF * (1 + 1j * share) for turn in (1, 1j, -1, -1j)]
    circle = RADIUS * np.exp(2j * np.pi * (np.arange(count) + 0.5) / count)
    return np.concatenate([*sides, *(center + circle for center in CENTERS)])


def on_boundary(z: np.ndarray) -> np.ndarray:
    """Return the value that u has at points of the boundary."""
    return (np.maximum(np.abs(z.real), np.abs(z.imag)) > HALF - 1e-9).astype(float)


def _columns(z: np.ndarray, order: int, degree: int) -> np.ndarray:
    """Return the harmonic functions at points, one a column."""
    powers = (z[:, None] / _SCALE) ** np.arange(degree + 1)
    columns = [powers.real, powers.imag[:, 1:]]
    for center in CENTERS:
        total = np.zeros((len(z), 2 * order + 1))
        for sign, image in _images(z):
            w = image - center
            parts = (RADIUS / w)[:, None] ** np.arange(1, order + 1)
            total += sign * np.hstack([np.log(np.abs(w))[:, None], parts.real, parts.imag])
        columns.append(total)
    return np.hstack(columns)


def _images(z: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return the points mirrored in no, one or two of the lines of the sides, with signs."""
    mirrors = ((1.0, 0.0, 1.0), (-1.0, 2 * HALF, -1.0), (-1.0, -2 * HALF, -1.0))
    return [
        (sign * other, (factor * z.real + shift) + 1j * (turn * z.imag + move))
        for factor, shift, sign in mirrors
        for turn, move, other in mirrors
    ]
