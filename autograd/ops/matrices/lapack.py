"""LAPACK's routines on the host, for each matrix of a batch by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import devices

SMALL = 32
"""Matrices of this size and less are computed together, by operations on arrays of all of them.

LAPACK is faster for larger ones: some thirty times for LU factors of a thousand rows.
"""


def each(routine: str, *arrays: np.ndarray, **options: Any) -> Iterator[tuple]:
    """Give what a routine returns for the matrices (..., m, n) of arrays, place by place.

    The leading dimensions of all arrays are those of the first.
    """
    found = devices.backend_of(arrays[0]).load_linalg().get_lapack_funcs(routine, arrays)
    for place in np.ndindex(arrays[0].shape[:-2]):
        yield found(*(array[place] for array in arrays), **options)
