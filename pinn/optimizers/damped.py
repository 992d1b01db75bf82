"""Damped linear least squares, factored once, in the cheaper of two forms."""

from __future__ import annotations

import numpy as np

_EPS = np.finfo(np.float64).eps
# Steps of refinement: what the rounding of J^T J took away comes back at the cost of four products.
_REFINED = 2
# The least damping, in units of the rounding of a diagonal entry.
_LEAST = 30


class DampedLeastSquares:
    """The d that minimises |J d - z|^2 + damping |d|^2, for as many z as one likes.

    J: (rows, size) float64; damping: a number > 0. It is

        d = (J^T J + damping)^-1 J^T z  (parameter form)  =  J^T (J J^T + damping)^-1 z  (kernel)

    (push-through identity), and the smaller of the two matrices is formed and factored: of m rows
    and n columns with k = min(m, n), m n k + k^3 / 3 products. Before that rows and columns are
    scaled to a diagonal of ones, so that weights and layers of different sizes lose no digits to
    each other (van der Sluis 1969). The damping is never less than 30 k eps of the diagonal, in
    kernel form of its largest entry: below that the matrix is rounding, and may not be positive
    definite. Two steps of refinement, whose residual goes through J itself, make up for the squared
    condition (corrected seminormal equations, Bjorck 1987).
    """

    def __init__(self, jacobian: np.ndarray, damping: float) -> None:
        from scipy.linalg.lapack import dpotrf

        self._jacobian = jacobian
        rows, size = jacobian.shape
        self.kernel_form = rows < size
        matrix = jacobian @ jacobian.T if self.kernel_form else jacobian.T @ jacobian
        diagonal = matrix.diagonal() + damping
        self._scale = 1 / np.sqrt(diagonal)
        matrix *= self._scale
        matrix *= self._scale[:, None]
        # Another damping for each row would be another loss; for each number it is another metric.
        least = _LEAST * len(matrix) * _EPS * (
            np.full_like(diagonal, diagonal.max()) if self.kernel_form else diagonal
        )
        while True:
            np.fill_diagonal(matrix, 1 + least * self._scale**2)
            self._factor, failed = dpotrf(matrix, lower=1, clean=0)
            if not failed:
                break
            least *= 10
        self._damping = damping + least

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



def damped_bytes(rows: int, size: int) -> int:
    """Return the bytes of a Jacobian with the smaller matrix and its factor."""
    return 8 * (rows * size + 2 * min(rows, size) ** 2)
