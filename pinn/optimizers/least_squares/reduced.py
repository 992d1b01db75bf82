"""A Jacobian reduced to a triangle, from which a damped step costs little for any damping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from autograd.devices import CPU
from autograd.ranks import ALONE, Ranks
from pinn.optimizers.least_squares.algebra import Damped, Reduced
from pinn.optimizers.least_squares.device_algebra import DeviceAlgebra, reduced_device_bytes
from pinn.optimizers.least_squares.workspace import Workspace, place_of
from pinn.optimizers.solver import LeastSquares

# Columns that LAPACK reduces at a time, by reflections that it then applies as matrix products.
_PANEL = 64
# Rows that a Jacobian comes by.
CHUNK = 1024
# Rows of a block at least, and for each column: to make one triangle of two takes half as long as a
# square block, and ranks do not share it.
_BLOCK, _TALL = 1024, 1.5
# Reflections are kept, for other rows, of no more rows for each column than these.
_KEPT = 8
# Steps of the power method: its value is then too small by some per cent at most.
_POWERS = 10

_Reflected = Sequence[np.ndarray]
"""Reflections, and the factors of LAPACK by which they are applied in panels."""


def reduced(function: LeastSquares, theta: np.ndarray, keep: bool = False) -> Reduced:
    """Reduce the Jacobian at theta; keep: for other rows too, where `may_keep` says so.

    At least as many rows as numbers: 2 N P^2 operations, and memory for one block of rows besides
    the triangle, or for all of them where they are kept. Fewer rows: 2 P N^2 for each scale, and
    all of J; that is there on a device in any case.
    """
    if place_of(function) != CPU:
        workspace = Workspace.of(function)
        memory = workspace.array("jacobian", function.rows, function.size)
        return DeviceAlgebra(workspace).reduced(*function.jacobian(theta, memory))
    if function.rows < function.size:
        return _Wide(*function.jacobian(theta))
    chunks = function.jacobian_chunks(theta, CHUNK)
    return reduced_of(chunks, function.rows, function.size, keep, function.ranks)


def reduced_of(
    chunks: Iterator[tuple[np.ndarray, np.ndarray]], rows: int, size: int, keep: bool, ranks: Ranks
) -> Reduced:
    """Reduce a Jacobian of at least as many rows as numbers that comes with its rows by chunks."""
    return _Tall(chunks, rows, size, keep, ranks)


def may_keep(function: LeastSquares) -> bool:
    """Return whether what a Jacobian is reduced by takes little enough memory to be kept."""
    return function.rows <= _KEPT * function.size or place_of(function) != CPU


def triangle_of(rows: np.ndarray, jacobian: np.ndarray, ranks: Ranks = ALONE) -> Reduced:
    """Reduce a Jacobian that is at hand, for any b; ranks: who share that out."""
    if len(rows) < jacobian.shape[1]:
        return _Wide(rows, jacobian)
    return _Tall(iter([(rows, jacobian)]), *jacobian.shape, keep=True, ranks=ranks)


def reduced_flops(function: LeastSquares) -> int:
    """Return about the operations of a triangle and of one damping."""
    small, large = sorted((function.rows, function.size))
    return 2 * large * small**2 + 2 * small**3


def reduced_bytes(function: LeastSquares, keep: bool = False) -> int:
    """Return the bytes of what `reduced` holds, for one damping at a time, at its largest.

    They are of the device where the function computes. keep: as there.
    """
    rows, size = function.rows, function.size
    if place_of(function) != CPU:
        return reduced_device_bytes(rows, size)
    if rows < size:
        return 8 * rows * size + triangle_bytes(rows, size)
    blocks, longest = _blocks_of(rows, size)
    ranks = function.ranks.size
    # of several ranks each holds its blocks until all are there, one alone holds none but the last
    # unless they are kept
    held = -(-blocks // ranks) if ranks > 1 or keep else 1
    square, chunk = size * size, min(CHUNK, rows) * size
    # the triangles after the first, by which they were taken in, and the factors of all reflections
    kept = (blocks - 1) * square + 2 * blocks * min(_PANEL, size) * size if keep else 0
    # Beside the blocks and the triangle so far there are, while a block is filled, the chunk that
    # came and the next one; when it is reduced, the last chunk and the triangle that it gives, with
    # a byte for each number to tell where it is one. A damping then takes no more than a block.
    return 8 * (held * longest * size + square + chunk + max(square, chunk) + kept) + square


def triangle_bytes(rows: int, size: int) -> int:
    """Return the bytes of what `triangle_of` holds, for one damping at a time, at its largest."""
    (blocks, _), least = _blocks_of(rows, size), min(rows, size)
    # Reflections of the blocks, and of triangles after the first; the triangle, its damped copy and
    # that one's reflections; the factors of all reflections, and what LAPACK works in.
    factors = (2 * blocks + 1) * min(_PANEL, least)
    return 8 * (rows * size + (blocks + 2) * least**2 + factors * least)


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
    """N >= P: J = Q R, by blocks of rows that ranks share out, so that J is nowhere as a whole.

    Each block is reduced to a triangle by itself, and these are taken into one, one after the
    other: Demmel, Grigori, Hoemmen and Langou, SIAM J. Sci. Comput. 34 (2012). Blocks follow from
    N and P alone, so that the bits are the same for any number of ranks.
    """

    def __init__(
        self,
        chunks: Iterator[tuple[np.ndarray, np.ndarray]],
        rows: int,
        size: int,
        keep: bool,
        ranks: Ranks,
    ) -> None:
        self._edges = _edges(rows, size)
        count = len(self._edges) - 1
        # Where there are few columns a triangle takes no longer than to send it.
        self._ranks = ranks = ranks if count > 1 and size > _PANEL else ALONE
        self._mine, several = ranks.share(count), ranks.size > 1
        # The reflections and their factors, which make up Q: of the blocks that are reduced here,
        # and of the triangles after the first.
        self._of_blocks: list[_Reflected] = []
        self._of_triangles: list[_Reflected] = []
        self._triangle = self._head = None
        own = _blocks(chunks, self._edges, self._mine, size, fresh=keep or several)
        if several:  # each reduces its own when there is nothing more to compute together
            own = [self._first(*block, keep) for block in list(own)]
        else:
            own = (self._first(*block, keep) for block in own)
        found = iter(own)
        for k in range(count):
            self._take_in(self._part(k, found, size), keep)
        self.gradient = 2 * (self._triangle.T @ self._head[:, 0])

    def _part(
        self, k: int, own: Iterator[tuple[np.ndarray, np.ndarray]], size: int
    ) -> np.ndarray:
        """Return the columns of the triangle of a block, and the head that goes with it."""
        # a block is filled before there is memory for what it gives
        block, count = next(own) if k in self._mine else None, len(self._edges) - 1
        part = np.empty((size + 1, size))
        if block is not None:
            triangle, head = block
            part[:size].T[...] = triangle if k else np.triu(triangle)
            part[size] = head
        self._ranks.complete(part, count, [0] * (k + 1) + [size + 1] * (count - k))
        return part

    def _take_in(self, part: np.ndarray, keep: bool) -> None:
        """Make one triangle of that which there is and another; the first is that which there is.

        A method of its own: what came goes before the next does.
        """
        triangle, head = part[:-1].T, part[-1:].T
        if self._triangle is None:
            self._triangle, self._head = triangle, head
            return
        size = len(triangle)
        self._triangle, *reflected, _ = _lapack().dtpqrt(
            size, min(_PANEL, size), self._triangle, triangle, overwrite_a=1, overwrite_b=1
        )
        self._head = _taken_in(reflected, self._head, head)
        if keep:
            self._of_triangles.append(reflected)

    def _first(
        self, b: np.ndarray, jacobian: np.ndarray, keep: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the triangle of a block, whose lower part is not zero, and the head of Q' b."""
        size = jacobian.shape[1]
        *reflected, _ = _lapack().dgeqrt(min(_PANEL, size), jacobian, overwrite_a=1)
        if keep:
            self._of_blocks.append(reflected)
        return reflected[0][:size], _head(reflected, b)

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        return _TallDamped(self, np.sqrt(damping) * scale)

    def again(self, b: np.ndarray) -> Reduced:
        other = copy(self)
        other._head = self.head(b)[:, None]
        other.gradient = 2 * (self._triangle.T @ other._head[:, 0])
        return other

    @property
    def largest(self) -> float:
        return _largest(self._triangle)

    def head(self, b: np.ndarray | None = None) -> np.ndarray:
        """Return the first P numbers of Q' b, of Q' r where left out."""
        if b is None:
            return self._head[:, 0]
        count = len(self._edges) - 1
        parts = np.empty((count, len(self._head)))
        for k, reflected in zip(self._mine, self._of_blocks, strict=True):
            parts[k] = _head(reflected, b[self._edges[k] : self._edges[k + 1]])
        self._ranks.complete(parts, count, range(count + 1))
        head = parts[:1].T
        for part, reflected in zip(parts[1:], self._of_triangles, strict=True):
            head = _taken_in(reflected, head, part[:, None])
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
            self._triangle = np.asfortranarray(np.triu(self._reflections[:n]).T[::-1, ::-1])
        return _WideDamped(self, damping)

    def again(self, b: np.ndarray) -> Reduced:
        other = copy(self)
        other._rows, other.gradient = b, 2 * (self._jacobian.T @ b)
        return other

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


