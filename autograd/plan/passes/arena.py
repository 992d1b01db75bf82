"""Memory: which values are views, which live inside others, and which share a block.

Views take no memory.  The inputs of a join (`stack`, `cat`) are computed right into their slots of
the result where they can be.  All other values take a block of one arena for the time between their
first writing and last reading; an elementwise operation may write over an input that dies with it,
where each element is read and written at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..program import COMPUTED, Instruction, Program, Value
from .clusters import fused_op

_ALIGNMENT = 64


@dataclass(frozen=True)
class Slot:
    """A place inside another value: `array(parent)[key]`, `shift` bytes from its start."""

    parent: Value
    key: tuple
    shift: int


@dataclass
class Memory:
    """Where the values of a program lie.

    views   value -> the instruction that makes it as a view of its input.
    shifts  view -> bytes from the start of its input, for the views that are dense.
    slots   value -> its place inside a joined value.
    offsets value -> byte offset of its block in the arena; `arena_bytes` is the arena's size.
    kept    values whose blocks are in another arena, of `kept_bytes`, which outlasts a run.
    """

    views: dict[Value, Instruction] = field(default_factory=dict)
    shifts: dict[Value, int] = field(default_factory=dict)
    slots: dict[Value, Slot] = field(default_factory=dict)
    offsets: dict[Value, int] = field(default_factory=dict)
    arena_bytes: int = 0
    kept: set[Value] = field(default_factory=set)
    kept_bytes: int = 0


def plan_memory(program: Program, first: int = 0) -> Memory:
    """Return where every computed value of `program` lies.

    first: what so many instructions make, and others read, is kept from one run to the next.
    """
    memory = Memory()
    _find_views(program, memory)
    _place_joined(program, memory)
    _assign_blocks(program, memory, first)
    return memory


def _find_views(program: Program, memory: Memory) -> None:
    """Find which results of view operations share their input's memory, on empty arrays."""
    arrays: dict[Value, Any] = {}

    def array_of(value: Value) -> Any:
        if value not in arrays:
            arrays[value] = np.empty(value.shape, value.dtype)
        return arrays[value]

    for instruction in program.instructions:
        if not instruction.op.view:
            continue
        source = array_of(instruction.inputs[0])
        result = instruction.op.forward(np, source, **instruction.attributes)
        results = result if isinstance(result, tuple) else (result,)
        for output, one in zip(instruction.outputs, results, strict=True):
            if one.size == 0 or np.may_share_memory(one, source):
                memory.views[output] = instruction
                arrays[output] = one
                if one.flags.c_contiguous:
                    memory.shifts[output] = one.ctypes.data - source.ctypes.data


def _root(value: Value, memory: Memory) -> Value:
    return _place(value, memory)[0]


def _place(value: Value, memory: Memory) -> tuple[Value, int | None]:
    """Return the value whose block holds `value`, and the bytes before it; None if not dense."""
    shift: int | None = 0
    while True:
        if value in memory.views:
            inner = memory.shifts.get(value)
            value = memory.views[value].inputs[0]
        elif value in memory.slots:
            inner = memory.slots[value].shift
            value = memory.slots[value].parent
        else:
            return value, shift
        shift = None if shift is None or inner is None else shift + inner


def _place_joined(program: Program, memory: Memory) -> None:
    makers = {o: i for i in program.instructions for o in i.outputs}
    fixed = set(program.outputs)
    for instruction in program.instructions:
        if instruction.op.joins is None:
            continue
        (joined,) = instruction.outputs
        shift = 0
        for value, key in zip(instruction.inputs, joined_places(instruction), strict=True):
            maker = makers.get(value)
            placeable = (
                len(key) == 1  # along the first dimension: one dense piece after the other
                and value.kind == COMPUTED
                and value not in memory.views
                and value not in memory.slots
                and value not in fixed
                and value.dtype == joined.dtype
                and maker is not None
                and maker.op.joins is None
            )
            if placeable:
                memory.slots[value] = Slot(joined, key, shift)
            shift += value.nbytes


def joined_places(instruction: Instruction) -> list[tuple]:
    """Return where in its output an instruction copies each input to."""
    shapes = [value.shape for value in instruction.inputs]
    return instruction.op.joins(shapes, instruction.attributes)


def _assign_blocks(program: Program, memory: Memory, kept: int) -> None:
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
        if root.kind != COMPUTED:
            continue
        if number < kept <= last[root]:
            memory.kept.add(root)
            memory.offsets[root] = memory.kept_bytes
            memory.kept_bytes += _rounded(root)
        else:
            starting.setdefault(number, []).append(root)
            ending.setdefault(last[root], []).append(root)
    free: dict[int, list[int]] = {}
    for number, instruction in enumerate(program.instructions):
        dying = [root for root in ending.get(number, []) if root in memory.offsets]
        for root in starting.get(number, []):
            size = _rounded(root)
            over = next(
                (old for old in dying if _may_write_over(old, root, instruction, memory)), None
            )
            if over is not None:
                dying.remove(over)
                memory.offsets[root] = memory.offsets[over]
            elif free.get(size):
                memory.offsets[root] = free[size].pop()
            else:
                memory.offsets[root] = memory.arena_bytes
                memory.arena_bytes += size
        unread = [root for root in starting.get(number, []) if last[root] == number]
        for root in (*dying, *unread):
            free.setdefault(_rounded(root), []).append(memory.offsets[root])


def _may_write_over(old: Value, new: Value, instruction: Instruction, memory: Memory) -> bool:
    """Whether `new` may take the block of `old`, which dies: both are read and written in step.

    Each output inside `new` has to lie where one full input inside `old` lies, or apart from all.
    """
    in_step = instruction.op.ufunc is not None or instruction.op is fused_op
    if not in_step or _rounded(old) != _rounded(new):
        return False
    outputs = _places_inside(new, instruction.outputs, memory)
    for value, place in _places_inside(old, instruction.values(), memory):
        for output, start in outputs:
            if place is None or start is None:
                return False
            same = place == start and value.size == output.size and value.dtype == output.dtype
            apart = place + value.nbytes <= start or start + output.nbytes <= place
            if not (same or apart):
                return False
    return True


def _places_inside(
    root: Value, values: Iterable[Value], memory: Memory
) -> list[tuple[Value, int | None]]:
    places = [(value, *_place(value, memory)) for value in values]
    return [(value, shift) for value, inside, shift in places if inside is root]


def _rounded(value: Value) -> int:
    return max(_ALIGNMENT, -(-value.nbytes // _ALIGNMENT) * _ALIGNMENT)
