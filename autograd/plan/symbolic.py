"""A number that is read anew at each call of a recorded function, as tensors are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, modes
from ..tensor import Tensor


class SymbolicFloat:
    """Stands for a float argument while a function is recorded.

    In arithmetic with numbers and tensors it is a tensor of no dimensions, which the recording
    reads at each call. It does not change a result's dtype, as numbers do not. Whatever else is
    done with it (comparing, rounding, formatting, numpy's functions) is done with the number of
    this call; the recording is then told, and does not hold for another one.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._tracer = modes.state.tracer

    __class__ = property(lambda self: float)  # what isinstance goes by

    @property
    def _value(self) -> float:
        """The number itself, at which the function looks."""
        tracer = modes.state.tracer
        if tracer is not None and tracer is self._tracer:
            tracer.looked_at_number = True
        return float(self._tensor._data)

    def __operand__(self, like: Tensor | None) -> Any:
        """Return what an operation on a tensor is given in its place."""
        if like is None or modes.state.tracer is not self._tracer:
            return self._value
        dtype = dtypes.result_type(like, 1.0)
        return self._tensor.to(np.dtype(dtype.type(0).real.dtype))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not hasattr(float, name):
            raise AttributeError(f"'float' object has no attribute {name!r}")
        return getattr(self._value, name)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.asarray(self._value, *args, **kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = (one._value if type(one) is SymbolicFloat else one for one in inputs)
        return getattr(ufunc, method)(*plain, **kwargs)


def _arithmetic(name: str) -> None:
    """Make an operator of two numbers that of tensors, also where the other one comes first."""
    function: Callable = getattr(operator, name)

    def forward(self: SymbolicFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        other = other._tensor if type(other) is SymbolicFloat else float(other)
        return SymbolicFloat(function(self._tensor, other))

    def reflected(self: SymbolicFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return SymbolicFloat(function(float(other), self._tensor))

    setattr(SymbolicFloat, f"__{name}__", forward)
    setattr(SymbolicFloat, f"__r{name}__", reflected)


def _of_one(name: str) -> None:
    function: Callable = getattr(operator, name)
    setattr(SymbolicFloat, f"__{name}__", lambda self: SymbolicFloat(function(self._tensor)))


def _looking(name: str) -> None:
    """Make a method that of the number."""

    def method(self: SymbolicFloat, *others: Any) -> Any:
        plain = (one._value if type(one) is SymbolicFloat else one for one in others)
        return getattr(self._value, name)(*plain)

    setattr(SymbolicFloat, name, method)


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _arithmetic(_name)
for _name in ("neg", "pos", "abs"):
    _of_one(_name)
for _name in (
    "__bool__", "__int__", "__float__", "__trunc__", "__floor__", "__ceil__", "__round__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__",
    "__format__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__divmod__",
    "__rdivmod__",
):  # fmt: skip
    _looking(_name)
