"""Sums over points that are only added to each other become one total, and one call.

The gradient of a matrix that a loss meets several times is a sum of products over the points, one
for each time.  Added up tile by tile in one call they take the end of one product, where registers
are added inside, and a lane keeps one total in place of several.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ...ops.registry import REGISTRY
from ..program import Instruction, Program, Value
from .instructions import Call, Contraction, RowSum


def joined(after: Program, sums: int) -> tuple[Program, list[int]]:
    """Return what follows the sums with one total for those that are only added to each other.

    after  its first `sums` inputs are sums over the points.  Of those that are terms of one
           addition the returned program has the first as its input, which stands for all of them;
           what else is added there, such as the gradient of a loss at a wall, is added to it.
    Returns with it, for each of the sums, to which of its first inputs it is to be added.
    """
    given = after.inputs[:sums]
    uses = Counter([v for i in after.instructions for v in i.values()] + after.outputs)
    alone = {v for v in given if uses[v] == 1}  # sums that nothing reads but one addition
    additions: dict[Value, _Addition] = {}  # that nothing has read yet
    kept: dict[Value, list[Instruction]] = {}
    for instruction in after.instructions:
        (output, *_), own = instruction.outputs, [instruction]
        if _adds(instruction):
            both = [
                additions.pop(v) if v in additions and uses[v] == 1 else
                _Addition([v], []) if v in alone else _Addition([], [v])
                for v in instruction.inputs
            ]  # fmt: skip
            for one in both:
                own = kept.pop(one.value, []) + own
            additions[output] = _Addition(
                both[0].sums + both[1].sums, both[0].others + both[1].others, output
            )
        kept[output] = own
    first = {v: v for v in given}  # the total of each
    values: dict[Value, Value] = {}  # of sums alone: their total
    for output, one in additions.items():
        if len(one.sums) < 2:
            continue
        total = one.sums[0]
        first |= dict.fromkeys(one.sums, total)
        kept[output] = one.instructions(total, after)
        if not one.others:
            values[output] = total
    inputs = [v for v in given if first[v] is v]
    position = {v: k for k, v in enumerate(inputs)}
    instructions = [
        Instruction(
            i.op, tuple(values.get(v, v) if isinstance(v, Value) else v for v in i.inputs),
            i.attributes, i.outputs,
        )
        for own in kept.values() for i in own
    ]  # fmt: skip
    program = replace(
        after,
        inputs=[*inputs, *after.inputs[sums:]],
        instructions=instructions,
        outputs=[values.get(v, v) for v in after.outputs],
    )
    return program, [position[first[v]] for v in given]


@dataclass
class _Addition:
    """A value as a sum of terms: sums over the points that nothing else reads, and others."""

    sums: list[Value]
    others: list[Value]
    value: Value | None = None

    def instructions(self, total: Value, after: Program) -> list[Instruction]:
        """Return what adds the others to the sums' total."""
        made, found = total, []
        for k, other in enumerate(self.others, 1):
            is_last = k == len(self.others)
            output = self.value if is_last else after.new_value(total.shape, total.dtype)
            found.append(Instruction(REGISTRY["add"], (made, other), {}, (output,)))
            made = output
        return found


def _adds(instruction: Instruction) -> bool:
    """Return whether it adds two values of its result's shape."""
    (output, *_), inputs = instruction.outputs, instruction.inputs
    return (
        instruction.op.name == "add"
        and not instruction.attributes
        and all(isinstance(v, Value) and v.shape == output.shape for v in inputs)
    )


def together(calls: list[Call]) -> list[Call]:
    """Return the calls with one for all sums that go to the same total, where the last was."""
    found: dict[tuple, list[Contraction | RowSum]] = {}
    for call in calls:
        if isinstance(call, Contraction | RowSum):
            found.setdefault(_kind(call), []).append(call)
    last = {id(group[-1]): _one(group) for group in found.values()}
    return [
        last.get(id(call), call)
        for call in calls
        if not isinstance(call, Contraction | RowSum) or id(call) in last
    ]


def _kind(call: Contraction | RowSum) -> tuple:
    """Return what calls that can become one have in common."""
    if isinstance(call, RowSum):
        return RowSum, call.total, len(call.rows)
    return Contraction, call.total, call.a.shape[1], call.b.shape[1]


def _one(calls: list[Contraction | RowSum]) -> Contraction | RowSum:
    if isinstance(calls[0], RowSum):
        return RowSum(np.concatenate([c.rows for c in calls], axis=1), calls[0].total)
    a, b = (np.concatenate([getattr(c, side) for c in calls]) for side in "ab")
    return Contraction(a, b, calls[0].total)
