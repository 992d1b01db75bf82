"""What arguments and results are: tensors, and the form around them, which can be compared."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any

from ..tensor import Tensor

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_TENSOR = "tensor"  # the place of one in a form


class Unfit(TypeError):
    """A value that a form cannot hold; its text is the name of the value's type."""


class Frozen:
    """A value that is no tensor, equal to those of its type and value: 1 is not True, or 1.0."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Frozen)
            and type(other.value) is type(self.value)
            and (other.value is self.value or bool(_exact(other.value) == _exact(self.value)))
        )

    def __hash__(self) -> int:
        return hash(_exact(self.value))


def _exact(value: Any) -> Any:
    """Return what tells numbers apart by their bits: -0.0 is not 0.0, and nan is nan."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, complex):
        return value.real.hex(), value.imag.hex()
    return value


class Itself:
    """A value that is only equal to itself, whatever it holds: one that may change."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Same:
    """An object that is only equal to itself, also when it is gone and another has its address."""

    __slots__ = ("reference", "address")

    def __init__(self, value: Any) -> None:
        self.reference, self.address = weakref.ref(value), id(value)

    @property
    def value(self) -> Any:
        """The object; None where it is gone."""
        return self.reference()

    def __eq__(self, other: object) -> bool:
        mine = self.reference()
        return isinstance(other, Same) and mine is not None and mine is other.reference()

    def __hash__(self) -> int:
        return hash(self.address)


_KEPT = (Frozen, Itself, Same)


def frozen(value: Any) -> Frozen | Itself:
    """Freeze an argument; Unfit for arrays, sets and other collections that are not hashable."""
    try:
        hash(value)
    except TypeError:
        if isinstance(value, Collection):
            raise Unfit(type(value).__name__) from None
        return Itself(value)  # of a dataclass, or a namespace
    return Frozen(value)


def plain(value: Any) -> Frozen:
    """Freeze a part of a result; Unfit for all but numbers, texts and None."""
    if isinstance(value, PLAIN):
        return Frozen(value)
    raise Unfit(type(value).__name__)


def taken_apart(
    value: Any, leaves: list[Tensor], freeze: Callable[[Any], Frozen | Itself | Same]
) -> Hashable:
    """Append the tensors of a value to `leaves`, and return its form: all else that there is.

    freeze: what is made of a part that is no tensor, list, tuple or dict; may raise Unfit.
    """
    if isinstance(value, Tensor):
        leaves.append(value)
        return _TENSOR
    kind = type(value)
    if kind is list or kind is tuple:
        return kind, tuple([taken_apart(part, leaves, freeze) for part in value])
    if kind is dict:
        return kind, tuple([(k, taken_apart(v, leaves, freeze)) for k, v in value.items()])
    return freeze(value)


def put_together(form: Any, leaves: Iterator[Tensor]) -> Any:
    """Return a value of a form with such tensors in it."""
    if form is _TENSOR:
        return next(leaves)
    if isinstance(form, _KEPT):
        return form.value
    kind, parts = form
    if kind is dict:
        return {key: put_together(part, leaves) for key, part in parts}
    return kind([put_together(part, leaves) for part in parts])
