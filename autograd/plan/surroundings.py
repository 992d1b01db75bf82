"""What a function reads besides its arguments, as far as its text tells: found once."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import sysconfig
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property, lru_cache, partialmethod, singledispatchmethod
from pathlib import Path
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from ..nn.module import TABLES, Module
from . import reading
from .forms import Same
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
    "__setstate__", "__copy__", "__deepcopy__", "__getnewargs__",
}  # fmt: skip


# Methods of the library's layers that no call of them runs.
_NOT_IN_CALLS = _NOT_CALLED | {"extra_repr", "reset_parameters", "_reset_parameters"}


def surroundings(
    roots: Roots, own: Iterable[str] = (), last: Surroundings | None = None
) -> Surroundings:
    """Return what a recording of a function depends on besides its arguments.

    Looked into are, from `roots` on: what functions find in their closures and modules; attributes
    of objects, modules and classes and entries of dicts that the text of any of these functions
    names (of a dict of which it names none, all); lists and tuples; of networks all parameters,
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
        self._steps: list[Step] = []
        self._places: list[Place] = []
        self._values = list(self._roots.values())
        self._called = list(self._roots)  # the names of the values
        self._seen: dict[int, int] = {}
        self._read: set[tuple[int, str]] = set()  # names of modules, by their dicts
        self._classes: set[type] = set()  # whose methods are read already
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

    def _place(self, position: int, name: str, value: Any) -> Place:
        """Return what was found in a place, and note how further values are read from it."""
        if name in self._own:
            return Place(name, "any", None, None)
        plain = leaf(name, value)
        if plain is not None:
            return plain
        known = self._seen.setdefault(id(value), position)
        if known != position:  # its parts are read there
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
        elif not _is_library_itself(value):
            yield from self._into_object(name, value)

    def _into_function(
        self, name: str, function: FunctionType
    ) -> Iterator[tuple[Way, Any, list[str]]]:
        code = function.__code__
        if _is_library(code.co_filename):
            held = vars(function)
            if "__wrapped__" in held:  # vmap(grad(u)), or what a decorator has made of u
                yield reading.attributes, (("__wrapped__",), len(held)), [name]
            return
        names, texts, loaded = _named(code)
        self._names |= dict.fromkeys(names)
        self._texts |= dict.fromkeys(texts)
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
        """Return the keys of the entries that are read: those that a text may name, or all."""
        named = tuple(text for text in self._texts if text in holder)
        if len(holder) > _LONG:
            if not named:
                self._unseen[name] = None
            return named
        return tuple(
            key for key in holder if not named or not isinstance(key, str) or key in self._texts
        )

    def _into_object(self, name: str, value: Any) -> Iterator[tuple[Way, Any, list[str]]]:
        """Give the ways into an object, a class or a module of Python."""
        kind = value if isinstance(value, type) else type(value)
        held = getattr(value, "__dict__", {})
        if hasattr(value, "__dict__") and not isinstance(value, type):
            always = next((of for kind, of in _HELD.items() if isinstance(value, kind)), ())
            settings = _settings_of(kind) if isinstance(value, Module) else {}
            asked = self._names | self._texts | dict.fromkeys((*_ALWAYS, *always)) | settings
            named = [one for one in asked if one in held]
            yield reading.attributes, (tuple(named), len(held)), [f"{name}.{one}" for one in named]
        if isinstance(value, Module) and all(table in held for table in TABLES):
            which = tuple((table, tuple(held[table]), len(held[table])) for table in TABLES)
            called = [f"{name}.{one}" for _, names, _ in which for one in names]
            yield reading.members, which, called
        if isinstance(value, ModuleType):
            return
        wrapped = _WRAPPING.get(type(value), ())
        yield reading.asked, wrapped, [f"{name}.{one}" for one in wrapped]
        methods, others = _of_class(kind, (*(self._names | self._texts), "forward"))
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
    names = {one: None for each in functions if each for one in _named(each.__code__)[0]}
    return tuple(name for name in names if name not in TABLES)


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
