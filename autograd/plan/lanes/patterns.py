"""How places follow each other, where they do so evenly."""

from __future__ import annotations

import numpy as np

from .instructions import Numbers
from .places import CannotCompile


def two_steps(places: np.ndarray, inner: int) -> tuple[int, int, int] | None:
    """Return (first, far, near) of places (outer * inner,); None where they are uneven.

    The place of (i, j) is first + i * far + j * near.
    """
    grid = places.reshape(-1, inner)
    near = int(grid[0, 1] - grid[0, 0]) if inner > 1 else 0
    far = int(grid[1, 0] - grid[0, 0]) if len(grid) > 1 else near * inner
    if inner == 1:
        near = far
    expected = grid[0, 0] + far * np.arange(len(grid))[:, None] + near * np.arange(inner)
    return (int(grid[0, 0]), far, near) if np.array_equal(grid, expected) else None


def matrix(weights: Numbers) -> tuple[int, int, int]:
    """Return the first place of a matrix of numbers, and how far its rows and columns lie apart.

    Raises CannotCompile where they lie unevenly.
    """
    found = two_steps(weights.places, weights.places.shape[1])
    if found is None:
        raise CannotCompile("a matrix whose numbers do not follow each other")
    return found