def _head(reflected: _Reflected, b: np.ndarray) -> np.ndarray:
    """Return the first P numbers of Q' b for the reflections of a block, (P,)."""
    whole, _ = _lapack().dgemqrt(*reflected, b[:, None], trans="T")
    return whole[: reflected[0].shape[1], 0]


def _taken_in(reflected: _Reflected, head: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the head (P, 1) of what a triangle and another that it takes in were made of."""
    found, *_ = _lapack().dtpmqrt(len(head), *reflected, head, part, trans="T")
    return found


def _edges(rows: int, size: int) -> list[int]:
    """Return where blocks of at least so many rows begin, of nearly equal length, and end."""
    count = max(1, int(rows // max(_BLOCK, _TALL * size)))
    return [rows * k // count for k in range(count + 1)]


def _blocks_of(rows: int, size: int) -> tuple[int, int]:
    """Return how many blocks there are, and the rows of the longest."""
    blocks = len(_edges(rows, size)) - 1
    return blocks, -(-rows // blocks)


def _blocks(
    chunks: Iterator[tuple[np.ndarray, np.ndarray]],
    edges: Sequence[int],
    wanted: range,
    size: int,
    fresh: bool,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield b (m,) and J (m, P), column by column, of the blocks of some numbers.

    fresh: each block has memory of its own; otherwise the next overwrites it.
    """
    longest = max(b - a for a, b in zip(edges[:-1], edges[1:], strict=True))
    memory, k, filled = None, 0, 0
    for residual, part in chunks:
        taken = 0
        while taken < len(residual):
            length = edges[k + 1] - edges[k]
            if k in wanted and filled == 0:
                if fresh or memory is None:
                    memory = np.empty(longest * size)
                b = np.empty(length)
                jacobian = memory[: length * size].reshape((length, size), order="F")
            more = min(length - filled, len(residual) - taken)
            if k in wanted:
                b[filled : filled + more] = residual[taken : taken + more]
                jacobian[filled : filled + more] = part[taken : taken + more]
            filled, taken = filled + more, taken + more
            if filled == length:
                if k in wanted:
                    yield b, jacobian
                k, filled = k + 1, 0
