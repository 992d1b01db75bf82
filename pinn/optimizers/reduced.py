"""A Jacobian reduced to a triangle, from which a damped step costs little for any damping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograd.devices import CPU
from pinn.optimizers.algebra import Damped, Reduced
from pinn.optimizers.device_algebra import DeviceAlgebra, device_bytes
from pinn.optimizers.solver import LeastSquares
from pinn.optimizers.workspace import Workspace, place_of

# Columns that LAPACK reduces at a time, by reflections that it then applies as matrix products.
_PANEL = 64
# Rows that are taken into the triangle at a time: each time all of the triangle is passed over.
_BLOCK = 1024
# Steps of the power method: its value is then too small by some per cent at most.
_POWERS = 10


def reduced(function: LeastSquares, theta: np.ndarray) -> Reduced:
    """Reduce the Jacobian at theta, for the step alone: there is no minimiser for another b.

    At least as many rows as numbers: 2 N P^2 operations, and memory for one block of rows besides
    the triangle. Fewer rows: 2 P N^2 for each scale, and all of J; that
    is there on a device in any case.
    """
    if place_of(function) != CPU:
        workspace = Workspace.of(function)
        memory = workspace.array("jacobian", function.rows, function.size)
        return DeviceAlgebra(workspace).reduced(*function.jacobian(theta, memory))
    if function.rows < function.size:
        return _Wide(*function.jacobian(theta))
    return _Tall(function.jacobian_chunks(theta), function.rows, function.size, keep=False)


def triangle_of(rows: np.ndarray, jacobian: np.ndarray) -> Reduced:
    """Reduce a Jacobian that is at hand, for any b."""
    if len(rows) < jacobian.shape[1]:
        return _Wide(rows, jacobian)
    return _Tall(iter([(rows, jacobian)]), *jacobian.shape, keep=True)


def reduced_bytes(function: LeastSquares) -> int:
    """Return the bytes of what `reduced` holds at its largest, where the function computes."""
    if place_of(function) != CPU:
        return device_bytes(function.rows, function.size)
    return triangle_bytes(function.rows, function.size, keep=False)


def triangle_bytes(rows: int, size: int, keep: bool) -> int:
    """Return the bytes of a reduction at its largest, a damped triangle beside it included."""
    least, block = min(rows, size), min(_BLOCK, rows)
    held = rows if keep or rows < size else 0
    # the triangle, its damped copy and that one's reflections; J, or a block of it as it comes
    return 8 * (3 * least * least + held * size + 3 * block * size)


class _Ridge:
    """The minimisers z of |U z + b|^2 + |diag(d) z|^2, U (n, n) an upper triangle.

    The triangle of [U; diag(d)] takes 2/3 n^3 operations, as both are triangles: half of what the
    Cholesky factor of U'U + d^2 takes with the product, and with its accuracy at the square root
    of the condition.
    """

    def __init__(self, triangle: np.ndarray, d: np.ndarray) -> None:
        n = len(d)
        below = np.zeros((n, n), order="F")
        below[np.arange(n), np.arange(n)] = d
        self._triangle, self._reflections, self._factors, _ = _lapack().dtpqrt(
            n, min(_PANEL, n), np.array(triangle, order="F"), below, overwrite_a=1, overwrite_b=1
        )
        self._below = np.zeros((n, 1), order="F")

    def minimiser(self, b: np.ndarray) -> tuple[np.ndarray, float]:
        """Return z, and by how much the sum of squares is lower there than at 0."""
        top, *_ = _lapack().dtpmqrt(
            len(b), self._reflections, self._factors, b[:, None].copy(order="F"), self._below,
            trans="T",
        )  # fmt: skip
        z, failed = _lapack().dtrtrs(self._triangle, top)
        if failed:
            raise AssertionError("a damped triangle is singular")
        return -z[:, 0], float(top[:, 0] @ top[:, 0])


class _Tall(Reduced):
    """N >= P: J = Q R, block of rows after block of rows, so that J is nowhere as a whole."""

    def __init__(
        self, chunks: Iterator[tuple[np.ndarray, np.ndarray]], rows: int, size: int, keep: bool
    ) -> None:
        self._triangle = np.zeros((size, size), order="F")
        self._head = np.zeros((size, 1), order="F")
        # The reflections of each block and their factors, which make up Q.
        self._kept: list[tuple[np.ndarray, np.ndarray]] | None = [] if keep else None
        panel = min(_PANEL, size)
        for b, jacobian in _blocks(chunks, rows, size, fresh=keep):
            self._triangle, reflections, factors, _ = _lapack().dtpqrt(
                0, panel, self._triangle, jacobian, overwrite_a=1, overwrite_b=1
            )
            self._head, *_ = _lapack().dtpmqrt(
                0, reflections, factors, self._head, b[:, None], trans="T", overwrite_a=1
            )
            if self._kept is not None:
                self._kept.append((reflections, factors))
        self.gradient = 2 * (self._triangle.T @ self._head[:, 0])

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        return _TallDamped(self, np.sqrt(damping) * scale)

    @property
    def largest(self) -> float:
        return _largest(self._triangle)

    def head(self, b: np.ndarray | None = None) -> np.ndarray:
        """Return the first P numbers of Q' b, of Q' r where left out."""
        if b is None:
            return self._head[:, 0]
        head, start = np.zeros((len(self._head), 1), order="F"), 0
        for reflections, factors in self._kept or ():
            part = b[start : start + len(reflections), None]
            start += len(part)
            head, *_ = _lapack().dtpmqrt(
                0, reflections, factors, head, part, trans="T", overwrite_a=1
            )
        return head[:, 0]


class _TallDamped(Damped):
    def __init__(self, whole: _Tall, d: np.ndarray) -> None:
        self._whole, self._ridge = whole, _Ridge(whole._triangle, d)
        self.step, fall = self._ridge.minimiser(whole.head())
        self.promised = fall + float(np.sum((d * self.step) ** 2))

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._ridge.minimiser(self._whole.head(b))[0]


class _Wide(Reduced):
    """N < P: J / scale = L Q' for each scale; p = Q z / scale, and |L z + b|^2 + damping |z|^2."""

    def __init__(self, rows: np.ndarray, jacobian: np.ndarray) -> None:
        self._rows, self._jacobian = rows, jacobian
        self._scale: np.ndarray | None = None
        self.gradient = 2 * (jacobian.T @ rows)

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        if self._scale is None or not np.array_equal(self._scale, scale):
            self._scale = scale.copy()
            n = len(self._rows)
            # A Jacobian row by row is its transpose column by column, as LAPACK wants it.
            self._reflections, self._factors, _ = _lapack().dgeqrt(
                min(_PANEL, n), (self._jacobian / scale).T, overwrite_a=1
            )
            # L is the transpose of an upper triangle; from its end to its beginning it is one.
            lower = np.triu(self._reflections[:n]).T
            self._triangle = np.asfortranarray(lower[::-1, ::-1])
        return _WideDamped(self, damping)

    @property
    def largest(self) -> float:
        return _largest(self._jacobian)

    def outward(self, z: np.ndarray) -> np.ndarray:
        """Return Q z / scale."""
        whole = np.zeros((len(self._scale), 1), order="F")
        whole[: len(z), 0] = z
        n = len(self._rows)
        found, _ = _lapack().dgemqrt(self._reflections[:, :n], self._factors, whole, overwrite_c=1)
        return found[:, 0] / self._scale


