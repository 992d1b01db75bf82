"""Loops compiled as vector code of our own: what "llvm" runs where tiles do not hold a program."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from ...ops.registry import Op
from ..lanes import functions
from ..lanes.host import host
from ..lanes.native import address
from ..lanes.whole_arrays import loop_module, numbers_at_a_time, row_sum_module
from ..passes.clusters import Loop
from .loop_executor import LoopExecutor, Run

_run_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # gives Python's lock to others


class LLVMExecutor(LoopExecutor):
    """A program bound to memory, its elementwise clusters as vector code for this processor.

    Loops hold what tiles hold: tanh, exp and others too, as polynomials.  Each is compiled once, in
    hundredths of a second, and kept on disk (lanes/native.py).  Raises ImportError where there is
    no llvmlite, or no processor that it writes code for.
    """

    def __init__(self, *arguments: Any) -> None:
        if host() is None:
            raise ImportError(
                "executor 'llvm': it needs llvmlite (the extra `jit`, pip install 'pinn[jit]') and "
                "a processor with AVX2, AVX-512 or NEON; use the executor 'numpy'"
            )
        super().__init__(*arguments)

    @staticmethod
    def _holds(op: Op) -> bool:
        return op.name in functions.HELD

    def _loop(
        self, loop: Loop, shared: tuple[tuple[int, int], ...], size: tuple[int, int]
    ) -> tuple[Run, tuple[int, int]]:
        rows, columns = (1, size[0] * size[1]) if loop.flat else size
        wide = numbers_at_a_time(host(), loop.dtype, columns)
        return _compiled_loop(loop, shared, wide), (rows, columns)

    def _row_sum(self, dtype: str, size: tuple[int, int]) -> Run:
        return _compiled(row_sum_module(dtype, numbers_at_a_time(host(), dtype, size[1])))


@cache
def _compiled_loop(loop: Loop, shared: tuple[tuple[int, int], ...], wide: int) -> Run:
    return _compiled(loop_module(loop, shared, wide))


@cache
def _compiled(text: str) -> Run:
    return _run_type(address(text, "run"))
