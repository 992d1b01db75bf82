"""Tensors that interpret operations: each transformation that is under way has a level.

A `Dual` carries a tangent (forward.py), a `Batched` one value an example (batching).  What is
under way inside of something else has the larger level, and is done first: an operation goes to the
tensor of the largest level among its arguments, which does it by operations on what it holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .tensor import Tensor

if TYPE_CHECKING:
    from .ops.registry import Op

_levels = itertools.count(1)

Pull = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor], bool], list]


def next_level() -> int:
    """Return the level of a new transformation: nested ones have larger levels."""
    return next(_levels)


class Interpreted(Tensor):
    """A tensor that stands for others in one transformation, of the level `level`.

    in_sweep  whether it carries a tangent, so that reverse mode follows it in `autograd.func` only.
    """

    level: int
    in_sweep: bool

    @staticmethod
    def __dispatch__(op: Op, args: tuple, attributes: dict) -> Any:
        innermost = None
        for arg in args:
            if isinstance(arg, Tensor) and arg.__dispatch__ is not None:
                if not isinstance(arg, Interpreted):  # a jet, which takes others for constants
                    return arg.__dispatch__(op, args, attributes)
                if innermost is None or arg.level > innermost.level:
                    innermost = arg
        return innermost.interpret(op, args, attributes)

    def interpret(self, op: Op, args: tuple, attributes: dict) -> Any:
        """Return what `op` gives, where no other argument has a larger level."""
        raise NotImplementedError

    def through(self, function: Callable, *tensors: Tensor) -> Any:
        """Return what `function` gives for what tensors hold, held as this one holds it.

        tensors   of no larger level than this one.
        function  linear, for any shape; gives a tensor, or a tuple of tensors and None.
        """
        raise NotImplementedError

    def around(self, value: Tensor) -> Interpreted:
        """Return a tensor with other values for all examples, where this has one an example."""
        raise NotImplementedError

    def for_all_examples(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return the values that tensors have for all examples, where this has one an example."""
        raise NotImplementedError

    def pull(
        self, roots: Sequence, gradients: Sequence, wanted: Sequence, pull: Pull, retain: bool
    ) -> list:
        """Return gradients of what is wanted, by `pull` on what this and the others hold."""
        raise NotImplementedError


class Pushed(Tensor):
    """A tensor that carries derivatives of a value: what is read of it is read of the value.

    The value may have examples, which its own array does not show.
    """

    in_sweep = True

    def _read(self) -> Tensor:
        """Return the value."""
        raise NotImplementedError

    def _alias(self) -> Tensor:
        return self._read()._alias()

    @property
    def data(self) -> Tensor:
        return self._read().data

    def _whole(self) -> Any:
        return self._read()._whole()

    def _elements(self, how: str) -> Any:
        return self._read()._elements(how)

    def _with_examples(self, made: Tensor) -> Tensor:
        return self._read()._with_examples(made)

    def item(self) -> Any:
        return self._read().item()

    def tolist(self) -> Any:
        return self._read().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        return self._read().numpy(force=force)

    def __bool__(self) -> bool:
        return bool(self._read())

    def __contains__(self, element: Any) -> bool:
        return element in self._read()

    def data_ptr(self) -> int:
        return self._read().data_ptr()

    def __repr__(self) -> str:
        value = self._read()
        if value.__dispatch__ is None:
            return super().__repr__()
        return f"{type(self).__name__}({value!r})"


def held(tensor: Interpreted) -> Tensor:
    """Return the tensor with the values of all examples, for one that has one value an example."""
    return tensor.for_all_examples([tensor])[0]


def levels_of(tensor: Any) -> set[int]:
    """Return the levels of the vmaps in which a tensor, without tangents, has examples."""
    levels = set()
    while isinstance(tensor, Interpreted) and not tensor.in_sweep:
        levels.add(tensor.level)
        tensor = held(tensor)
    return levels


def innermost(tensors: Sequence[Any]) -> Interpreted | None:
    """Return the tensor of the largest level, None where none has a level."""
    found = [t for t in tensors if isinstance(t, Interpreted)]
    return max(found, key=lambda t: t.level) if found else None
