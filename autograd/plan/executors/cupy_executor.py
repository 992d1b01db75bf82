"""Replay on a GPU: clusters as elementwise kernels, all else by cupy, into one arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ... import devices
from .. import codegen
from ..passes import run_pass
from ..passes.arena import Memory
from ..passes.clusters import Loop, fuse, fused_op, in_gpu_loops
from ..program import Instruction, Program
from .numpy_executor import NumpyExecutor


class CupyExecutor(NumpyExecutor):
    """A program bound to memory of device "cuda"; transcendental functions join the loops.

    Raises DeviceError where cupy or a working driver is missing.
    """

    def __init__(self, program: Program, given: Sequence[Any] = ()) -> None:
        self._backend = devices.backend("cuda")
        self.xp = self._backend.xp
        arrays = [a for a in given if a is not None]
        self._index = self._backend.index_of(arrays[0]) if arrays else 0
        super().__init__(program, given)

    @classmethod
    def prepared(cls, program: Program) -> Program:
        """Return the program with its elementwise clusters as loops."""
        return run_pass("clusters", partial(fuse, held=in_gpu_loops), program)

    def _bytes(self, size: int) -> Any:
        return self.xp.empty(max(size, 1), np.uint8)

    def _constant(self, data: Any) -> Any:
        return self._backend.from_host(data, self._index) if isinstance(data, np.ndarray) else data

    @property
    def _sum(self) -> Callable:
        return self.xp.sum

    def _bind(self, instruction: Instruction, memory: Memory) -> None:
        if instruction.op is not fused_op:
            super()._bind(instruction, memory)
            return
        inputs = [self.array(v) for v in instruction.inputs]
        outputs = [self.array(v) for v in instruction.outputs]
        kernel = kernel_of(self.xp.ElementwiseKernel, instruction.attributes["loop"])
        self.steps.append(partial(kernel, *inputs, *instruction.attributes["numbers"], *outputs))


@cache
def kernel_of(make: Callable, loop: Loop) -> Any:
    """Return the kernel of a loop, one a process; cupy compiles it at its first call."""
    return make(*codegen.cuda_kernel(loop))
