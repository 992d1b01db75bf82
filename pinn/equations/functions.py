"""The functions of the texts on floats, numpy arrays and tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd as T


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


def _where(condition: Any, yes: Any, no: Any) -> Any:
    if not isinstance(condition, T.Tensor):
        return yes if condition else no
    like = next((a for a in (yes, no) if isinstance(a, T.Tensor)), None)
    dtype = T.get_default_dtype() if like is None else like.dtype
    branches = (
        a if isinstance(a, T.Tensor) else T.tensor(a, dtype=dtype, device=condition.device)
        for a in (yes, no)
    )
    return T.where(condition, *branches)


_ELEMENTWISE = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs")


NUMPY_FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(np, name) for name in _ELEMENTWISE},
    "min": np.minimum,
    "max": np.maximum,
    "where": np.where,
}
"""The functions of the texts on floats and numpy arrays."""


TENSOR_FUNCTIONS: dict[str, Callable] = {
    **{name: _of_tensors(getattr(T, name), NUMPY_FUNCTIONS[name]) for name in _ELEMENTWISE},
    "min": _of_tensors(T.minimum, min),
    "max": _of_tensors(T.maximum, max),
    "where": _where,
}
"""The functions of the texts on floats and tensors."""
