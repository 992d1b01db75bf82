"""Ways to place n points in the unit cube: (n, dimensions, rng) -> array (n, dimensions)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from pinn.geometry import UnitSampler


def uniform(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """Independent uniform points."""
    return rng.random((n, dimensions))


def grid(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """The centres of the cells of an even grid, the largest of at most n cells; rng is not used.

    Sides differ by at most one cell, so 2500 points in two dimensions are 50 x 50 and 100 points
    in three are 5 x 5 x 4.
    """
    return _product(n, dimensions, lambda count: (np.arange(count) + 0.5) / count)


def gauss_legendre(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """The nodes of Gauss-Legendre quadrature along each axis, as many as of `grid`.

    Each weighs the same in the loss: the nodes lie closer near the edges, by their place alone.
    """
    return _product(n, dimensions, lambda count: (1 + _legendre_nodes(count)) / 2)


@lru_cache(maxsize=64)
def _legendre_nodes(count: int) -> np.ndarray:
    """Return the zeros of the Legendre polynomial of a degree, upwards.

    Newton's method from Tricomi's approximation, with the three-term recurrence: the work grows as
    count^2, that of the eigenvalues of a matrix as count^3.
    """
    k = np.arange(count, 0, -1)
    x = (1 - (count - 1) / (8 * count**3)) * np.cos(np.pi * (4 * k - 1) / (4 * count + 2))
    for _ in range(4):
        before, value = np.zeros_like(x), np.ones_like(x)
        for degree in range(1, count + 1):
            before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
        x = x - value * (1 - x * x) / (count * (before - x * value))
    return x


def chebyshev(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """The zeros of a Chebyshev polynomial along each axis, as many as of `grid`."""
    return _product(
        n, dimensions, lambda count: (1 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    )


def _product(n: int, dimensions: int, axis_of: Callable[[int], np.ndarray]) -> np.ndarray:
    """Return the product of an axis with itself, with the most rows up to n."""
    counts = [int(n ** (1 / dimensions) + 1e-9)] * dimensions
    for axis in range(dimensions):
        counts[axis] += 1
        if np.prod(counts, dtype=float) > n:
            counts[axis] -= 1
            break
    axes = [axis_of(count) for count in counts]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimensions)


def latin_hypercube(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """Points of which each of n equal slabs along each axis holds exactly one.

    McKay, Beckman and Conover, Technometrics 21 (1979) 239.
    """
    strata = np.stack([rng.permutation(n) for _ in range(dimensions)], axis=1)
    return (strata + rng.random((n, dimensions))) / n


def sobol(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """The first n points of a scrambled Sobol sequence; each draw scrambles anew.

    Without the scrambling every draw would give the same points.
    """
    from scipy.stats import qmc

    # Drawing a power of two and keeping the first n gives the same points without the warning.
    power = max(n - 1, 0).bit_length()
    return qmc.Sobol(dimensions, scramble=True, rng=rng).random_base2(power)[:n]


def halton(n: int, dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """The first n points of a scrambled Halton sequence; each draw scrambles anew."""
    from scipy.stats import qmc

    return qmc.Halton(dimensions, scramble=True, rng=rng).random(n)


METHODS: dict[str, UnitSampler] = {
    "uniform": uniform,
    "grid": grid,
    "latin-hypercube": latin_hypercube,
    "sobol": sobol,
    "halton": halton,
    "gauss-legendre": gauss_legendre,
    "chebyshev": chebyshev,
}

LATTICES = ("grid", "gauss-legendre", "chebyshev")
"""The methods whose points are the product of an axis with itself."""
