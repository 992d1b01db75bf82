"""Replay in tiles of what has many rows in a program over whole arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..lanes.few_rows import FewRows, few_rows, numbers_of_rows
from ..lanes.prepared import tiled_or_none
from ..lanes.tiled import Tiled
from ..program import CONSTANT, Program
from .llvm_executor import LLVMExecutor

_known: WeakKeyDictionary[Program, dict[int, tuple[FewRows, Tiled] | None]] = WeakKeyDictionary()


class TiledExecutor:
    """A program bound to memory, the rows of whose arrays go through tiles.

    inputs, outputs, run, written  as of NumpyExecutor.
    """

    def __init__(self, few: FewRows, tiled: Tiled, program: Program, given: Sequence[Any]) -> None:
        self.inputs = list(given)
        self._program = program
        self.outputs = [np.zeros(v.shape, v.dtype) for v in program.outputs]
        self.written: tuple[int, ...] | None = None
        array = dict(zip(program.inputs, given, strict=True))
        self._rows = [v.data if v.kind == CONSTANT else array[v] for v in few.rows]
        self._shared = [array[v] for v in few.shared]
        pairs = list(zip(self.outputs, few.kinds, strict=False))
        self._sums = [out for out, kind in pairs if kind == "sum"]
        self._joined = [out for out, kind in pairs if kind != "sum"]
        limits = [np.finfo(v.dtype) for v in few.program.outputs[len(self.outputs) :]]
        self._least = [n * one.tiny / one.eps for n, one in zip(few.squares, limits, strict=True)]
        self._other: LLVMExecutor | None = None
        self._tiled = tiled
        tiled.bind(self._shared)

    def run(self, known: bool = False) -> None:
        """Compute the outputs from the inputs."""
        totals = list(self._tiled(self._rows, self._joined))
        for out, total in zip(self._sums, totals, strict=False):
            out[...] = total
        squares = totals[len(self._sums) :]
        if any(not low < one < math.inf for low, one in zip(self._least, squares, strict=True)):
            self._run_as_it_is()

    def _run_as_it_is(self) -> None:
        """Compute norms of what is very small or large, which squares cannot hold."""
        if self._other is None:
            self._other = LLVMExecutor(self._program, self.inputs)
        self._other.run()
        for out, found in zip(self.outputs, self._other.outputs, strict=True):
            out[...] = found


def executor_of_whole(program: Program, given: Sequence[Any], threads: int) -> Any:
    """Return what runs a program over whole arrays: in tiles, where they hold what has many rows.

    Tiles are compiled once for a program and a number of threads, whatever it is bound to: to one
    such list of arrays at a time.
    """
    made = _known.setdefault(program, {})
    if threads not in made:
        found = (
            tiled_or_none(partial(_tiled, program, count, threads))
            for count in numbers_of_rows(program)
        )
        made[threads] = next(filter(None, found), None)
    found = made[threads]
    return TiledExecutor(*found, program, given) if found else LLVMExecutor(program, given)


def _tiled(program: Program, count: int, threads: int) -> tuple[FewRows, Tiled]:
    few = few_rows(program, count)
    tiled = Tiled(
        few.program, len(few.rows), few.kinds, threads, whole=True, before=executor_of_whole
    )
    return few, tiled
