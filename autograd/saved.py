"""Values a node keeps for its backward, with the check that nobody changed them since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .graph import AccumulateGrad, Node
from .tensor import Tensor, made_of


class _Hooks(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[Callable, Callable]] = []


_hooks = _Hooks()
_entered: list[None] = []  # one an open context, of all threads: mostly there is none to look for


class saved_tensors_hooks:  # noqa: N801 - the field's name
    """Inside the context, saved tensors go through `pack(tensor)` and come back by `unpack(obj)`.

    `pack` gets a detached tensor and may return anything; `unpack` must return a tensor of the
    same shape and dtype.
    """

    def __init__(self, pack: Callable, unpack: Callable) -> None:
        self.pair = (pack, unpack)

    def __enter__(self) -> None:
        _hooks.stack.append(self.pair)
        _entered.append(None)

    def __exit__(self, *exc: object) -> None:
        _hooks.stack.pop()
        _entered.pop()


@contextmanager
def no_hooks() -> Iterator[None]:
    """Leave out the hooks that are open in this thread, but for those that are entered inside."""
    stack, _hooks.stack = _hooks.stack, []
    try:
        yield
    finally:
        _hooks.stack = stack


class SavedTensor:
    """The data of a tensor and its place in the graph, its `edge`, at the time it was saved.

    It holds no Tensor object (a leaf that requires grad is reached through its AccumulateGrad), so
    in-place operations on that object later make no reference cycle.  Without an edge it is a
    constant, or the output of the node that keeps it, which is passed at unpacking.
    """

    __slots__ = (
        "data", "counter", "version", "node", "index", "requires_grad", "unpack_hook", "unpacked",
    )  # fmt: skip

    def __init__(self, tensor: Tensor, edge: tuple | None, is_output: bool = False) -> None:
        self.counter = counter = tensor._version
        self.version = counter[0]
        if edge is None:
            self.node, self.index = None, tensor._index
            self.requires_grad = is_output and tensor._requires_grad
        else:
            self.node, self.index = edge
            self.requires_grad = True
        self.data = tensor._data
        self.unpack_hook = self.unpacked = None
        if _entered and _hooks.stack:
            pack, self.unpack_hook = _hooks.stack[-1]
            self.data = pack(tensor.detach())

    @property
    def overwritten(self) -> bool:
        """Whether the tensor was modified in place since."""
        return self.counter[0] != self.version

    def for_rule(self, owner: Node) -> Tensor:
        """Return what `unpack` does, to a rule, which does not change it: one for all passes.

        What a hook unpacks is another each time. Leaves are themselves. The output of the owner is
        another, too: kept here, it would make a reference cycle.
        """
        tensor = self.unpacked
        if tensor is None or self.counter[0] != self.version:
            tensor = self.unpack(owner)
            if (
                tensor._node is not owner
                and tensor._accumulator is None
                and (self.unpack_hook is None)
            ):
                self.unpacked = tensor
        return tensor

    def unpack(self, owner: Node) -> Tensor:
        """Return the saved tensor, linked to the graph as it was.

        Raises RuntimeError when it was modified in place since.
        """
        if self.counter[0] != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: a tensor saved by {owner.name()} is at version "
                f"{self.counter[0]}; expected version {self.version} instead. Make the change out "
                "of place, or on a clone()"
            )
        node = self.node
        data = self.data
        if self.unpack_hook is not None:
            unpacked = self.unpack_hook(data)
            if not isinstance(unpacked, Tensor):
                raise TypeError(
                    "the unpack hook of saved_tensors_hooks must return a Tensor, got "
                    f"{type(unpacked).__name__}"
                )
            data = unpacked._data
        elif isinstance(node, AccumulateGrad) and node.variable._data is data:
            return node.variable
        tensor = made_of(data)
        tensor._version = self.counter
        tensor._requires_grad = self.requires_grad
        if isinstance(node, AccumulateGrad):
            tensor._accumulator = node.variable._accumulator
            tensor._hooks = node.variable._hooks
        else:
            tensor._node = owner if node is None and self.requires_grad else node
            tensor._index = self.index
        return tensor
