"""Damped linear least squares, factored once, in the cheaper of two forms."""

from __future__ import annotations

import numpy as np

_EPS = np.finfo(np.float64).eps
# Steps of refinement: what the rounding of J^T J took away comes back at the cost of four products.
_REFINED = 2


class DampedLeastSquares:
    """The d that minimises |J d - z|^2 + damping |d|^2, for as many z as one likes.

    J: (rows, size) float64; damping: a number > 0. It is

        d = (J^T J + damping)^-1 J^T z  (parameter form)  =  J^T (J J^T + damping)^-1 z  (kernel)

    (push-through identity), and the smaller of the two matrices is formed and factored: of m rows
    and n columns with k = min(m, n), m n k + k^3 / 3 products. Before that rows and columns are
    scaled to a diagonal of ones, so that weights and layers of different sizes lose no digits to
    each other (van der Sluis 1969), and about k eps is added to it, without which rounding makes
    the matrix indefinite once damping falls below eps |J|^2. Two steps of refinement, whose
    residual goes through J itself, then take that addition back in all directions that float64 can
    tell from zero (corrected seminormal equations, Bjorck 1987).
    """

    def __init__(self, jacobian: np.ndarray, damping: float) -> None:
        from scipy.linalg.lapack import dpotrf

        self._jacobian = jacobian
        self._damping = damping
        rows, size = jacobian.shape
        self.kernel_form = rows < size
        matrix = jacobian @ jacobian.T if self.kernel_form else jacobian.T @ jacobian
        self._scale = 1 / np.sqrt(matrix.diagonal() + damping)
        matrix *= self._scale
        matrix *= self._scale[:, None]
        added = len(matrix) * _EPS
        while True:
            np.fill_diagonal(matrix, 1 + added)
            self._factor, failed = dpotrf(matrix, lower=1, clean=0)
            if not failed:
                return
            added *= 10

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """Return d, (size,), for z of shape (rows,)."""
        jacobian, damping = self._jacobian, self._damping
        if self.kernel_form:
            found = self._apply(rows)
            for _ in range(_REFINED):
                left = rows - jacobian @ (found @ jacobian) - damping * found
                found = found + self._apply(left)
            return found @ jacobian
        found = self._apply(rows @ jacobian)
        for _ in range(_REFINED):
            left = (rows - jacobian @ found) @ jacobian - damping * found
            found = found + self._apply(left)
        return found

    def _apply(self, vector: np.ndarray) -> np.ndarray:
        from scipy.linalg.lapack import dpotrs

        found, _ = dpotrs(self._factor, self._scale * vector, lower=1)
        return self._scale * found
