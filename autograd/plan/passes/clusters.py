"""Clusters: elementwise instructions that meet become one loop with several inputs and outputs.

Every instruction has a stage, the length of the longest way to it on which steps inside of a loop
are free.  Elementwise instructions of one stage and one shape that share values form a unit, and
a unit becomes a `fused` instruction; one instruction alone does so where it broadcasts rows or
columns, which numpy does slowly.  What leaves a unit is written to memory; what is cheap to compute
again from arrays that the reading unit needs anyway is computed again instead (the derivatives of
an activation in the reverse sweep, say), which saves both the memory between the two and the way
there and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...ops.registry import REGISTRY, Op
from ..program import Argument, Instruction, Program, Value

# Arithmetic on values in registers costs about a sixth of fetching one from the L2 cache.
_STEPS_WORTH_A_VALUE = 6
_STEPS_OF_A_FUNCTION = 28  # such as tanh: measured, from 25 on nested gradients keep its values
# A compiler's work on one loop grows faster than the loop, and beyond some tens of arrays the loop
# itself slows down: what is larger is cut.  An equation of a dozen terms takes 275 and 39.
_MOST_STEPS = 512
_MOST_ARRAYS = 64
# Small round numbers are part of the formula; others (coefficients, weights) are given at run time,
# so that another value of a coefficient needs no other loop.
_LARGEST_LITERAL = 64


class Operand(NamedTuple):
    """What a step reads: "input", "step" or "number" with its position, or a "literal" itself."""

    kind: str
    value: float


class Step(NamedTuple):
    """One elementwise operation of a loop."""

    op: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Loop:
    """The body of a loop over (rows, columns), without sizes: equal loops share one kernel.

    dtype    "float32" or "float64", of all inputs and outputs.
    layouts  one an input: "full" (rows, columns), "row" (1, columns), "column" (rows, 1), "scalar";
             "other" in kernels alone, which find elements by themselves.
    numbers  how many numbers are given at run time.
    steps    what is computed for each element.
    outputs  positions of the steps that are written, all of them full.
    """

    dtype: str
    layouts: tuple[str, ...]
    numbers: int
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @property
    def flat(self) -> bool:
        """Whether rows and columns can be one loop."""
        return _are_flat(self.layouts)


def _are_flat(layouts: Sequence[str]) -> bool:
    return not {"row", "column", "other"}.intersection(layouts)


def _fused(xp: Any, *inputs: Any, out: Any = None, loop: Loop, numbers: tuple, size: tuple) -> Any:
    """Compute a loop with whole arrays."""
    results: list[Any] = []
    for step in loop.steps:
        pool = {"input": inputs, "step": results, "number": numbers}
        arguments = [
            o.value if o.kind == "literal" else pool[o.kind][int(o.value)] for o in step.operands
        ]
        results.append(getattr(xp, REGISTRY[step.op].ufunc)(*arguments))
    outputs = tuple(results[k] for k in loop.outputs)
    return outputs if len(outputs) > 1 else outputs[0]


def _loop_flops(inputs: Sequence, outputs: Sequence, attributes: dict) -> int:
    rows, columns = attributes["size"]
    return len(attributes["loop"].steps) * rows * columns


fused_op = Op("fused", _fused, flops=_loop_flops)


def in_cpu_loops(op: Op) -> bool:
    """Return whether loops on the CPU hold an operation: arithmetic, cheap enough to be fused."""
    return op.code is not None and op.code.python is not None


def in_gpu_loops(op: Op) -> bool:
    """Return whether loops on the GPU hold an operation."""
    return op.code is not None


def fuse(
    program: Program,
    held: Callable[[Op], bool] = in_cpu_loops,
    truths: np.dtype | None = None,
    every: bool = False,
) -> Program:
    """Return the program with the elementwise operations that loops hold grouped where it pays.

    truths  the dtype of the loops in which yes and no are numbers; None where loops hold neither.
    every   make a loop of all that is held: of an operation by itself too, and of arrays of any
            shapes that broadcast, as kernels of cupy take them.
    """
    return _Clusters(program, held, truths, every).fused()


class _Unit:
    """What is computed in one loop, or an instruction that stays alone.

    home    the instructions that are computed here.
    inlined values that can be computed here, whether at home or again.
    needed  values that are read outside.
    """

    def __init__(self, key: tuple | None, stage: int) -> None:
        self.key = key
        self.stage = stage
        self.home: list[Instruction] = []
        self.inlined: set[Value] = set()
        self.needed: set[Value] = set()
        self.instruction: Instruction | None = None


class _Clusters:
    def __init__(
        self,
        program: Program,
        held: Callable[[Op], bool],
        truths: np.dtype | None,
        every: bool,
    ) -> None:
        self.program = program
        self.every = every
        self.position = {i: k for k, i in enumerate(program.instructions)}
        self.maker = {o: i for i in program.instructions for o in i.outputs}
        self.key = {
            i: _loop_key(i, truths, every) if held(i.op) else None for i in program.instructions
        }
        self.outputs = set(program.outputs)
        # What is in memory whatever loops keep: read by others, or asked for.
        self.stored = self.outputs.union(
            *(i.values() for i in program.instructions if self.key[i] is None)
        )
        self.readers: dict[Value, set[Instruction]] = {}
        for instruction in program.instructions:
            for value in instruction.values():
                self.readers.setdefault(value, set()).add(instruction)
        self.unit: dict[Instruction, _Unit] = {}
        self.units: list[_Unit] = []

    def fused(self) -> Program:
        self._make_units()
        loops = sorted((u for u in self.units if u.key is not None), key=lambda u: u.stage)
        for unit in loops:
            self._compute_again(unit)
        self._find_needed(loops)
        for unit in loops:
            if unit.needed:
                unit.instruction = self._built(unit)
        return self.program.replaced(list(self._in_order()))

    # ---- grouping

    def _make_units(self) -> None:
        stages = self._stages()
        groups: dict[tuple, list[Instruction]] = {}
        for instruction in self.program.instructions:
            key = self.key[instruction]
            if key is None:
                unit = self._unit(None, stages[instruction], [instruction])
                unit.instruction = instruction
            else:
                groups.setdefault((stages[instruction], key), []).append(instruction)
        for (stage, key), group in groups.items():
            for members in _connected(group):
                for piece in self._pieces(members):
                    self._unit(key, stage, piece)

    def _pieces(self, members: list[Instruction]) -> Iterator[list[Instruction]]:
        """Yield the members in order, cut where one loop would hold too much."""
        together = set(members)
        piece: list[Instruction] = []
        made: set[Value] = set()
        arrays: set[Value] = set()
        for instruction in members:
            touched = {value for value in instruction.values() if value not in made}
            (output,) = instruction.outputs
            if output in self.outputs or not self.readers.get(output, set()) <= together:
                touched.add(output)
            full = len(piece) >= _MOST_STEPS or len(arrays | touched) > _MOST_ARRAYS
            if piece and full:
                yield piece
                piece, made, arrays = [], set(), set()
                touched |= set(instruction.values())
            piece.append(instruction)
            made.add(output)
            arrays |= touched
        yield piece

    def _unit(self, key: tuple | None, stage: int, members: list[Instruction]) -> _Unit:
        unit = _Unit(key, stage)
        unit.home = members
        unit.inlined = {o for i in members for o in i.outputs}
        self.unit.update(dict.fromkeys(members, unit))
        self.units.append(unit)
        return unit

    def _stages(self) -> dict[Instruction, int]:
        stages: dict[Instruction, int] = {}
        for instruction in self.program.instructions:
            stage = 0
            for value in instruction.values():
                maker = self.maker.get(value)
                if maker is not None:
                    together = (
                        self.key[maker] is not None and self.key[maker] == self.key[instruction]
                    )
                    stage = max(stage, stages[maker] + (not together))
            stages[instruction] = stage
        return stages

    def _maker_unit(self, value: Value) -> _Unit | None:
        maker = self.maker.get(value)
        return None if maker is None else self.unit[maker]

    # ---- computing again

    def _compute_again(self, unit: _Unit) -> None:
        """Inline values of earlier units where that saves more arrays than it reads."""
        arrays = self._leaves(unit, unit.inlined)
        kept = {
            value: maker
            for value in arrays
            if (maker := self._maker_unit(value)) is not None and maker.key == unit.key
        }
        if not kept:
            return
        self._inline(unit, arrays, {v: self._way(maker, v) for v, maker in kept.items()})
        # Then from what is stored anyway, such as the outputs of an activation.
        arrays = self._leaves(unit, unit.inlined)
        kept = {v: maker for v, maker in kept.items() if v in arrays - self.stored}
        self._inline(
            unit, arrays, {v: self._way(maker, v, self.stored) for v, maker in kept.items()}
        )

    def _inline(self, unit: _Unit, arrays: set[Value], again: dict[Value, set[Value]]) -> None:
        """Inline some of the values that a unit reads, each by its way, if it pays."""
        if not again:
            return
        present = arrays - set(again)
        steps = set().union(*again.values())
        new = {leaf for leaf in self._leaves(unit, steps) - present if leaf.shape == unit.key[0]}
        if len(new) <= len(again) and self._cost(steps) <= _STEPS_WORTH_A_VALUE * len(again):
            unit.inlined |= steps
            return
        for way in again.values():
            if self._cost(way) <= _STEPS_WORTH_A_VALUE and self._leaves(unit, way) <= present:
                unit.inlined |= way

    def _cost(self, values: set[Value]) -> int:
        """Return the work behind values, in steps of arithmetic."""
        makers = (self.maker[value].op for value in values)
        return sum(1 if in_cpu_loops(op) else _STEPS_OF_A_FUNCTION for op in makers)

    def _way(self, unit: _Unit, value: Value, known: Set[Value] = frozenset()) -> set[Value]:
        """Return the values that computing `value` from known ones goes through, as `unit` does."""
        way: set[Value] = set()
        pending: list[Argument] = [value]
        while pending:
            current = pending.pop()
            if current in unit.inlined and current not in way and current not in known:
                way.add(current)
                pending.extend(self.maker[current].inputs)  # numbers are in nothing
        return way

    def _leaves(self, unit: _Unit, values: set[Value]) -> set[Value]:
        """Return what is read to compute `values`, all of them by steps of one loop."""
        read = {v for value in values for v in self.maker[value].values()}
        return read - values - unit.inlined

    def _find_needed(self, loops: list[_Unit]) -> None:
        """Find what each unit writes, from the last to the first."""
        for unit in loops:
            unit.needed = {o for i in unit.home for o in i.outputs if o in self.stored}
        for unit in reversed(loops):
            for value in self._read(unit)[1]:
                maker = self._maker_unit(value)
                if maker is not None and maker.key is not None:
                    maker.needed.add(value)

    def _read(self, unit: _Unit) -> tuple[list[Instruction], list[Value]]:
        """Return the instructions behind what a unit writes, in order, and the arrays they read."""
        way = set().union(*(self._way(unit, value) for value in unit.needed))
        steps = sorted((self.maker[v] for v in way), key=self.position.__getitem__)
        read = dict.fromkeys(v for i in steps for v in i.values() if v not in way)
        return steps, list(read)

    # ---- the result

    def _built(self, unit: _Unit) -> Instruction:
        instructions, inputs = self._read(unit)
        shape, dtype = unit.key
        layouts = tuple(layout(v.shape, shape) or "other" for v in inputs)
        if len(instructions) == 1 and _are_flat(layouts) and not self.every:
            return instructions[0]
        results = {i.outputs[0]: k for k, i in enumerate(instructions)}
        places = {v: k for k, v in enumerate(inputs)}
        numbers: list[float] = []

        def operand(argument: Argument) -> Operand:
            if isinstance(argument, Value):
                if argument in results:
                    return Operand("step", results[argument])
                return Operand("input", places[argument])
            if _is_literal(argument):
                return Operand("literal", float(argument))
            if argument not in numbers:
                numbers.append(argument)
            return Operand("number", numbers.index(argument))

        steps = tuple(Step(i.op.name, tuple(operand(a) for a in i.inputs)) for i in instructions)
        outputs = [v for v in results if v in unit.needed]
        loop = Loop(str(dtype), layouts, len(numbers), steps, tuple(results[v] for v in outputs))
        attributes = {"loop": loop, "numbers": tuple(numbers), "size": loop_size(shape)}
        return Instruction(fused_op, tuple(inputs), attributes, tuple(outputs))

    def _in_order(self) -> Iterator[Instruction]:
        """Yield the instructions in the order of the program, each loop where it is first read."""
        maker = {
            o: u.instruction for u in self.units if u.instruction for o in u.instruction.outputs
        }
        done: set[Instruction] = set()
        wanted = [i for i in self.program.instructions if self.key[i] is None]
        wanted += [maker[v] for v in self.program.outputs if v in maker]
        for instruction in wanted:
            pending = [instruction]
            while pending:
                current = pending[-1]
                before = [maker[v] for v in current.values() if v in maker]
                missing = [i for i in before if i not in done]
                if missing and current not in done:
                    pending.extend(reversed(missing))
                    continue
                pending.pop()
                if current not in done:
                    done.add(current)
                    yield current


def loop_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return (rows, columns) of a loop: the last dimension, where it is one, and all others."""
    columns = shape[-1] if shape else 1
    size = int(np.prod(shape, dtype=np.int64))
    return (1, size) if columns == 1 else (size // columns, columns)


def layout(shape: tuple[int, ...], full: tuple[int, ...]) -> str | None:
    """Return how an array of `shape` is read in a loop over `full`; None where it cannot be."""
    padded = (1,) * (len(full) - len(shape)) + tuple(shape)
    if padded == full:
        return "full"
    if all(n == 1 for n in padded):
        return "scalar"
    if padded[:-1] == full[:-1] and padded[-1] == 1:
        return "column"
    if padded[-1] == full[-1] and all(n == 1 for n in padded[:-1]):
        return "row"
    return None


def _loop_key(instruction: Instruction, truths: np.dtype | None, every: bool) -> tuple | None:
    """Return (shape, dtype) of the loop that an instruction can be part of."""
    (output,) = instruction.outputs
    held = truths is not None  # a dtype that is compared with None is compared with float64
    dtype = truths if output.dtype == bool and held else output.dtype
    if output.size == 0 or dtype not in (np.float32, np.float64) or instruction.attributes:
        return None
    for argument in instruction.inputs:
        if isinstance(argument, Value):
            truth = held and argument.dtype == bool and dtype == truths
            fits = argument.dtype == dtype or truth
            read = every or layout(argument.shape, output.shape) is not None
            if not (fits and read):
                return None
        elif type(argument) not in (int, float):
            return None
    if not any(isinstance(a, Value) for a in instruction.inputs):
        return None
    return output.shape, dtype


def _connected(group: list[Instruction]) -> Iterator[list[Instruction]]:
    """Yield the parts of a group that share no array of the loop's shape."""
    leader = {i: i for i in group}

    def find(instruction: Instruction) -> Instruction:
        while leader[instruction] is not instruction:
            leader[instruction] = leader[leader[instruction]]
            instruction = leader[instruction]
        return instruction

    reader: dict[Value, Instruction] = {}
    for instruction in group:
        (output,) = instruction.outputs
        for value in (output, *instruction.values()):
            if value.shape == output.shape:
                leader[find(instruction)] = find(reader.setdefault(value, instruction))
    parts: dict[Instruction, list[Instruction]] = {}
    for instruction in group:
        parts.setdefault(find(instruction), []).append(instruction)
    yield from parts.values()


def _is_literal(number: float) -> bool:
    if number == 0 and np.signbit(number):
        return False  # for loops that are told from others by their numbers, -0.0 is 0.0
    return abs(number) <= _LARGEST_LITERAL and float(number * 4).is_integer()
