"""What a function reads besides its arguments: found once, and read again at each call."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from numbers import Number
from operator import attrgetter, is_, itemgetter
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..nn.module import TABLES, Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same

_SHORT = 32  # items of a list, or entries of a dict that is read whole
_MOST = 1024  # places that are looked at, those near the function first

_SEQUENCES = (list, tuple, set, frozenset, deque)

Named = tuple[tuple[str, Hashable], ...]
"""What was found, each with the name that a reader of the function would give it."""

Roots = Mapping[str, Any]
"""Where the looking begins, by name: the function, and the objects that it is given."""


def surroundings(
    roots: Roots, own: Iterable[str] = (), last: Surroundings | None = None
) -> Surroundings:
    """Return what a recording of a function depends on besides its arguments.

    Looked into are, from `roots` on: what functions find in their closures and modules; attributes
    of objects, modules and classes and entries of dicts that the text of any of these functions
    names (of a short dict of which it names none, all); short lists and tuples; of networks all
    parameters, buffers and whether they are in training mode; and the functions and methods that
    are met on the way, but for those of the library and of installed packages. Numbers and texts
    count by value, all that is not looked into by which object it is. Writing into an array is not
    seen. Nothing of it is kept alive but numbers, texts, types and code.

    own   the names of what is left out, as the function writes it itself.
    last  what was found for the same roots or for others like them; it comes back where nothing
          has changed, and saves the search where only numbers, texts or tensors have.
    """
    return (last and last.again(roots)) or _Search(roots, frozenset(own)).found()


class _Step(NamedTuple):
    """How further values are read from one that has been read: `read(value, which)`."""

    parent: int
    read: Callable[[Any, Any], Iterable[Any]]
    which: Any


class _Place(NamedTuple):
    """What was found in a place: its name, and what a value there is told from others by."""

    name: str
    kind: str  # of the expectation: "is", "ref", "type", "code", "alias" or "any"
    expected: Any
    key: Hashable | None


class Surroundings:
    """Places that are read at each call, with what was found there; compared by its `named`."""

    def __init__(self, steps: list[_Step], places: list[_Place]) -> None:
        self._steps, self._places = steps, places
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
        except (_Changed, LookupError, AttributeError, TypeError, ValueError):
            return None
        changed = self._changed(values)
        if not changed:
            return self
        places = list(self._places)
        for k in changed:
            place = _leaf(places[k].name, values[k])
            if place is None or place.kind != places[k].kind:
                return None  # an object, or a function: there may be other places in it
            places[k] = place
        return Surroundings(self._steps, places)

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


class _Changed(Exception):
    """There are other places than there were."""


# ---- reading further values from one


def _attributes(holder: Any, which: tuple[tuple[str, ...], int]) -> Iterable[Any]:
    names, count = which
    held = holder.__dict__
    if len(held) != count:
        raise _Changed
    return map(held.__getitem__, names)


def _members(holder: Module, which: tuple[tuple, ...]) -> Iterable[Any]:
    tables, found = holder.__dict__, []
    for table, names, count in which:
        held = tables[table]
        if len(held) != count:
            raise _Changed
        found += map(held.__getitem__, names)
    return found


def _entries(holder: Mapping, which: tuple[tuple, list | int]) -> Iterable[Any]:
    keys, outline = which
    if (list(holder) if type(outline) is list else len(holder)) != outline:
        raise _Changed
    return map(holder.__getitem__, keys)


def _outline(holder: Mapping) -> list | int:
    """Return what tells that a dict has other entries than it had: their keys, or how many."""
    return list(holder) if len(holder) <= _SHORT else len(holder)


def _items(holder: Collection, count: int) -> Iterable[Any]:
    if len(holder) != count:
        raise _Changed
    return holder


def _given(holder: functools.partial, names: tuple[str, ...]) -> Iterable[Any]:
    return (*holder.args, *map(holder.keywords.__getitem__, names))


def _globals(holder: FunctionType, names: tuple[str, ...]) -> Iterable[Any]:
    return map(holder.__globals__.__getitem__, names)


def _cells(holder: FunctionType, which: tuple[int, ...]) -> Iterable[Any]:
    return [holder.__closure__[k].cell_contents for k in which]


def _asked(holder: Any, names: tuple[str, ...]) -> Iterable[Any]:
    return [getattr(holder, name) for name in names]


def _of_its_class(holder: Any, functions: tuple[FunctionType, ...]) -> Iterable[Any]:
    return functions


# ---- finding the places


def _leaf(name: str, value: Any) -> _Place | None:
    """Return the place of what has nothing in it to be looked into; None for anything else."""
    if isinstance(value, PLAIN):
        return _Place(name, "is", value, Frozen(value))
    if isinstance(value, np.generic):
        return _Place(name, "is", value, (type(value), Frozen(value.item())))
    if isinstance(value, (Tensor, np.ndarray)):
        same = Same(value)
        return _Place(name, "ref", same.reference, same)
    return None


def _opaque(name: str, value: Any) -> _Place:
    """Return the place of an object that is not looked into."""
    if not isinstance(value, Number):
        try:
            same = Same(value)
            return _Place(name, "ref", same.reference, same)
        except TypeError:  # nothing can refer to it weakly
            pass
    try:
        hash(value)
    except TypeError:
        return _Place(name, "type", type(value), type(value))
    return _Place(name, "is", value, (type(value), Frozen(value)))


class _Search:
    """The places that are reached from roots, by the names that the functions found there use."""

    def __init__(self, roots: Roots, own: frozenset[str]) -> None:
        self._roots, self._own = roots, own
        self._names: dict[str, None] = {}
        self._texts: dict[str, None] = {}

    def found(self) -> Surroundings:
        """Search until no function is met that has further names in its text."""
        known = -1
        while known != len(self._names) + len(self._texts):
            known = len(self._names) + len(self._texts)
            self._go_through()
        return Surroundings(self._steps, self._places)

    def _go_through(self) -> None:
        self._steps: list[_Step] = []
        self._places: list[_Place] = []
        self._values = list(self._roots.values())
        self._called = list(self._roots)  # the names of the values
        self._seen: dict[int, int] = {}
        self._read: set[tuple[int, str]] = set()  # names of modules, by their dicts
        self._fixed: dict[FunctionType, None] = {}  # of classes: they are not read again
        self._used: set[str] = set()
        for position, value in enumerate(self._values):  # which grow
            name = self._unique(self._called[position])
            place = self._place(position, name, value)
            self._places.append(place)

    def _unique(self, name: str) -> str:
        unique, k = name, 1
        while unique in self._used:
            unique, k = f"{name} ({k})", k + 1
        self._used.add(unique)
        return unique

    def _place(self, position: int, name: str, value: Any) -> _Place:
        """Return what was found in a place, and note how further values are read from it."""
        if name in self._own:
            return _Place(name, "any", None, None)
        leaf = _leaf(name, value)
        if leaf is not None:
            return leaf
        known = self._seen.setdefault(id(value), position)
        if known != position:  # its parts are read there
            return _Place(name, "alias", known, (Same, self._places[known].name))
        steps, through = len(self._steps), isinstance(value, Module)
        for read, which, names in self._ways_into(name, value):
            may_come = read in (_attributes, _members, _entries)  # others than those that are there
            if (names or may_come) and len(self._values) + len(names) <= _MOST:
                through |= bool(names)
                self._steps.append(_Step(position, read, which))
                self._called += names
                self._values += read(value, which)
        if isinstance(value, FunctionType) and not _is_library(value.__code__.co_filename):
            kind = "any" if value in self._fixed else "code"
            return _Place(name, kind, value.__code__, value.__code__)
        if isinstance(value, _SEQUENCES):
            return _Place(name, "type", type(value), (type(value), len(value)))
        if isinstance(value, dict):
            which = [step.which[0] for step in self._steps[steps:]]
            return _Place(name, "type", type(value), (type(value), *which))
        if through and not isinstance(value, (type, ModuleType)):
            return _Place(name, "type", type(value), type(value))
        return _opaque(name, value)

    def _ways_into(self, name: str, value: Any) -> Iterator[tuple[Callable, Any, list[str]]]:
        """Give how values are read from one, which, and what they are called."""
        if isinstance(value, FunctionType):
            yield from self._into_function(name, value)
        elif isinstance(value, _SEQUENCES):
            if len(value) <= _SHORT:
                yield _items, len(value), [f"{name}[{k}]" for k in range(len(value))]
        elif isinstance(value, dict):
            keys = self._keys_of(value)
            yield _entries, (keys, _outline(value)), [f"{name}[{key!r}]" for key in keys]
        elif isinstance(value, functools.partial):
            yield _asked, ("func",), [name]
            told = [f"argument {k} of the partial" for k in range(len(value.args))]
            yield _given, tuple(value.keywords), [*told, *value.keywords]
        elif isinstance(value, MethodType):
            owner = f"{name}.__self__" if name else "self"
            yield _asked, ("__self__", "__func__"), [owner, name]
        elif not _is_library_itself(value):
            yield from self._into_object(name, value)

    def _into_function(
        self, name: str, function: FunctionType
    ) -> Iterator[tuple[Callable, Any, list[str]]]:
        code = function.__code__
        if _is_library(code.co_filename):
            return
        names, texts = _named(code)
        self._names |= dict.fromkeys(names)
        self._texts |= dict.fromkeys(texts)
        where = f" in {function.__name__}" if name else ""
        cells = [k for k, cell in enumerate(function.__closure__ or ()) if _is_given(cell)]
        yield _cells, tuple(cells), [code.co_freevars[k] + where for k in cells]
        read = tuple(self._names_of_module(function.__globals__, names))
        yield _globals, read, [one + where for one in read]
        given = tuple(one for one in ("__defaults__", "__kwdefaults__") if getattr(function, one))
        yield _asked, given, [f"arguments{where}" for _ in given]
        if hasattr(function, "__wrapped__"):
            yield _asked, ("__wrapped__",), [name]

    def _names_of_module(self, held: dict[str, Any], names: tuple[str, ...]) -> Iterator[str]:
        """Give those that a module has, and that are not read yet; libraries stay what they are."""
        for name in names:
            if name in held and (id(held), name) not in self._read:
                self._read.add((id(held), name))
                if not _is_library_itself(held[name]):
                    yield name

    def _keys_of(self, holder: dict) -> tuple:
        """Return the keys of the entries that are read: those that a text names, or all of few."""
        named = tuple(text for text in self._texts if text in holder)
        return named or (tuple(holder) if len(holder) <= _SHORT else ())

    def _into_object(self, name: str, value: Any) -> Iterator[tuple[Callable, Any, list[str]]]:
        """Give the ways into an object, a class or a module of Python."""
        kind = value if isinstance(value, type) else type(value)
        held = getattr(value, "__dict__", {})
        if hasattr(value, "__dict__") and not isinstance(value, type):
            named = [one for one in (self._names | self._texts) if one in held]
            always = ("training", "__wrapped__")  # of networks, and of what a decorator has made
            named += [one for one in always if one in held and one not in named]
            yield _attributes, (tuple(named), len(held)), [f"{name}.{one}" for one in named]
        if isinstance(value, Module):
            which = tuple((table, tuple(held[table]), len(held[table])) for table in TABLES)
            yield _members, which, [f"{name}.{one}" for _, names, _ in which for one in names]
        if isinstance(value, ModuleType):
            return
        named = self._names | self._texts
        functions, others = _of_class(kind, (*named, "__call__", "forward"))
        functions = tuple(one for one in functions if one not in self._fixed)
        self._fixed |= dict.fromkeys(functions)
        yield _of_its_class, functions, [one.__name__ for one in functions]
        asked = tuple(
            one for one in others
            if (one not in held or isinstance(value, type)) and hasattr(value, one)
        )  # fmt: skip
        yield _asked, asked, [f"{name}.{one}" for one in asked]


def _is_given(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def _named(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and the texts in a function's code, and in that of functions within it."""
    names, texts = dict.fromkeys(code.co_names), {}
    constants = list(code.co_consts)
    while constants:
        constant = constants.pop()
        if isinstance(constant, str):
            texts[constant] = None
        elif isinstance(constant, (tuple, frozenset)):
            constants += constant
        elif isinstance(constant, CodeType):
            inner, said = _named(constant)
            names |= dict.fromkeys(inner)
            texts |= dict.fromkeys(said)
    return tuple(names), tuple(texts)


