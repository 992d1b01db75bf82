"""What a function reads besides its arguments, as far as its text tells: found once."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import os
import re
import sys
import sysconfig
import time
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from enum import Enum
from functools import cached_property, lru_cache, partialmethod, singledispatchmethod
from pathlib import Path
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..function import Function
from ..nn.module import TABLES, Module
from ..tensor import Tensor
from . import reading
from .forms import Same
from .moving import Moving, moves
from .naming import Named, named
from .reading import Place, Roots, Step, Surroundings, Way, leaf, opaque

_LONG = 1024  # items of a list, or entries of a dict that is read whole
_MOST = 8192  # places that are looked at, those near the function first

_SEQUENCES = (list, tuple, set, frozenset, deque, array, bytearray)
_MAPPINGS = (dict, MappingProxyType)
# Attributes that are looked into whatever the texts name: of all, and of what stands for others.
_ALWAYS = (
    "training", "__wrapped__", "forward", "_forward_pre_hooks", "_forward_hooks",
    "_backward_pre_hooks", "_backward_hooks", "_computed",
)  # fmt: skip
_HELD = {UserDict: ("data",), UserList: ("data",), ChainMap: ("maps",)}
_OF_SPARSE = ("data", "indices", "indptr", "row", "col", "coords", "offsets")  # matrices of scipy
# What is called of a custom Function.
_OF_FUNCTION = ("forward", "setup_context", "backward", "jvp", "vmap")
# What asks for all attributes of a dataclass, under whatever name.
_OPENING = (dataclasses.astuple, dataclasses.asdict, dataclasses.fields)
_CLOCKS = {
    "time": {"time", "monotonic", "perf_counter", "process_time", "thread_time", "time_ns",
             "monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"},
    "datetime": {"now", "utcnow", "today"},
}  # fmt: skip
_WRAPPING = {
    property: ("fget",), cached_property: ("func",), staticmethod: ("__func__",),
    classmethod: ("__func__",), partialmethod: ("func", "args", "keywords"),
    singledispatchmethod: ("func", "dispatcher"),
}  # fmt: skip
# Ways into what may get other members than it has.
_GROWING = (
    reading.items, reading.attributes, reading.members, reading.entries, reading.of_module,
    reading.of_classes,
)  # fmt: skip
# Methods that Python calls without a name of theirs in the text are "forward" and the special ones,
# but for those that make, describe and copy an object.
_NOT_CALLED = {
    "__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__",
    "__repr__", "__str__", "__dir__", "__reduce__", "__reduce_ex__", "__getstate__",
    "__setstate__", "__copy__", "__deepcopy__", "__getnewargs__", "__annotate_func__",
}  # fmt: skip


# Methods of the library's layers that no call of them runs.
_NOT_IN_CALLS = _NOT_CALLED | {"extra_repr", "reset_parameters", "_reset_parameters"}


def surroundings(
    roots: Roots, own: Iterable[str] = (), last: Surroundings | None = None
) -> Surroundings:
    """Return what a recording of a function depends on besides its arguments.

    Looked into are, from `roots` on: what functions find in their closures and modules; attributes
    of objects, modules and classes that the text of any of these functions names (all, where it
    computes names); entries of dicts, but for those of a dict that is only asked for entries that
    are named, which are these; lists and tuples; of networks all parameters,
    buffers, whether they are in training mode and what layers of the library are set to; and the
    functions and methods that are met on the way, but for those of the library and of packages that
    have nothing of it. Numbers, texts and small arrays count by value, all that is not looked into
    by which object it is. Writing into a large array is not seen. Nothing of it is kept alive but
    numbers, texts, types and code.

    own   the names of what is left out, as the function writes it itself.
    last  what was found for the same roots or for others like them; it comes back where nothing
          has changed, and saves the search where only numbers, texts or tensors have.
    """
    return (last and last.again(roots)) or _Search(roots, frozenset(own)).found()


class _Search:
    """The places that are reached from roots, by the names that the functions found there use."""

    def __init__(self, roots: Roots, own: frozenset[str]) -> None:
        self._roots, self._own = roots, own
        # by fields of Named, what the functions that were met have there
        self._named: dict[str, dict[str, None]] = {one: {} for one in Named._fields[:-2]}
        self._is_open = self._describes = False
        self._whole: dict[int, None] = {}  # dicts that are read whole under another of their names

    @property
    def _names(self) -> dict[str, None]:
        return self._named["names"]

    @property
    def _texts(self) -> dict[str, None]:
        return self._named["texts"]

    def found(self) -> Surroundings:
        """Search until no function is met that has further names in its text."""
        known = None
        while known != (known := self._extent()):
            self._go_through()
        return Surroundings(
            self._steps, self._places, tuple(self._unseen), tuple(self._clocks),
            Moving(self._moving),
        )

    def _extent(self) -> tuple[int, ...]:
        met = map(len, (*self._named.values(), self._whole))
        return (*met, self._is_open, self._describes)

    def _go_through(self) -> None:
        self._steps: list[Step] = []
        self._places: list[Place] = []
        self._values = list(self._roots.values())
        self._called = list(self._roots)  # the names of the values
        self._seen: dict[int, int] = {}
        self._read: set[tuple[int, str]] = set()  # names of modules, by their dicts
        self._classes: set[type] = set()  # whose methods are read already
        self._unseen: dict[str, None] = {}
        self._clocks: dict[str, None] = {}
        self._moving: dict[str, Any] = {}
        self._used: set[str] = set()
        self._opened: set[str] = set()  # places of which all attributes are read
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

    def _place(self, position: int, name: str, value: Any) -> Place:
        """Return what was found in a place, and note how further values are read from it."""
        if name in self._own:
            return Place(name, "any", None, None)
        plain = leaf(name, value)
        if plain is not None:
            if isinstance(value, Tensor):
                self._into_tensor(position, name, value)
            elif isinstance(value, np.ndarray) and value.nbytes > reading.SMALL:
                if value.flags.writeable or value.base is not None:
                    self._unseen[name] = None
            return plain
        if moves(value):
            self._moving[name] = value
        if isinstance(value, FunctionType) and value in _OPENING:
            self._is_open = True
        elif isinstance(value, operator.attrgetter):
            asked = ".".join(value.__reduce__()[1])
            self._texts.update(dict.fromkeys(asked.split(".")))
        known = self._seen.setdefault(id(value), position)
        if known != position:  # its parts are read there
            if isinstance(value, _MAPPINGS) and not self._is_asked_by_entry(name):
                self._whole[id(value)] = None
            return Place(name, "alias", known, (Same, self._places[known].name))
        steps, through = len(self._steps), isinstance(value, Module)
        for way, which, names in self._ways_into(name, value):
            if len(self._values) + len(names) > _MOST:
                self._unseen[name or "a function"] = None
            elif names or way in _GROWING:
                through |= bool(names)
                self._steps.append(Step(position, way, which, len(names)))
                self._called += names
                self._values += reading.read(value, way, which)
        if isinstance(value, FunctionType) and not _is_library(value.__code__.co_filename):
            return Place(name, "code", value.__code__, value.__code__)
        if isinstance(value, _SEQUENCES):
            return Place(name, "type", type(value), (type(value), len(value)))
        if isinstance(value, _MAPPINGS):
            which = [step.which[0] for step in self._steps[steps:]]
            return Place(name, "type", type(value), (type(value), *which))
        through |= isinstance(value, reading.OwnAttributes)
        if through and not isinstance(value, (type, ModuleType, Enum)):
            return Place(name, "type", type(value), type(value))
        return opaque(name, value)

    def _ways_into(self, name: str, value: Any) -> Iterator[tuple[Way, Any, list[str]]]:
        """Give how values are read from one, which, and what they are called."""
        if isinstance(value, FunctionType):
            yield from self._into_function(name, value)
        elif isinstance(value, _SEQUENCES):
            if len(value) <= _LONG:
                yield reading.items, len(value), [f"{name}[{k}]" for k in range(len(value))]
            else:
                self._unseen[name] = None
        elif isinstance(value, _MAPPINGS):
            keys = self._keys_of(name, value)
            called = [f"{name}[{key!r}]" for key in keys]
            yield reading.entries, (keys, reading.outline(value)), called
        elif isinstance(value, functools.partial):
            yield reading.asked, ("func",), [name]
            told = [f"argument {k} of the partial" for k in range(len(value.args))]
            yield reading.given, tuple(value.keywords), [*told, *value.keywords]
        elif isinstance(value, MethodType):
            owner = f"{name}.__self__" if name else "self"
            yield reading.asked, ("__self__", "__func__"), [owner, name]
        elif isinstance(value, ContextVar):
            yield reading.of_context, None, [f"{name}.get()"]
        elif not _is_library_itself(value):
            yield from self._into_object(name, value)

    def _into_function(
        self, name: str, function: FunctionType
    ) -> Iterator[tuple[Way, Any, list[str]]]:
        code = function.__code__
        if _is_library(code.co_filename):
            held = vars(function)
            if "__wrapped__" in held:  # vmap(grad(u)), or what a decorator has made of u
                kept = tuple(one for one in ("__wrapped__", "registry") if one in held)
                yield reading.attributes, (kept, len(held)), [name, f"{name}.registry"][: len(kept)]
            return
        loaded = self._read_text(function)
        where = f" in {function.__name__}" if name else ""
        cells = [k for k, cell in enumerate(function.__closure__ or ()) if _is_given(cell)]
        yield reading.cells, tuple(cells), [code.co_freevars[k] + where for k in cells]
        read, absent = self._names_of_module(function.__globals__, loaded)
        if read or absent:
            yield reading.of_module, (read, absent), [one + where for one in read]
        imported = tuple(
            one for one in loaded
            if one in sys.modules and not _is_library_itself(sys.modules[one])
        )  # fmt: skip
        yield reading.imported, imported, [one + where for one in imported]
        given = tuple(one for one in ("__defaults__", "__kwdefaults__") if getattr(function, one))
        yield reading.asked, given, [f"arguments{where}" for _ in given]
        held = vars(function)
        named = tuple(one for one in held if one in self._names or one == "__wrapped__")
        if held:
            called = [f"{function.__name__}.{one}" for one in named]
            yield reading.attributes, (named, len(held)), called

    def _read_text(self, function: FunctionType) -> tuple[str, ...]:
        """Note what a function names, and return which of that are names of its module."""
        text = named(function.__code__)
        for field, met in self._named.items():
            met |= dict.fromkeys(getattr(text, field))
        self._is_open |= text.is_open
        self._describes |= text.describes
        for name in text.loaded:
            value = function.__globals__.get(name, sys.modules.get(name))
            self._clocks |= dict.fromkeys(_clocks_in(name, value, text.attributes))
        return text.loaded

    def _names_of_module(
        self, held: dict[str, Any], names: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return those names that a module has, and those that it has not; none that are read yet.

        Libraries stay what they are.
        """
        new = [name for name in names if (id(held), name) not in self._read]
        self._read |= {(id(held), name) for name in new}
        return (
            tuple(one for one in new if one in held and not _is_library_itself(held[one])),
            tuple(one for one in new if one not in held),
        )

    def _keys_of(self, name: str, holder: Mapping) -> tuple:
        """Return the keys of the entries that are read: all, or those that a text may name.

        These are enough where nothing is done with a dict but to ask for entries by such keys.
        """
        if id(holder) in self._whole or not self._is_asked_by_entry(name):
            if len(holder) <= _LONG:
                return tuple(holder)
            self._unseen[name] = None
        if len(holder) > _LONG:
            return tuple(text for text in self._texts if text in holder)
        return tuple(key for key in holder if not isinstance(key, str) or key in self._texts)

    def _is_asked_by_entry(self, name: str) -> bool:
        """Return whether all that is done with what is called so is to ask for entries by name."""
        last = _last_name(name)
        return last in self._named["subscripted"] and last not in self._named["passed"]

    def _into_tensor(self, position: int, name: str, tensor: Tensor) -> None:
        """Note the attributes of a tensor that a user has given to it."""
        own, is_open = reading.own_attributes(tensor), self._is_opened(name, tensor)
        read = tuple(one for one in own if is_open or one in self._names | self._texts)
        absent = tuple(
            one for one in self._named["looked_for"] if one not in own and not hasattr(Tensor, one)
        )  # fmt: skip
        if not read and not absent:
            return
        self._steps.append(Step(position, reading.given_to, (read, absent), len(read)))
        self._called += [f"{name}.{one}" for one in read]
        self._values += [own[one] for one in read]

    def _into_object(self, name: str, value: Any) -> Iterator[tuple[Way, Any, list[str]]]:
        """Give the ways into an object, a class or a module of Python."""
        kind = value if isinstance(value, type) else type(value)
        held = getattr(value, "__dict__", {})
        names = self._names | self._texts | dict.fromkeys(self._unnamed(name, value))
        names |= {} if isinstance(value, Module) else _used_by_methods(kind, names)
        if hasattr(value, "__dict__") and not isinstance(value, type):
            always = next((of for kind, of in _HELD.items() if isinstance(value, kind)), ())
            if hasattr(kind, "tocsr"):
                always = _OF_SPARSE
            settings = _settings_of(kind) if isinstance(value, Module) else {}
            asked = names | dict.fromkeys((*_ALWAYS, *always)) | settings
            found = [one for one in asked if one in held]
            yield reading.attributes, (tuple(found), len(held)), [f"{name}.{one}" for one in found]
        if isinstance(value, Module) and all(table in held for table in TABLES):
            which = tuple((table, tuple(held[table]), len(held[table])) for table in TABLES)
            called = [f"{name}.{one}" for _, names, _ in which for one in names]
            yield reading.members, which, called
        if isinstance(value, ModuleType):
            return
        wrapped = _WRAPPING.get(type(value), ())
        yield reading.asked, wrapped, [f"{name}.{one}" for one in wrapped]
        called = _OF_FUNCTION if issubclass(kind, Function) else ("forward",)
        methods, others = _of_class(kind, (*names, *called))
        methods = tuple(pair for pair in methods if pair[0] not in self._classes)
        bases = tuple(
            one for one in kind.__mro__
            if one not in self._classes and not _is_library(_file_of(one.__module__))
        )  # fmt: skip
        self._classes |= set(bases)
        if bases:
            which = methods, bases, sum(len(vars(one)) for one in bases)
            yield reading.of_classes, which, [f"{kind.__name__}.{one}" for kind, one in methods]
        asked = tuple(
            one for one in others
            if (one not in held or isinstance(value, type)) and hasattr(value, one)
        )  # fmt: skip
        yield reading.asked, asked, [f"{name}.{one}" for one in asked]

    def _is_opened(self, name: str, value: Any) -> bool:
        """Return whether an object is asked for attributes whose names stand in no text, or may be.

        It may where something is that only has a name within a function, and the object is handed
        to something, or a part of what is looped over.
        """
        last, classes = _last_name(name), {one.__name__ for one in type(value).__mro__}
        if last in self._named["opened"] or not classes.isdisjoint(self._named["of_classes"]):
            return True
        if name.rpartition(".")[0] in self._opened and dataclasses.is_dataclass(value):
            return True  # astuple, `==` and repr go on in dataclasses within
        handed = not classes.isdisjoint(self._named["handing_on"]) or self._is_handed(name)
        return self._is_open and handed

    def _is_handed(self, name: str) -> bool:
        """Return whether what is called so may get a name within a function."""
        last = _last_name(name)
        return last in self._named["handed"] or last is None or name.endswith("]")

    def _unnamed(self, name: str, value: Any) -> Iterable[str]:
        """Return the attributes of an object that are read besides those that texts name.

        All, where a text computes names or asks for all, and of what only has values also where it
        compares or describes that.
        """
        is_open = self._is_opened(name, value)
        if isinstance(value, ModuleType):  # its functions stay those that are named
            held = vars(value) if is_open else {}
            return [one for one in held if one[:1] != "_" and leaf(one, held[one]) is not None]
        if isinstance(value, reading.OwnAttributes):
            return list(vars(value)) if self._is_open else ()  # it has the name of an argument
        kind = value if isinstance(value, type) else type(value)
        bases = [one for one in kind.__mro__ if not _is_library(_file_of(one.__module__))]
        holds = dataclasses.is_dataclass(kind) or _is_namespace(kind)
        if not bases and not holds:
            return ()
        told = not isinstance(value, type) and holds and (
            _last_name(name) in self._named["compared"]
            or (self._describes and self._is_handed(name) and not any(map(_has_methods, bases)))
        )  # fmt: skip
        if not is_open and not told:
            return ()
        self._opened.add(name)
        is_dataclass = dataclasses.is_dataclass(kind)
        fields = dataclasses.fields(kind) if is_dataclass else ()
        if not is_open and is_dataclass:
            return [one.name for one in fields if one.compare or one.repr]
        held = () if isinstance(value, type) else getattr(value, "__dict__", ())
        of_class = [one for base in bases for one in vars(base) if one[:1] != "_"]
        found = [*(one.name for one in fields), *held, *(of_class if is_open else ())]
        return [one for one in found if one not in _OF_ANY_LAYER]


