"""How operations are done for all examples at once: a rule for each, by its name.

A rule takes an `Application` and returns what the operation gives, with the examples first.  What
has no rule is done example by example, which is right for every operation, and slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.registry import REGISTRY, Op
from ..tensor import Tensor

Rule = Callable[["Application"], Any]
RULES: dict[str, Rule] = {}


class Application:
    """An operation that is to be done for `size` examples at once.

    args        its arguments: tensors of shape (size, *shape) where `has_examples` says so, others
                as they are.
    attributes  of one example, all of them.
    """

    def __init__(
        self, op: Op, args: list, has_examples: list[bool], size: int, attributes: dict
    ) -> None:
        self.op = op
        self.args = args
        self.has_examples = has_examples
        self.size = size
        self.attributes = attributes

    def rank(self, position: int) -> int:
        """Return the number of dimensions of an argument, in one example; 0 for numbers."""
        arg = self.args[position]
        return arg._data.ndim - self.has_examples[position] if isinstance(arg, Tensor) else 0

    def shape(self, position: int) -> tuple:
        """Return the shape of a tensor in one example."""
        return self.args[position]._data.shape[self.has_examples[position] :]

    def spread(self, position: int) -> Tensor:
        """Return an argument with the examples first, expanded where it is one for all."""
        arg = self.args[position]
        if self.has_examples[position] or not isinstance(arg, Tensor):
            return arg
        return REGISTRY["expand"](arg, shape=(self.size, *arg._data.shape))

    def aligned(self, position: int, rank: int) -> Any:
        """Return an argument that broadcasts as one example's does with others of `rank`."""
        arg = self.args[position]
        missing = rank - self.rank(position)
        if not missing or not self.has_examples[position]:
            return arg
        shape = arg._data.shape
        return REGISTRY["reshape"](arg, shape=(self.size, *(1,) * missing, *shape[1:]))

    def broadcast(self) -> list:
        """Return all arguments, aligned to the largest rank among them."""
        positions = range(len(self.args))
        rank = max(map(self.rank, positions))
        return [self.aligned(position, rank) for position in positions]

    def all_spread(self) -> list:
        """Return all arguments, tensors with the examples first."""
        return [self.spread(position) for position in range(len(self.args))]

    def done(self, *args: Any, **changed: Any) -> Any:
        """Return what the operation gives for other arguments and attributes."""
        return self.op(*args, **{**self.attributes, **changed})


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Make a function the rule of the operations of these names."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def rule_of(op: Op) -> Rule:
    """Return the rule of an operation, which those that are elementwise have by themselves."""
    known = RULES.get(op.name)
    if known is None:
        known = one_by_one
        if op.elementwise:
            known = elementwise if op.broadcasts or len(op.inputs) == 1 else of_one_shape
        RULES[op.name] = known
    return known


def elementwise(call: Application) -> Tensor:
    """Broadcast as one example does."""
    if len(call.args) == 1:
        return call.done(call.args[0])
    return call.done(*call.broadcast())


def of_one_shape(call: Application) -> Any:
    """Take each argument with the examples first; attributes name nothing by its position."""
    return call.done(*call.all_spread())


def one_by_one(call: Application) -> Any:
    """Do one example after the other, and join what they give."""
    if not call.size:
        raise RuntimeError(
            f"vmap: {call.op.name} has no rule for many examples at once, and there is no example "
            "that would tell the shape of its result; call it with one or more"
        )
    return joined([
        call.done(*one_example(call.args, call.has_examples, k)) for k in range(call.size)
    ])  # fmt: skip


def one_example(args: Sequence, has_examples: Sequence[bool], k: int) -> list:
    """Return the arguments of example k."""
    take = REGISTRY["slice"]
    pairs = zip(args, has_examples, strict=True)
    return [take(arg, index=(k,)) if has else arg for arg, has in pairs]


def joined(results: Sequence[Any]) -> Any:
    """Return results of one example each, tensors or tuples of them, with the examples first."""
    if isinstance(results[0], tuple):
        return tuple(map(joined, zip(*results, strict=True)))
    if not isinstance(results[0], Tensor):  # what else a custom Function may return
        return results[0]
    return REGISTRY["stack"](*results, dim=0)
