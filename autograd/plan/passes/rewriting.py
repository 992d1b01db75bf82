"""What the rewriting passes share: going through a program once and building another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY
from ..program import CONSTANT, Argument, Instruction, Program, Value


class Rewriter:
    """Builds a program from another: `emit` adds instructions, `replace` redirects values."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.instructions: list[Instruction] = []
        self.maker: dict[Value, Instruction] = {}
        self._replacement: dict[Value, Argument] = {}

    def resolve(self, argument: Argument) -> Argument:
        """Return what an argument of the old program is in the new one."""
        while isinstance(argument, Value) and argument in self._replacement:
            argument = self._replacement[argument]
        return argument

    def resolved(self, inputs: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """Return what the arguments of an instruction of the old program are in the new one."""
        if self._replacement.keys().isdisjoint(inputs):  # of nearly all
            return inputs
        return tuple([self.resolve(argument) for argument in inputs])

    def replace(self, old: Value, new: Argument) -> None:
        """Let every later use of `old` read `new`."""
        if old is not new:
            self._replacement[old] = new

    def add(self, instruction: Instruction) -> None:
        """Append an instruction with resolved inputs."""
        self.instructions.append(instruction)
        for output in instruction.outputs:
            self.maker[output] = instruction

    def keep(self, instruction: Instruction) -> None:
        """Append an instruction of the old program, its inputs resolved."""
        inputs = self.resolved(instruction.inputs)
        self.add(Instruction(instruction.op, inputs, instruction.attributes, instruction.outputs))

    def emit(self, name: str, *inputs: Argument, dtype: Any = None) -> Value:
        """Append an elementwise operation and return its value, of the last value's dtype."""
        values = [i for i in inputs if isinstance(i, Value)]
        shape = np.broadcast_shapes(*(v.shape for v in values))
        output = self.program.new_value(shape, values[-1].dtype if dtype is None else dtype)
        self.add(Instruction(REGISTRY[name], tuple(inputs), {}, (output,)))
        return output

    def finished(self) -> Program:
        """Return the new program; outputs that became numbers are made constants."""
        outputs = []
        for old in self.program.outputs:
            new = self.resolve(old)
            if not isinstance(new, Value):
                new = self.program.new_constant(np.full(old.shape, new, old.dtype))
            if new.shape != old.shape:
                new = self._expanded(new, old.shape)
            outputs.append(new)
        return self.program.replaced(self.instructions, outputs)

    def _expanded(self, value: Value, shape: tuple) -> Value:
        output = self.program.new_value(shape, value.dtype)
        self.add(Instruction(REGISTRY["expand"], (value,), {"shape": shape}, (output,)))
        return output


def rewrite(
    program: Program,
    rule: Callable[[Rewriter, Instruction], Sequence[Argument] | None],
    changes: bool = True,
) -> Program:
    """Apply `rule` to each instruction, its inputs resolved.

    The rule returns what replaces the outputs, or None to keep the instruction.
    changes  whether it may change the instruction that it is given: one of its own, then.
    """
    rewriter = Rewriter(program)
    for instruction in program.instructions:
        inputs, current = rewriter.resolved(instruction.inputs), instruction
        if changes or inputs is not instruction.inputs:
            current = Instruction(
                instruction.op, inputs, instruction.attributes, instruction.outputs
            )
        replaced = rule(rewriter, current)
        if replaced is None:
            rewriter.add(current)
        else:
            for old, new in zip(instruction.outputs, replaced, strict=True):
                rewriter.replace(old, new)
    return rewriter.finished()


def number(argument: Argument) -> float | None:
    """Return the number that an argument is everywhere, or None."""
    if isinstance(argument, Value):
        if argument.kind != CONSTANT or argument.size == 0 or argument.dtype.kind not in "f":
            return None
        flat = (
            np.asarray(argument.data).reshape(-1)
            if isinstance(argument.data, np.ndarray)
            else (None)
        )
        if flat is None or not (flat == flat[0]).all():
            return None
        return float(flat[0])
    return None if argument is None or isinstance(argument, complex) else float(argument)