_OF_ANY_LAYER = frozenset(vars(Module()))
# What a place is called last: "wall" of `loss.weights['wall']`, "w" of `w in loss`.
_LAST = re.compile(r"(?:(?:^|\.)(\w+)|\['([^']*)'\])(?: in \S+)?(?: \(\d+\))?$")


def _last_name(name: str) -> str | None:
    found = _LAST.search(name)
    return found and (found[1] or found[2])


def _is_namespace(kind: type) -> bool:
    names = {(one.__module__, one.__name__) for one in kind.__mro__}
    return not names.isdisjoint({("types", "SimpleNamespace"), ("argparse", "Namespace")})


def _has_methods(kind: type) -> bool:
    """Return whether a class has methods that are not those that a dataclass is given."""
    held = [one for name, one in vars(kind).items() if name != "__annotate_func__"]
    files = [one.__code__.co_filename for one in map(_function_in, held) if one is not None]
    return not all(file == "<string>" or _is_library(file) for file in files)


def _clocks_in(name: str, value: Any, names: Iterable[str]) -> list[str]:
    """Return which clocks a text asks; names: what it asks anything for; value: that of a name."""
    dates = sys.modules.get("datetime")
    if value is time:
        asked = _CLOCKS["time"]
    elif dates is not None and any(value is one for one in (dates, dates.datetime, dates.date)):
        asked = _CLOCKS["datetime"]
    elif isinstance(value, BuiltinFunctionType) and value.__module__ == "time":
        return [name] if value.__name__ in _CLOCKS["time"] else []
    else:
        return []
    return [f"{name}.{one}" for one in names if one in asked]


