"""Where in the arena each buffer of a tile lies: those that are never needed together share it.

A cache finds a line by the last bits of its address, and holds eight lines of equal bits or so.
Channels of 64 rows that lie one behind the other begin at equal ones, and sums over the channels or
loops over many of them read them side by side: more than eight throw each other out.  So on a host
a gap is left behind each.
"""

from __future__ import annotations

import numpy as np

from .instructions import (
    Blank,
    Buffer,
    Call,
    Contraction,
    Copy,
    Fused,
    Gather,
    Give,
    Layout,
    Outer,
    Product,
    RowSum,
    Take,
)

_NOWHERE = -1
_CYCLE_BYTES = 4096
"""Addresses so far apart have their lines in one set of the first cache."""


class Arena:
    """The places of all rows.

    row_bytes  of a row in memory behind a cache; 0 where no gaps are left (a GPU's shared memory).
    rows       how many the arena has.
    """

    def __init__(self, layout: Layout, row_bytes: int = 0) -> None:
        self._row_bytes = row_bytes
        self._firsts = np.array([b.first for b in layout.buffers], np.int64)
        self._buffers = layout.buffers
        self._start: dict[Buffer, int] = {}
        self.rows = 1  # the row of zeros
        self._assign(layout.calls)
        places = [self._start.get(b, _NOWHERE) for b in layout.buffers]
        self._places = np.array([0, *places], np.int64)

    def place(self, rows: np.ndarray) -> np.ndarray:
        """Return where rows lie, counted in rows."""
        numbers = self._numbers(rows)
        places = self._places[numbers]
        if (places == _NOWHERE).any():
            raise KeyError("a row of a buffer that no call reads or writes has no place")
        within = rows - self._firsts[numbers - 1]
        return np.where(numbers > 0, places + within, 0)

    def _numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of the buffers of rows, from 1; 0 for the row of zeros."""
        return np.searchsorted(self._firsts, rows, side="right")

    def _assign(self, calls: list[Call]) -> None:
        last: dict[Buffer, int] = {}
        for number, call in enumerate(calls):
            for buffer in (*self._read(call), *self._written(call)):
                last[buffer] = number
        free: list[tuple[int, int]] = []  # (start, count), sorted
        for number, call in enumerate(calls):
            dying = [b for b in self._read(call) if last[b] == number]
            for buffer in self._written(call):
                if buffer in self._start:
                    continue
                over = next((b for b in dying if _in_step(call, b, buffer)), None)
                if over is not None:
                    dying.remove(over)
                    self._start[buffer] = self._start[over]
                else:
                    self._start[buffer] = self._found(free, self._taken(buffer))
            dying += [b for b in self._written(call) if last[b] == number]
            for buffer in dying:
                _released(free, self._start[buffer], self._taken(buffer))

    def _taken(self, buffer: Buffer) -> int:
        """Return the rows of a buffer with its gap, an odd number: equal ones begin spread out."""
        if buffer.count * self._row_bytes < _CYCLE_BYTES:
            return buffer.count
        return (buffer.count + 3) | 1

    def _found(self, free: list[tuple[int, int]], count: int) -> int:
        """Return the smallest free place that is large enough, or a new one at the end."""
        fitting = [one for one in free if one[1] >= count]
        if not fitting:
            start = self.rows
            self.rows += count
            return start
        start, size = min(fitting, key=lambda one: (one[1], one[0]))
        free.remove((start, size))
        if size > count:
            _released(free, start + count, size - count)
        return start

    def _read(self, call: Call) -> list[Buffer]:
        return self._owners(rows_read(call))

    def _written(self, call: Call) -> list[Buffer]:
        return self._owners(rows_written(call))

    def _owners(self, rows: np.ndarray) -> list[Buffer]:
        return [self._buffers[k - 1] for k in np.unique(self._numbers(rows)) if k]


def rows_read(call: Call) -> np.ndarray:
    """Return the rows that a call reads."""
    lists: list[np.ndarray] = []
    if isinstance(call, Product):
        lists = [call.x]
    elif isinstance(call, Contraction | Outer):
        lists = [call.a, call.b]
    elif isinstance(call, Blank | RowSum | Gather | Copy | Give):
        lists = [call.rows]
    elif isinstance(call, Fused):
        lists = [one for one in call.operands if isinstance(one, np.ndarray)]
    return np.concatenate([one.reshape(-1) for one in lists] or [np.zeros(0, np.int64)])


def rows_written(call: Call) -> np.ndarray:
    """Return the rows that a call makes."""
    buffers: tuple[Buffer, ...] = ()
    if isinstance(call, Take | Copy | Gather | Outer):
        buffers = (call.out,)
    elif isinstance(call, Fused | Product):
        buffers = call.outs
    lists = [one.first + np.arange(one.count) for one in buffers]
    return np.concatenate(lists or [np.zeros(0, np.int64)])


def _in_step(call: Call, old: Buffer, new: Buffer) -> bool:
    """Return whether a loop may write `new` over `old`: it reads each row before it writes it."""
    if not isinstance(call, Fused) or old.count != new.count:
        return False
    end = old.first + old.count
    inside = [
        one
        for one in call.operands
        if isinstance(one, np.ndarray) and np.any((one >= old.first) & (one < end))
    ]
    rows = old.first + np.arange(old.count)
    return all(np.array_equal(one, rows) for one in inside)


def _released(free: list[tuple[int, int]], start: int, count: int) -> None:
    """Add a free place, joined to its neighbours."""
    for one in list(free):
        if one[0] + one[1] == start:
            free.remove(one)
            start, count = one[0], one[1] + count
        elif start + count == one[0]:
            free.remove(one)
            count += one[1]
    free.append((start, count))
