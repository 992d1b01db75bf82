"""Places that values are read from again: whether what is there is what was there."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from numbers import Number
from operator import attrgetter, is_, itemgetter
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..nn.module import Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same

_SHORT = 32  # entries of a dict up to which its keys are compared, not how many there are

Named = tuple[tuple[str, Hashable], ...]
"""What was found, each with the name that a reader of the function would give it."""

Roots = Mapping[str, Any]
"""Where the looking begins, by name: the function, and the objects that it is given."""


class Step(NamedTuple):
    """How further values are read from one that has been read: `read(value, which)`."""

    parent: int
    read: Callable[[Any, Any], Iterable[Any]]
    which: Any


class Place(NamedTuple):
    """What was found in a place: its name, and what a value there is told from others by."""

    name: str
    kind: str  # of the expectation: "is", "ref", "type", "code", "alias" or "any"
    expected: Any
    key: Hashable | None


class Surroundings:
    """Places that are read at each call, with what was found there; compared by its `named`.

    unseen: what is too long to be looked into.
    """

    def __init__(
        self, steps: list[Step], places: list[Place], unseen: tuple[str, ...] = ()
    ) -> None:
        self._steps, self._places, self.unseen = steps, places, unseen
        self.named: Named = tuple((p.name, p.key) for p in places if p.key is not None)
        self._hash = hash(self.named)
        self._of_kind = {
            kind: ([k for k, p in enumerate(places) if p.kind == kind],
                   [p.expected for p in places if p.kind == kind])
            for kind in ("is", "ref", "type", "code", "alias")
        }  # fmt: skip
        self._chosen = {kind: _chooser(where) for kind, (where, _) in self._of_kind.items()}

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Surroundings) and self.named == other.named)

    def again(self, roots: Roots) -> Surroundings | None:
        """Return what is there now, itself where nothing has changed; None: it has to be sought."""
        values = list(roots.values())
        extend = values.extend
        try:
            for parent, read, which in self._steps:
                extend(read(values[parent], which))
            if len(values) != len(self._places) or not self._is_alike(values):
                return None
        except (Changed, LookupError, AttributeError, TypeError, ValueError):
            return None
        changed = self._changed(values)
        if not changed:
            return self
        places = list(self._places)
        for k in changed:
            place = leaf(places[k].name, values[k])
            if place is None or place.kind != places[k].kind:
                return None  # an object, or a function: there may be other places in it
            places[k] = place
        return Surroundings(self._steps, places, self.unseen)

    @property
    def is_gone(self) -> bool:
        """Whether some of it is not there any more: nothing will be like this again."""
        return any(reference() is None for reference in self._of_kind["ref"][1])

    def _is_alike(self, values: list[Any]) -> bool:
        """Return whether objects are of the classes that they were, and functions of the code."""
        chosen, of_kind = self._chosen, self._of_kind
        return (
            list(map(type, chosen["type"](values))) == of_kind["type"][1]
            and all(map(is_, map(_CODE, chosen["code"](values)), of_kind["code"][1]))
            and all(map(is_, chosen["alias"](values), map(values.__getitem__, of_kind["alias"][1])))
        )

    def _changed(self, values: list[Any]) -> list[int]:
        """Return the positions of numbers, texts and tensors that are not as they were."""
        where, expected = self._of_kind["is"]
        numbers = self._chosen["is"](values)
        others, references = self._of_kind["ref"]
        found = self._chosen["ref"](values)
        there = [reference() for reference in references]
        if all(map(is_, numbers, expected)) and all(map(is_, found, there)):
            return []
        return [
            k for k, value, old in zip(
                (*where, *others), (*numbers, *found), (*expected, *there), strict=True
            ) if value is not old
        ]  # fmt: skip


_CODE = attrgetter("__code__")


def _chooser(where: list[int]) -> Callable[[list[Any]], tuple]:
    """Return what takes the values at some positions from a list."""
    if len(where) > 1:
        return itemgetter(*where)
    return lambda values: tuple(values[k] for k in where)


class Changed(Exception):
    """There are other places than there were."""


# ---- reading further values from one: each takes it, and what of it


def attributes(holder: Any, which: tuple[tuple[str, ...], int]) -> Iterable[Any]:
    names, count = which
    held = holder.__dict__
    if len(held) != count:
        raise Changed
    return map(held.__getitem__, names)


def members(holder: Module, which: tuple[tuple, ...]) -> Iterable[Any]:
    tables, found = holder.__dict__, []
    for table, names, count in which:
        held = tables[table]
        if len(held) != count:
            raise Changed
        found += map(held.__getitem__, names)
    return found


def entries(holder: Mapping, which: tuple[tuple, list | int]) -> Iterable[Any]:
    keys, known = which
    if (list(holder) if type(known) is list else len(holder)) != known:
        raise Changed
    return map(holder.__getitem__, keys)


def outline(holder: Mapping) -> list | int:
    """Return what tells that a dict has other entries than it had: their keys, or how many."""
    return list(holder) if len(holder) <= _SHORT else len(holder)


def items(holder: Collection, count: int) -> Iterable[Any]:
    if len(holder) != count:
        raise Changed
    return holder


def given(holder: functools.partial, names: tuple[str, ...]) -> Iterable[Any]:
    return (*holder.args, *map(holder.keywords.__getitem__, names))


def of_module(
    holder: FunctionType, which: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterable[Any]:
    names, absent = which
    known = holder.__globals__
    if not known.keys().isdisjoint(absent):
        raise Changed
    return map(known.__getitem__, names)


def imported(holder: FunctionType, names: tuple[str, ...]) -> Iterable[Any]:
    return map(sys.modules.__getitem__, names)


def cells(holder: FunctionType, which: tuple[int, ...]) -> Iterable[Any]:
    return [holder.__closure__[k].cell_contents for k in which]


def asked(holder: Any, names: tuple[str, ...]) -> Iterable[Any]:
    return [getattr(holder, name) for name in names]


def of_classes(
    holder: Any, which: tuple[tuple[tuple[type, str], ...], tuple[type, ...], int]
) -> Iterable[Any]:
    pairs, bases, count = which
    if sum([len(one.__dict__) for one in bases]) != count:
        raise Changed
    return [kind.__dict__[name] for kind, name in pairs]


# ---- places in which nothing else is found


def leaf(name: str, value: Any) -> Place | None:
    """Return the place of what has nothing in it to be looked into; None for anything else."""
    if isinstance(value, PLAIN):
        return Place(name, "is", value, Frozen(value))
    if isinstance(value, np.generic):
        return Place(name, "is", value, (type(value), Frozen(value.item())))
    if isinstance(value, (Tensor, np.ndarray)):
        same = Same(value)
        return Place(name, "ref", same.reference, same)
    return None


def opaque(name: str, value: Any) -> Place:
    """Return the place of an object that is not looked into."""
    if not isinstance(value, Number):
        try:
            same = Same(value)
            return Place(name, "ref", same.reference, same)
        except TypeError:  # nothing can refer to it weakly
            pass
    try:
        hash(value)
    except TypeError:
        return Place(name, "type", type(value), type(value))
    return Place(name, "is", value, (type(value), Frozen(value)))
