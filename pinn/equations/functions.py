"""The functions of the texts on floats, numpy arrays and tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

import autograd as T
from autograd.devices import special_of


def _of_tensors(tensor_function: Callable, plain_function: Callable) -> Callable:
    """Return a function of tensors and floats; without a tensor the result is a plain number."""

    def function(*arguments: Any) -> Any:
        like = next((a for a in arguments if isinstance(a, T.Tensor)), None)
        if like is None:
            return plain_function(*arguments)
        return tensor_function(
            *(
                a
                if isinstance(a, T.Tensor)
                else T.tensor(a, dtype=like.dtype, device=like.device)
                for a in arguments
            )
        )

    return function


def _where(condition: Any, yes: Any, no: Any, dtype: T.dtype | None = None) -> Any:
    if not isinstance(condition, T.Tensor):
        return yes if condition else no
    if condition.dtype != T.bool:
        condition = condition != 0  # a region as a number
    like = next((a for a in (yes, no) if isinstance(a, T.Tensor)), None)
    dtype = like.dtype if like is not None else dtype or T.get_default_dtype()
    branches = (
        a if isinstance(a, T.Tensor) else T.tensor(a, dtype=dtype, device=condition.device)
        for a in (yes, no)
    )
    return T.where(condition, *branches)


def _numpy_sech(x: Any) -> np.ndarray:
    tail = np.exp(-np.abs(x))
    return 2 * tail / (1 + tail * tail)


def _numpy_erf(x: Any) -> np.ndarray:
    return T.erf(T.tensor(np.asarray(x, dtype=np.float64))).numpy()


def _numpy_special(name: str) -> Callable:
    def function(*arguments: Any) -> Any:
        return getattr(special_of(np), name)(*arguments)

    return function


def _numpy_polygamma(n: Any, x: Any) -> Any:
    return special_of(np).polygamma(_order(n), x)


def _tensor_gamma(x: T.Tensor) -> T.Tensor:
    below = T.floor(x)  # the sign changes at 0, -1, -2, ...
    odd = below - 2 * T.floor(below / 2)
    return T.where(x > 0, 1.0, 1 - 2 * odd) * T.exp(T.lgamma(x))


def _polygamma(n: Any, x: Any) -> Any:
    return T.polygamma(_order(n), x) if isinstance(x, T.Tensor) else _numpy_polygamma(n, x)


def _order(n: Any) -> int:
    if isinstance(n, T.Tensor) or np.ndim(n) or n < 0 or n != math.floor(n):
        raise ValueError(f"polygamma: expected an order of 0, 1, 2, ..., got {n}")
    return int(n)


_FAR = 20.0  # where exp(-2 x) is below the rounding of float64


def _tensor_sech(x: T.Tensor) -> T.Tensor:
    """1 / cosh(x), whose derivatives of any order neither overflow far out nor have a kink at 0."""
    far = T.tensor(_FAR, dtype=x.dtype, device=x.device)
    near = 1 / T.cosh(T.minimum(T.maximum(x, -far), far))
    size = T.abs(x)
    return T.where(size < _FAR, near, 2 * T.exp(-size))


_ELEMENTWISE = (
    "sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs", "sign", "floor",
)  # fmt: skip
_INVERSE = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2}


NUMPY_FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(np, name) for name in _ELEMENTWISE},
    **_INVERSE,
    "sech": _numpy_sech,
    "erf": _numpy_erf,
    "gamma": _numpy_special("gamma"),
    "lgamma": _numpy_special("gammaln"),
    "digamma": _numpy_special("digamma"),
    "polygamma": _numpy_polygamma,
    "hypot": np.hypot,
    "min": np.minimum,
    "max": np.maximum,
    "where": np.where,
}
"""The functions of the texts on floats and numpy arrays."""


TENSOR_FUNCTIONS: dict[str, Callable] = {
    **{name: _of_tensors(getattr(T, name), NUMPY_FUNCTIONS[name]) for name in _ELEMENTWISE},
    **{
        name: _of_tensors(getattr(T, name), NUMPY_FUNCTIONS[name])
        for name in (*_INVERSE, "hypot")
    },
    "erf": _of_tensors(T.erf, math.erf),
    "gamma": _of_tensors(_tensor_gamma, math.gamma),
    "lgamma": _of_tensors(T.lgamma, math.lgamma),
    "digamma": _of_tensors(T.digamma, NUMPY_FUNCTIONS["digamma"]),
    "polygamma": _polygamma,
    "sech": _of_tensors(_tensor_sech, _numpy_sech),
    "min": _of_tensors(T.minimum, min),
    "max": _of_tensors(T.maximum, max),
    "where": _where,
}
"""The functions of the texts on floats and tensors."""


def fitted(functions: Mapping[str, Callable], dtype: T.dtype | None) -> Mapping[str, Callable]:
    """Return functions of tensors that make numbers of a dtype where two are chosen between.

    A comparison of tensors has no precision of its own; other functions are returned as they are.
    """
    return _of_dtype(np.dtype(dtype)) if functions is TENSOR_FUNCTIONS and dtype else functions


@lru_cache(maxsize=8)
def _of_dtype(dtype: T.dtype) -> Mapping[str, Callable]:
    return {**TENSOR_FUNCTIONS, "where": partial(_where, dtype=dtype)}
