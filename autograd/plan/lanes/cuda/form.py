"""The form that a kernel takes: points of a tile, threads of a block, where its values lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..instructions import Layout, Product
from ..memory import Arena
from ..places import CannotCompile

_LINE = 128
"""Bytes that are fetched from memory at once: a row of a tile, where values lie there."""

SHARED = 96 << 10
"""Bytes of shared memory for a block: what GPUs since Ampere give to one (99 KiB and more), and
what two blocks on the largest (227 KiB) take together."""

_MOST_BYTES = 4 << 20
_WIDE = 4096
_MOST_LANES = 512
_LEAST_LANES = 128
_SUMS = 1 << 24


@dataclass(frozen=True)
class Form:
    """What the text of a kernel is shaped by.

    dtype    of all numbers.
    tile     points of a tile.
    row      numbers from one row of a tile to the next.
    threads  of a block.
    shared   whether the values of a tile lie in shared memory, or in memory of each block.
    """

    dtype: np.dtype
    tile: int
    row: int
    threads: int
    shared: bool

    @property
    def real(self) -> str:
        """The number type's name."""
        return {"float32": "float", "float64": "double"}[str(self.dtype)]

    @property
    def pack(self) -> int:
        """How many numbers 16 bytes are, the most that a thread fetches at once."""
        return 16 // self.dtype.itemsize


def form_of(layout: Layout, arena: Arena, shared: int) -> Form:
    """Return the form of the kernel of a layout; CannotCompile where a tile takes too much.

    shared  bytes of shared memory that a block is given, at most.

    The more points a tile has, the more often a weight that was fetched is used. So a row is a
    line of memory; half of it, where the values then fit into shared memory; and where they do not
    fit, a whole one in memory of each block, of which its first cache keeps what is in use. In
    shared memory rows lie 16 bytes further apart, so that eight threads that read eight rows meet
    different banks. Wide networks have work for 256 threads, others for 128.
    """
    size = layout.dtype.itemsize
    threads = 256 if _largest_product(layout, _LINE // size) >= _WIDE else 128
    for tile in (_LINE // size, _LINE // size // 2):
        row = tile + 16 // size
        if arena.rows * row * size <= shared:
            return Form(layout.dtype, tile, row, threads, True)
    nbytes = arena.rows * _LINE
    if nbytes > _MOST_BYTES:
        raise CannotCompile(f"a tile of {nbytes} bytes, where {_MOST_BYTES} are the most")
    return Form(layout.dtype, _LINE // size, _LINE // size, threads, False)


def lanes_of(sums: int) -> int:
    """Return how many lanes points are shared out to, at most: as many as keep a large GPU busy.

    It depends on the number of sums alone, which each lane has, and so the bits do, too.
    """
    return max(_LEAST_LANES, min(_MOST_LANES, _SUMS // max(1, sums)))


def _largest_product(layout: Layout, tile: int) -> int:
    """Return the numbers that the largest product of a tile makes."""
    products = [sum(o.count for o in c.outs) for c in layout.calls if isinstance(c, Product)]
    return max(products, default=0) * tile
