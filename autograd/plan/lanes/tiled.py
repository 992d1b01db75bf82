"""A recorded function over points, compiled: lanes of tiles, summed in a fixed order.

The function is recorded for a few points, taken apart (split.py), laid out (layout.py) and compiled
for tiles of points (calls.py).  A lane is a run of tiles that follow each other; lanes are shared
out to threads and their sums are added in order, so the result has the same bits for any number of
threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...addresses import address_of
from ...ranks import ALONE, Ranks
from ...threads import one_blas_thread
from ..executors.numpy_executor import NumpyExecutor
from ..pieces import lanes_for
from ..program import Program
from . import functions
from .at_points import AtPoints
from .calls import Calls, calls_of
from .crew import crew
from .host import host
from .library import CONSTANTS, FIELDS, NUMBERS, POINTS, RESULTS, START, SUMS
from .places import CannotCompile
from .prepared import lowered, prepared
from .shape import Shape

ROW_BYTES = 256
"""Of a row: a multiple of what a product takes at a time on all hosts."""

_MOST_BYTES = 64 << 20
_WORTH_COMPILING = 1 << 18  # operations on what knows no point


def _alone(program: Program, given: Sequence[np.ndarray], threads: int) -> NumpyExecutor:
    return NumpyExecutor(program, given)


class Tiled:
    """A compiled program.

    program  recorded for a few points (`few_points`), optimized; its first `points` inputs are
             their arrays.
    kinds    one an output, as for `Chunked`.
    threads, ranks  that lanes are shared out to.
    whole    whether it is called with all points at once, for whose sums `program` stands.
    before   what makes an executor of what knows no point, of that, its arrays and `threads`.
    Raises CannotCompile for what tiles do not hold, and where the host has no such compiler.

    outputs  the program's, which have the shapes of the results but for the number of points.
    flops    floating point operations a point.
    workers  threads at most.
    nbytes   of the memory of all of them.
    """

    def __init__(
        self,
        program: Program,
        points: int,
        kinds: Sequence[str],
        threads: int,
        ranks: Ranks = ALONE,
        whole: bool = False,
        before: Callable[[Program, Sequence[np.ndarray], int], Any] = _alone,
    ) -> None:
        found = host()
        if found is None:
            raise CannotCompile("a processor without fused multiply-add, or no llvmlite")
        self._made = AtPoints(lowered(program, points, functions.HELD), points, functions.HELD)
        points += self._made.count
        parts, layout = prepared(self._made.program, points, kinds, functions.HELD, whole)
        self._dtype = layout.dtype
        self._tile = ROW_BYTES // self._dtype.itemsize
        self._calls = calls_of(layout, Shape(found, self._dtype, self._tile), _MOST_BYTES)
        self._threads, self._ranks = threads, ranks
        self._before, self._after = parts.before, parts.after
        self._executor = before
        self._recorded, self._scaled = parts.recorded, parts.scaled
        self._totals = layout.totals
        self._arenas: list[tuple[np.ndarray, int]] = []  # with their addresses
        self._known: _Lanes | None = None
        self._program = program
        self.outputs = program.outputs
        self.flops = program.work()[1] / program.inputs[0].shape[0]
        self.workers = threads
        self.nbytes = self.workers * self._calls.arena * self._dtype.itemsize

    def is_current(self) -> bool:
        """Return whether the tensors frozen into constants are as they were when recorded."""
        return self._program.is_current()

    def bind(self, shared: Sequence[np.ndarray]) -> None:
        """Read these arrays from now on, at each call."""
        # little is done call by call sooner than it is compiled; a loss at a wall is not little
        is_much = self._before.work()[1] >= _WORTH_COMPILING
        self._first = (self._executor if is_much else _alone)(self._before, shared, self._threads)
        found = self._first.outputs
        self._numbers = [_own(a, self._dtype) for a in found]
        self._copied = [(to, a) for to, a in zip(self._numbers, found, strict=True) if to is not a]
        self._sums = np.zeros(sum(self._totals), self._dtype)
        edges = np.cumsum([0, *self._totals])
        parts = [self._sums[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]
        sums = [a.reshape(v.shape) for a, v in zip(parts, self._after.inputs, strict=False)]
        self._times = [np.empty((), v.dtype) for v in self._after.inputs[len(sums) + len(found) :]]
        self._last = NumpyExecutor(self._after, [*sums, *found, *self._times])
        self._addresses = _addresses(self._numbers)

    def __call__(
        self, rows: Sequence[np.ndarray], joined: Sequence[np.ndarray]
    ) -> Iterator[np.ndarray]:
        """Return the sums, new arrays, one after the other; what is joined goes to `joined`."""
        return (np.array(one) for one in self.run(rows, joined))

    def run(self, rows: Sequence[np.ndarray], joined: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the sums, which the next call writes over; what is joined goes to `joined`.

        rows    the points' arrays, of one length that is not 0.
        """
        # a thread of BLAS's looks for work for long after a product: on a core that lanes need
        with one_blas_thread():
            self._first.run()
        for to, array in self._copied:
            np.copyto(to, array)
        # yes and no are numbers in tiles
        rows = [np.ascontiguousarray(r, self._dtype) for r in (*rows, *self._made(rows))]
        own = [_own(j, self._dtype) for j in joined]
        sums = self._run_lanes(rows, own)
        for given, one in zip(joined, own, strict=True):
            if one is not given:
                given[...] = one
        self._sums[...] = sums[: len(self._sums)]
        for times in self._times:
            times[...] = len(rows[0]) / self._recorded
        self._last.run()
        totals = self._last.outputs
        for k, scale in zip(self._scaled, totals[len(totals) - len(self._scaled) :], strict=True):
            with np.errstate(all="ignore"):  # as wherever programs are run
                np.multiply(joined[k], scale, out=joined[k])
        return totals[: len(totals) - len(self._scaled)]

    def _run_lanes(self, rows: list[np.ndarray], joined: list[np.ndarray]) -> np.ndarray:
        """Return the sums of all lanes."""
        count = len(rows[0])
        lanes = min(lanes_for(count), -(-count // self._tile))
        mine = self._ranks.share(lanes)
        known = self._known
        if known is None or known.of != (count, mine):
            known = self._known = _Lanes(count, self._tile, lanes, mine, self._calls)
        threads = min(self._threads, len(mine))
        while len(self._arenas) < threads:
            arena = _zeros(self._calls.arena, self._dtype)
            self._arenas.append((arena, address_of(arena)))
        points, results = _addresses(rows), _addresses(joined)
        known.begin(*map(address_of, (points, self._addresses, results)))
        if threads:
            arenas = [place for _, place in self._arenas[:threads]]
            crew().run(self._calls.work, known.arguments, arenas, *known.calls)
        return self._ranks.exchange(known.sums, lanes, joined, known.edges)


class _Lanes:
    """What `work` is given for a number of points, made once and kept while it stays.

    of         how many points, and the lanes of this rank.
    edges      (lanes + 1,) points at which lanes begin and end.
    sums       (lanes of this rank, numbers), which `work` adds to.
    arguments, calls  what `work` is called with, before and after the arena.
    """

    def __init__(self, count: int, tile: int, lanes: int, mine: range, calls: Calls) -> None:
        tiles = -(-count // tile)
        self.of = count, mine
        self.edges = np.minimum(count, tiles * np.arange(lanes + 1) // lanes * tile)
        self.sums = np.zeros((len(mine), max(1, calls.sums)), calls.constants.dtype)
        self._starts = self.edges[mine.start : mine.stop]
        self._ends = self.edges[mine.start + 1 : mine.stop + 1].astype(np.int64)
        self._taken = np.zeros(1, np.int64)
        self._contexts = np.zeros((len(mine), FIELDS), np.int64)
        self._contexts[:, CONSTANTS] = address_of(calls.constants)
        first, far = address_of(self.sums), self.sums.strides[0]
        self._contexts[:, SUMS] = first + far * np.arange(len(mine))
        self.arguments = (
            address_of(self._contexts), address_of(self._ends), len(mine), address_of(self._taken)
        )  # fmt: skip
        self.calls = address_of(calls.calls), len(calls.calls)

    def begin(self, points: int, numbers: int, results: int) -> None:
        """Start anew, with these addresses of arrays of addresses."""
        contexts = self._contexts
        contexts[:, POINTS], contexts[:, NUMBERS], contexts[:, RESULTS] = points, numbers, results
        contexts[:, START] = self._starts
        self.sums.fill(0)
        self._taken[0] = 0


def _own(given: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return an array of the dtype that is dense: the one given, where it is, or one to fill."""
    fits = given.dtype == dtype and given.flags.c_contiguous
    return given if fits else np.empty(given.shape, dtype)


def _addresses(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([*map(address_of, arrays)] or [0], np.int64)


def _zeros(numbers: int, dtype: np.dtype) -> np.ndarray:
    """Return zeros that begin where a register's worth of memory does."""
    raw = np.zeros(numbers * dtype.itemsize + 64, np.uint8)
    start = -address_of(raw) % 64
    return raw[start : start + numbers * dtype.itemsize].view(dtype)
