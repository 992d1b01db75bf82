"""What replays a program: numpy always, fused loops where numba is there, cupy on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..program import Program
from .numpy_executor import NumpyExecutor

EXECUTORS = ("auto", "numpy", "numba", "cupy")


def make_executor(name: str, program: Program, given: Sequence[Any] = ()) -> Any:
    """Return an executor bound to `program`.

    name    "numpy"; "numba" (the extra `jit`); "cupy" (arrays on a GPU); "auto" is numba where it
            is installed, else numpy.
    given   arrays for the inputs, in order; None or nothing where the executor makes its own.
    Raises ValueError for an unknown name, ImportError where numba is missing, DeviceError where
    there is no usable GPU.
    """
    if name not in EXECUTORS:
        raise ValueError(f"unknown executor {name!r}; the known ones are: {', '.join(EXECUTORS)}")
    if name == "cupy":
        from .cupy_executor import CupyExecutor

        return CupyExecutor(program, given)
    if name != "numpy":
        from .numba_executor import NumbaExecutor, numba_is_installed

        if name == "numba" or numba_is_installed():
            return NumbaExecutor(program, given)
    return NumpyExecutor(program, given)
