"""What a function branches on besides its arguments, as far as it can be seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..nn.module import Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same


def surroundings(fn: Callable, owner: Any = None) -> Hashable:
    """Return what a recording of `fn` depends on besides its arguments.

    The numbers and texts that it reads from its closure and its module, and those attributes and
    entries of dicts found there that its text names; which tensors are there; and of modules (it
    itself, or what it is a method of, too) the parameters, the buffers and whether they are in
    training mode. owner: the object that it is called on, where it is not bound to one.
    """
    if owner is None:
        owner = fn if isinstance(fn, Module) else getattr(fn, "__self__", None)
    function = fn.forward if isinstance(fn, Module) else fn
    function = getattr(function, "__func__", function)
    values = [] if owner is None else [owner]
    if isinstance(function, FunctionType):
        names, texts = _named(function.__code__)
        values += _read_by(function, names)
        values += [part for value in values for part in _parts(value, names, texts)]
    found: list[Hashable] = []
    for value in values:
        if isinstance(value, Module):
            held = (*value.parameters(), *value.buffers())
            modes = tuple(module.training for module in value.modules())
            found.append((modes, tuple(map(Same, held))))
        elif isinstance(value, PLAIN):
            found.append(Frozen(value))
        elif isinstance(value, Tensor):
            found.append(Same(value))
    return tuple(found)


@lru_cache(maxsize=256)
def _named(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and the texts in a function's code, and in that of functions within it."""
    names, texts = dict.fromkeys(code.co_names), {}
    for constant in code.co_consts:
        if isinstance(constant, str):
            texts[constant] = None
        elif isinstance(constant, CodeType):
            inner, said = _named(constant)
            names |= dict.fromkeys(inner)
            texts |= dict.fromkeys(said)
    return tuple(names), tuple(texts)


def _read_by(function: FunctionType, names: tuple[str, ...]) -> list[Any]:
    """Return what a Python function finds in its closure and by the names of its module."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not given yet
            continue
    known = function.__globals__
    return found + [known[name] for name in names if name in known]


def _parts(value: Any, names: tuple[str, ...], texts: tuple[str, ...]) -> Iterator[Any]:
    """Give the attributes of an object, or the entries of a dict, that are named."""
    if type(value) is dict:
        yield from (value[text] for text in texts if text in value)
    elif not isinstance(value, ModuleType):
        held = getattr(value, "__dict__", None) or ()
        yield from (held[name] for name in names if name in held)
