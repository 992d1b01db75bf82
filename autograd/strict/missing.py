"""What numpy has and cupy (14.2) has not: the strict test device has not, either."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

OF_ARRAYS = frozenset({"ctypes", "getfield", "resize", "setfield", "setflags", "to_device"})

OF_MODULES = {
    "numpy": frozenset({
        "asmatrix", "block", "bmat", "einsum_path", "frompyfunc", "geomspace", "geterr",
        "histogram_bin_edges", "insert", "matvec", "nanpercentile", "nanquantile", "polyder",
        "polydiv", "polyint", "seterr", "spacing", "unstack", "vecdot", "vecmat",
    }),
    "numpy.linalg": frozenset({
        "diagonal", "matrix_norm", "multi_dot", "outer", "svdvals", "tensordot", "trace", "vecdot",
        "vector_norm",
    }),
}  # fmt: skip

FLAGS = ("c_contiguous", "f_contiguous", "fnc", "forc", "owndata")
"""What cupy tells of the memory of an array; all of it may be written to."""

_KEYWORDS = {"out", "dtype", "casting"}
_METHODS = {
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
    "at": {"add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"},
}
_ADDED_IN_PLACE = {"int32", "int64", "uint32", "uint64", "float16", "float32", "float64"}


def check_call(function: Any, keywords: Iterable[str], how: str = "__call__") -> None:
    """Raise what cupy does where its ufunc has no such method, or does not take the keywords."""
    if not isinstance(function, np.ufunc):
        return
    if how in _METHODS and function.__name__ not in _METHODS[how]:
        raise NotImplementedError(f"`cupy_{function.__name__}.{how}` is not supported yet")
    unknown = sorted({*keywords} - _KEYWORDS) if how == "__call__" else []
    if unknown:
        raise TypeError(f"Wrong arguments {unknown}: cupy's {function.__name__} takes none of them")


def check_added(dtype: np.dtype) -> None:
    """Raise what `cupy.add.at` does for numbers that no GPU adds in place."""
    if dtype.name not in _ADDED_IN_PLACE:
        raise TypeError(f"cupy.add.at only supports {sorted(_ADDED_IN_PLACE)}, got {dtype}")
