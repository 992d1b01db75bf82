"""Replay with numpy: every call is bound to its arrays once, and writes into them from then on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...devices import CPU, put
from ..passes.arena import Memory, joined_places, plan_memory
from ..points_alone import points_first
from ..program import CONSTANT, Instruction, Program, Value


class NumpyExecutor:
    """A program bound to memory.

    points   how many inputs are those of points, for what they make alone to be kept.
    beside   an executor of the same program that runs at other times: its arena is shared.
    inputs   arrays to fill before `run`, in the program's order (those given, or own).
    outputs  arrays that hold the results after `run`; the next `run` writes over them.
    written  for its owner to say how often inputs that rarely change had been written to, at a run.
    xp       the array library.
    """

    xp: Any = np

    @classmethod
    def prepared(cls, program: Program) -> Program:
        """Return the program as it is bound, such as with its loops fused."""
        return program

    def __init__(
        self,
        program: Program,
        given: Sequence[Any] = (),
        points: int = 0,
        beside: NumpyExecutor | None = None,
    ) -> None:
        if beside is None:
            program, self._first = points_first(self.prepared(program), points)
            self.program = program
            self.memory = plan_memory(program, self._first)
            self._arena = self._bytes(self.memory.arena_bytes)
        else:
            self.program = program = beside.program
            self._first = beside._first
            self.memory, self._arena = beside.memory, beside._arena
        self._kept = self._bytes(self.memory.kept_bytes)
        self._has_run = False
        self.written: tuple[int, ...] | None = None
        self._arrays: dict[Value, Any] = {}
        for position, value in enumerate(program.inputs):
            array = given[position] if position < len(given) else None
            if array is None:
                array = self.xp.zeros(value.shape, value.dtype)
            elif array.shape != value.shape or array.dtype != value.dtype:
                raise ValueError(
                    f"input {value.name!r}: expected an array {list(value.shape)} {value.dtype}, "
                    f"got {list(array.shape)} {array.dtype}"
                )
            self._arrays[value] = array
        self.inputs = [self._arrays[v] for v in program.inputs]
        self.steps: list[Callable[[], Any]] = []
        for value, array in zip(program.inputs, self.inputs, strict=True):
            if not array.flags.c_contiguous:  # its views are planned as those of dense memory
                self._arrays[value] = self.xp.empty(value.shape, value.dtype)
                self.steps.append(partial(self.xp.copyto, self._arrays[value], array))
        copies = len(self.steps)
        for instruction in program.instructions[: self._first]:
            self._bind(instruction, self.memory)
        after = len(self.steps)
        for instruction in program.instructions[self._first :]:
            self._bind(instruction, self.memory)
        self._others = [*self.steps[:copies], *self.steps[after:]]
        self.outputs = [self.array(v) for v in program.outputs]

    def _bytes(self, size: int) -> Any:
        """Return the memory of the arena."""
        raw = np.empty(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size]

    def _constant(self, data: Any) -> Any:
        """Return a constant as an array of the library."""
        return data

    @property
    def _sum(self) -> Callable:
        """The sum of an array; the ufunc's own is faster than numpy.sum."""
        return np.add.reduce

    @property
    def nbytes(self) -> int:
        """The bytes of the arenas."""
        return self.memory.arena_bytes + self.memory.kept_bytes

    def run(self, known: bool = False) -> None:
        """Compute the outputs from the inputs; known: whose points are as they were last time."""
        steps = self._others if known and self._has_run else self.steps
        self._has_run = False
        with np.errstate(all="ignore"):
            for step in steps:
                step()
        self._has_run = True

    def array(self, value: Value) -> Any:
        """Return the array of a value."""
        found = self._arrays.get(value)
        if found is not None:
            return found
        memory = self.memory
        if value.kind == CONSTANT:
            array = self._constant(value.data)
        elif value in memory.views:
            instruction = memory.views[value]
            result = instruction.op.forward(
                self.xp, self.array(instruction.inputs[0]), **instruction.attributes
            )
            if isinstance(result, tuple):
                result = result[instruction.outputs.index(value)]
            array = result
        elif value in memory.slots:
            slot = memory.slots[value]
            array = self.array(slot.parent)[(*slot.key, ...)]  # a view, of one number too
        else:
            arena = self._kept if value in memory.kept else self._arena
            start = memory.offsets[value]
            array = arena[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
        self._arrays[value] = array
        return array

    def _argument(self, argument: Any) -> Any:
        return self.array(argument) if isinstance(argument, Value) else argument

    def _bind(self, instruction: Instruction, memory: Memory) -> None:
        op = instruction.op
        outputs = [o for o in instruction.outputs if o not in memory.views]
        if not outputs:
            return
        inputs = [self._argument(i) for i in instruction.inputs]
        arrays = [self.array(o) for o in instruction.outputs]
        if op.ufunc is not None:
            self.steps.append(partial(getattr(self.xp, op.ufunc), *inputs, out=arrays[0]))
        elif op.joins is not None:
            self._bind_join(instruction, memory)
        elif op.name == "matmul":
            left, right = inputs
            left = left.swapaxes(-1, -2) if instruction.attributes["transpose_x"] else left
            right = right.swapaxes(-1, -2) if instruction.attributes["transpose_y"] else right
            self.steps.append(partial(self.xp.matmul, left, right, out=arrays[0]))
        elif op.name == "sum_to" and (axes := summed_axes(instruction)) is not None:
            self._bind_sum(inputs[0], axes, arrays[0])
        else:
            forward = partial(op.forward, self.xp)
            self.steps.append(_generic(forward, inputs, instruction.attributes, arrays))

    def _bind_sum(self, source: Any, axes: tuple[int, ...], total: Any) -> None:
        if axes == (0,) and source.ndim == 2 and source.dtype.kind == "f":
            # ones @ source: BLAS adds rows up several times faster than a reduction does
            ones = self.xp.ones((1, source.shape[0]), source.dtype)
            self.steps.append(partial(self.xp.matmul, ones, source, out=total.reshape(1, -1)))
            return
        kept = [n for k, n in enumerate(source.shape) if k not in axes]
        self.steps.append(partial(self._sum, source, axis=axes, out=total.reshape(kept)))

    def _bind_join(self, instruction: Instruction, memory: Memory) -> None:
        """Copy what could not be computed in place."""
        (joined,) = instruction.outputs
        target = self.array(joined)
        for value, key in zip(instruction.inputs, joined_places(instruction), strict=True):
            slot = memory.slots.get(value)
            here = slot is not None and [*slot.key] == [*key][: len(slot.key)]
            if slot is None or slot.parent is not joined or not here:
                part = target[(*key, ...)]
                self.steps.append(partial(self.xp.copyto, part, self.array(value)))


def summed_axes(instruction: Instruction) -> tuple[int, ...] | None:
    """Return the axes that a `sum_to` sums over; None where there are none."""
    source, target = instruction.inputs[0].shape, instruction.outputs[0].shape
    extra = len(source) - len(target)
    axes = tuple(range(extra)) + tuple(
        extra + k for k, n in enumerate(target) if n == 1 and source[extra + k] != 1
    )
    return axes or None


def _generic(
    forward: Callable, inputs: list, attributes: dict, outputs: list
) -> Callable[[], None]:
    """Return a call of any operation that leaves its results in `outputs`."""
    if len(outputs) == 1:
        (target,) = outputs

        def one() -> None:
            result = forward(*inputs, **attributes)
            if result is not target:
                target[...] = result

        return one

    def several() -> None:
        for target, result in zip(outputs, forward(*inputs, **attributes), strict=True):
            target[...] = result

    return several


def find_not_finite(program: Program, inputs: Sequence[Any]) -> str | None:
    """Return the name of the first operation whose result is not finite, or None.

    The program is run as it was recorded, one operation after the other, on the host: inputs and
    constants of another device are copied.
    """
    arrays = {v: put(a, CPU) for v, a in zip(program.inputs, inputs, strict=True)}

    def array_of(argument: Any) -> Any:
        if not isinstance(argument, Value):
            return argument
        return put(argument.data, CPU) if argument.kind == CONSTANT else arrays[argument]

    with np.errstate(all="ignore"):
        for instruction in program.instructions:
            result = instruction.op.forward(
                np, *[array_of(i) for i in instruction.inputs], **instruction.attributes
            )
            results = result if isinstance(result, tuple) else (result,)
            for output, one in zip(instruction.outputs, results, strict=True):
                arrays[output] = np.asarray(one)
                if arrays[output].dtype.kind in "fc" and not np.isfinite(arrays[output]).all():
                    return instruction.op.name
    return None
