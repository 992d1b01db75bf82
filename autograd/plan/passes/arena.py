"""Memory: which values are views, which live inside others, and which share a block.

Views take no memory.  The inputs of a `stack` or `cat` are computed right into their slots of the
result where they can be.  All other values take a block of one arena for the time between their
first writing and last reading; an elementwise operation may write over an input of the same shape
that dies with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..program import COMPUTED, VIEWS, Instruction, Program, Value
from .rewriting import UFUNCS

_ALIGNMENT = 64
_JOINS = frozenset({"stack", "cat"})


@dataclass(frozen=True)
class Slot:
    """A place inside another value: `array(parent)[key]`."""

    parent: Value
    key: tuple


@dataclass
class Memory:
    """Where the values of a program lie.

    views   value -> the instruction that makes it as a view of its input.
    slots   value -> its place inside a joined value.
    offsets value -> byte offset of its block in the arena; `arena_bytes` is the arena's size.
    """

    views: dict[Value, Instruction] = field(default_factory=dict)
    slots: dict[Value, Slot] = field(default_factory=dict)
    offsets: dict[Value, int] = field(default_factory=dict)
    arena_bytes: int = 0


def plan_memory(program: Program) -> Memory:
    """Return where every computed value of `program` lies."""
    memory = Memory()
    _find_views(program, memory)
    _place_joined(program, memory)
    _assign_blocks(program, memory)
    return memory


def _find_views(program: Program, memory: Memory) -> None:
    """Find which results of view operations share their input's memory, on empty arrays."""
    arrays: dict[Value, Any] = {}

    def array_of(value: Value) -> Any:
        if value not in arrays:
            arrays[value] = np.empty(value.shape, value.dtype)
        return arrays[value]

    for instruction in program.instructions:
        if instruction.op.name not in VIEWS:
            continue
        source = array_of(instruction.inputs[0])
        result = instruction.op.forward(np, source, **instruction.attributes)
        results = result if isinstance(result, tuple) else (result,)
        for output, one in zip(instruction.outputs, results, strict=True):
            if one.size == 0 or np.may_share_memory(one, source):
                memory.views[output] = instruction
                arrays[output] = one


def _root(value: Value, memory: Memory) -> Value:
    while True:
        if value in memory.views:
            value = memory.views[value].inputs[0]
        elif value in memory.slots:
            value = memory.slots[value].parent
        else:
            return value


def _place_joined(program: Program, memory: Memory) -> None:
    makers = {o: i for i in program.instructions for o in i.outputs}
    fixed = set(program.outputs)
    for instruction in program.instructions:
        if instruction.op.name not in _JOINS or len(instruction.outputs) != 1:
            continue
        (joined,) = instruction.outputs
        position = 0
        dim = instruction.attributes["dim"] % len(joined.shape)
        for value in instruction.inputs:
            step = 1 if instruction.op.name == "stack" else value.shape[dim]
            here: Any = position if instruction.op.name == "stack" else slice(
                position, position + step
            )
            position += step
            maker = makers.get(value)
            placeable = (
                dim == 0
                and value.kind == COMPUTED
                and value not in memory.views
                and value not in memory.slots
                and value not in fixed
                and value.dtype == joined.dtype
                and maker is not None
                and maker.op.name not in _JOINS
            )
            if placeable:
                memory.slots[value] = Slot(joined, (here,))


def _assign_blocks(program: Program, memory: Memory) -> None:
    first: dict[Value, int] = {}
    last: dict[Value, int] = {}
    for number, instruction in enumerate(program.instructions):
        for value in (*instruction.outputs, *instruction.values()):
            if value.kind == COMPUTED:
                root = _root(value, memory)
                first.setdefault(root, number)
                last[root] = number
    end = len(program.instructions)
    for value in program.outputs:
        if value.kind == COMPUTED:
            last[_root(value, memory)] = end
    starting: dict[int, list[Value]] = {}
    ending: dict[int, list[Value]] = {}
    for root, number in first.items():
        if root.kind == COMPUTED:
            starting.setdefault(number, []).append(root)
            ending.setdefault(last[root], []).append(root)
    free: dict[int, list[int]] = {}
    for number, instruction in enumerate(program.instructions):
        dying = ending.get(number, [])
        released = set()
        if instruction.op.name in UFUNCS or instruction.op.name == "fused":
            released = {
                root for root in dying if root not in instruction.outputs
                and _may_write_over(root, instruction)
            }
            for root in released:
                free.setdefault(_rounded(root), []).append(memory.offsets[root])
        for root in starting.get(number, []):
            size = _rounded(root)
            if free.get(size):
                memory.offsets[root] = free[size].pop()
            else:
                memory.offsets[root] = memory.arena_bytes
                memory.arena_bytes += size
        for root in dying:
            if root not in released:
                free.setdefault(_rounded(root), []).append(memory.offsets[root])


def _may_write_over(root: Value, instruction: Instruction) -> bool:
    """Whether an output may take the block of a dying input: both are read and written in step."""
    if root not in instruction.inputs:
        return False
    return all(
        output.shape == root.shape and output.dtype == root.dtype
        for output in instruction.outputs
    )


def _rounded(value: Value) -> int:
    return max(_ALIGNMENT, -(-value.nbytes // _ALIGNMENT) * _ALIGNMENT)
