"""The value of a vector in a function that stands for an equation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from pinn.equations.refused import Refused


class VectorValue(tuple[Any, ...]):
    """The components of a vector, with the arithmetic that vectors have in the texts.

    Sums and differences of vectors of equal length, products and quotients with scalars (numbers
    and whatever components are), and `a.dot(b)`, also written `a @ b`. A tuple or list is taken as
    a vector beside one. Raises Refused for anything else, as texts do.
    """

    __slots__ = ()
    # Else numpy's numbers take the components as an array.
    __array_ufunc__ = None

    def __add__(self, other: Any) -> VectorValue:
        return self._beside(operator.add, "+", self, other)

    def __radd__(self, other: Any) -> VectorValue:
        if type(other) is int and other == 0:  # what sum() begins with
            return self
        return self._beside(operator.add, "+", other, self)

    def __sub__(self, other: Any) -> VectorValue:
        return self._beside(operator.sub, "-", self, other)

    def __rsub__(self, other: Any) -> VectorValue:
        return self._beside(operator.sub, "-", other, self)

    def __mul__(self, other: Any) -> VectorValue:
        if isinstance(other, tuple | list):
            raise _no_meaning("*", self, other)
        return VectorValue(part * other for part in self)

    def __rmul__(self, other: Any) -> VectorValue:
        if isinstance(other, tuple | list):
            raise _no_meaning("*", other, self)
        return VectorValue(other * part for part in self)

    def __truediv__(self, other: Any) -> VectorValue:
        if isinstance(other, tuple | list):
            raise _no_meaning("/", self, other)
        return VectorValue(part / other for part in self)

    def __rtruediv__(self, other: Any) -> VectorValue:
        raise _no_meaning("/", other, self)

    def __pow__(self, other: Any) -> VectorValue:
        raise _no_meaning("**", self, other)

    def __rpow__(self, other: Any) -> VectorValue:
        raise _no_meaning("**", other, self)

    def __neg__(self) -> VectorValue:
        return VectorValue(-part for part in self)

    def __pos__(self) -> VectorValue:
        return self

    def dot(self, other: Any) -> Any:
        """Return the sum of the products of the components."""
        if not isinstance(other, tuple | list) or len(other) != len(self):
            raise Refused(
                f"dot takes vectors of equal length, got {_shape(self)} and {_shape(other)}"
            )
        return reduce(operator.add, map(operator.mul, self, other))

    __matmul__ = dot

    def __rmatmul__(self, other: Any) -> Any:
        return self.dot(other)

    @staticmethod
    def _beside(join: Callable[[Any, Any], Any], symbol: str, a: Any, b: Any) -> VectorValue:
        both = isinstance(a, tuple | list) and isinstance(b, tuple | list)
        if not both or len(a) != len(b):
            raise _no_meaning(symbol, a, b)
        return VectorValue(map(join, a, b))


def _no_meaning(symbol: str, a: Any, b: Any) -> Refused:
    return Refused(
        f"'{symbol}' has no meaning between {_shape(a)} and {_shape(b)}; use s.dot(a, b) for a "
        "product of vectors"
    )


def _shape(value: Any) -> str:
    return f"a vector of {len(value)}" if isinstance(value, tuple | list) else "a scalar"
