"""The graph: nodes that know how to turn output gradients into input gradients, and saved tensors.

Nodes refer backwards only (to the nodes of their inputs), never to the tensors they made, so a
graph has no reference cycle and dies with its last tensor.  A node's `sequence` number is larger
than that of every node it depends on: sorting by it is a topological order.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_sequence = itertools.count(1)


class Node:
    """A recorded operation.

    `edges[i]` is `(node, output_index)` of input i, or None where no gradient flows.
    `outputs` is the number of its outputs.
    """

    __slots__ = (
        "edges",
        "outputs",
        "sequence",
        "hooks",
        "retained",
        "traceback",
        "__weakref__",
    )

    def __init__(self, edges: tuple, outputs: int = 1) -> None:
        self.edges = edges
        self.outputs = outputs
        self.sequence = next(_sequence)
        self.hooks: dict[int, HookList] | None = None
        self.retained: dict[int, weakref.ref] | None = None
        self.traceback: str | None = None

    def name(self) -> str:
        """Return the name shown in `grad_fn=<...>`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """The `(node, output index)` of each input, `(None, 0)` where no gradient flows."""
        return tuple((None, 0) if edge is None else tuple(edge) for edge in self.edges)

    def run(self, grads: list, needed: Sequence[bool]) -> Sequence:
        """Return the gradient of each input; None where `needed` is False or there is none."""
        raise TypeError(f"{self.name()} defines no backward")

    def check_alive(self) -> None:
        """Raise RuntimeError when the saved values were freed by an earlier backward."""

    def release(self) -> None:
        """Free the saved values."""

    def __repr__(self) -> str:
        return f"<{self.name()}>"


FREED = (
    "Trying to backward through the graph a second time: {name} has already freed the values it "
    "saved in the forward pass. Specify retain_graph=True on the first backward() or grad() call "
    "if you need to differentiate through the graph again."
)


class AccumulateGrad(Node):
    """The sink of a leaf tensor: what arrives here is added to `variable.grad`."""

    __slots__ = ("variable", "lock")

    def __init__(self, variable: Any) -> None:
        super().__init__(())
        self.variable = variable
        self.lock = threading.Lock()


def nodes_behind(edges: Iterable[tuple | None]) -> list[Node]:
    """Return the nodes that gradients arriving at some edges would flow through."""
    left = [edge[0] for edge in edges if edge is not None]
    seen = set(left)
    for node in left:  # which grows
        new = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= new
        left += new
    return left


def leaves_behind(edges: Iterable[tuple | None]) -> list[Any]:
    """Return the leaf tensors that gradients arriving at some edges would flow to."""
    return [node.variable for node in nodes_behind(edges) if isinstance(node, AccumulateGrad)]


def has_other_leaves(edges: Iterable[tuple | None], known: set[int]) -> bool:
    """Return whether gradients arriving at some edges would flow to leaves but those known by id.

    It ends at the first: where there are parameters, near the end of the graph.
    """
    left = [edge[0] for edge in edges if edge is not None]
    seen = set(left)
    for node in left:  # which grows
        if isinstance(node, AccumulateGrad):
            if id(node.variable) not in known:
                return True
            continue
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                left.append(edge[0])
    return False


class HookList:
    """Hooks in the order they were registered; each may replace the gradient."""

    __slots__ = ("hooks", "_next", "__weakref__")

    def __init__(self) -> None:
        self.hooks: dict[int, Callable] = {}
        self._next = 0

    def add(self, hook: Callable) -> RemovableHandle:
        key = self._next
        self._next += 1
        self.hooks[key] = hook
        return RemovableHandle(self, key)

    def remove(self, key: int) -> None:
        """Let go of a hook, if it is still there."""
        self.hooks.pop(key, None)

    def __call__(self, grad: Any) -> Any:
        for hook in tuple(self.hooks.values()):
            replacement = hook(grad)
            if replacement is None:
                continue
            if type(replacement).__name__ != "Tensor" and not hasattr(replacement, "grad_fn"):
                raise TypeError(
                    f"hook {getattr(hook, '__name__', hook)!r} returned "
                    f"{type(replacement).__name__}; return a Tensor, or None to keep the gradient"
                )
            if replacement.shape != grad.shape:
                raise RuntimeError(
                    f"hook {getattr(hook, '__name__', hook)!r} changed the gradient's shape from "
                    f"{list(grad.shape)} to {list(replacement.shape)}; keep the shape"
                )
            grad = replacement
        return grad


class RemovableHandle:
    """What registering a hook returns: `remove()` takes it away; also a context manager."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: Any, key: int) -> None:
        self._hooks = weakref.ref(hooks)
        self._key = key

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.remove(self._key)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
