"""Replay with fused loops: clusters of arithmetic run compiled, all else as numpy does it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...ops.registry import Op
from ..passes import run_pass
from ..passes.arena import Memory
from ..passes.clusters import Loop, fuse, fused_op
from ..program import Instruction, Program
from .numpy_executor import NumpyExecutor, summed_axes

Run = Callable[[int], None]
"""A compiled loop: it is given the address of a table of sizes and addresses."""

_fused: WeakKeyDictionary[Program, dict[type, Program]] = WeakKeyDictionary()


class LoopExecutor(NumpyExecutor):
    """A program bound to memory, its elementwise clusters as compiled loops."""

    def __init__(self, *arguments: Any) -> None:
        self._held: list[Any] = []
        super().__init__(*arguments)

    @classmethod
    def prepared(cls, program: Program) -> Program:
        """Return the program with its elementwise clusters as loops, once for all bindings."""
        made = _fused.setdefault(program, {})
        if cls not in made:
            made[cls] = run_pass("clusters", partial(fuse, held=cls._holds), program)
        return made[cls]

    @staticmethod
    @abstractmethod
    def _holds(op: Op) -> bool:
        """Return whether loops hold an operation."""

    @abstractmethod
    def _loop(
        self, loop: Loop, shared: tuple[tuple[int, int], ...], size: tuple[int, int]
    ) -> tuple[Run, tuple[int, int]]:
        """Return a loop, compiled, and the rows and columns that it is told.

        shared  (input, output) pairs that lie at the same place; all other arrays are apart.
        Its table holds rows, columns, numbers, inputs not shared, outputs.
        """

    @abstractmethod
    def _row_sum(self, dtype: str, size: tuple[int, int]) -> Run:
        """Return the sum of a matrix' rows; its table holds rows, columns, matrix, sum."""

    def _bind(self, instruction: Instruction, memory: Memory) -> None:
        if instruction.op is fused_op:
            self._bind_loop(instruction)
        elif _sums_rows(instruction):
            self._bind_row_sum(instruction)
        else:
            super()._bind(instruction, memory)

    def _bind_loop(self, instruction: Instruction) -> None:
        loop = instruction.attributes["loop"]
        inputs = [self._dense(self.array(v)) for v in instruction.inputs]
        outputs = [self.array(v) for v in instruction.outputs]
        # The arena lets an output lie on an input that dies: the loop then has one array for both.
        places = {array.ctypes.data: k for k, array in enumerate(outputs)}
        shared = tuple(
            (k, places[array.ctypes.data])
            for k, array in enumerate(inputs)
            if array.ctypes.data in places
        )
        apart = [a for a in inputs if a.ctypes.data not in places]
        numbers = np.array(instruction.attributes["numbers"], loop.dtype)
        run, size = self._loop(loop, shared, instruction.attributes["size"])
        self._call(run, size, [numbers, *apart, *outputs])

    def _bind_row_sum(self, instruction: Instruction) -> None:
        (x,), (total,) = instruction.inputs, instruction.outputs
        size = (x.size // total.size, total.size)
        run = self._row_sum(str(total.dtype), size)
        self._call(run, size, [self._dense(self.array(x)), self.array(total)])

    def _dense(self, array: np.ndarray) -> np.ndarray:
        """Return the array, or a dense copy that is filled anew in each run."""
        if array.flags.c_contiguous:
            return array
        copy = np.empty(array.shape, array.dtype)
        self.steps.append(partial(np.copyto, copy, array))
        return copy

    def _call(self, run: Run, size: tuple[int, int], arrays: list[np.ndarray]) -> None:
        table = np.array([*size, *(a.ctypes.data for a in arrays)], np.int64)
        self._held += [table, *arrays]
        self.steps.append(partial(run, table.ctypes.data))


def _sums_rows(instruction: Instruction) -> bool:
    """Return whether an instruction adds up the rows of a matrix, (..., columns) -> columns."""
    if instruction.op.name != "sum_to":
        return False
    (x,), (total,) = instruction.inputs, instruction.outputs
    axes = summed_axes(instruction)
    leading = [k for k, n in enumerate(x.shape[:-1]) if n != 1]
    return (
        axes is not None
        and x.dtype in (np.float32, np.float64)
        and total.size == x.shape[-1] > 1
        and set(leading) <= set(axes)
    )