class _WideDamped(Damped):
    def __init__(self, whole: _Wide, damping: float) -> None:
        self._whole = whole
        self._ridge = _Ridge(whole._triangle, np.full(len(whole._rows), np.sqrt(damping)))
        z, fall = self._ridge.minimiser(whole._rows[::-1])
        self.step = whole.outward(z[::-1])
        self.promised = fall + damping * float(z @ z)

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._whole.outward(self._ridge.minimiser(b[::-1])[0][::-1])


def _largest(matrix: np.ndarray) -> float:
    """Return the largest singular value by the power method, or somewhat less."""
    along = np.random.default_rng(0).standard_normal(matrix.shape[1])
    value = 0.0
    for _ in range(_POWERS):
        length = np.linalg.norm(along)
        if not length > 0:
            break
        image = matrix @ (along / length)
        value = float(np.linalg.norm(image))
        along = matrix.T @ image
    return value


def _lapack() -> Any:
    from scipy.linalg import lapack  # slow to import, and not used by every run

    return lapack


def _blocks(
    chunks: Iterator[tuple[np.ndarray, np.ndarray]], rows: int, size: int, fresh: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield b (m,) and J (m, P), column by column, in blocks of nearly equal length.

    fresh: each block has memory of its own; otherwise the next overwrites it.
    """
    count = -(-rows // _BLOCK)
    edges = [rows * k // count for k in range(count + 1)]
    lengths = iter([b - a for a, b in zip(edges[:-1], edges[1:], strict=True)])
    memory, filled = np.empty(0), 0
    b = np.empty(0)
    for residual, part in chunks:
        taken = 0
        while taken < len(residual):
            if filled == len(b):
                b, filled = np.empty(next(lengths)), 0
                if fresh or memory.size < len(b) * size:
                    memory = np.empty(-(-rows // count) * size)
                jacobian = memory[: len(b) * size].reshape((len(b), size), order="F")
            more = min(len(b) - filled, len(residual) - taken)
            b[filled : filled + more] = residual[taken : taken + more]
            jacobian[filled : filled + more] = part[taken : taken + more]
            filled, taken = filled + more, taken + more
            if filled == len(b):
                yield b, jacobian
