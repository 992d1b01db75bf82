"""What a function reads besides its arguments: found once, and read again at each call."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import sysconfig
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import (
    cached_property,
    lru_cache,
    partialmethod,
    singledispatchmethod,
)
from numbers import Number
from operator import attrgetter, is_, itemgetter
from pathlib import Path
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from ..nn.module import TABLES, Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same

_SHORT = 32  # entries of a dict up to which its keys are compared, not how many there are
_LONG = 1024  # items of a list, or entries of a dict that is read whole
_MOST = 8192  # places that are looked at, those near the function first

_SEQUENCES = (list, tuple, set, frozenset, deque, array)
_MAPPINGS = (dict, MappingProxyType)
# What is looked into whatever the texts name: where objects of classes that wrap others have these.
_ALWAYS = ("training", "__wrapped__", "forward")
_HELD = {UserDict: ("data",), UserList: ("data",), ChainMap: ("maps",)}
_WRAPPING = {
    property: ("fget",), cached_property: ("func",), staticmethod: ("__func__",),
    classmethod: ("__func__",), partialmethod: ("func", "args", "keywords"),
    singledispatchmethod: ("func", "dispatcher"),
}  # fmt: skip
# Methods that Python calls without a name of theirs in the text.
_UNNAMED = ("__call__", "forward", "__get__", "__getattr__")

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
    names (of a dict of which it names none, all); lists and tuples; of networks all parameters,
    buffers and whether they are in training mode; and the functions and methods that are met on the
    way, but for those of the library and of installed packages. Numbers and texts
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
    """Places that are read at each call, with what was found there; compared by its `named`.

    unseen: what is too long to be looked into.
    """

    def __init__(
        self, steps: list[_Step], places: list[_Place], unseen: tuple[str, ...] = ()
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


def _globals(holder: FunctionType, which: tuple[tuple[str, ...], tuple[str, ...]]) -> Iterable[Any]:
    names, absent = which
    known = holder.__globals__
    if not known.keys().isdisjoint(absent):
        raise _Changed
    return map(known.__getitem__, names)


def _imported(holder: FunctionType, names: tuple[str, ...]) -> Iterable[Any]:
    return map(sys.modules.__getitem__, names)


def _cells(holder: FunctionType, which: tuple[int, ...]) -> Iterable[Any]:
    return [holder.__closure__[k].cell_contents for k in which]


def _asked(holder: Any, names: tuple[str, ...]) -> Iterable[Any]:
    return [getattr(holder, name) for name in names]


def _of_its_class(holder: Any, which: tuple[tuple[type, str], ...]) -> Iterable[Any]:
    return [kind.__dict__[name] for kind, name in which]


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
        return Surroundings(self._steps, self._places, tuple(self._unseen))

    def _go_through(self) -> None:
        self._steps: list[_Step] = []
        self._places: list[_Place] = []
        self._values = list(self._roots.values())
        self._called = list(self._roots)  # the names of the values
        self._seen: dict[int, int] = {}
        self._read: set[tuple[int, str]] = set()  # names of modules, by their dicts
        self._of_classes: set[tuple[type, str]] = set()  # what is read of classes already
        self._unseen: dict[str, None] = {}
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
            may_come = read in (_attributes, _members, _entries, _globals)  # what is not there yet
            if len(self._values) + len(names) > _MOST:
                self._unseen[name or "a function"] = None
            elif names or may_come:
                through |= bool(names)
                self._steps.append(_Step(position, read, which))
                self._called += names
                self._values += read(value, which)
        if isinstance(value, FunctionType) and not _is_library(value.__code__.co_filename):
            return _Place(name, "code", value.__code__, value.__code__)
        if isinstance(value, _SEQUENCES):
            return _Place(name, "type", type(value), (type(value), len(value)))
        if isinstance(value, _MAPPINGS):
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
            if len(value) <= _LONG:
                yield _items, len(value), [f"{name}[{k}]" for k in range(len(value))]
            else:
                self._unseen[name] = None
        elif isinstance(value, _MAPPINGS):
            keys = self._keys_of(name, value)
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
        names, texts, loaded = _named(code)
        self._names |= dict.fromkeys(names)
        self._texts |= dict.fromkeys(texts)
        where = f" in {function.__name__}" if name else ""
        cells = [k for k, cell in enumerate(function.__closure__ or ()) if _is_given(cell)]
        yield _cells, tuple(cells), [code.co_freevars[k] + where for k in cells]
        read = tuple(self._names_of_module(function.__globals__, loaded))
        absent = tuple(one for one in loaded if one not in function.__globals__)
        yield _globals, (read, absent), [one + where for one in read]
        imported = tuple(
            one for one in loaded
            if one in sys.modules and not _is_library_itself(sys.modules[one])
        )  # fmt: skip
        yield _imported, imported, [one + where for one in imported]
        given = tuple(one for one in ("__defaults__", "__kwdefaults__") if getattr(function, one))
        yield _asked, given, [f"arguments{where}" for _ in given]
        held = vars(function)
        named = tuple(one for one in held if one in self._names or one == "__wrapped__")
        if held:
            called = [f"{function.__name__}.{one}" for one in named]
            yield _attributes, (named, len(held)), called

    def _names_of_module(self, held: dict[str, Any], names: tuple[str, ...]) -> Iterator[str]:
        """Give those that a module has, and that are not read yet; libraries stay what they are."""
        for name in names:
            if name in held and (id(held), name) not in self._read:
                self._read.add((id(held), name))
                if not _is_library_itself(held[name]):
                    yield name

    def _keys_of(self, name: str, holder: Mapping) -> tuple:
        """Return the keys of the entries that are read: those that a text names, or all."""
        named = tuple(text for text in self._texts if text in holder)
        if not named and len(holder) > _LONG:
            self._unseen[name] = None
            return ()
        return named or tuple(holder)

    def _into_object(self, name: str, value: Any) -> Iterator[tuple[Callable, Any, list[str]]]:
        """Give the ways into an object, a class or a module of Python."""
        kind = value if isinstance(value, type) else type(value)
        held = getattr(value, "__dict__", {})
        if hasattr(value, "__dict__") and not isinstance(value, type):
            always = next((of for kind, of in _HELD.items() if isinstance(value, kind)), ())
            asked = self._names | self._texts | dict.fromkeys((*_ALWAYS, *always))
            named = [one for one in asked if one in held]
            yield _attributes, (tuple(named), len(held)), [f"{name}.{one}" for one in named]
        if isinstance(value, Module):
            which = tuple((table, tuple(held[table]), len(held[table])) for table in TABLES)
            yield _members, which, [f"{name}.{one}" for _, names, _ in which for one in names]
        if isinstance(value, ModuleType):
            return
        wrapped = _WRAPPING.get(type(value), ())
        yield _asked, wrapped, [f"{name}.{one}" for one in wrapped]
        methods, others = _of_class(kind, (*(self._names | self._texts), *_UNNAMED))
        methods = tuple(one for one in methods if one not in self._of_classes)
        self._of_classes |= set(methods)
        yield _of_its_class, methods, [f"{kind.__name__}.{one}" for kind, one in methods]
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
def _named(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names in a function's code, the texts, and which of the names are a module's.

    Functions within it count as it does.
    """
    names, texts = dict.fromkeys(code.co_names), {}
    loaded = {
        one.argval: None for one in dis.get_instructions(code)
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME")
    }  # fmt: skip
    constants = list(code.co_consts)
    while constants:
        constant = constants.pop()
        if isinstance(constant, str):
            texts[constant] = None
        elif isinstance(constant, (tuple, frozenset)):
            constants += constant
        elif isinstance(constant, CodeType):
            for found, within in zip((names, texts, loaded), _named(constant), strict=True):
                found |= dict.fromkeys(within)
    return tuple(names), tuple(texts), tuple(loaded)


@lru_cache(maxsize=256)
def _of_class(
    kind: type, names: tuple[str, ...]
) -> tuple[tuple[tuple[type, str], ...], tuple[str, ...]]:
    """Return where a class and its bases have what runs, and the names of their values.

    What runs are functions of the user's, and what is made of such: properties, descriptors.
    """
    running: list[tuple[type, str]] = []
    others: dict[str, None] = {}
    for one in kind.__mro__:
        for name in names:
            if name not in vars(one):
                continue
            value = vars(one)[name]
            if isinstance(value, MemberDescriptorType) or not hasattr(type(value), "__get__"):
                others[name] = None
            elif _is_users(value):
                running.append((one, name))
    return tuple(running), tuple(others)


def _is_users(value: Any) -> bool:
    """Return whether what a class has is of the user's: its function, or the class of it."""
    for name in ("fget", "__func__", "func", "__wrapped__"):
        value = getattr(value, name, None) or value
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, FunctionType):
        return not _is_library(value.__code__.co_filename)
    return not _is_library(_file_of(type(value).__module__))


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
    if module in sys.builtin_module_names:  # builtins among them
        return "<frozen"
    return getattr(sys.modules.get(module), "__file__", None) or ""
