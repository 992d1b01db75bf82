"""A number that is read anew at each call of a recorded function, as tensors are."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import dtypes, modes
from ..tensor import Tensor


class NotAsTensors(Exception):
    """Python's arithmetic raises an error or gives a complex number, tensors' gives nan or inf.

    It is not meant for the function that computes so, but for who records it.
    """


class Arithmetic:
    """What a recording computes of the numbers that it is given alone, in the order it does.

    Each number has a key: that of argument k is k, those of constants and of what is computed count
    down from -1.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[int, Callable, tuple[int, ...]]] = []
        self._constants: dict[int, float] = {}
        self._lasting = 0  # steps up to the last one that may fail
        self.failed = False

    def step(self, function: Callable, operands: tuple, numbers: tuple) -> tuple[int, float]:
        """Compute a number of others; return its key and itself.

        operands: keys (int) and constants (float). numbers: what these are now.
        """
        keys = tuple(one if type(one) is int else self._constant(one) for one in operands)
        key = self._next()
        self._steps.append((key, function, keys))
        if function in _MAY_FAIL:
            self._lasting = len(self._steps)
        try:
            number = function(*numbers)
        except ArithmeticError as error:
            self.failed = True  # also where the function catches it
            raise NotAsTensors from error
        if type(number) is complex:
            self.failed = True
            raise NotAsTensors
        return key, number

    def _next(self) -> int:
        return -1 - len(self._constants) - len(self._steps)

    def _constant(self, number: float) -> int:
        key = self._next()
        self._constants[key] = number
        return key

    def holds(self, given: Mapping[int, float]) -> bool:
        """Return whether all of it is a number again, of other numbers of the arguments."""
        if not self._lasting:
            return True
        found: dict[int, float] = {**self._constants, **given}
        number_of = found.__getitem__
        try:
            for key, function, operands in self._steps[: self._lasting]:
                found[key] = number = function(*map(number_of, operands))
                if type(number) is complex:
                    return False
        except ArithmeticError:
            return False
        return True


# Sums and products give inf and nan, as those of tensors do.
_MAY_FAIL = (operator.truediv, operator.pow)


class SymbolicFloat:
    """Stands for a float argument while a function is recorded.

    In arithmetic with numbers and tensors it is a tensor of no dimensions, which the recording
    reads at each call. It does not change a result's dtype, as numbers do not. Whatever else is
    done with it (comparing, rounding, formatting, numpy's functions) is done with the number of
    this call; the recording is then told, and does not hold for another one. After the recording it
    is that number.

    key   what `Arithmetic` knows it by; of an argument, which one it is.
    of    the arguments that it is computed from.
    """

    def __init__(
        self,
        tensor: Tensor,
        key: int,
        number: float | None = None,
        of: frozenset[int] = frozenset(),
    ) -> None:
        tracer = modes.state.tracer
        if number is None:
            number = tracer.numbers.get(key, float(tensor._data))
        self._tensor, self._key, self._number = tensor, key, number
        self._of = of or frozenset((key,))
        self._tracer = weakref.ref(tracer)
        tracer.symbols.append((weakref.ref(self), self._of))

    __class__ = property(lambda self: float)  # what isinstance goes by

    @property
    def _is_recorded(self) -> bool:
        """Whether the recording goes on that it was made in."""
        tracer = modes.state.tracer
        return tracer is not None and tracer is self._tracer()

    @property
    def _value(self) -> float:
        """The number itself, at which the function looks."""
        if self._is_recorded:
            modes.state.tracer.looked_at |= self._of
        return self._number

    def __operand__(self, like: Tensor | None) -> Any:
        """Return what an operation on a tensor is given in its place."""
        if like is None or not self._is_recorded:
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

    def __reduce__(self) -> tuple:
        """Copy and pickle the number."""
        return float, (self._value,)


def _computed(function: Callable, *operands: Any) -> Any:
    """Return what an operator makes of numbers, some of which are symbolic."""
    symbols = [one for one in operands if type(one) is SymbolicFloat]
    if not all(one._is_recorded for one in symbols):
        return function(*(one._value if type(one) is SymbolicFloat else one for one in operands))
    keys = tuple(one._key if type(one) is SymbolicFloat else one for one in operands)
    numbers = tuple(one._number if type(one) is SymbolicFloat else one for one in operands)
    key, number = modes.state.tracer.arithmetic.step(function, keys, numbers)
    tensors = (one._tensor if type(one) is SymbolicFloat else one for one in operands)
    of = frozenset().union(*(one._of for one in symbols))
    return SymbolicFloat(function(*tensors), key, number, of)


def _arithmetic(name: str) -> None:
    """Make an operator of two numbers that of tensors, also where the other one comes first."""
    function: Callable = getattr(operator, name)

    def forward(self: SymbolicFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return _computed(function, self, other if type(other) is SymbolicFloat else float(other))

    def reflected(self: SymbolicFloat, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return _computed(function, float(other), self)

    setattr(SymbolicFloat, f"__{name}__", forward)
    setattr(SymbolicFloat, f"__r{name}__", reflected)


def _of_one(name: str) -> None:
    function: Callable = getattr(operator, name)
    setattr(SymbolicFloat, f"__{name}__", lambda self: _computed(function, self))


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
