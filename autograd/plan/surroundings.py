"""What a function branches on besides its arguments, as far as it can be seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any

from ..nn.module import Module
from ..tensor import Tensor
from .forms import PLAIN, Frozen, Same


def surroundings(fn: Callable, owner: Any = None) -> Hashable:
    """Return what a recording of `fn` depends on besides its arguments.

    The numbers and texts that it reads from its closure and its module, which tensors are there,
    and of modules (it itself, or what it is a method of, too) the parameters, the buffers and
    whether they are in training mode. owner: the object that it is called on, where it is not
    bound to one.
    """
    owners = [one for one in (owner, fn, getattr(fn, "__self__", None)) if isinstance(one, Module)]
    found: list[Hashable] = []
    for value in owners + _read_by(getattr(fn, "__func__", fn)):
        if isinstance(value, Module):
            held = (*value.parameters(), *value.buffers())
            modes = tuple(module.training for module in value.modules())
            found.append((modes, tuple(map(Same, held))))
        elif isinstance(value, PLAIN):
            found.append(Frozen(value))
        elif isinstance(value, Tensor):
            found.append(Same(value))
    return tuple(found)


def _read_by(function: Callable) -> list[Any]:
    """Return what a Python function finds in its closure and by the names of its module."""
    if not isinstance(function, FunctionType):
        return []
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not given yet
            continue
    known = function.__globals__
    return found + [known[name] for name in function.__code__.co_names if name in known]
