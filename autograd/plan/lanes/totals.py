"""Sums over points that are only added to each other become one total, and one call.

The gradient of a matrix that a loss meets several times is a sum of products over the points, one
for each time.  Added up tile by tile in one call they take the end of one product, where registers
are added inside, and a lane keeps one total in place of several.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ..program import Instruction, Program, Value
from .instructions import Call, Contraction, RowSum


def joined(after: Program, sums: int) -> tuple[Program, list[int]]:
    """Return what follows the sums without the additions of sums alone.

    after  its first `sums` inputs are sums over the points.  Of those that are only added to each
           other the returned program has the first as its input, which stands for all of them.
    Returns with it, for each of the sums, to which of its first inputs it is to be added.
    """
    given = after.inputs[:sums]
    uses = Counter([v for i in after.instructions for v in i.values()] + after.outputs)
    parts = {v: [v] for v in given}  # the sums that a value is made of
    kept: list[Instruction] = []
    for instruction in after.instructions:
        if not _adds(instruction, parts, uses):
            kept.append(instruction)
            continue
        x, y = instruction.inputs
        parts[instruction.outputs[0]] = parts.pop(x) + parts.pop(y)
    first = {value: sources[0] for value, sources in parts.items()}
    inputs = [v for v in given if v in set(first.values())]
    position = {v: k for k, v in enumerate(inputs)}
    into = {source: position[sources[0]] for sources in parts.values() for source in sources}
    instructions = [
        Instruction(
            i.op, tuple(first.get(v, v) if isinstance(v, Value) else v for v in i.inputs),
            i.attributes, i.outputs,
        )
        for i in kept
    ]  # fmt: skip
    program = replace(
        after,
        inputs=[*inputs, *after.inputs[sums:]],
        instructions=instructions,
        outputs=[first.get(v, v) for v in after.outputs],
    )
    return program, [into[v] for v in given]


def _adds(instruction: Instruction, parts: dict[Value, list[Value]], uses: Counter[Value]) -> bool:
    """Return whether it adds two values that are sums alone, and that nothing else reads."""
    (output,), inputs = instruction.outputs[:1], instruction.inputs
    return (
        instruction.op.name == "add"
        and not instruction.attributes
        and all(
            isinstance(v, Value) and v in parts and uses[v] == 1 and v.shape == output.shape
            for v in inputs
        )
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
