"""Dense linear algebra of the strict test device, which fails as cupy's does: unheard.

cusolver leaves a number that says whether a factorisation went through.  cupy fetches it, which is
a copy and a wait, only within `cupyx.errstate(linalg="raise")`; otherwise it returns what is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import counts, graphs
from .array import Namespace, StrictArray, launched

_state = threading.local()
_CHECKS = {"cholesky": 1, "eigh": 1, "inv": 2, "solve": 2, "qr": 2, "svd": 1}
"""How often cupy looks whether a function went through."""


@contextmanager
def linalg_raises() -> Iterator[None]:
    """Let what fails raise LinAlgError in this context, as cupyx.errstate does, for a wait each."""
    before = _raises()
    _state.raises = True
    try:
        yield
    finally:
        _state.raises = before


def _raises() -> bool:
    return getattr(_state, "raises", False)


class Linalg(Namespace):
    """numpy.linalg of strict arrays: what has no factor gives numbers all the same."""

    def __init__(self) -> None:
        super().__init__(np.linalg)

    def __getattr__(self, name: str) -> Any:
        function = super().__getattr__(name)
        return _unheard(name, function) if name in _CHECKS else function


def _unheard(name: str, function: Callable) -> Callable:
    def called(*args: Any, **kwargs: Any) -> Any:
        if not all(isinstance(a, StrictArray) for a in args if not isinstance(a, str)):
            raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
        if name == "solve":
            _check_stacks(*args)
        if _raises():
            for _ in range(_CHECKS[name]):
                graphs.refuse("a copy to the host")
                counts.download(4)
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except np.linalg.LinAlgError:
            if len({*args[0].shape[-2:]}) > 1:
                raise  # what is no square is refused, and not by cusolver
            return args[-1].copy()  # numbers like any others

    return called


def _check_stacks(a: StrictArray, b: StrictArray) -> None:
    """Raise what cupy does where numpy would broadcast stacks of equations."""
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            "a must have (..., M, M) shape and b must have (..., M, K) for multidimensional b, "
            f"got {a.shape} and {b.shape}"
        )


class SciPyLinalg:
    """What of cupyx.scipy.linalg is used."""

    def solve_triangular(
        self, a: StrictArray, b: StrictArray, trans: Any = 0, lower: bool = False,
        unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = False,
    ) -> StrictArray:  # fmt: skip
        """Solve with a triangle (n, n), by BLAS: a zero on its diagonal is divided by."""
        from scipy.linalg import blas

        if not (isinstance(a, StrictArray) and isinstance(b, StrictArray)):
            raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError("expected square matrix")
        if len(a) != len(b):
            raise ValueError("incompatible dimensions")
        graphs.refuse("solve_triangular")
        launched([a, b])
        if not a._host.flags.f_contiguous:
            launched([a])  # a copy
        right = b._host.astype(a.dtype).reshape(len(b), -1)
        (solve,) = blas.get_blas_funcs(("trsm",), (a._host,))
        found = solve(
            1.0, a._host, right, lower=lower, trans_a=trans in ("T", 1), diag=unit_diagonal
        )
        return StrictArray(np.asfortranarray(found).reshape(b.shape), a.index)
