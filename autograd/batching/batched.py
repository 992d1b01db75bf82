"""A tensor with one value an example, which reads as if it were the one of a single example."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import devices, dtypes, modes
from ..forward import Dual
from ..graph import Node, RemovableHandle
from ..levels import Interpreted, Pull, next_level
from ..ops.registry import REGISTRY, Op, cast
from ..tensor import Tensor
from .rules import Application, joined, one_example, rule_of


class Batch(NamedTuple):
    """A vmap that is under way: its level, how many examples, and what random numbers do there."""

    level: int
    size: int
    randomness: str

    def of_draws(self, drawn: Tensor) -> Tensor:
        """Return random numbers as those of one example, where each has its own."""
        return wrapped(drawn, self.level) if self.randomness == "different" else drawn


@contextmanager
def under_way(size: int, randomness: str) -> Iterator[int]:
    """Let a vmap of so many examples be under way in this thread; gives its level."""
    before, level = modes.state.batches, next_level()
    modes.state.batches = (*before, Batch(level, size, randomness))
    try:
        yield level
    finally:
        modes.state.batches = before


class Batched(Interpreted):
    """The values of all examples of one vmap, `value` of shape (examples, *shape).

    Its shape, dtype and device are those of one example, and so are the sizes that operations are
    told of.  Its place in the graph is that of `value`: operations are recorded as they are done,
    for all examples at once.
    """

    def __init__(self, value: Tensor, level: int) -> None:
        data = value._data
        self._version = value._version
        # the array of the first example stands for shape and dtype; nobody reads its elements
        if data.shape[0]:
            self._data = data[0, ...]
        else:
            self._data = devices.zeros(data.shape[1:], data.dtype, value.device)
        self.value = value
        self.level = level

    def interpret(self, op: Op, args: tuple, attributes: dict) -> Any:
        if op.shaped_by_values:
            raise refused(f"{op.name}, whose shape depends on values,")
        if op.dtype in ("promote", "float"):
            args = _promoted(args)
        has_examples, held = self._held(args)
        size, attributes = self.value._data.shape[0], {**op.attributes, **attributes}
        found = rule_of(op)(Application(op, held, has_examples, size, attributes))
        if isinstance(found, tuple):
            return tuple(Batched(one, self.level) for one in found)
        return Batched(found, self.level)

    def _held(self, args: Sequence) -> tuple[list[bool], list]:
        """Return which arguments have examples at this level, and what all of them hold."""
        has_examples = [isinstance(arg, Batched) and arg.level == self.level for arg in args]
        return has_examples, [
            arg.value if has else arg for arg, has in zip(args, has_examples, strict=True)
        ]

    def through(self, function: Callable, *tensors: Tensor) -> Any:
        found = function(*self.for_all_examples(tensors))
        if isinstance(found, tuple):
            return tuple(None if one is None else wrapped(one, self.level) for one in found)
        return wrapped(found, self.level)

    def around(self, value: Tensor) -> Batched:
        return Batched(value, self.level)

    def for_all_examples(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        size = self.value._data.shape[0]
        return [unwrapped(tensor, self.level, size) for tensor in tensors]

    def pull(
        self, roots: Sequence, gradients: Sequence, wanted: Sequence, pull: Pull, retain: bool
    ) -> list:
        level = self.level
        for position, tensor in enumerate(wanted):
            if not is_batched_at(tensor, level):
                raise RuntimeError(
                    f"grad: input {position} (shape {list(tensor.shape)}) is one for all examples "
                    "of a vmap, and the outputs are one an example: its gradients would be summed "
                    "over the examples. Use func.grad, which gives one an example, or take the "
                    "gradient outside of vmap"
                )
        found = pull(
            self.for_all_examples(roots),
            self.for_all_examples(gradients),
            self.for_all_examples(wanted),
            retain,
        )
        return [None if one is None else wrapped(one, level) for one in found]

    def each_example(self, function: Callable, args: Sequence) -> Any:
        """Return what `function` gives for one example after the other."""
        has_examples, held = self._held(args)
        size = self.value._data.shape[0]
        found = joined([function(*one_example(held, has_examples, k)) for k in range(size)])
        if isinstance(found, tuple):
            return tuple(
                Batched(one, self.level) if isinstance(one, Tensor) else one for one in found
            )
        return Batched(found, self.level)

    # ---- place in the graph: that of the values

    @property
    def in_sweep(self) -> bool:
        return isinstance(self.value, Interpreted) and self.value.in_sweep

    @property
    def _requires_grad(self) -> bool:
        return self.value.requires_grad

    def _edge(self) -> tuple | None:
        return self.value._edge()

    @property
    def grad_fn(self) -> Node | None:
        return self.value.grad_fn

    @property
    def requires_grad(self) -> bool:
        return self.value.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.value.requires_grad = flag

    def retain_grad(self) -> None:
        self.value.retain_grad()

    @property
    def retains_grad(self) -> bool:
        return self.value.retains_grad

    def register_hook(self, hook: Callable) -> RemovableHandle:
        def on_values(gradient: Tensor) -> Tensor | None:
            found = hook(wrapped(gradient, self.level))
            size = gradient._data.shape[0]
            return None if found is None else unwrapped(found, self.level, size)

        return self.value.register_hook(on_values)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> RemovableHandle:
        return self.value.register_post_accumulate_grad_hook(
            lambda values: hook(wrapped(values, self.level))
        )

    @property
    def grad(self) -> Tensor | None:
        found = self.value.grad
        return None if found is None else wrapped(found, self.level)

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None:
            gradient = unwrapped(gradient, self.level, self.value._data.shape[0])
        self.value.grad = gradient

    def _alias(self) -> Tensor:
        return Batched(self.value._alias(), self.level)

    def detach_(self) -> Tensor:
        self.value.detach_()
        return self

    @property
    def data(self) -> Tensor:
        return Batched(self.value.data, self.level)

    # ---- elements, which differ from example to example

    def _whole(self) -> Any:
        return self.value._whole()

    def _elements(self, how: str) -> Any:
        raise refused(how)

    def _with_examples(self, made: Tensor) -> Tensor:
        values = REGISTRY["clone"](unwrapped(made, self.level, self.value._data.shape[0]))
        return Batched(self.value._with_examples(values), self.level)

    def item(self) -> Any:
        raise refused("item() (also float(), int())")

    def tolist(self) -> Any:
        raise refused("tolist()")

    def numpy(self, *, force: bool = False) -> Any:
        raise refused("numpy()")

    def __bool__(self) -> bool:
        raise refused("bool()")

    def __index__(self) -> int:
        raise refused("index()")

    def __contains__(self, element: Any) -> bool:
        raise refused("in")

    def data_ptr(self) -> int:
        raise refused("data_ptr()")

    def __deepcopy__(self, memo: dict) -> Tensor:
        raise refused("copy.deepcopy()")

    def __reduce_ex__(self, protocol: Any) -> tuple:
        raise refused("pickle")

    def __repr__(self) -> str:
        return f"Batched(level={self.level}, value={self.value!r})"

    def __format__(self, spec: str) -> str:
        return repr(self)


def refused(how: str) -> RuntimeError:
    """Return the error for a use that needs the elements of one example."""
    return RuntimeError(
        f"vmap: {how} of a Tensor with one value an example: they may differ, and the function is "
        "run once for all. Choose between values with where(condition, x, y), keep numbers as "
        "tensors, or do it outside of vmap"
    )


def is_batched_at(tensor: Any, level: int) -> bool:
    """Return whether a tensor has one value an example of the vmap of a level."""
    while isinstance(tensor, Interpreted) and tensor.level > level:
        tensor = tensor.value if isinstance(tensor, Batched) else tensor.primal
    return isinstance(tensor, Batched) and tensor.level == level


def unwrapped(tensor: Tensor, level: int, size: int) -> Tensor:
    """Return the values (size, *shape) of all examples of the vmap of a level.

    What is one for all examples is expanded; what has larger levels keeps them.
    """
    if isinstance(tensor, Interpreted) and tensor.level >= level:
        if isinstance(tensor, Dual):
            parts = (unwrapped(part, level, size) for part in (tensor.primal, tensor.tangent))
            return Dual(*parts, tensor.level)
        if tensor.level == level:
            return tensor.value
        return Batched(exchanged(unwrapped(tensor.value, level, size)), tensor.level)
    return REGISTRY["expand"](tensor, shape=(size, *tensor._data.shape))


def wrapped(value: Tensor, level: int) -> Tensor:
    """Return what has the values (examples, *shape) in the vmap of a level."""
    if isinstance(value, Interpreted) and value.level > level:
        if isinstance(value, Dual):
            return Dual(wrapped(value.primal, level), wrapped(value.tangent, level), value.level)
        return Batched(wrapped(exchanged(value.value), level), value.level)
    return Batched(value, level)


def exchanged(x: Tensor) -> Tensor:
    """Return `x` with its first two dimensions exchanged."""
    return REGISTRY["permute"](x, axes=(1, 0, *range(2, x.ndim)))


def in_all_batches(tensor: Tensor, below: float = math.inf) -> Tensor:
    """Return a tensor that has one value an example of each vmap under way, equal ones if need be.

    So a gradient by it is one an example.  below: those of lower levels alone.
    """
    for batch in modes.state.batches:
        if batch.level < below and not is_batched_at(tensor, batch.level):
            tensor = wrapped(unwrapped(tensor, batch.level, batch.size), batch.level)
    return tensor


def _promoted(args: tuple) -> tuple:
    """Return tensors of different dtypes in their common one, which depends on their ranks."""
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    if len({tensor.dtype for tensor in tensors}) < 2:
        return args
    target = dtypes.result_type(*[arg for arg in args if arg is not None])
    return tuple(cast(arg, target) if isinstance(arg, Tensor) else arg for arg in args)
