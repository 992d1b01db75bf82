"""Dead code: instructions of which no output is read are dropped."""

from __future__ import annotations

from ..program import Program


def remove_dead_code(program: Program) -> Program:
    """Keep the instructions that the outputs depend on."""
    live = set(program.outputs)
    kept = []
    for instruction in reversed(program.instructions):
        if any(output in live for output in instruction.outputs):
            kept.append(instruction)
            live.update(instruction.values())
    kept.reverse()
    return program.replaced(kept)
