"""Damped linear least squares: Cholesky factors of the smaller of two matrices, checked through J.

One Jacobian and any number of dampings: what they share is computed once.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from autograd.devices import CPU, device_of, namespace_of, put, put_together
from autograd.ranks import ALONE, Ranks
from pinn.optimizers.least_squares.algebra import Algebra, Damped, Reduced, Square
from pinn.optimizers.least_squares.device_algebra import DeviceAlgebra, device_bytes
from pinn.optimizers.least_squares.host_algebra import HostAlgebra, host_bytes
from pinn.optimizers.least_squares.workspace import Workspace, place_of
from pinn.optimizers.solver import LeastSquares

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

    rows, jacobian: arrays of one device, on which all is computed that is no vector
    (least_squares/algebra.py); the vectors that are told are the host's. rows: r. gradient: 2 J'r,
    (P,). norms: of the columns of J, (P,). threads, ranks: who computes on the host; the result has
    the same bits for any number of them. workspace: memory of that device that outlasts this
    object, which then spoils what an earlier one with the same workspace gave; and so does each
    damping the one before it.
    """

    def __init__(
        self,
        rows: Any,
        jacobian: Any,
        threads: int = 1,
        workspace: Workspace | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        workspace = workspace or Workspace(device_of(jacobian))
        self._how = threads, workspace, ranks
        self._algebra: Algebra = DeviceAlgebra(workspace)
        if device_of(jacobian) == CPU:
            self._algebra = HostAlgebra(*self._how)
        self._rows, self._jacobian = rows, jacobian
        self.kernel_form = len(rows) < jacobian.shape[1]
        self._kernel: tuple[np.ndarray, Any, Square] | None = None
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

    def of_rows(self, rows: np.ndarray) -> DampedLeastSquares:
        """Return that of other rows with this Jacobian."""
        return DampedLeastSquares(self.there(rows), self._jacobian, *self._how)

    @cached_property
    def rows(self) -> np.ndarray:
        return put(self._rows, CPU)

    @cached_property
    def slope(self) -> Any:
        """J'r, (P,), where J is."""
        return self._rows @ self._jacobian

    @cached_property
    def gradient(self) -> np.ndarray:
        return 2 * put(self.slope, CPU)

    @cached_property
    def norms(self) -> np.ndarray:
        if self.kernel_form:
            return self._algebra.norms(self._jacobian)
        return np.sqrt(self.inner.diagonal)

    def along(self, *directions: np.ndarray) -> list[np.ndarray]:
        """Return J v, (N,), for each v of shape (P,): in one copy."""
        return put_together([self._jacobian @ self.there(v) for v in directions], CPU)

    def damped(self, damping: float, scale: np.ndarray | None = None) -> Damped:
        """Return the minimisers for a damping > 0; scale: the diagonal of D > 0, 1 if left out."""
        if scale is None:
            scale = np.ones(self._jacobian.shape[1])
        if damping > self._lost:
            try:
                form = _Kernel if self.kernel_form else _Normal
                return form(self, damping, scale)
            except np.linalg.LinAlgError:
                self._lost = damping
        if self._triangle is None:
            self._triangle = self._algebra.reduced(self._rows, self._jacobian)
        return self._triangle.damped(damping, scale)

    def there(self, vector: np.ndarray) -> Any:
        """Return a vector of the host where J is."""
        return put(vector, device_of(self._jacobian))

    @cached_property
    def inner(self) -> Square:
        """J'J."""
        return self._algebra.inner(self._jacobian)

    def kernel(self, scale: np.ndarray) -> tuple[Any, Square]:
        """Return J / D and its kernel for a scale D."""
        if self._kernel is None or not np.array_equal(self._kernel[0], scale):
            divided = self._jacobian
            if (scale != 1).any():
                divided = self._algebra.divided(divided, scale)
            self._kernel = scale.copy(), divided, self._algebra.outer(divided)
        return self._kernel[1:]


class _Factored(Damped):
    """Minimisers by a Cholesky factor of a square, where J is.

    Raises LinAlgError where there is none, or none that is exact.
    """

    def __init__(
        self, whole: DampedLeastSquares, square: Square, added: np.ndarray | float
    ) -> None:
        self._whole, self._square = whole, square
        if np.max(square.diagonal / added) > _HOPELESS:
            raise np.linalg.LinAlgError("the damping is below the rounding of the matrix")
        square.factor(added)

    def _corrected(self, found: Any, weight: np.ndarray | float, ratio: float) -> Any:
        """Return a solution made exact, where the ratio of diagonal to damping calls for that.

        weight: in what scale a correction is compared with it.
        """
        if ratio <= _EXACT:
            return found
        if isinstance(weight, np.ndarray):
            weight = self._whole.there(weight)
        norm = namespace_of(found).linalg.norm
        more = self._square.solve(self._left(found))
        if not norm(weight * more) <= _LOST * norm(weight * found):
            raise np.linalg.LinAlgError("the damping is below what the factor resolves")
        return found + more

    @abstractmethod
    def _left(self, found: Any) -> Any:
        """Return the residual of a solution, through J."""


class _Normal(_Factored):
    def __init__(self, whole: DampedLeastSquares, damping: float, scale: np.ndarray) -> None:
        squares = damping * scale**2
        super().__init__(whole, whole.inner, squares)
        self._squares, norms = squares, whole.norms**2
        ratio, weight = float(np.max(norms / squares)), np.sqrt(norms + squares)
        found = self._square.solve(-whole.slope)
        self.step = put(self._corrected(found, weight, ratio), CPU)
        self.promised = _promised(self.step, whole.gradient, squares)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        pulled = self._whole.there(b) @ self._whole._jacobian
        return put(self._square.solve(-pulled), CPU)

    def _left(self, found: Any) -> Any:
        jacobian, squares = self._whole._jacobian, self._whole.there(self._squares)
        return -((self._whole._rows + jacobian @ found) @ jacobian) - squares * found


class _Kernel(_Factored):
    def __init__(self, whole: DampedLeastSquares, damping: float, scale: np.ndarray) -> None:
        self._divided, kernel = whole.kernel(scale)
        super().__init__(whole, kernel, damping)
        self._damping, self._scale = damping, whole.there(scale)
        ratio = float(np.max(kernel.diagonal)) / damping
        found = self._square.solve(-whole._rows)
        self.step = self._outward(self._corrected(found, 1.0, ratio))
        self.promised = _promised(self.step, whole.gradient, damping * scale**2)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._outward(self._square.solve(-self._whole.there(b)))

    def _outward(self, found: Any) -> np.ndarray:
        return put((found @ self._divided) / self._scale, CPU)

    def _left(self, found: Any) -> Any:
        pushed = self._divided @ (found @ self._divided)
        return -self._whole._rows - pushed - self._damping * found


def _promised(step: np.ndarray, gradient: np.ndarray, squares: np.ndarray) -> float:
    """Return |r|^2 - |J p + r|^2 of the minimiser p of |J p + r|^2 + |d p|^2."""
    return float(np.sum(squares * step**2)) - 0.5 * float(gradient @ step)


def damped_bytes(function: LeastSquares, scaled: bool = False) -> int:
    """Return the bytes of a function's Jacobian and of what is factored, where it computes.

    scaled: whether D is another than 1.
    """
    shape = function.rows, function.size
    if place_of(function) != CPU:
        return device_bytes(*shape, scaled)
    return host_bytes(*shape, scaled, function.ranks.size)


def damped_flops(function: LeastSquares) -> int:
    """Return the operations of the smaller of J^T J and J J^T, and of one factorisation."""
    small, large = sorted((function.rows, function.size))
    return large * small**2 + small**3 // 3
