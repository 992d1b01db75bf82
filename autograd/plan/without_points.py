"""What needs no point in a program: it is computed once a call, and not in each chunk of points."""

from __future__ import annotations

from typing import NamedTuple

from .program import Program, Value, flops

_WORTH = 0.02  # of a program's operations, from which it is done apart


class Parts(NamedTuple):
    """A program in two parts.

    before  made of shared inputs alone: the loss at a wall with its gradient. None for nothing.
    body    all else; after the program's own inputs it has the outputs of `before`.
    """

    before: Program | None
    body: Program


def without_points(program: Program, points: int) -> Parts:
    """Return the parts of a program whose first `points` inputs are those of points."""
    varies: set[Value] = set(program.inputs[:points])
    before, body = [], []
    for instruction in program.instructions:
        if any(v in varies for v in instruction.values()):
            varies.update(instruction.outputs)
            body.append(instruction)
        else:
            before.append(instruction)
    if sum(map(flops, before)) < _WORTH * program.work()[1]:
        return Parts(None, program)
    made = {o for i in before for o in i.outputs}
    read = [*(v for i in body for v in i.values()), *program.outputs]
    shared = program.inputs[points:]
    used = [v for v in dict.fromkeys(read) if v in made]
    return Parts(
        program.part(shared, before, used),
        program.part([*program.inputs, *used], body, program.outputs),
    )
