"""Few directions that all rows of a Jacobian are made of, where features are many and smooth."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from autograd.devices import CPU
from pinn.objective import Part
from pinn.optimizers.least_squares.algebra import Damped, Reduced
from pinn.optimizers.least_squares.reduced import CHUNK, reduced, reduced_bytes, reduced_of
from pinn.optimizers.least_squares.sketch import CountSketch
from pinn.optimizers.least_squares.workspace import place_of
from pinn.optimizers.solver import LeastSquares

# A matrix with fewer columns is not worth it, nor one of which more than this share is needed:
# then J V takes as long as it saves.
_FEWEST, _SHARE = 32, 0.6
# Random sums of rows beyond that share, by which it is seen that there are no more directions.
_MORE = 8
# Rows are added to so many of these sums.
_HASHES = 4
# Where the last of so large a share of these sums adds more than such a share of the first, in some
# of the rows, few directions will not do, and the rest of the rows are not asked.
_SOME, _FALLEN = 0.4, 1e-3
# Directions are left out along which the rows change by this share of the cutoff of steps, which
# hardly go along them, or by what rounding leaves.
_OF_CUTOFF, _ROUNDING = 1e-2, 1e-15
# What may be left out of the rows at a random vector, where the cutoff is no larger.
_LEFT_OUT = 1e-13

_Chunk = tuple[np.ndarray, np.ndarray]


def reduced_by_few(
    function: LeastSquares, theta: np.ndarray, cutoff: float, keep: bool = False
) -> tuple[Reduced, bool]:
    """Reduce the Jacobian at theta, for one scale of all numbers, by few columns where these do.

    Of a matrix W (outputs, n) in theta, as the factors of n features, a row of the Jacobian has
    combinations of the features' values and derivatives at a point. Where features are smooth, far
    fewer than n vectors V span these to rounding: a hundred features along a line are combinations
    of some fifty. Then J V has all that J has, for a fraction of the operations of a triangle. V is
    found from random sums of all rows, and what it leaves out is seen at a random vector. cutoff:
    the share of the largest singular value from which on steps go along a direction. keep: as for
    `reduced`. Returned besides: whether few did.

    Halko, Martinsson and Tropp, SIAM Review 53 (2011) 217, sections 4.3 and 4.4.
    """
    if place_of(function) != CPU or function.rows < function.size:
        return reduced(function, theta, keep), False
    chunks = _Chunks(function, theta, keep)
    span = _found(function, chunks.first(), max(_OF_CUTOFF * cutoff, _ROUNDING))
    if span is None:
        return _tall(function, chunks.again(), function.size, keep), False
    inside = _Inside(chunks.again(), span)
    found = _tall(function, iter(inside), span.size, keep)
    if inside.left_out <= max(cutoff, _LEFT_OUT):
        return _Spanned(span, found), True
    return reduced(function, theta, keep), False


def _tall(function: LeastSquares, chunks: Iterator[_Chunk], size: int, keep: bool) -> Reduced:
    return reduced_of(chunks, function.rows, size, keep, function.ranks)


class _Chunks:
    """Residuals and the Jacobian by chunks, twice; kept where that takes no more memory."""

    def __init__(self, function: LeastSquares, theta: np.ndarray, keep: bool) -> None:
        self._function, self._theta = function, theta
        self._keep = 8 * function.rows * function.size <= reduced_bytes(function, keep)
        self._computed = self._all()
        self._kept: deque[_Chunk] = deque()

    def first(self) -> Iterator[_Chunk]:
        """Yield all of them, or as many as are asked for."""
        for chunk in self._computed:
            if self._keep:
                self._kept.append(chunk)
            yield chunk

    def again(self) -> Iterator[_Chunk]:
        """Yield all of them; what was kept goes."""
        while self._kept:
            yield self._kept.popleft()
        yield from self._computed if self._keep else self._all()

    def _all(self) -> Iterator[_Chunk]:
        return self._function.jacobian_chunks(self._theta, CHUNK)


class _Piece(NamedTuple):
    """A matrix (outputs, n) in theta, and orthonormal directions V (n, r) of its rows."""

    part: Part
    directions: np.ndarray

    @property
    def size(self) -> int:
        """The numbers that take the place of those of the matrix."""
        return self.part.shape[0] * self.directions.shape[1]


class _Span:
    """Directions of some matrices in theta, and of all other numbers as they are."""

    def __init__(self, pieces: list[_Piece], full_size: int) -> None:
        self._pieces, self.full_size = pieces, full_size
        others = np.ones(full_size, bool)
        for piece in pieces:
            others[piece.part.place] = False
        self._others = np.flatnonzero(others)
        self.size = len(self._others) + sum(piece.size for piece in pieces)

    def inward(self, rows: np.ndarray) -> np.ndarray:
        """Return M V, (m, size), of a matrix M (m, full size)."""
        found, start = np.empty((len(rows), self.size)), 0
        for part, directions in self._pieces:
            own = rows[:, part.place].reshape(-1, len(directions)) @ directions
            stop = start + own.size // len(rows)
            found[:, start:stop] = own.reshape(len(rows), -1)
            start = stop
        found[:, start:] = rows[:, self._others]
        return found

    def outward(self, vector: np.ndarray) -> np.ndarray:
        """Return V z, (full size,), of z (size,)."""
        whole, start = np.empty(self.full_size), 0
        for piece in self._pieces:
            stop = start + piece.size
            own = vector[start:stop].reshape(piece.part.shape[0], -1)
            piece.part.of(whole)[...] = own @ piece.directions.T
            start = stop
        whole[self._others] = vector[start:]
        return whole


class _Inside:
    """Residuals and J V by chunks."""

    def __init__(self, chunks: Iterator[_Chunk], span: _Span) -> None:
        self._chunks, self._span = chunks, span
        # of J g - J V V' g and of J g, for a random g: squares
        self._left, self._whole = 0.0, 0.0

    @property
    def left_out(self) -> float:
        """The share |J g - J V V' g| / |J g| for a random g, of the chunks so far."""
        return np.sqrt(self._left / self._whole) if self._whole > 0 else 0.0

    def __iter__(self) -> Iterator[_Chunk]:
        probe = np.random.default_rng(0).standard_normal(self._span.full_size)
        (within,) = self._span.inward(probe[None])
        for residual, jacobian in self._chunks:
            inner, image = self._span.inward(jacobian), jacobian @ probe
            self._left += float(np.sum((image - inner @ within) ** 2))
            self._whole += float(np.sum(image**2))
            yield residual, inner


