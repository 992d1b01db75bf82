"""What replays a program: numpy always, fused loops where a compiler is there, cupy on a GPU."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from ..lanes.host import host
from ..passes.arena import Memory, plan_memory
from ..points_alone import points_first
from ..program import Program
from . import numba_executor
from .llvm_executor import LLVMExecutor
from .numba_executor import ExecutorError, NumbaExecutor
from .numpy_executor import NumpyExecutor

__all__ = [
    "ExecutorError",
    "LLVMExecutor",
    "NumbaExecutor",
    "NumpyExecutor",
    "default_executor",
    "make_executor",
    "memory_of",
]

_WITH_LOOPS = {"numba": NumbaExecutor, "llvm": LLVMExecutor}
_warned = False


def make_executor(
    name: str, program: Program, given: Sequence[Any] = (), points: int = 0, beside: Any = None
) -> Any:
    """Return an executor bound to `program`.

    name    "numpy"; "llvm" (the extra `jit`) and "cuda" (arrays on a GPU), which compile programs
            over points for tiles (autograd.plan.lanes), and one chunk, as what tiles do not hold,
            to loops of ours and to cupy's kernels; "numba", numba's loops in place of ours; "cupy";
            "auto", which is what `default_executor` returns.
    given   arrays for the inputs, in order; None or nothing where the executor makes its own.
    points  on the host: how many inputs are those of points, for what these make alone to be kept.
    beside  another executor of the program that runs at other times, whose arena is shared.
    Raises ExecutorError (a ValueError) for an unknown name and where numba may not compile,
    ImportError where a compiler is missing, DeviceError where there is no usable GPU.
    """
    if name == "auto":
        name = default_executor()
    if name == "numpy":
        return NumpyExecutor(program, given, points, beside)
    if name in _WITH_LOOPS:
        return _WITH_LOOPS[name](program, given, points, beside)
    if name in ("cupy", "cuda"):
        from .cupy_executor import CupyExecutor

        return CupyExecutor(program, given)
    raise ExecutorError(
        f"unknown executor {name!r}; the known ones are: auto, numpy, numba, llvm, cupy, cuda"
    )


def memory_of(name: str, program: Program, points: int = 0) -> Memory:
    """Return the memory that a program's executor would have, which is not made.

    name, points: as for `make_executor`.
    """
    if name == "auto":
        name = default_executor()
    executor: type[NumpyExecutor] = _WITH_LOOPS.get(name, NumpyExecutor)
    if name in ("cupy", "cuda"):
        from .cupy_executor import CupyExecutor as executor
    return plan_memory(*points_first(executor.prepared(program), points))


def default_executor() -> str:
    """Return what "auto" stands for on the host.

    It is what the environment variable AUTOGRAD_EXECUTOR says; else, with the extra `jit`, "llvm"
    on a processor that code is written for, "numba" on another one; and "numpy" without the extra.
    Raises ExecutorError for a wrong AUTOGRAD_EXECUTOR.  Warns once where there is numba alone and
    NUMBA_DISABLE_JIT keeps it from compiling: then it is "numpy".
    """
    global _warned
    chosen = os.environ.get("AUTOGRAD_EXECUTOR")
    if chosen:
        if chosen not in ("numpy", "numba", "llvm"):
            raise ExecutorError(
                f"the environment variable AUTOGRAD_EXECUTOR is {chosen!r}, expected 'numpy', "
                "'numba' or 'llvm'; correct it, or unset it to take the fastest that is installed"
            )
        return chosen
    if host() is not None:
        return "llvm"
    if not numba_executor.numba_is_installed():
        return "numpy"
    if not numba_executor.compiling_is_disabled():
        return "numba"
    if not _warned:
        warnings.warn(
            "NUMBA_DISABLE_JIT is set: recorded steps are replayed with numpy instead of compiled "
            "loops; unset it, or set AUTOGRAD_EXECUTOR=numpy to say that this is meant",
            RuntimeWarning,
            stacklevel=2,
        )
        _warned = True
    return "numpy"
