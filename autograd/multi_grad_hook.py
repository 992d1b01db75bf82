"""A function that is called once in a backward pass, with the gradients of several tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import modes
from .graph import Node, RemovableHandle
from .tensor import Tensor

MODES = ("all", "any")


class Handles:
    """What registering a hook of several tensors returns: `remove()`, or a context manager."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all"
) -> Handles:
    """Call `fn` once in each backward pass that reaches some of `tensors`.

    mode  "all": `fn(gradients)` as soon as those of all that the pass reaches are known, one for
          each tensor, None for the others; "any": `fn(gradient)` with the first one.
    What `fn` returns is not looked at.  Raises ValueError for another mode, RuntimeError for a
    tensor that requires no grad.
    """
    if mode not in MODES:
        raise ValueError(f"register_multi_grad_hook: mode must be one of {MODES}, got {mode!r}")
    gathering = _Gathering(tensors, fn, mode == "any")
    return Handles(
        [tensor.register_hook(gathering.of(k)) for k, tensor in enumerate(tensors)]
    )


class _Gathering:
    """The gradients of several tensors, which arrive one after the other in each pass."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Any], Any], first: bool) -> None:
        self.fn = fn
        self.first = first
        # weakly, as these hold the hooks: what is not alive is not reached either
        self.places: list[weakref.ref] = [
            weakref.ref(tensor if tensor.grad_fn is None else tensor.grad_fn) for tensor in tensors
        ]

    def of(self, position: int) -> Callable[[Tensor], None]:
        """Return the hook of one tensor."""

        def arrived(gradient: Tensor) -> None:
            gathered = modes.state.task.gathered
            if self not in gathered:
                gathered[self] = _Gathered(self)
            gathered[self].add(position, gradient)

        return arrived

    def nodes(self) -> list[Node | None]:
        """Return where each gradient arrives, None where that is gone."""
        found: list[Node | None] = []
        for place in self.places:
            alive = place()
            if isinstance(alive, Tensor):
                edge = alive._edge()
                alive = None if edge is None else edge[0]
            found.append(alive)
        return found


class _Gathered:
    """What has arrived in one pass."""

    def __init__(self, gathering: _Gathering) -> None:
        self.gathering = gathering
        nodes = gathering.nodes()
        self.gradients: list[Tensor | None] = [None] * len(nodes)
        reached = modes.state.task.reaches(nodes)
        self.missing = {position for position, yes in enumerate(reached) if yes}
        self.is_told = False

    def add(self, position: int, gradient: Tensor) -> None:
        """Take in a gradient, and call the function when it is the last one, or any will do."""
        self.missing.discard(position)
        self.gradients[position] = gradient
        if not self.missing or self.gathering.first:
            self.tell(gradient)

    def tell(self, gradient: Tensor | None = None) -> None:
        """Call the function, once: at the end of the pass for what never arrived."""
        if not self.is_told:
            self.is_told = True
            self.gathering.fn(gradient if self.gathering.first else self.gradients)
