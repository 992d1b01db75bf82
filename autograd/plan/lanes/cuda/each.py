"""Launches that go through all elements of arrays, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .modules import kernel_of

C_TYPES = {"float32": "float", "float64": "double", "int32": "int"}
"""What numbers are called in CUDA C."""

_THREADS, _MOST_BLOCKS = 128, 512

FIRST_AND_STEP = f"""  const long long first = (long long)blockIdx.x * {_THREADS} + threadIdx.x;
  const long long step = (long long)gridDim.x * {_THREADS};"""
"""The lines of a kernel that say with which element a thread begins, and how far the next is."""


def launch(xp: Any, text: str, name: str, arguments: Sequence[Any], count: int) -> None:
    """Launch a kernel with `FIRST_AND_STEP` for so many elements."""
    blocks = max(1, min(_MOST_BLOCKS, -(-count // _THREADS)))
    kernel_of(xp.RawModule, text, name)((blocks,), (_THREADS,), tuple(arguments))
