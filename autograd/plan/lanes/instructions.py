"""What is done for a tile: calls on rows, which are numbered through all buffers.

A value's elements are rows, one number a point in each; a buffer is a run of rows that one call
writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..passes.clusters import Loop

ZEROS = 0
"""The row that holds zeros."""


@dataclass(eq=False)
class Buffer:
    """Rows that follow each other; `first` is the number of the first."""

    first: int
    count: int


@dataclass(frozen=True)
class Numbers:
    """Numbers of an array that knows no point.

    array   its number.
    places  which numbers, in its dense memory.
    data    the array, where it is a constant.
    """

    array: int
    places: np.ndarray
    data: np.ndarray | None = None

    def at(self, places: np.ndarray) -> Numbers:
        """Return others of the same array."""
        return Numbers(self.array, places, self.data)


@dataclass(frozen=True)
class Take:
    """Column `column` of `width` of the points' array `array` becomes a row."""

    array: int
    column: int
    width: int
    out: Buffer


@dataclass(frozen=True)
class Product:
    """An out (m) = W x for each of the lists of rows x (o, k), one after the other; W (m, k)."""

    weights: Numbers
    x: np.ndarray
    outs: tuple[Buffer, ...]


@dataclass(frozen=True)
class Blank:
    """Rows (r,) get zeros where points are missing, so that sums over points do not count them."""

    rows: np.ndarray


@dataclass(frozen=True)
class Contraction:
    """Sum `total` (m, n) of a (o, m) and b (o, n) over o and the points."""

    a: np.ndarray
    b: np.ndarray
    total: int


@dataclass(frozen=True)
class RowSum:
    """Sum `total` (n,) of rows (n, o) over o and the points."""

    rows: np.ndarray
    total: int


@dataclass(frozen=True)
class Gather:
    """out (n,) = the sums of rows (n, o) over o, point by point."""

    rows: np.ndarray
    out: Buffer


@dataclass(frozen=True)
class Outer:
    """out (m, n) = the products of a (o, m) and b (o, n) summed over o, point by point."""

    a: np.ndarray
    b: np.ndarray
    out: Buffer


@dataclass(frozen=True)
class Fused:
    """A loop over rows; operands are rows (r,) or Numbers with as many places."""

    loop: Loop
    numbers: tuple[float, ...]
    inner: int
    operands: tuple[np.ndarray | Numbers, ...]
    outs: tuple[Buffer, ...]


@dataclass(frozen=True)
class Copy:
    """Rows (r,) one after the other in a buffer."""

    rows: np.ndarray
    out: Buffer


@dataclass(frozen=True)
class Give:
    """Rows (n,) become the joined result `result`, (points, n)."""

    rows: np.ndarray
    result: int


Call = Take | Product | Blank | Contraction | RowSum | Gather | Outer | Fused | Copy | Give


@dataclass
class Layout:
    """The calls of a tile, in order.

    dtype    of all rows.
    rows     rows of all buffers, which are numbered one after the other.
    shapes   of the arrays without points that calls read, by number: positions of body inputs.
    totals   sizes of the sums, in the order of the body's first outputs.
    given    how many rows each joined result has, in the order of the other outputs.
    """

    dtype: np.dtype
    calls: list[Call] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    rows: int = 1  # the row of zeros
    totals: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
