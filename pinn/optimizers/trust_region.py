"""The trust-region subproblem of linear least squares, by singular values."""

from __future__ import annotations

import numpy as np

_EPS = np.finfo(np.float64).eps
_MOST_ITERATIONS = 80


class TrustRegion:
    """min |J p + r|^2 subject to |p| <= radius, for any radius, from one decomposition of J.

    J: (rows, size), r: (rows,). With J = U diag(s) V^T and g = s U^T r the minimiser is
    p = -V g / (s^2 + shift), the shift being 0 where that p is inside, and otherwise the root of
    the secular equation |p| = radius. Singular values that are rounding, below max(rows, size) eps
    times the largest, are left out. Conn, Gould and Toint, Trust-Region Methods (2000), chapter 7.
    """

    def __init__(self, jacobian: np.ndarray, rows: np.ndarray) -> None:
        from scipy.linalg import svd

        left, values, right = svd(jacobian, full_matrices=False, check_finite=False)
        seen = values > max(jacobian.shape) * _EPS * values[0]
        values, self._right = values[seen], right[seen]
        self._squares = values**2
        self._slopes = values * (rows @ left[:, seen])

    def shift(self, radius: float) -> float:
        """Return the shift of the minimiser in a radius > 0.

        By Newton's method on 1/|p|, which is nearly linear in the shift: from 0 it rises to the
        root without passing it (More and Sorensen 1983).
        """
        shift = 0.0
        for _ in range(_MOST_ITERATIONS):
            denominators = self._squares + shift
            parts = self._slopes / denominators
            length = float(np.linalg.norm(parts))
            if not length > radius * (1 + 4 * _EPS):
                break
            curvature = float(np.sum(parts**2 / denominators))
            further = shift + (length / radius - 1) * length**2 / curvature
            if not further > shift:
                break
            shift = further
        return shift

    def step(self, shift: float) -> np.ndarray:
        """Return the minimiser of a shift, (size,)."""
        return -(self._slopes / (self._squares + shift)) @ self._right

    def predicted(self, shift: float) -> float:
        """Return by how much |J p + r|^2 falls from p = 0 to that minimiser."""
        denominators = self._squares + shift
        return float(
            np.sum((self._slopes / denominators) ** 2 * (self._squares + 2 * shift))
        )
