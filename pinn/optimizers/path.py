"""Curves in the space of parameters along which the rows fall as a linear problem's would."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pinn.optimizers.reduced import Damped
from pinn.optimizers.solver import Diverged, LeastSquares

# The part of the path from which its higher terms are found, to both sides of its beginning.
_REACH = 0.3


def path_terms(
    function: LeastSquares,
    theta: np.ndarray,
    rows: np.ndarray,
    damped: Damped,
    scale: np.ndarray,
    order: int,
) -> list[np.ndarray]:
    """Return t_1, t_2, ... of theta + t_1 s + t_2 s^2 + ..., at most `order` of them, (size,) each.

    t_1 is the damped step. Each further term answers what the rows (N,) do along the terms before
    it beyond first order: c_k s^k being the first part of r(s) that they leave, t_k minimises
    |J t + c_k|^2 + |d t|^2. c_2 is half the exact second derivative along the step, which makes t_2
    the geodesic acceleration of Transtrum and Sethna (arXiv 1201.5885, eq. 16); the others come
    from interpolation of the rows along the path. The terms end before one that is longer than the
    one before it, where their sum tells nothing.
    """
    terms, length = [damped.step], np.linalg.norm(scale * damped.step)
    while len(terms) < order:
        try:
            bend = _coefficient(function, theta, rows, terms)
        except Diverged:
            break
        term = damped.minimiser(bend)
        before, length = length, np.linalg.norm(scale * term)
        if not length <= before:
            break
        terms.append(term)
    return terms


def _coefficient(
    function: LeastSquares, theta: np.ndarray, rows: np.ndarray, terms: list[np.ndarray]
) -> np.ndarray:
    """Return the coefficient of s^k of the rows along k - 1 terms of a path."""
    k = len(terms) + 1
    if k == 2:
        return 0.5 * function.second_jvp(theta, terms[0])
    nodes, weights = _interpolation(k)
    total = np.zeros_like(rows)
    for s, weight in zip(nodes, weights, strict=True):
        if s == 0:
            there = rows
        else:
            there = function.weighted_rows(theta + sum(t * s**j for j, t in enumerate(terms, 1)))
        total += weight * there
    return total


@lru_cache(maxsize=16)
def _interpolation(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and the weights of values there in the k-th coefficient of their polynomial.

    The zeros of a Chebyshev polynomial, one of them in the middle: two or three more than the k-th
    coefficient needs, so that the next of the same parity does not count.
    """
    count = 2 * (k // 2) + 3
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    nodes[count // 2] = 0.0
    weights = np.linalg.inv(np.vander(nodes, increasing=True))[k]
    return _REACH * nodes, weights / _REACH**k