class _Spanned(Reduced):
    """J (N, P) by the triangle of J V."""

    def __init__(self, span: _Span, inner: Reduced) -> None:
        self._span, self._inner = span, inner
        self.gradient = span.outward(inner.gradient)

    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        if np.any(scale != scale[0]):
            raise AssertionError("a scale of each number does not go with a span of few directions")
        inner = self._inner.damped(damping, np.full(self._span.size, scale[0]))
        return _SpannedDamped(self._span, inner)

    def again(self, b: np.ndarray) -> Reduced:
        return _Spanned(self._span, self._inner.again(b))

    @property
    def largest(self) -> float:
        return self._inner.largest


class _SpannedDamped(Damped):
    def __init__(self, span: _Span, inner: Damped) -> None:
        self._span, self._inner = span, inner
        self.step, self.promised = span.outward(inner.step), inner.promised

    def minimiser(self, b: np.ndarray) -> np.ndarray:
        return self._span.outward(self._inner.minimiser(b))


def _found(function: LeastSquares, chunks: Iterator[_Chunk], least: float) -> _Span | None:
    """Return the span of all rows, None where it is not worth it.

    least: the share of the largest change from which on directions count. Not all chunks are asked
    for where the first ones tell.
    """
    parts = [part for part in function.layout.matrices if part.shape[1] >= _FEWEST]
    if not parts:
        return None
    sums = [_Sums(part, function.rows) for part in parts]
    for number, (_, jacobian) in enumerate(chunks):
        for one in sums:
            one.add(jacobian)
        if number == 0 and not any(one.fall() for one in sums):
            return None
    pieces = [
        _Piece(one.part, directions)
        for one in sums if (directions := one.directions(least)) is not None
    ]  # fmt: skip
    return _Span(pieces, function.size) if pieces else None


class _Sums:
    """Random sums of the rows (n,) that a Jacobian has of a matrix (outputs, n).

    Each row is added to some of them, and these are then mixed, so that all have something of each
    row: directions that few rows have, as those of conditions at a point, are met by the first.
    """

    def __init__(self, part: Part, rows: int) -> None:
        self.part, (outputs, columns) = part, part.shape
        rng = np.random.default_rng(0)
        most = int(_SHARE * columns) + _MORE
        self._sketch = CountSketch(rows * outputs, most, _HASHES, rng)
        self._sums, self._done = np.zeros((self._sketch.sketched, columns)), 0
        self._signs = rng.choice([-1.0, 1.0], size=(len(self._sums), 1))

    def add(self, jacobian: np.ndarray) -> None:
        """Take in some more rows of the Jacobian."""
        own = jacobian[:, self.part.place].reshape(-1, self.part.shape[1])
        self._sums += self._sketch.part(self._done, own)
        self._done += len(own)

    def fall(self) -> bool:
        """Return whether it looks as if few directions did; what some rows need all of them do."""
        added = _added(np.linalg.qr(self._mixed()[: int(_SOME * len(self._sums))].T, mode="r"))
        return bool(added[-1] <= _FALLEN * added.max())

    def directions(self, least: float) -> np.ndarray | None:
        """Return orthonormal vectors (n, r) that span the rows; None where r is too large."""
        mixed, count = self._mixed(), _FEWEST
        while count < 2 * len(mixed):  # the last time with all of them
            q, triangle = np.linalg.qr(mixed[:count].T)
            added = _added(triangle)
            (counts,) = np.nonzero(added > least * added.max(initial=0.0))
            needed = counts[-1] + 1 if len(counts) else 0
            if needed <= len(added) - _MORE:
                return q[:, :needed]
            count *= 2
        return None

    def _mixed(self) -> np.ndarray:
        from scipy.fft import dct

        return dct(self._signs * self._sums, axis=0, norm="ortho")


def _added(triangle: np.ndarray) -> np.ndarray:
    """Return what each random sum adds to those before it."""
    return np.abs(np.diag(triangle))
