"""How many conditions a system of equations takes in a direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.equations.leaves import parts_of

# Below this share of what it is the sum of, a coefficient is rounding.
_ROUNDING = 1e-12
# What the unknowns' derivatives in the other coordinates stand for: numbers without a relation, one
# for each of as many coordinates as are looked at.
_OTHERS = (
    0.7310585786, 1.2839254165, 0.5671432904, 1.6180339887, 0.9159655942, 1.2020569032,
    0.5772156649, 1.4513692349, 0.3678794412, 1.7724538509, 0.2614972128, 0.6434105463,
)  # fmt: skip


def conditions_taken(
    equations: Sequence[Mapping[Leaf, float]],
    unknowns: Sequence[str],
    direction: Mapping[str, float],
    coordinates: Sequence[str],
    space: Sequence[str],
) -> int | None:
    """Return the order of a square linear system in one direction, at one point.

    equations: of each the slope in every leaf. direction: the components of a unit vector, those
    that are left out being 0: {"x": 1} is along x. The order is the degree, in the derivative along
    it, of the determinant of the system's symbol: as many functions of the other directions are
    free in its solutions. None where the determinant vanishes or cannot be told from its leading
    terms.

    Structural analysis as in Pryce, BIT 41 (2001) 364, section 2 (there for time alone).
    """
    n = len(unknowns)
    orders, leading = _leading(equations, unknowns, direction, coordinates, space)
    chosen = _transversal(orders)
    if chosen is None:
        return None
    shifts, heights = _offsets(orders, chosen)
    tight = np.where(heights[None, :] - shifts[:, None] == orders, leading, 0.0)
    tight /= np.abs(tight).max(axis=1, keepdims=True)
    smallest = np.linalg.svd(tight, compute_uv=False)[-1]
    return int(orders[np.arange(n), chosen].sum()) if smallest > _ROUNDING else None


class Differentiations(NamedTuple):
    """How often each equation is differentiated until all unknowns are determined, and the index.

    That is as often as the most, and once more where an unknown is then only in the equations.
    """

    often: tuple[int, ...]
    index: int


def differentiations(
    equations: Sequence[Mapping[Leaf, float]],
    unknowns: Sequence[str],
    time: str,
    space: Sequence[str],
) -> Differentiations | None:
    """Return how often the equations of a square system in time alone have to be differentiated.

    equations: of each the slope in every leaf. None where no order can be told.
    Pryce, BIT 41 (2001) 364, sections 2 and 5: the structural index.
    """
    orders, _ = _leading(equations, unknowns, {time: 1.0}, (time,), space)
    chosen = _transversal(orders)
    if chosen is None:
        return None
    shifts, heights = _offsets(orders, chosen)
    often = tuple(int(one) for one in shifts)
    return Differentiations(often, max(often) + int(heights.min() == 0))


def _leading(
    equations: Sequence[Mapping[Leaf, float]],
    unknowns: Sequence[str],
    direction: Mapping[str, float],
    coordinates: Sequence[str],
    space: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of each equation in each unknown, -inf for none, and what it is led by."""
    n = len(unknowns)
    orders = np.full((n, n), -np.inf)
    leading = np.zeros((n, n))
    for i, slopes in enumerate(equations):
        for j, unknown in enumerate(unknowns):
            symbol = _symbol(slopes, unknown, direction, coordinates, space)
            if symbol:
                orders[i, j] = max(symbol)
                leading[i, j] = symbol[max(symbol)]
    return orders, leading


def _symbol(
    slopes: Mapping[Leaf, float],
    unknown: str,
    direction: Mapping[str, float],
    coordinates: Sequence[str],
    space: Sequence[str],
) -> dict[int, float]:
    """Return order in the direction -> coefficient, for one unknown of one equation."""
    factors = {}
    for k, name in enumerate(coordinates):
        along = direction.get(name, 0.0)
        # d/dx is the derivative along the direction times its component, and one across.
        factors[name] = (_OTHERS[k % len(_OTHERS)] * math.sqrt(max(0.0, 1 - along**2)), along)
    sums: dict[int, float] = {}
    sizes: dict[int, float] = {}
    for leaf, slope in slopes.items():
        if leaf.unknown != unknown:
            continue
        for names, count in parts_of(leaf, space):
            polynomial = np.array([slope * count])
            for name in names:
                polynomial = np.convolve(polynomial, factors[name])
            for order, term in enumerate(polynomial):
                sums[order] = sums.get(order, 0.0) + term
                sizes[order] = sizes.get(order, 0.0) + abs(term)
    return {k: v for k, v in sums.items() if abs(v) > _ROUNDING * sizes[k]}


def _transversal(orders: np.ndarray) -> np.ndarray | None:
    """Return the column of each row so that the sum of the orders is largest; None for none."""
    if len(orders) == 1:
        return np.array([0]) if np.isfinite(orders[0, 0]) else None
    from scipy.optimize import linear_sum_assignment

    missing = -1e6
    filled = np.where(np.isfinite(orders), orders, missing)
    _, chosen = linear_sum_assignment(filled, maximize=True)
    return chosen if filled[np.arange(len(orders)), chosen].min() > missing else None


def _offsets(orders: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest c >= 0 and d with d_j - c_i >= order_ij, equal on the transversal."""
    n = len(orders)
    shifts = np.zeros(n)
    while True:
        heights = (orders + shifts[:, None]).max(axis=0)
        following = heights[chosen] - orders[np.arange(n), chosen]
        if np.array_equal(following, shifts):
            return shifts, heights
        shifts = following
