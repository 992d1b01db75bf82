"""Values that points alone make, by operations that tiles do not hold: made beforehand.

A table of the coordinates or a function without vector code is the same in every step, as long as
the points are.  Its values are computed for all points at once, by the operations' own forward, and
handed to the tiles as a further array of points; they are computed again when the points change.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY
from ..bits import has_bits
from ..program import CONSTANT, INPUT, Argument, Instruction, Program, Value
from .places import CannotCompile, broadcast, inner_size, moved, moves, points_of_constant

_TOGETHER = 1 << 14  # points: what is on the way to the results is kept for so many alone


@dataclass(frozen=True)
class _Step:
    """An operation on rows of numbers, (k, points): lists of rows, numbers (k, 1), or one number.

    array  the number of the rows' array that it makes.
    """

    instruction: Instruction
    operands: tuple[tuple[str, Any], ...]
    array: int


class AtPoints:
    """What is made beforehand, for the first inputs of a program, which are the points'.

    program  what is left of it: the made arrays are inputs after the points'.
    count    how many arrays are made.
    """

    def __init__(self, program: Program, points: int, held: Collection[str]) -> None:
        self.program = program
        self.count = 0
        self._points = points
        self._few = program.inputs[0].shape[0]
        self._steps: list[_Step] = []
        self._made: list[int] = []
        self._sizes = [v.size // self._few for v in program.inputs[:points]]
        self._firsts = np.cumsum([0, *self._sizes])[:-1].tolist()
        self._given: list[np.ndarray] | None = None
        self._results: list[np.ndarray] = []
        wanted = self._wanted(held)
        if wanted:
            self._take_out(wanted)

    # ---- the program

    def _wanted(self, held: Collection[str]) -> set[Value]:
        """Return the results of operations that tiles do not hold, on what knows points alone."""
        alone = set(self.program.inputs[: self._points])
        wanted: set[Value] = set()
        for instruction in self.program.instructions:
            values = list(instruction.values())
            if not values or any(v not in alone and v.kind != CONSTANT for v in values):
                continue
            if moves(instruction) or (instruction.op.elementwise and len(instruction.outputs) == 1):
                alone.update(instruction.outputs)
            if instruction.op.elementwise and not _is_held(instruction, held):
                wanted.update(instruction.outputs)
        return wanted

    def _take_out(self, wanted: set[Value]) -> None:
        """Split the program; what cannot be followed stays in it."""
        places: dict[Value, np.ndarray] = {}
        for first, value in zip(self._firsts, self.program.inputs, strict=False):
            size = value.size // self._few
            rows = (first + np.arange(size)) * self._few + np.arange(self._few)[:, None]
            places[value] = rows.reshape(value.shape)
        made: dict[Value, tuple[Value, list[Instruction]]] = {}
        for instruction in self.program.instructions:
            values = list(instruction.values())
            if not any(v in places for v in values):
                continue
            if any(v not in places and v.kind != CONSTANT for v in values):
                continue
            try:
                self._follow(instruction, places)
            except CannotCompile:
                continue
            for output in instruction.outputs:
                if output in wanted:
                    made[output] = self._input_for(output, places[output])
                    self._made.append(len(self._steps) - 1)
        self._drop_unused()
        self.count = len(made)
        inputs = self.program.inputs
        instructions = [one for _, moving in made.values() for one in moving]
        instructions += [
            i for i in self.program.instructions if not any(o in made for o in i.outputs)
        ]
        self.program = Program(
            [*inputs[: self._points], *(v for v, _ in made.values()), *inputs[self._points :]],
            instructions, self.program.outputs, self.program.counter, self.program.captured,
        )  # fmt: skip

    def _follow(self, instruction: Instruction, places: dict[Value, np.ndarray]) -> None:
        if moves(instruction):
            if any(v not in places for v in instruction.values()):
                raise CannotCompile("numbers beside points")
            found = moved(instruction, [places[v] for v in instruction.inputs])
            if any(one.min() < 0 for one in found):
                raise CannotCompile("zeros beside points")
            places.update(zip(instruction.outputs, found, strict=True))
            return
        if not instruction.op.elementwise or len(instruction.outputs) != 1:
            raise CannotCompile(f"operation '{instruction.op.name}'")
        (output,) = instruction.outputs
        several = [
            broadcast(places[v] % self._few, output) for v in instruction.values() if v in places
        ]
        points = several[0]
        if any(np.any(one != points) for one in several[1:]):
            raise CannotCompile("an operation between points")
        inner = inner_size(points, self._few)
        operands = tuple(self._operand(a, output, inner, places) for a in instruction.inputs)
        size = output.size // self._few
        first = self._firsts[-1] + self._sizes[-1]
        self._firsts.append(first)
        self._sizes.append(size)
        rows = (first + np.arange(size)).reshape(-1, 1, inner) * self._few
        rows = rows + np.arange(self._few).reshape(1, -1, 1)
        places[output] = rows.reshape(output.shape)
        self._steps.append(_Step(instruction, operands, len(self._firsts) - 1))

    def _operand(
        self, argument: Argument, output: Value, inner: int, places: dict[Value, np.ndarray]
    ) -> tuple[str, Any]:
        if not isinstance(argument, Value):
            return "number", argument
        if argument in places:
            rows = broadcast(places[argument] // self._few, output)
        elif points_of_constant(argument.data, self._few) is None and argument.size > 1:
            raise CannotCompile("numbers beside points")
        else:
            rows = np.broadcast_to(argument.data, output.shape)
        rows = rows.reshape(-1, self._few, inner)
        if np.any(rows != rows[:, :1]):
            raise CannotCompile("an operand whose rows are not those of one value")
        rows = rows[:, 0].reshape(-1)
        return ("rows", rows) if argument in places else ("numbers", rows.reshape(-1, 1))

    def _input_for(self, output: Value, places: np.ndarray) -> tuple[Value, list[Instruction]]:
        """Return an array of points, (points, k), and what puts it into the value's shape."""
        inner = inner_size(places % self._few, self._few)
        outer = output.size // self._few // inner
        array, apart, turned = (
            self.program.new_value(shape, output.dtype)
            for shape in [
                (self._few, outer * inner),
                (self._few, outer, inner),
                (outer, self._few, inner),
            ]
        )
        array.kind, array.name = INPUT, "made"
        return array, [
            Instruction(REGISTRY["reshape"], (array,), {"shape": apart.shape}, (apart,)),
            Instruction(REGISTRY["permute"], (apart,), {"axes": (1, 0, 2)}, (turned,)),
            Instruction(REGISTRY["reshape"], (turned,), {"shape": output.shape}, (output,)),
        ]

    def _drop_unused(self) -> None:
        """Keep the steps that the made arrays stand on."""
        made = {self._steps[k].array for k in self._made}
        needed, kept = set(made), []
        for step in reversed(self._steps):
            if step.array in needed:
                kept.append(step)
                for kind, rows in step.operands:
                    if kind == "rows":
                        needed |= {self._owner(int(row)) for row in rows}
        self._steps = kept[::-1]
        order = [step.array for step in self._steps if step.array in made]
        self._made = order
        self._needed = sorted(k for k in needed if k < self._points)

    def _owner(self, row: int) -> int:
        return int(np.searchsorted(self._firsts, row, side="right")) - 1

    # ---- a call

    def __call__(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the made arrays (points, k) for the points' arrays."""
        if not self.count:
            return []
        given = [rows[k] for k in self._needed]
        known = self._given is not None and all(
            has_bits(a, b) for a, b in zip(given, self._given, strict=True)
        )
        if not known:
            self._given = None  # not the points of what may fail
            self._results = self._computed(rows)
            self._given = [array.copy() for array in given]
        return self._results

    def _computed(self, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
        count = len(rows[0])
        # yes and no are numbers in tiles
        results = [np.empty((count, self._sizes[k]), rows[0].dtype) for k in self._made]
        for start in range(0, count, _TOGETHER):
            piece = slice(start, start + _TOGETHER)
            arrays = {k: rows[k][piece].reshape(len(rows[k][piece]), -1).T for k in self._needed}
            with np.errstate(all="ignore"):  # as wherever programs are run
                self._follow_steps(arrays)
            for result, k in zip(results, self._made, strict=True):
                result[piece] = arrays[k].T
        return results

    def _follow_steps(self, arrays: dict[int, np.ndarray]) -> None:
        """Add what the steps make to arrays of rows, by number."""
        count = next(iter(arrays.values())).shape[1]

        def fetched(kind: str, operand: Any) -> Any:
            if kind != "rows":
                return operand
            owners = [self._owner(int(row)) for row in operand]
            if len(set(owners)) == 1:
                return arrays[owners[0]][operand - self._firsts[owners[0]]]
            return np.stack(
                [arrays[k][row - self._firsts[k]] for k, row in zip(owners, operand, strict=True)]
            )

        for step in self._steps:
            operands = [fetched(*one) for one in step.operands]
            found = step.instruction.op.forward(np, *operands, **step.instruction.attributes)
            arrays[step.array] = np.broadcast_to(found, (self._sizes[step.array], count))


def _is_held(instruction: Instruction, held: Collection[str]) -> bool:
    if instruction.op.name in ("to", "clone"):
        (value,), (output,) = instruction.values(), instruction.outputs
        return not output.dtype.kind == "b" != value.dtype.kind
    return instruction.op.name in held and not instruction.attributes
