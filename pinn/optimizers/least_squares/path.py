"""Curves in the space of parameters along which the rows fall as a linear problem's would."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pinn.optimizers.least_squares.algebra import Damped
from pinn.optimizers.least_squares.damped import DampedLeastSquares
from pinn.optimizers.solver import Diverged, LeastSquares

# The part of the path from which its higher terms are found, to both sides of its beginning.
_REACH = 0.3


def path_terms(
    function: LeastSquares,
    theta: np.ndarray,
    linear: DampedLeastSquares,
    damped: Damped,
    scale: np.ndarray,
    order: int,
) -> list[np.ndarray]:
    """Return t_1, t_2, ... of theta + t_1 s + t_2 s^2 + ..., at most `order` of them, (size,) each.

    t_1 is the damped step. Each further term answers what the rows (N,) do along the terms before
    it beyond first order: c_k s^k being the first part of r(s) that they leave, t_k minimises
    |J t + c_k|^2 + |d t|^2. c_2 is half the exact second derivative along the step, which makes t_2
    the geodesic acceleration of Transtrum and Sethna (arXiv 1201.5885, eq. 16); the others come
    from the rows at a few places on the path to both sides of theta, of which only the parts beyond
    second order are unknown. The terms end before one that is longer than the one before it, where
    their sum tells nothing. linear: r and J at theta.
    """
    terms, length = [damped.step], np.linalg.norm(scale * damped.step)
    # What r(s) is known to be made of: the factors of 1, s and s^2.
    known = [linear.rows]
    while len(terms) < order:
        try:
            if len(terms) == 1:
                bend = 0.5 * function.second_jvp(theta, terms[0])
            else:
                bend = _coefficient(function, theta, known, terms)
        except Diverged:
            break
        term = damped.minimiser(bend)
        before, length = length, np.linalg.norm(scale * term)
        if not length <= before:
            break
        if order > 2 and len(terms) == 1:
            first, second = linear.along(terms[0], term)
            known += [first, bend + second]
        terms.append(term)
    return terms


def _coefficient(
    function: LeastSquares, theta: np.ndarray, known: list[np.ndarray], terms: list[np.ndarray]
) -> np.ndarray:
    """Return the coefficient of s^k, k > 2, of the rows along k - 1 terms of a path.

    known: those of 1, s and s^2.
    """
    k = len(terms) + 1
    total = np.zeros_like(known[0])
    for s, weight in zip(*_interpolation(k), strict=True):
        there, back = function.rows_at([
            theta + sum(t * z**j for j, t in enumerate(terms, 1)) for z in (s, -s)
        ])  # fmt: skip
        # the even or the odd part of r(s) without what is known of it
        if k % 2:
            part = 0.5 * (there - back) - s * known[1]
        else:
            part = 0.5 * (there + back) - known[0] - s**2 * known[2]
        total += weight * part
    return total


@lru_cache(maxsize=16)
def _interpolation(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places s and the weights there for the k-th coefficient, k > 2.

    That of the polynomial in s^3, s^5, ... s^k, or s^4, s^6, ... s^k, through the values there.
    """
    powers = np.arange(4 - k % 2, k + 1, 2)
    count = len(powers)
    # the positive zeros of a Chebyshev polynomial
    places = np.cos(np.pi * (np.arange(count) + 0.5) / (2 * count))
    weights = np.linalg.inv(places[:, None] ** powers)[-1]
    return _REACH * places, weights / _REACH**k