def _is_given(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _settings_of(kind: type) -> dict[str, None]:
    """Return the names of attributes that the library's own layers read when they are called.

    kind: a class of the library, or one of a user's that is made from it.
    """
    return {name: None for one in kind.__mro__ for name in _named_by_layer(one)}


@lru_cache(maxsize=1024)
def _named_by_layer(kind: type) -> tuple[str, ...]:
    """Return the names in the text of a class of the library's layers; none for other classes.

    Their parameters, buffers and parts are read whatever the names.
    """
    if kind is Module or not _file_of(kind.__module__).startswith(_ITSELF):
        return ()
    functions = (
        _function_in(value) for name, value in vars(kind).items() if name not in _NOT_IN_CALLS
    )
    names = {one: None for each in functions if each for one in named(each.__code__).names}
    return tuple(name for name in names if name not in TABLES)


def _used_by_methods(kind: type, names: Iterable[str]) -> dict[str, None]:
    """Return the names in the texts of the library's methods that have such names, or are special.

    kind: a class of the library's objects that are no layers, a scheduler's say, or a user's.
    """
    bases = [one for one in kind.__mro__ if _file_of(one.__module__).startswith(_ITSELF)]
    found, sought = dict[str, None](), [*names] if bases else []
    sought += (one for base in bases for one in _special(base))
    while sought:
        name = sought.pop()
        for function in (_function_in(vars(one)[name]) for one in bases if name in vars(one)):
            new = named(function.__code__).names if function else ()
            sought += (one for one in new if one not in found)
            found |= dict.fromkeys(new)
    return found


def _of_class(
    kind: type, names: tuple[str, ...]
) -> tuple[tuple[tuple[type, str], ...], tuple[str, ...]]:
    """Return where a class and its bases have what runs, and the names of their values.

    What runs are functions of the user's, and what is made of such: properties, descriptors.
    """
    running: list[tuple[type, str]] = []
    others: dict[str, None] = {}
    for one in kind.__mro__:
        for name in dict.fromkeys((*names, *_special(one))):
            if name not in vars(one):
                continue
            value = vars(one)[name]
            if isinstance(value, MemberDescriptorType) or not hasattr(type(value), "__get__"):
                others[name] = None
            elif _is_users(value):
                running.append((one, name))
    return tuple(running), tuple(others)


def _special(kind: type) -> Iterator[str]:
    """Give the special methods that a class has a text for: those of dataclasses are made."""
    for name, value in vars(kind).items():
        if name[:2] == name[-2:] == "__" and name not in _NOT_CALLED:
            function = _function_in(value)
            if function is not None and function.__code__.co_filename != "<string>":
                yield name


def _function_in(value: Any) -> FunctionType | None:
    """Return the function of a method, of a property, or of what a decorator has made of one."""
    for name in ("fget", "__func__", "func", "__wrapped__"):
        value = getattr(value, name, None) or value
    value = inspect.unwrap(value) if callable(value) else value
    return value if isinstance(value, FunctionType) else None


def _is_users(value: Any) -> bool:
    """Return whether what a class has is of the user's: its function, or the class of it."""
    function = _function_in(value)
    if function is not None:
        return not _is_library(function.__code__.co_filename)
    return not _is_library(_file_of(type(value).__module__))


_ITSELF = str(Path(__file__).parents[1]) + os.sep
_INSTALLED = tuple(sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib"))
_PYTHON = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")), "<frozen",
)  # fmt: skip
_PACKAGE = __name__.partition(".")[0]


_of_users: set[str] = set()  # installed packages of which something was compiled


def compiled_of(package: str) -> None:
    """Hear that a function or an object of a package is compiled: it is a user's, if installed."""
    if package not in _of_users:
        _of_users.add(package)
        _is_library.cache_clear()


@lru_cache(maxsize=1024)
def _is_library(file: str) -> bool:
    """Return whether a file belongs to the library, to Python or to an installed package.

    None of these changes, but for packages that are made with the library: their losses and
    networks are as a script's.
    """
    if file.startswith(_ITSELF):
        return True
    for folder in _INSTALLED:
        if file.startswith(folder):
            package = file.removeprefix(folder).partition(os.sep)[0].removesuffix(".py")
            return package not in _of_users and not _is_made_with_it(package)
    return file.startswith(_PYTHON)


def _is_made_with_it(package: str) -> bool:
    """Return whether a module of a package has imported the library, or a part of it."""
    return any(
        _is_part_of_it(value)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == package
        for value in list(getattr(module, "__dict__", {}).values())
    )


def _is_part_of_it(value: Any) -> bool:
    if isinstance(value, ModuleType):
        name = value.__name__
    elif isinstance(value, (type, FunctionType)):
        name = value.__module__
    else:
        return False
    return isinstance(name, str) and name.partition(".")[0] == _PACKAGE


def _is_library_itself(value: Any) -> bool:
    """Return whether something is a module of the library, or of an installed package."""
    return isinstance(value, ModuleType) and _is_library(_file_of(value.__name__))


def _file_of(module: str) -> str:
    """Return where the text of a module is; that of what is built in is frozen."""
    if module in sys.builtin_module_names:  # builtins among them
        return "<frozen"
    return getattr(sys.modules.get(module), "__file__", None) or ""
