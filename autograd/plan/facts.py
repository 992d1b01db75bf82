"""What is asked of a tensor besides its numbers: whether the answer is still what it was."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from ..graph import AccumulateGrad
from ..tensor import Tensor
from .forms import Same

# The tensor itself would ask a recording, which asks here.
_READ: dict[str, Callable[[Tensor], Any]] = {
    ".grad": lambda t: t._grad,
    ".requires_grad": lambda t: t._edge() is not None,
    ".is_leaf": lambda t: t._edge() is None or isinstance(t._edge()[0], AccumulateGrad),
    ".is_contiguous()": lambda t: bool(t._data.flags.c_contiguous),
    ".stride()": lambda t: t._data.strides,
    ".shape and .dtype": lambda t: (t._data.shape, t._data.dtype),
}


def answer(tensor: Tensor, what: str) -> Any:
    """Return what a tensor answers to that."""
    return _READ[what](tensor)


def _told(tensor: Tensor, what: str) -> Hashable:
    """Return the answer as what it is told from others by, a tensor as the one that it is."""
    found = answer(tensor, what)
    return Same(found) if isinstance(found, Tensor) else found


class Fact(NamedTuple):
    """What a tensor that is referred to weakly has answered."""

    tensor: Callable[[], Tensor | None]
    what: str
    found: Hashable

    @classmethod
    def of(cls, tensor: Tensor, what: str) -> Fact:
        """Ask a tensor."""
        return cls(weakref.ref(tensor), what, _told(tensor, what))

    def is_true(self) -> bool:
        """Return whether the tensor, if it is still there, answers so."""
        tensor = self.tensor()
        return tensor is None or _told(tensor, self.what) == self.found


class Answers:
    """What an argument answers wherever a function is recorded that is given another in its place.

    That is a copy, a part of it, or a few of its points.
    """

    def __init__(self, argument: Tensor) -> None:
        self._argument = weakref.ref(argument)
        self._told: dict[str, Hashable] = {}

    def to(self, what: str, stand_in: Tensor) -> Any:
        """Return the answer to that, always the same one."""
        if what not in self._told:
            argument = self._argument()
            self._told[what] = _told(stand_in if argument is None else argument, what)
        found = self._told[what]
        return found.value if isinstance(found, Same) else found

    @property
    def were_asked_for(self) -> bool:
        """Whether anything was."""
        return bool(self._told)

    def are_those_of(self, tensor: Tensor) -> bool:
        """Return whether a tensor would have answered the same to all that was asked."""
        return all(_told(tensor, what) == found for what, found in self._told.items())
