"""What replays a program: numpy always, fused loops where numba is there, cupy on a GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..program import Program
from .numba_executor import NumbaExecutor, numba_is_installed
from .numpy_executor import NumpyExecutor


def make_executor(name: str, program: Program, given: Sequence[Any] = ()) -> Any:
    """Return an executor bound to `program`.

    name    "numpy"; "numba" (the extra `jit`); "cupy" (arrays on a GPU); "auto" is what the
            environment variable AUTOGRAD_EXECUTOR says, or numba where it is installed, else numpy.
    given   arrays for the inputs, in order; None or nothing where the executor makes its own.
    Raises ValueError for an unknown name, ImportError where numba is missing, DeviceError where
    there is no usable GPU.
    """
    if name == "auto":
        name = default_executor()
    if name == "numpy":
        return NumpyExecutor(program, given)
    if name == "numba":
        return NumbaExecutor(program, given)
    if name == "cupy":
        from .cupy_executor import CupyExecutor

        return CupyExecutor(program, given)
    raise ValueError(f"unknown executor {name!r}; the known ones are: auto, numpy, numba, cupy")


def default_executor() -> str:
    """Return what "auto" stands for on the host: see `make_executor`."""
    return os.environ.get("AUTOGRAD_EXECUTOR") or ("numba" if numba_is_installed() else "numpy")
