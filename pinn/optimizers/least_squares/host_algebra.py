"""Linear algebra of Jacobians on the host: BLAS by threads and ranks, and LAPACK."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, combinations
from typing import Any

import numpy as np

from autograd.ranks import ALONE, Ranks
from pinn.optimizers.least_squares.algebra import Algebra, Reduced, Square
from pinn.optimizers.least_squares.reduced import triangle_bytes, triangle_of
from pinn.optimizers.least_squares.workspace import Workspace

# J'J is added up from so many parts of at least so many rows each; threads take whole parts.
_PARTS, _PART_ROWS = 4, 1000
# J J' is cut into so many ranges of rows, twice as many from so many rows on.
_RANGES, _MANY_ROWS = 2, 1500
# Multiplications that take longer than an exchange of what they give.
_SHARED = 5e6

Blocks = Sequence[tuple[slice, slice]]


class HostAlgebra(Algebra):
    """Of numpy's arrays, row by row.

    threads, ranks: who computes; the result has the same bits for any number of them. workspace:
    memory that outlasts this object.
    """

    def __init__(self, threads: int, workspace: Workspace, ranks: Ranks) -> None:
        self._threads, self._workspace, self._ranks = threads, workspace, ranks

    def inner(self, jacobian: np.ndarray) -> Square:
        """Return J'J.

        By numpy's product, which sees that it is symmetric: scipy's wrappers of BLAS keep Python's
        lock, so that threads would wait for each other.
        """
        rows, size = jacobian.shape
        count = _parts(rows)
        mine = self._ranks.share(count)
        parts = self._workspace.array("grams", len(mine), size, size)
        edges = [rows * k // count for k in range(count + 1)]

        def part(k: int) -> None:
            given = jacobian[edges[k] : edges[k + 1]]
            np.matmul(given.T, given, out=parts[k - mine.start])

        self._each(part, mine)
        whole = self._ranks.exchange(parts.reshape(len(mine), size * size), count)
        return _Square(whole.reshape(size, size).T, self._workspace)

    def outer(self, jacobian: np.ndarray) -> Square:
        rows, size = jacobian.shape
        upper = self._workspace.array("kernel", rows, rows)
        parts = _blocks(rows)
        ranks = self._ranks if _is_shared(rows, size) else ALONE
        mine = ranks.share(len(parts))

        def part(k: int) -> None:
            for a, b in parts[k]:
                np.matmul(jacobian[a], jacobian[b].T, out=upper[a, b])

        self._each(part, mine)
        if ranks.size > 1:
            self._complete(upper, parts, mine)
        return _Square(upper.T, self._workspace)

    def _complete(self, matrix: np.ndarray, parts: Sequence[Blocks], mine: range) -> None:
        """Take the blocks that other ranks have computed into a matrix."""
        sizes = [[_numbers(block) for block in part] for part in parts]
        edges = [0, *accumulate(map(sum, sizes))]
        sent = self._workspace.array("exchanged", edges[-1])

        def each(numbers: Iterable[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
            """Yield the blocks of some parts, and where each is sent from."""
            for k in numbers:
                start = edges[k]
                for block, size in zip(parts[k], sizes[k], strict=True):
                    yield matrix[block], sent[start : start + size].reshape(matrix[block].shape)
                    start += size

        for block, place in each(mine):
            place[...] = block
        self._ranks.complete(sent, len(parts), edges)
        for block, place in each(k for k in range(len(parts)) if k not in mine):
            block[...] = place

    def norms(self, jacobian: np.ndarray) -> np.ndarray:
        return np.sqrt(np.einsum("ij,ij->j", jacobian, jacobian))

    def divided(self, jacobian: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return np.divide(jacobian, scale, out=self._workspace.array("divided", *jacobian.shape))

    def reduced(self, rows: np.ndarray, jacobian: np.ndarray) -> Reduced:
        return triangle_of(rows, jacobian, self._ranks)

    def _each(self, work: Callable[[int], None], parts: Sequence[int]) -> None:
        if self._threads == 1 or len(parts) < 2:
            for part in parts:
                work(part)
            return
        with ThreadPoolExecutor(min(self._threads, len(parts))) as pool:
            list(pool.map(work, parts))


class _Square(Square):
    """A lower triangle, of Fortran order."""

    def __init__(self, matrix: np.ndarray, workspace: Workspace) -> None:
        self._matrix, self._workspace = matrix, workspace
        self.diagonal = matrix.diagonal()
        self._factor = matrix

    def factor(self, added: np.ndarray | float) -> None:
        size = len(self._matrix)
        copy = self._workspace.array("factor", size, size).T
        np.copyto(copy, self._matrix)
        copy[np.diag_indices(size)] += added
        self._factor, failed = _lapack().dpotrf(copy, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the damped matrix is not positive definite")

    def solve(self, b: np.ndarray) -> np.ndarray:
        found, _ = _lapack().dpotrs(self._factor, b, lower=1)
        return found


def _blocks(rows: int) -> list[Blocks]:
    """Return the upper blocks of a symmetric matrix in parts of equal work.

    That is a block by itself, or two on the diagonal: of these BLAS computes one half.
    """
    count = _RANGES if rows < _MANY_ROWS else 2 * _RANGES
    ranges = [slice(rows * k // count, rows * (k + 1) // count) for k in range(count)]
    on_diagonal = [[(a, a), (b, b)] for a, b in zip(ranges[::2], ranges[1::2], strict=True)]
    return on_diagonal + [[pair] for pair in combinations(ranges, 2)]


def _numbers(block: tuple[slice, slice]) -> int:
    """Return how many numbers a block has."""
    return math.prod(part.stop - part.start for part in block)


def _is_shared(rows: int, size: int) -> bool:
    """Whether ranks share out the kernel."""
    return rows**2 * size > _SHARED


def host_bytes(rows: int, size: int, divided: bool, ranks: int = 1) -> int:
    """Return the bytes of a Jacobian and all that is made of it, for one damping at a time.

    That is the smaller matrix, its factor, and the triangle. divided: whether the kernel is that of
    J by a scale. ranks: how many share it out; none of them takes more, and of J'J some take less.
    """
    kernel_form = rows < size
    # J'J is there as its parts as well
    squares = 2 if kernel_form else 2 + _parts(rows)
    held = 2 if kernel_form and divided else 1
    numbers = held * rows * size + squares * min(rows, size) ** 2
    if ranks > 1 and kernel_form and _is_shared(rows, size):  # what is sent is there as well
        numbers += sum(_numbers(block) for part in _blocks(rows) for block in part)
    return 8 * numbers + triangle_bytes(rows, size)


def _parts(rows: int) -> int:
    """Return of how many parts of the rows J'J is added up."""
    count = _PARTS
    while count > 1 and rows < count * _PART_ROWS:
        count //= 2
    return count


def _lapack() -> Any:
    from scipy.linalg import lapack  # slow to import, and not used by every run

    return lapack
