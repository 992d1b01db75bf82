"""What points alone make in a program: it need not be computed again for the same points."""

from __future__ import annotations

from .program import COMPUTED, CONSTANT, Program, Value, flops

_WORTH = 0.2  # of a program's operations, from which it is kept


def points_first(program: Program, points: int) -> tuple[Program, int]:
    """Return the program with what its first inputs, the points, make alone put first.

    With how many instructions these are; 0 where they are too few of the operations.
    """
    if not points:
        return program, 0
    alone: set[Value] = set(program.inputs[:points])
    first, others = [], []
    for instruction in program.instructions:
        if all(v in alone or v.kind == CONSTANT for v in instruction.values()):
            alone.update(instruction.outputs)
            first.append(instruction)
        else:
            others.append(instruction)
    if sum(map(flops, first)) < _WORTH * program.work()[1] or not others:
        return program, 0
    return program.replaced([*first, *others]), len(first)


def kept_bytes(program: Program, points: int) -> int:
    """Return the bytes of what the other instructions read of that; 0 where it is not worth it."""
    ordered, count = points_first(program, points)
    first, others = ordered.instructions[:count], ordered.instructions[count:]
    made = {v for one in first for v in one.outputs if v.kind == COMPUTED}
    read = {v for one in others for v in one.values()} | set(program.outputs)
    return sum(v.nbytes for v in made & read)


