"""A program in three parts: what knows no point, what is done point by point, what follows sums.

    before  values that depend on no point: computed once a call.
    body    values of each point, and their sums over the points: compiled, tile after tile.
    after   what is made of the sums: computed once a call from the sums over all points.

The third part stands on the sums over all points instead of those of each chunk, so it has to be
linear in them: that is checked, operation by operation.  What is added there and knows no point,
the loss at a wall beside that inside, each chunk would add: it counts as often as the points
recorded go into all points (`Parts.times`), as `fn` multiplies it by a chunk's share of them.

A whole program, which no chunk is recorded of, stands on the sums over all its points anyway: what
follows them may be anything, and what knows no point counts once.  A number that is made of sums
may come back to the points as a factor, as the gradient of a root of a mean does: it waits until
they are summed or joined, where it is multiplied by (`_Split.scales`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY
from ..passes.dead import remove_dead_code
from ..program import CONSTANT, Argument, Instruction, Program, Value
from .places import (
    CannotCompile,
    broadcast,
    factors,
    is_same_along,
    moved,
    moves,
    points_of_constant,
    points_of_expansion,
    summed_dimensions,
    with_rows,
)
from .totals import joined as totals_of

_PRODUCTS = frozenset({"mul", "matmul"})


@dataclass(frozen=True)
class Parts:
    """The parts of a program.

    before  its outputs are `uniform`, in order.
    body    its inputs are the points' arrays and then `uniform`; its outputs are the sums and then
            the joined outputs of the program.
    after   its inputs are totals, then `uniform`, and last `times` where that is read; its outputs
            are the program's sums, then what joined outputs are to be multiplied by.
    totals  the first outputs of the body: to which total each of them is added.
    recorded  how many points the program is recorded for.
    scaled  which of the joined outputs these are.
    times   whether `after` reads how often these go into all points, a number of its last input's
            dtype, ().
    sums    how many totals there are.
    """

    before: Program
    body: Program
    after: Program
    totals: list[int]
    scaled: list[int]
    recorded: int
    times: bool

    @property
    def sums(self) -> int:
        return max(self.totals, default=-1) + 1


def split(program: Program, points: int, kinds: Sequence[str], whole: bool = False) -> Parts:
    """Return the parts of a program whose first `points` inputs carry the points' rows.

    kinds  one an output, as for `Chunked`.
    whole  whether it is called with all points at once.
    Raises CannotCompile where it cannot be taken apart.
    """
    return _Split(program, points, kinds, whole).parts()


@dataclass
class _Split:
    program: Program
    points: int
    kinds: Sequence[str]
    whole: bool
    rows: dict[Value, np.ndarray] = field(default_factory=dict)  # which row an element belongs to
    summed: set[Value] = field(default_factory=set)
    scales: dict[Value, Value] = field(default_factory=dict)  # of a point's value: its factor
    before: list[Instruction] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)
    after: list[Instruction] = field(default_factory=list)
    made: dict[Any, Value] = field(default_factory=dict)  # of sums, by operation and inputs
    times: Value | None = None  # how often the points recorded go into all, where it is read
    counted: dict[Argument, Value] = field(default_factory=dict)  # what knows no point, so often

    def parts(self) -> Parts:
        given, shared = self.program.inputs[: self.points], self.program.inputs[self.points :]
        self.count = given[0].shape[0]
        for value in given:
            shape = (-1, *(1,) * (len(value.shape) - 1))
            self.rows[value] = np.broadcast_to(
                np.arange(value.shape[0]).reshape(shape), value.shape
            )
        for value in dict.fromkeys(v for i in self.program.instructions for v in i.values()):
            points = None
            if value.kind == CONSTANT:
                points = points_of_constant(np.asarray(value.data), self.count)
            if points is not None:
                self.rows[value] = points
        for instruction in self.program.instructions:
            self._place(instruction)
        self._check_outputs()
        pairs = list(zip(self.program.outputs, self.kinds, strict=True))
        totals = [self._total(v) for v, kind in pairs if kind == "sum"]
        joined = [v for v, kind in pairs if kind != "sum"]
        scaled = [k for k, v in enumerate(joined) if v in self.scales]
        totals += [self.scales[joined[k]] for k in scaled]
        needed = dict.fromkeys([v for i in self.after for v in i.values()] + totals)
        made = {o for i in self.body for o in i.outputs}
        sums = [v for v in needed if v in made and v in self.summed]  # no move of numbers
        living = self.program.replaced(self.body, [*sums, *joined])
        self.body = remove_dead_code(living).instructions
        varies = self.summed | {v for v in self.rows if v.kind != CONSTANT}
        read = [v for i in self.body for v in i.values() if v not in made]
        read += [v for i in self.after for v in i.values()] + totals
        uniform = [v for v in dict.fromkeys(read) if v not in varies and v is not self.times]
        times = [] if self.times is None else [self.times]
        after = self.program.part([*sums, *uniform, *times], self.after, totals)
        return Parts(
            self.program.part(shared, self.before, uniform),
            self.program.part([*given, *uniform], self.body, [*sums, *joined]),
            *totals_of(after, len(sums)), scaled, self.count, bool(times),
        )  # fmt: skip

    def _place(self, instruction: Instruction) -> None:
        values = list(instruction.values())
        if any(v in self.summed for v in values):
            if self.whole and self._comes_back(instruction):
                return
            self.after.append(self._linear(instruction))
            self.summed.update(instruction.outputs)
        elif any(v in self.rows for v in values):
            if instruction.op.name == "mean":
                self._mean(instruction)
                return
            self.body.append(instruction)
            self._follow(instruction)
            if any(v in self.scales for v in values):
                self._carry(instruction)
        elif (points := points_of_expansion(instruction, self.count)) is not None:
            self.body.append(instruction)
            self.rows[instruction.outputs[0]] = points
        else:
            self.before.append(instruction)
            # the body looks through a move of one array, at the numbers themselves
            if moves(instruction) and len(instruction.inputs) == 1:
                self.body.append(instruction)

    def _follow(self, instruction: Instruction) -> None:
        """Find the rows of an instruction's results, or that it sums over them."""
        name, outputs = instruction.op.name, instruction.outputs
        if moves(instruction):
            found = moved(instruction, [self._rows_or_none(v) for v in instruction.inputs])
            for output, rows in zip(outputs, found, strict=True):
                self.rows[output] = with_rows(rows, self.count)
        elif instruction.op.elementwise:
            (output,) = outputs
            several = [
                broadcast(self.rows[v], output) for v in instruction.values() if v in self.rows
            ]
            if any(np.any(one != several[0]) for one in several[1:]):
                raise CannotCompile(f"operation '{name}' between points")
            self.rows[output] = several[0]
        elif name == "matmul":
            self._product(instruction)
        elif name in ("sum", "sum_to"):
            self._sum(instruction)
        elif name == "outer_rows":
            (output,) = outputs
            self.rows[output] = np.broadcast_to(
                np.arange(output.shape[0])[:, None, None], output.shape
            )
        else:
            raise CannotCompile(f"operation '{name}'")

    def _rows_or_none(self, value: Value) -> np.ndarray:
        rows = self.rows.get(value)
        return np.full(value.shape, -1) if rows is None else rows

    def _product(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        x, y = factors(*(self._rows_or_none(v) for v in instruction.inputs), instruction.attributes)
        if is_same_along(x, (x.ndim - 1,)) and is_same_along(y, (y.ndim - 2,)):
            if x.max() >= 0 and y.max() >= 0:
                raise CannotCompile("a matrix product of a point's values with its values")
            rows = np.maximum(x[..., :, :1], y[..., :1, :])
            self.rows[output] = np.broadcast_to(rows, output.shape)
        elif (
            is_same_along(x, tuple(range(x.ndim - 1)))
            and is_same_along(y, (*range(y.ndim - 2), y.ndim - 1))
            and np.all(x[(0,) * (x.ndim - 1)] == y[(0,) * (y.ndim - 2)][:, 0])
        ):
            self.summed.add(output)
        else:
            raise CannotCompile(f"a matrix product between points: {instruction}")

    def _sum(self, instruction: Instruction) -> None:
        (x,), (output,) = instruction.inputs, instruction.outputs
        axes = summed_dimensions(instruction)
        rows = self.rows[x]
        others = tuple(k for k in range(rows.ndim) if k not in axes)
        if is_same_along(rows, axes):
            first = rows[tuple(slice(0, 1) if k in axes else slice(None) for k in range(rows.ndim))]
            self.rows[output] = first.reshape(output.shape)
        elif is_same_along(rows, others):
            self.summed.add(output)
        else:
            raise CannotCompile("a sum over a part of the points")

    def _mean(self, instruction: Instruction) -> None:
        """A mean is a sum, divided by as many numbers as it was recorded for."""
        (x,), (output,) = instruction.inputs, instruction.outputs
        total = self.program.new_value(output.shape, output.dtype)
        number = float(x.size // max(1, output.size))
        self._place(Instruction(REGISTRY["sum"], (x,), instruction.attributes, (total,)))
        self._place(Instruction(REGISTRY["div"], (total, number), {}, (output,)))

    # ---- factors that are made of sums

    def _comes_back(self, instruction: Instruction) -> bool:
        """Put a number that is made of sums, and comes back to points, into the factors there."""
        name, inputs, (output, *_) = instruction.op.name, instruction.inputs, instruction.outputs
        points = points_of_expansion(instruction, self.count)
        if points is not None:
            (number,) = inputs
            if number.size != 1:
                raise CannotCompile("several numbers made of sums, repeated for each point")
            one = self.program.new_constant(np.ones(number.shape, number.dtype))
            self.body.append(replace(instruction, inputs=(one,)))
            self.rows[output] = points
            self.scales[output] = self._number(number)
            return True
        given = [v for v in inputs if v in self.rows]
        if name not in ("mul", "div") or len(given) != 1 or given[0].shape != output.shape:
            return False
        (number,) = (v for v in inputs if v not in given)
        if number.size != 1 or (name == "div" and inputs[0] is number):
            return False
        scale = self._number(number)
        if name == "div":
            scale = self._followed("div", 1.0, scale)
        same = Instruction(REGISTRY["mul"], (given[0], 1.0), {}, (output,))
        self.body.append(same)
        self._follow(same)
        self.scales[output] = self._product_of(scale, self.scales.get(given[0]))
        return True

    def _number(self, value: Value) -> Value:
        """Return a number that is made of sums without dimensions."""
        return value if not value.shape else self._followed("reshape", value, shape=())

    def _followed(self, name: str, *inputs: Any, **attributes: Any) -> Value:
        """Return what an operation makes of sums."""
        key = name, inputs
        if key not in self.made:
            value = next(v for v in inputs if isinstance(v, Value))
            output = self.program.new_value(attributes.get("shape", value.shape), value.dtype)
            self.after.append(Instruction(REGISTRY[name], inputs, attributes, (output,)))
            self.summed.add(output)
            self.made[key] = output
        return self.made[key]

    def _product_of(self, *scales: Value | None) -> Value:
        known = [s for s in scales if s is not None]
        return known[0] if len(known) == 1 else self._followed("mul", *known)

    def _carry(self, instruction: Instruction) -> None:
        """Find the factor of an operation's results from those of its inputs."""
        name, inputs = instruction.op.name, instruction.inputs
        scales = [self.scales.get(v) if isinstance(v, Value) else None for v in inputs]
        known = {s for s in scales if s is not None}
        alike = all(s is not None or _is_zero(v) for s, v in zip(scales, inputs, strict=True))
        adds = moves(instruction) or name in ("add", "sub", "neg", "clone", "sum", "sum_to")
        multiplies = name in _PRODUCTS or (name == "div" and scales[1] is None)
        if not (multiplies or (adds and alike and len(known) == 1)):
            raise CannotCompile(f"operation '{name}' of points and what is made of sums over them")
        scale = known.pop() if adds else self._product_of(*scales)
        if instruction.outputs[0] not in self.summed:
            self.scales.update(dict.fromkeys(instruction.outputs, scale))
            return
        (output,) = instruction.outputs
        raw = self.program.new_value(output.shape, output.dtype)
        self.body[-1] = replace(instruction, outputs=(raw,))
        self.summed.add(raw)
        self.after.append(Instruction(REGISTRY["mul"], (raw, scale), {}, (output,)))

    def _linear(self, instruction: Instruction) -> Instruction:
        """Return an instruction that is linear in sums; what it adds to them counts as they do."""
        name, inputs = instruction.op.name, instruction.inputs
        if any(v in self.rows for v in instruction.values()):
            raise CannotCompile(f"operation '{name}' between a sum over points and points")
        if self.whole:
            return instruction
        sums = [k for k, v in enumerate(inputs) if v in self.summed]
        if moves(instruction) or name in ("neg", "add", "sub", "sum", "sum_to"):
            counted = tuple(
                v if v in self.summed or _is_zero(v) else self._counted(v) for v in inputs
            )
            return replace(instruction, inputs=counted)
        if not (name in _PRODUCTS and len(sums) == 1 or name == "div" and sums == [0]):
            raise CannotCompile(f"operation '{name}' on a sum over points, not linear in it")
        return instruction

    def _counted(self, argument: Argument) -> Value:
        """Return what knows no point as often as the points recorded go into all points."""
        if argument not in self.counted:
            is_value = isinstance(argument, Value)
            dtype = argument.dtype if is_value else self.program.inputs[0].dtype
            if self.times is None:
                self.times = self.program.new_value((), dtype)
            output = self.program.new_value(argument.shape if is_value else (), dtype)
            self.after.append(Instruction(REGISTRY["mul"], (argument, self.times), {}, (output,)))
            self.summed.add(output)
            self.counted[argument] = output
        return self.counted[argument]

    def _total(self, value: Value) -> Value:
        """Return a result that is a sum over the points, or counts as one."""
        counts = value in self.summed or _is_zero(value) or self.whole
        return value if counts else self._counted(value)

    def _check_outputs(self) -> None:
        for kind, value in zip(self.kinds, self.program.outputs, strict=True):
            if kind == "sum" and value in self.rows and not _is_zero(value):
                raise CannotCompile("a result that is no sum over the points")
            if kind != "sum" and value not in self.rows:
                raise CannotCompile("a result with rows that depends on no point")


def _is_zero(argument: Argument) -> bool:
    if isinstance(argument, Value):
        return argument.kind == CONSTANT and not np.any(argument.data)
    return argument == 0
