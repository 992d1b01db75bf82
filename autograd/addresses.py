"""Where the numbers of an array lie in memory, for compiled code that is called often."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def _of_ctypes(array: Any) -> int:
    return array.ctypes.data


def _quickest() -> Callable[[Any], int]:
    """Return the function that asks for an address: that of numpy's, or a tenth of its time.

    The C structure of an array is the object's header and then the address (numpy's C API,
    PyArrayObject_fields); it is read there where that turns out so for arrays whose address is
    known.
    """
    if sys.implementation.name != "cpython":
        return _of_ctypes
    header, word = object.__basicsize__, ctypes.c_size_t

    def read(array: Any) -> int:
        return word.from_address(id(array) + header).value

    whole = np.zeros((2, 3))
    known = (whole, whole[1:, 1:], whole[::-1], np.zeros((), np.float32), np.zeros(0))
    return read if all(read(one) == _of_ctypes(one) for one in known) else _of_ctypes


address_of = _quickest()
"""The address of the first number of a numpy array, which has to outlive its use."""
