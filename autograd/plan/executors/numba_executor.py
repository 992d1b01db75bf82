"""Loops compiled by numba, on processors that no code of ours is written for."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...devices import DeviceError
from ...ops.registry import Op
from .. import codegen
from ..passes.clusters import Loop, in_cpu_loops
from .loop_cache import compiled
from .loop_executor import LoopExecutor, Run


def numba_is_installed() -> bool:
    """Return whether numba can be imported, without importing it."""
    return find_spec("numba") is not None


class ExecutorError(DeviceError, ValueError):
    """An executor was asked for that is not known, or that cannot work in this process."""


def compiling_is_disabled() -> bool:
    """Return whether the environment keeps numba from compiling, without importing it."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class NumbaExecutor(LoopExecutor):
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
        super().__init__(*arguments)

    @staticmethod
    def _holds(op: Op) -> bool:
        return in_cpu_loops(op)

    def _loop(
        self, loop: Loop, shared: tuple[tuple[int, int], ...], size: tuple[int, int]
    ) -> tuple[Run, tuple[int, int]]:
        return compiled(lambda cached: codegen.python_source(loop, shared, cached=cached)), size

    def _row_sum(self, dtype: str, size: tuple[int, int]) -> Run:
        return compiled(lambda cached: codegen.python_row_sum_source(dtype, cached=cached))
