"""Functions of numbers for use inside of forwards: on the host those that operations run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..registry import REGISTRY


def function_of(xp: Any, name: str) -> Callable:
    """Return the function `(x, out=None) -> array` of a namespace that the operation `name` is.

    On the host it is vector code for many numbers, where that is faster (`plan/lanes/eager.py`).
    """
    found = REGISTRY[name].on_host if xp is np else None
    return getattr(xp, name) if found is None else found
