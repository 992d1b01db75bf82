"""What a function branches on besides its arguments, as far as it can be seen."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from ..nn.module import Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same

_MOST = 32  # items of a list or tuple that is looked into

# What is known as it is, or has nothing in its attributes that a function would branch on.
_CLOSED = (*PLAIN, dict, list, tuple, ModuleType, FunctionType, type, np.ndarray, Tensor)

Named = tuple[tuple[str, Hashable], ...]
"""What was found, each with the name that a reader of the function would give it."""


def surroundings(fn: Callable, owner: Any = None) -> Named:
    """Return what a recording of `fn` depends on besides its arguments.

    The numbers and texts that it reads from its closure and its module, in short lists and tuples
    too, and those attributes and entries of dicts found there that its text names; which tensors
    are there; and of modules (it itself, or what it is a method of, too) the parameters, the
    buffers and whether they are in training mode. owner: the object that it is called on, where it
    is not bound to one.
    """
    function, given = _function_of(fn)
    owner = getattr(function, "__self__", None) if owner is None else owner
    function = getattr(function, "__func__", function)
    values = given if owner is None else {**given, "self": owner}
    if isinstance(function, FunctionType):
        names, texts = _named(function.__code__)
        values.update(_read_by(function, names))
        for name, value in list(values.items()):
            for part, inner in _parts(name, value, names, texts):
                values[part] = inner
                values.update(_entries(part, inner, texts))
    found = ((name, _known(value)) for name, value in values.items())
    return tuple((name, key) for name, key in found if key is not None)


def _function_of(fn: Callable) -> tuple[Callable, dict[str, Any]]:
    """Return what runs when `fn` is called, and the arguments that a partial has."""
    given: dict[str, Any] = {}
    while isinstance(fn, (functools.partial, Module)):
        if isinstance(fn, Module):
            fn = fn.forward
            continue
        given.update((f"argument {k} of the partial", one) for k, one in enumerate(fn.args))
        given.update(fn.keywords)
        fn = fn.func
    if isinstance(fn, FunctionType) or hasattr(fn, "__func__"):
        return fn, given
    return getattr(fn, "__call__", fn), given  # noqa: B004 - an object's method, to look into


def _known(value: Any) -> Hashable | None:
    """Return what tells a value from another; None for one that is frozen for good."""
    if isinstance(value, PLAIN):
        return Frozen(value)
    if isinstance(value, np.generic):
        return type(value), Frozen(value.item())
    if isinstance(value, Tensor):
        return Same(value)
    if isinstance(value, Module):
        held = (*value.parameters(), *value.buffers())
        return tuple(one.training for one in value.modules()), tuple(map(Same, held))
    if type(value) in (list, tuple) and len(value) <= _MOST:
        return type(value), tuple(map(_known, value))
    return None


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


def _read_by(function: FunctionType, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Give what a Python function finds in its closure and by the names of its module."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not given yet
            continue
    known = function.__globals__
    yield from ((name, known[name]) for name in names if name in known)


def _parts(
    name: str, value: Any, names: tuple[str, ...], texts: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    """Give the attributes of an object, or the entries of a dict, that are named."""
    yield from _entries(name, value, texts)
    if isinstance(value, _CLOSED):
        return
    held, shared = getattr(value, "__dict__", {}), _of_class(type(value), names)
    for one in names:
        if one in held:
            yield f"{name}.{one}", held[one]
        elif one in shared and hasattr(value, one):
            yield f"{name}.{one}", getattr(value, one)


def _entries(name: str, value: Any, texts: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{name}[{text!r}]", value[text]) for text in texts if text in value)


@lru_cache(maxsize=256)
def _of_class(kind: type, names: tuple[str, ...]) -> frozenset[str]:
    """Return which names are of slots, or of values that a class has for all of its objects."""
    found = {}
    for one in reversed(kind.__mro__):
        found.update({name: vars(one)[name] for name in names if name in vars(one)})
    return frozenset(
        name for name, value in found.items()
        if isinstance(value, MemberDescriptorType) or _known(value) is not None
    )  # fmt: skip
