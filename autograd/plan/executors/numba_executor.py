"""Replay with fused loops: clusters of arithmetic run compiled, all else as numpy does it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...devices import DeviceError
from .. import codegen
from ..passes import run_pass
from ..passes.arena import Memory
from ..passes.clusters import fuse, fused_op, in_cpu_loops
from ..program import Instruction, Program
from .loop_cache import compiled
from .numpy_executor import NumpyExecutor, summed_axes

_fused: WeakKeyDictionary[Program, Program] = WeakKeyDictionary()


def numba_is_installed() -> bool:
    """Return whether numba can be imported, without importing it."""
    return find_spec("numba") is not None


class ExecutorError(DeviceError, ValueError):
    """An executor was asked for that is not known, or that cannot work in this process."""


def compiling_is_disabled() -> bool:
    """Return whether the environment keeps numba from compiling, without importing it."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class NumbaExecutor(NumpyExecutor):
    """A program bound to memory, its elementwise clusters as compiled loops.

    Each distinct loop is compiled once (loop_cache).  Raises ImportError where numba is not
    installed, ExecutorError where it may not compile.
    """

    def __init__(self, *arguments: Any) -> None:
        if not numba_is_installed():
            raise ImportError(
                "executor 'numba': numba is not installed; install the extra `jit` "
                "(pip install 'pinn[jit]'), or use the executor 'numpy'"
            )
        if import_module("numba").config.DISABLE_JIT:  # a numba that is broken says so here
            raise ExecutorError(
                "executor 'numba': NUMBA_DISABLE_JIT is set, so that nothing can be compiled; "
                "unset it, or use the executor 'numpy'"
            )
        self._held: list[Any] = []
        super().__init__(*arguments)

    @classmethod
    def prepared(cls, program: Program) -> Program:
        """Return the program with its elementwise clusters as loops, once for all bindings."""
        if program not in _fused:
            _fused[program] = run_pass("clusters", partial(fuse, held=in_cpu_loops), program)
        return _fused[program]

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
        run = compiled(lambda cached: codegen.python_source(loop, shared, cached=cached))
        self._call(run, instruction.attributes["size"], [numbers, *apart, *outputs])

    def _bind_row_sum(self, instruction: Instruction) -> None:
        (x,), (total,) = instruction.inputs, instruction.outputs
        run = compiled(
            lambda cached: codegen.python_row_sum_source(str(total.dtype), cached=cached)
        )
        size = (x.size // total.size, total.size)
        self._call(run, size, [self._dense(self.array(x)), self.array(total)])

    def _dense(self, array: np.ndarray) -> np.ndarray:
        """Return the array, or a dense copy that is filled anew in each run."""
        if array.flags.c_contiguous:
            return array
        copy = np.empty(array.shape, array.dtype)
        self.steps.append(partial(np.copyto, copy, array))
        return copy

    def _call(
        self, run: Callable[[int], None], size: tuple[int, int], arrays: list[np.ndarray]
    ) -> None:
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
