"""What arguments and results are: tensors, and the form around them, which can be compared."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tensor import Tensor
from .symbolic import SymbolicFloat

_DICTS = (dict, OrderedDict)
PLAIN = (bool, int, float, complex, str, bytes, type(None))
_TENSOR, _NUMBER = "tensor", "number"  # the place of one in a form


@dataclass(frozen=True)
class Again:
    """The place of a tensor that has another one already, as which of the leaves it is."""

    position: int


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


class Read:
    """A number that is no part of a form: it is given at each call, as a tensor."""

    __slots__ = ("tensor",)

    def __init__(self, value: float) -> None:
        self.tensor = Tensor(np.full((), value))


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
        return Frozen(float(value) if type(value) is SymbolicFloat else value)
    raise Unfit(type(value).__name__)


def taken_apart(
    value: Any,
    leaves: list[Tensor],
    places: dict[int, int],
    freeze: Callable[[Any], Frozen | Itself | Same | Read],
) -> Hashable:
    """Append the tensors of a value to `leaves`, and return its form: all else that there is.

    places: where in `leaves` tensors are, by their ids. One that is there twice is one leaf, as
    the function may ask which they are, and take gradients in it. freeze: what is made of a part
    that is no tensor, list, tuple or dict; may raise Unfit. What it makes a Read of is a tensor of
    `leaves` too.
    """
    if isinstance(value, Tensor):
        position = places.setdefault(id(value), len(leaves))
        if position != len(leaves):
            return Again(position)
        leaves.append(value)
        return _TENSOR
    kind = type(value)
    if kind is list or kind is tuple or _is_named(kind):
        return kind, tuple([taken_apart(part, leaves, places, freeze) for part in value])
    if kind in _DICTS:
        return kind, tuple([(k, taken_apart(v, leaves, places, freeze)) for k, v in value.items()])
    part = freeze(value)
    if isinstance(part, Read):
        leaves.append(part.tensor)
        return _NUMBER
    return part


def _is_named(kind: type) -> bool:
    """Return whether it is the class of a named tuple."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def places_again(form: Any) -> Iterator[int]:
    """Give which leaves a form has again that had a place before."""
    if isinstance(form, Again):
        yield form.position
    elif isinstance(form, tuple):
        kind, parts = form
        for part in parts:
            yield from places_again(part[1] if kind in _DICTS else part)


def differ_in_floats(one: Any, other: Any) -> bool:
    """Return whether two forms are not equal, but would be if all their floats were."""
    return one != other and _but_for_floats(one) == _but_for_floats(other)


def _but_for_floats(form: Any) -> Any:
    if isinstance(form, Frozen) and isinstance(form.value, float):
        return _NUMBER
    if not isinstance(form, tuple):
        return form
    kind, parts = form
    if kind in _DICTS:
        return kind, [(key, _but_for_floats(part)) for key, part in parts]
    return kind, [_but_for_floats(part) for part in parts]


def put_together(form: Any, leaves: Sequence[Tensor | float]) -> Any:
    """Return a value of a form with such tensors in it; while recording.

    Numbers are symbolic, but for those that are given as floats.
    """
    return _put(form, leaves, iter(enumerate(leaves)))


def _put(
    form: Any, leaves: Sequence[Tensor | float], following: Iterator[tuple[int, Any]]
) -> Any:
    if form is _TENSOR:
        return next(following)[1]
    if form is _NUMBER:
        position, number = next(following)
        return number if type(number) is float else SymbolicFloat(number, position)
    if isinstance(form, Again):
        return leaves[form.position]
    if isinstance(form, _KEPT):
        return form.value
    kind, parts = form
    if kind in _DICTS:
        return kind((key, _put(part, leaves, following)) for key, part in parts)
    found = [_put(part, leaves, following) for part in parts]
    return kind._make(found) if _is_named(kind) else kind(found)