@lru_cache(maxsize=256)
def _of_class(
    kind: type, names: tuple[str, ...]
) -> tuple[tuple[FunctionType, ...], tuple[str, ...]]:
    """Return what a class has under some names: its own functions, and the names of values."""
    functions: dict[FunctionType, None] = {}
    others: dict[str, None] = {}
    for one in kind.__mro__:
        for name in names:
            if name not in vars(one):
                continue
            value = vars(one)[name]
            function = _function_in(value)
            if function is not None:
                if not _is_library(function.__code__.co_filename):
                    functions[function] = None
            elif isinstance(value, MemberDescriptorType) or not hasattr(type(value), "__get__"):
                others[name] = None
    return tuple(functions), tuple(others)


def _function_in(value: Any) -> FunctionType | None:
    """Return the function of a method, a property, or of what a decorator has made of one."""
    for name in ("fget", "__func__", "func", "__wrapped__"):
        value = getattr(value, name, None) or value
    value = inspect.unwrap(value) if callable(value) else value
    return value if isinstance(value, FunctionType) else None


_LIBRARIES = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]) + os.sep,
    "<frozen",
)


@lru_cache(maxsize=1024)
def _is_library(file: str) -> bool:
    """Return whether a file belongs to the library or to an installed package: none changes."""
    return file.startswith(_LIBRARIES)


def _is_library_itself(value: Any) -> bool:
    """Return whether something is a module of the library, or of an installed package."""
    return isinstance(value, ModuleType) and _is_library(_file_of(value.__name__))


def _file_of(module: str) -> str:
    """Return where the text of a module is; that of what is built in is frozen."""
    if module in sys.builtin_module_names:
        return "<frozen"
    return getattr(sys.modules.get(module), "__file__", None) or ""
