"""What replays a program: numpy always, fused loops where numba is there, cupy on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..program import Program
from .numpy_executor import NumpyExecutor


def make_executor(name: str, program: Program, given: Sequence[Any] = ()) -> Any:
    """Return the executor `name` ("numpy") bound to `program`; ValueError for an unknown name."""
    if name == "numpy":
        return NumpyExecutor(program, given)
    raise ValueError(f"unknown executor {name!r}; the known ones are: numpy")
