"""Damped linear least squares: Cholesky factors of the smaller of two matrices, checked through J.

One Jacobian and any number of dampings: what they share is computed once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from autograd.ranks import ALONE, Ranks
from pinn.optimizers.reduced import Damped, Reduced, triangle_bytes, triangle_of
from pinn.optimizers.solver import LeastSquares
from pinn.optimizers.workspace import Workspace

# J'J is added up from so many parts of at least so many rows each; threads take whole parts.
_PARTS, _PART_ROWS = 4, 1000
# What a factor loses is at most about the rounding times the largest ratio of a diagonal entry to
# the damping in it. Up to this ratio it is of no matter to a step; from there on the step is
# corrected, and beyond the second ratio no factor is tried.
_EXACT, _HOPELESS = 1e10, 1e15
# A correction by more than this share of a step tells that the factor has lost its digits: the next
# correction would be this share of it again.
_LOST = 0.03


class DampedLeastSquares:
    """The p that minimise |J p + b|^2 + damping |D p|^2, D diagonal, for J (N, P) and b = r (N,).

        p = -(J'J + damping D^2)^-1 J'b  =  -D^-2 J' (J D^-2 J' + damping)^-1 b

    The smaller of the two matrices is formed, once for all dampings (the right one, the kernel, for
    each D), and factored for each: k = min(N, P) takes N P k operations and k^3 / 3. Cholesky
    factors do not depend on the scales of columns (Demmel, LAPACK working note 14, 1989), so only
    the square of J's condition is lost to the triangle that orthogonal transformations give: a step
    whose damping is so small that this may matter is corrected by its residual through J itself
    (corrected seminormal equations, Bjorck 1987). Where that correction is not small, this damping
    and all smaller ones go by the triangle, which takes some five times as long.

    gradient: 2 J'r, (P,). norms: of the columns of J, (P,). threads, ranks: who computes; the
    result has the same bits for any number of them. workspace: memory that outlasts this object,
    which then spoils what an earlier one with the same workspace gave; and so does each damping the
    one before it.
    """

    def __init__(
        self,
        rows: np.ndarray,
        jacobian: np.ndarray,
        threads: int = 1,
        workspace: Workspace | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        self.rows, self.jacobian = rows, jacobian
        self.gradient = 2 * (rows @ jacobian)
        self.kernel_form = len(rows) < jacobian.shape[1]
        self._threads, self._workspace = threads, workspace or Workspace()
        self._ranks = ranks
        self._kernel: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._triangle: Reduced | None = None
        # Dampings up to this are known to be below what a factor resolves.
        self._lost = 0.0

    @classmethod
    def at(
        cls, function: LeastSquares, theta: np.ndarray, workspace: Workspace
    ) -> DampedLeastSquares:
        """Return that of a function's rows at theta, with the Jacobian in the workspace."""
        memory = workspace.array("jacobian", function.rows, function.size)
        pair = function.jacobian(theta, memory)
        return cls(*pair, function.threads, workspace, function.ranks)

    @cached_property
    def norms(self) -> np.ndarray:
        if self.kernel_form:
            return np.sqrt(np.einsum("ij,ij->j", self.jacobian, self.jacobian))
        return np.sqrt(self._gram.diagonal())

    def damped(self, damping: float, scale: np.ndarray | None = None) -> Damped:
        """Return the minimisers for a damping > 0; scale: the diagonal of D > 0, 1 if left out."""
        if scale is None:
            scale = np.ones(self.jacobian.shape[1])
        if damping > self._lost:
            try:
                form = _Kernel if self.kernel_form else _Normal
                return form(self, damping, scale)
            except np.linalg.LinAlgError:
                self._lost = damping
        if self._triangle is None:
            self._triangle = triangle_of(self.rows, self.jacobian)
        return self._triangle.damped(damping, scale)

    @cached_property
    def _gram(self) -> np.ndarray:
        """J'J, of Fortran order.

        By numpy's product, which sees that it is symmetric: scipy's wrappers of BLAS keep Python's
        lock, so that threads would wait for each other.
        """
        rows, size = self.jacobian.shape
        count = _PARTS
        while count > 1 and rows < count * _PART_ROWS:
            count //= 2
        mine = self._ranks.share(count)
        parts = self._workspace.array("grams", len(mine), size, size)
        edges = [rows * k // count for k in range(count + 1)]

        def part(k: int) -> None:
            given = self.jacobian[edges[k] : edges[k + 1]]
            np.matmul(given.T, given, out=parts[k - mine.start])

        self._each(part, mine)
        whole = self._ranks.exchange(parts.reshape(len(mine), size * size), count)
        return whole.reshape(size, size).T

    def kernel(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J / D and the lower triangle of the kernel, of Fortran order, for a scale D."""
        if self._kernel is None or not np.array_equal(self._kernel[0], scale):
            rows, size = self.jacobian.shape
            scaled = self.jacobian
            if (scale != 1).any():
                scaled = np.divide(
                    scaled, scale, out=self._workspace.array("scaled", rows, size)
                )
            upper = self._workspace.array("kernel", rows, rows)
            first, second = slice(rows // 2), slice(rows // 2, None)
            blocks = [(first, first), (second, second), (first, second)]

            def block(k: int) -> None:
                a, b = blocks[k]
                np.matmul(scaled[a], scaled[b].T, out=upper[a, b])

            self._each(block, range(3))
            self._kernel = scale.copy(), scaled, upper.T
        return self._kernel[1:]

    def factored(self, matrix: np.ndarray, diagonal: np.ndarray | float) -> np.ndarray:
        """Return the Cholesky factor of a lower triangle with more on its diagonal.

        Raises LinAlgError where there is none, or where rounding leaves nothing of what is added.
        """
        size = len(matrix)
        if np.max(matrix.diagonal() / diagonal) > _HOPELESS:
            raise np.linalg.LinAlgError("the damping is below the rounding of the matrix")
        copy = self._workspace.array("factor", size, size).T
        np.copyto(copy, matrix)
        copy[np.diag_indices(size)] += diagonal
        factor, failed = _lapack().dpotrf(copy, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the damped matrix is not positive definite")
        return factor

    def _each(self, work: Callable[[int], None], parts: Sequence[int]) -> None:
        if self._threads == 1 or len(parts) < 2:
            for part in parts:
                work(part)
            return
        with ThreadPoolExecutor(min(self._threads, len(parts))) as pool:
            list(pool.map(work, parts))


class _Factored(Damped):
    """Minimisers by a Cholesky factor.

    Raises LinAlgError where there is none, or none that is exact.
    """

    _factor: np.ndarray

    def _corrected(self, found: np.ndarray, weight: np.ndarray | float, ratio: float) -> np.ndarray:
        """Return a solution made exact, where the ratio of diagonal to damping calls for that.

        weight: in what scale a correction is compared with it.
        """
        if ratio <= _EXACT:
            return found
        more = self._solve(self._left(found))
        if not np.linalg.norm(weight * more) <= _LOST * np.linalg.norm(weight * found):
            raise np.linalg.LinAlgError("the damping is below what the factor resolves")
        return found + more

    def _solve(self, b: np.ndarray) -> np.ndarray:
        found, _ = _lapack().dpotrs(self._factor, b, lower=1)
        return found

    @abstractmethod
    def _left(self, found: np.ndarray) -> np.ndarray:
        """Return the residual of a solution, through J."""


class _Normal(_Factored):
    def __init__(self, whole: DampedLeastSquares, damping: float, scale: np.ndarray) -> None:
        self._whole, self._squares = whole, damping * scale**2
        self._factor = whole.factored(whole._gram, self._squares)
        norms = whole.norms**2
        ratio, weight = float(np.max(norms / self._squares)), np.sqrt(norms + self._squares)
        self.step = self._corrected(self._solve(-0.5 * whole.gradient), weight, ratio)
        self.promised = _promised(self.step, whole.gradient, self._squares)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._solve(-(b @ self._whole.jacobian))

    def _left(self, found: np.ndarray) -> np.ndarray:
        rows = self._whole.rows + self._whole.jacobian @ found
        return -(rows @ self._whole.jacobian) - self._squares * found


class _Kernel(_Factored):
    def __init__(self, whole: DampedLeastSquares, damping: float, scale: np.ndarray) -> None:
        self._jacobian, kernel = whole.kernel(scale)
        self._rows, self._damping, self._scale = whole.rows, damping, scale
        self._factor = whole.factored(kernel, damping)
        ratio = float(np.max(kernel.diagonal())) / damping
        self.step = self._outward(self._corrected(self._solve(-whole.rows), 1.0, ratio))
        self.promised = _promised(self.step, whole.gradient, damping * scale**2)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._outward(self._solve(-b))

    def _outward(self, found: np.ndarray) -> np.ndarray:
        return (found @ self._jacobian) / self._scale

    def _left(self, found: np.ndarray) -> np.ndarray:
        return -self._rows - self._jacobian @ (found @ self._jacobian) - self._damping * found


def _promised(step: np.ndarray, gradient: np.ndarray, squares: np.ndarray) -> float:
    """Return |r|^2 - |J p + r|^2 of the minimiser p of |J p + r|^2 + |d p|^2."""
    return float(np.sum(squares * step**2)) - 0.5 * float(gradient @ step)


def damped_bytes(rows: int, size: int) -> int:
    """Return the bytes of a Jacobian, the smaller matrix and its factor, and of the triangle."""
    least = min(rows, size)
    return 8 * (rows * size + (_PARTS + 1) * least**2) + triangle_bytes(rows, size, keep=True)



def _lapack() -> Any:
    from scipy.linalg import lapack  # slow to import, and not used by every run

    return lapack
