"""Replay in tiles of what has many rows in a program over whole arrays, on the host or on a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...devices import namespace_of
from ..lanes.cuda.launched import Launched
from ..lanes.few_rows import FewRows, few_rows, numbers_of_rows
from ..lanes.prepared import tiled_or_none
from ..lanes.tiled import Tiled
from ..program import CONSTANT, Program
from .cupy_executor import CupyExecutor
from .llvm_executor import LLVMExecutor

Found = tuple[FewRows, Tiled | Launched]

_known: WeakKeyDictionary[Program, dict[Hashable, Found | None]] = WeakKeyDictionary()


class TiledExecutor:
    """A program bound to memory, the rows of whose arrays go through tiles.

    other  what makes an executor of a program and its inputs for a call that tiles do not hold.
    inputs, outputs, run, written  as of NumpyExecutor.
    """

    def __init__(
        self, found: Found, program: Program, given: Sequence[Any], other: Callable[..., Any]
    ) -> None:
        few, self._tiled = found
        xp = namespace_of(given[0])
        self.inputs = list(given)
        self.outputs = [xp.zeros(v.shape, v.dtype) for v in program.outputs]
        self.written: tuple[int, ...] | None = None
        array = dict(zip(program.inputs, given, strict=True))
        self._rows = [v.data if v.kind == CONSTANT else array[v] for v in few.rows]
        pairs = list(zip(self.outputs, few.kinds, strict=False))
        self._sums = [out for out, kind in pairs if kind == "sum"]
        self._joined = [out for out, kind in pairs if kind != "sum"]
        limits = [np.finfo(v.dtype) for v in few.program.outputs[len(self.outputs) :]]
        self._least = [n * one.tiny / one.eps for n, one in zip(few.squares, limits, strict=True)]
        self._make_other, self._other = partial(other, program, given), None
        self._tiled.bind([array[v] for v in few.shared])

    def run(self, known: bool = False) -> None:
        """Compute the outputs from the inputs."""
        totals = self._tiled.run(self._rows, self._joined)
        for out, total in zip(self._sums, totals, strict=False):
            out[...] = total
        squares = totals[len(self._sums) :]
        if any(not low < one < math.inf for low, one in zip(self._least, squares, strict=True)):
            self._run_as_it_is()

    def _run_as_it_is(self) -> None:
        """Compute norms of what is very small or large, which squares cannot hold."""
        if self._other is None:
            self._other = self._make_other()
        self._other.run()
        for out, found in zip(self.outputs, self._other.outputs, strict=True):
            out[...] = found


def executor_of_whole(program: Program, given: Sequence[Any], threads: int) -> Any:
    """Return what runs a program over whole arrays: in tiles, where they hold what has many rows.

    Tiles are compiled once for a program and a number of threads, whatever it is bound to: to one
    such list of arrays at a time.
    """

    def tiled(few: FewRows) -> Tiled:
        points = len(few.rows)
        return Tiled(
            few.program, points, few.kinds, threads, whole=True, before=executor_of_whole
        )

    return _of_whole(program, given, threads, tiled, LLVMExecutor, on_host=True)


def executor_on_device(program: Program, given: Sequence[Any], index: int | None) -> Any:
    """Return the same on a GPU: as a few kernels, where they hold what has rows."""

    def launched(few: FewRows) -> Launched:
        points = len(few.rows)
        return Launched(
            few.program, points, few.kinds, index, whole=True, before=executor_on_device
        )

    return _of_whole(program, given, ("cuda", index), launched, CupyExecutor, on_host=False)


def _of_whole(
    program: Program,
    given: Sequence[Any],
    where: Hashable,
    make: Callable[[FewRows], Tiled | Launched],
    other: Callable[..., Any],
    on_host: bool,
) -> Any:
    made = _known.setdefault(program, {})
    if where not in made:
        def tried(count: int) -> Found:
            few = few_rows(program, count, norms=on_host)  # a device is not asked how large one is
            return few, make(few)

        found = (tiled_or_none(tried, n) for n in numbers_of_rows(program, few_calls=not on_host))
        made[where] = next(filter(None, found), None)
    found = made[where]
    return TiledExecutor(found, program, given, other) if found else other(program, given)
