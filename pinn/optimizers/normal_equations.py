"""Damped steps by Cholesky factors of the normal equations, made exact through the Jacobian."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pinn.optimizers.reduced import Damped, Reduced, Spectrum, triangle_of
from pinn.optimizers.solver import LeastSquares

# Columns of the normal matrix that one product makes.
_COLUMNS = 256
# A correction by more than this share of a step tells that the factor has lost its digits: the next
# correction would be this share of it again.
_LOST = 0.03
# Below this damping, relative to the largest square of a column, no factor is tried any more.
_LEAST = 1e-15


class NormalEquations(Reduced):
    """J' J + d^2 by its Cholesky factor, as long as that is exact enough; then J by a triangle.

    The product takes half the operations of the triangle, all of them products of matrices, and is
    some five times faster. What it loses is the square of J's condition: each step is therefore
    corrected once, by its residual through J itself. Where that correction is not small the damping
    is below what the factor resolves, and this and all smaller ones go by orthogonal
    transformations.
    """

    def __init__(self, function: LeastSquares, theta: np.ndarray) -> None:
        self._rows, self._jacobian = function.jacobian(theta)
        self._matrix = _gram(self._jacobian, function.threads)
        self._triangle: Reduced | None = None
        # Dampings up to this are known to be below what the factor resolves.
        self._lost = 0.0
        self.loss = float(self._rows @ self._rows)
        self.gradient = 2 * (self._jacobian.T @ self._rows)
        self.norms = np.sqrt(np.maximum(self._matrix.diagonal(), 0.0))

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        least = _LEAST * float(np.max(self.norms / scale)) ** 2
        if damping > max(least, self._lost):
            try:
                return _Corrected(self._matrix, self._jacobian, self._rows, damping * scale**2)
            except np.linalg.LinAlgError:
                self._lost = damping
        return self._orthogonal().damped(damping, scale)

    def spectrum(self) -> Spectrum:
        return self._orthogonal().spectrum()

    def _orthogonal(self) -> Reduced:
        if self._triangle is None:
            self._triangle = triangle_of(self._rows, self._jacobian)
        return self._triangle


class _Corrected(Damped):
    """The minimisers from one factor; LinAlgError where there is none, or none that is exact."""

    def __init__(
        self, matrix: np.ndarray, jacobian: np.ndarray, rows: np.ndarray, squares: np.ndarray
    ) -> None:
        from scipy.linalg import cho_factor

        damped = np.array(matrix, order="F")
        damped[np.diag_indices_from(damped)] += squares
        self._factor = cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
        self._jacobian = jacobian
        step = self.minimiser(rows)
        left = rows + jacobian @ step
        more = self._solve(-(left @ jacobian) - squares * step)
        if not np.linalg.norm(more) <= _LOST * np.linalg.norm(step):
            raise np.linalg.LinAlgError("the damping is below the rounding of the normal equations")
        self.step = step + more

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._solve(-(b @ self._jacobian))

    def _solve(self, b: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        return cho_solve(self._factor, b, check_finite=False)


def _gram(jacobian: np.ndarray, threads: int) -> np.ndarray:
    """Return the lower triangle of J' J, block by block: the same bits for any number of threads.

    Above the blocks on its diagonal the matrix is left as it is.
    """
    size = jacobian.shape[1]
    found = np.zeros((size, size), order="F")
    edges = [*range(0, size, _COLUMNS), size]

    def block(a: int, b: int) -> None:
        # Of Fortran order, as the factor wants it: its transpose is written row by row.
        np.matmul(jacobian[:, a:b].T, jacobian[:, a:], out=found.T[a:b, a:])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(block, edges[:-1], edges[1:]))
    return found
