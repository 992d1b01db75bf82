"""Linear algebra of Jacobians on a GPU: cupy's products, Cholesky factors and triangles.

Vectors of the host go there, and those that are told come back; no matrix does.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from autograd.devices import CPU, backend, put, put_together
from pinn.optimizers.least_squares.algebra import Algebra, Damped, Reduced, Square
from pinn.optimizers.least_squares.workspace import Workspace

# Steps of the power method: its value is then too small by some per cent at most.
_POWERS = 10


class DeviceAlgebra(Algebra):
    """Of the arrays of one device, row by row; workspace: its memory that outlasts this object."""

    def __init__(self, workspace: Workspace) -> None:
        self.device, self._workspace = workspace.device, workspace
        self.backend = backend(workspace.device.type)
        self.xp = self.backend.xp

    def inner(self, jacobian: Any) -> Square:
        return self._product(jacobian.T, jacobian)

    def outer(self, jacobian: Any) -> Square:
        return self._product(jacobian, jacobian.T)

    def norms(self, jacobian: Any) -> np.ndarray:
        return put(self.xp.linalg.norm(jacobian, axis=0), CPU)

    def divided(self, jacobian: Any, scale: np.ndarray) -> Any:
        memory = self._workspace.array("divided", *jacobian.shape)
        return self.xp.divide(jacobian, self.there(scale), out=memory)

    def reduced(self, rows: Any, jacobian: Any) -> Reduced:
        """Return the Jacobian reduced to a triangle, by Householder transformations.

        Their product is kept as a matrix of its own.
        """
        kind = _Wide if len(rows) < jacobian.shape[1] else _Tall
        return kind(rows, jacobian, self)

    def there(self, vector: np.ndarray) -> Any:
        """Return a vector of the host on the device."""
        return put(vector, self.device)

    def factors(self, matrix: Any) -> tuple[Any, Any]:
        """Return Q (m, n) and R (n, n) of a matrix with at least as many rows as columns."""
        q, r = self.xp.linalg.qr(matrix)
        # cupy's R is a view that would keep all that it was made in
        return q, self.xp.array(r, order="F")

    def triangular(self, upper: Any, b: Any, trans: str = "N") -> Any:
        """Return the solution with an upper triangle, of Fortran order, or its transpose."""
        return self.backend.load_linalg().solve_triangular(upper, b, trans=trans)

    def cholesky(self, matrix: Any) -> Any:
        """Return L, row by row; LinAlgError where there is none."""
        with self.backend.linalg_raises():
            return self.xp.linalg.cholesky(matrix)

    def _product(self, left: Any, right: Any) -> Square:
        memory = self._workspace.array("square", len(left), len(left))
        return _Square(self.xp.matmul(left, right, out=memory), self)


class _Square(Square):
    """A symmetric matrix, in place: only its diagonal is another for each factor."""

    def __init__(self, matrix: Any, algebra: DeviceAlgebra) -> None:
        self._matrix, self._algebra = matrix, algebra
        self._own = matrix.diagonal().copy()
        self.diagonal = put(self._own, CPU)
        self._factor: Any = None

    def factor(self, added: np.ndarray | float) -> None:
        self._factor = None  # its memory is there for the next
        if isinstance(added, np.ndarray):
            added = self._algebra.there(added)
        self._matrix.reshape(-1)[:: len(self._matrix) + 1] = self._own + added
        self._factor = self._algebra.cholesky(self._matrix)

    def solve(self, b: Any) -> Any:
        # L' of an L that is stored row by row is what cublas takes without a copy
        upper, solve = self._factor.T, self._algebra.triangular
        return solve(upper, solve(upper, b, trans="T"))


class _Ridge:
    """The minimisers z of |M z + b|^2 + |diag(d) z|^2 for a square matrix M (n, n), d > 0.

    By the triangle of [M; diag(d)], with its accuracy at the square root of the condition of
    M'M + d^2.
    """

    def __init__(self, matrix: Any, d: np.ndarray, algebra: DeviceAlgebra) -> None:
        self._algebra, n, xp = algebra, len(d), algebra.xp
        stacked = xp.zeros((2 * n, n), np.float64)
        stacked[:n] = matrix
        stacked.reshape(-1)[n * n :: n + 1] = algebra.there(d)
        q, self._upper = algebra.factors(stacked)
        self._q = xp.ascontiguousarray(q[:n])

    def minimiser(self, b: Any) -> tuple[Any, Any]:
        """Return z, and by how much the sum of squares is lower there than at 0."""
        top = b @ self._q
        return -self._algebra.triangular(self._upper, top), top @ top


class _Tall(Reduced):
    """N >= P: J = Q R."""

    def __init__(self, rows: Any, jacobian: Any, algebra: DeviceAlgebra) -> None:
        self.algebra = algebra
        self.q, self.r = algebra.factors(jacobian)
        self.head = rows @ self.q
        self.gradient = 2 * put(self.head @ self.r, CPU)

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        return _TallDamped(self, np.sqrt(damping) * scale)

    def again(self, b: np.ndarray) -> Reduced:
        other = copy(self)
        other.head = self.algebra.there(b) @ self.q
        other.gradient = 2 * put(other.head @ self.r, CPU)
        return other

    @property
    def largest(self) -> float:
        return _largest(self.r, self.algebra)


class _TallDamped(Damped):
    def __init__(self, whole: _Tall, d: np.ndarray) -> None:
        self._whole, self._ridge = whole, _Ridge(whole.r, d, whole.algebra)
        self.step, fall = put_together(self._ridge.minimiser(whole.head), CPU)
        self.promised = float(fall) + float(np.sum((d * self.step) ** 2))

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        head = self._whole.algebra.there(b) @ self._whole.q
        return put(self._ridge.minimiser(head)[0], CPU)


class _Wide(Reduced):
    """N < P: (J / scale)' = Q R for each scale; p = Q z / scale, |R' z + b|^2 + damping |z|^2."""

    def __init__(self, rows: Any, jacobian: Any, algebra: DeviceAlgebra) -> None:
        self.rows, self._jacobian, self.algebra = rows, jacobian, algebra
        self._known: np.ndarray | None = None
        self.q = self.r = self.scale = None
        self.gradient = 2 * put(rows @ jacobian, CPU)

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        if self._known is None or not np.array_equal(self._known, scale):
            self.q = self.r = None  # their memory is there for the next
            jacobian = self._jacobian
            if (scale != 1).any():
                jacobian = self.algebra.divided(jacobian, scale)
            self.q, self.r = self.algebra.factors(jacobian.T)
            self._known, self.scale = scale.copy(), self.algebra.there(scale)
        return _WideDamped(self, damping)

    def again(self, b: np.ndarray) -> Reduced:
        other = copy(self)
        other.rows = self.algebra.there(b)
        other.gradient = 2 * put(other.rows @ self._jacobian, CPU)
        return other

    @property
    def largest(self) -> float:
        return _largest(self._jacobian, self.algebra)


class _WideDamped(Damped):
    def __init__(self, whole: _Wide, damping: float) -> None:
        d = np.full(len(whole.rows), np.sqrt(damping))
        self._whole, self._ridge = whole, _Ridge(whole.r.T, d, whole.algebra)
        z, fall = self._ridge.minimiser(whole.rows)
        told = [self._outward(z), fall + damping * (z @ z)]
        self.step, promised = put_together(told, CPU)
        self.promised = float(promised)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return put(self._outward(self._ridge.minimiser(self._whole.algebra.there(b))[0]), CPU)

    def _outward(self, z: Any) -> Any:
        return (self._whole.q @ z) / self._whole.scale


def _largest(matrix: Any, algebra: DeviceAlgebra) -> float:
    """Return the largest singular value by the power method, or somewhat less."""
    along = algebra.there(np.random.default_rng(0).standard_normal(matrix.shape[1]))
    norm, value = algebra.xp.linalg.norm, 0.0
    for _ in range(_POWERS):
        length = algebra.xp.maximum(norm(along), np.finfo(np.float64).tiny)
        image = matrix @ (along / length)
        value, along = norm(image), image @ matrix
    return float(value)


def device_bytes(rows: int, size: int, divided: bool) -> int:
    """Return the bytes on a device of a Jacobian and all that is made of it, for one damping.

    That is most where the damping goes by the triangle, beside a square and its factor. divided:
    whether the kernel is that of J by a scale.
    """
    of_scale = rows * size if rows < size and divided else 0
    return reduced_device_bytes(rows, size) + 8 * (of_scale + 2 * min(rows, size) ** 2)


def reduced_device_bytes(rows: int, size: int) -> int:
    """Return the bytes on a device of a Jacobian and its triangle, for one damping.

    They are J, Q, R, and what QR works in: as much as Q, or what goes with the stacked triangle.
    """
    square = min(rows, size) ** 2
    return 8 * (2 * rows * size + max(rows * size, 7 * square) + square)
