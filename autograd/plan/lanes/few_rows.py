"""A program over whole arrays as one with few rows: what has a row a point in it goes into tiles.

A loss that is compiled without points, and the loss at a wall of one with points, are recorded with
all their rows.  Where these are as many in several arrays they belong together, if at all, and a
program with a few of them tells what is done with each, as one that was recorded with few.  That
they do not meet is found out later (split.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...devices import CPU, put
from ...ops.registry import REGISTRY
from ..program import COMPUTED, CONSTANT, INPUT, Argument, Instruction, Program, Value, flops
from .places import CannotCompile, moves, points_of_constant
from .prepared import few_points

_FEWEST = 64  # rows: tiles of fewer are mostly empty
_WORTH = 1 << 18  # operations
_LENGTHS = frozenset({"shape", "sizes", "index", "rows"})  # attributes that hold numbers of rows


@dataclass(frozen=True)
class FewRows:
    """A program with few rows.

    program  its first inputs are the arrays with rows, then those of the whole one without. Its
             last outputs are `squares`.
    rows     of the whole one: the inputs and constants that the first stand for.
    shared   its inputs that the others stand for.
    kinds    one an output: "rows" or "sum".
    squares  of how many numbers each of these is the sum of squares; that of a norm over rows is
             right where this is neither very small nor infinite.
    """

    program: Program
    rows: list[Value]
    shared: list[Value]
    kinds: list[str]
    squares: list[int]


def numbers_of_rows(program: Program, few_calls: bool) -> Iterator[int]:
    """Yield the numbers of rows that much is done with, most first.

    few_calls  whether little is worth it too, as a call takes long whatever it does.
    """
    sizes = _sizes(program)
    work = dict.fromkeys(sizes, 0)
    for instruction in program.instructions:
        met = {n for v in (*instruction.values(), *instruction.outputs) for n in v.shape}
        for size in sizes & met:
            work[size] += flops(instruction)
    for size in sorted(sizes, key=lambda n: (-work[n], n)):
        if few_calls or work[size] >= _WORTH:
            yield size


def few_rows(program: Program, count: int, norms: bool) -> FewRows:
    """Return a program with few rows in place of `count`.

    norms  whether those of all rows may be roots of sums of squares, which are to be looked at.
    Raises CannotCompile where that is not all that `count` stands for.
    """
    return _FewRows(program, count, norms).made()


@dataclass
class _FewRows:
    whole: Program
    count: int
    norms: bool
    found: dict[Value, Value] = field(default_factory=dict)
    arrays: dict[Value, np.ndarray] = field(default_factory=dict)  # zeros, to try operations with
    squares: list[Value] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of what is squared

    def made(self) -> FewRows:
        whole, count = self.whole, self.count
        read = [*(v for i in whole.instructions for v in i.values()), *whole.outputs]
        constants = dict.fromkeys(v for v in read if v.kind == CONSTANT)
        shapes = [v.shape for v in (*whole.inputs, *constants)]
        shapes += [o.shape for i in whole.instructions for o in i.outputs]
        self.few = few_points(shapes)
        self.others = _sizes(whole) - {count}
        rows = []
        for value in (*whole.inputs, *constants):
            if value.kind == CONSTANT and self._is_alike(value):
                continue
            if value.shape[:1] == (count,):
                rows.append(value)
                self._new(value, INPUT)
            elif any(self._is_many(size) for size in value.shape):
                raise CannotCompile(f"an array {list(value.shape)} beside {count} rows")
            else:
                data = None if value.data is None else put(value.data, CPU)
                self._new(value, value.kind, data)
        instructions = [
            self._instruction(i) for one in whole.instructions for i in self._as_sums(one)
        ]
        shared = [v for v in whole.inputs if v not in rows]
        return FewRows(
            Program(
                [self.found[v] for v in (*rows, *shared)], instructions,
                [self.found[v] for v in (*whole.outputs, *self.squares)], whole.counter,
                whole.captured,
            ),
            rows, shared,
            ["rows" if v.shape[:1] == (count,) else "sum" for v in (*whole.outputs, *self.squares)],
            self.sizes,
        )  # fmt: skip

    def _is_many(self, size: int) -> bool:
        return size > 0 and size % self.count == 0 and size not in self.others

    def _length(self, part: Any) -> Any:
        """Return an attribute with few rows in place of all."""
        if type(part) is int:
            return part // self.count * self.few if self._is_many(part) else part
        if isinstance(part, slice):
            return slice(*(self._length(k) for k in (part.start, part.stop, part.step)))
        if isinstance(part, (tuple, list)):
            return type(part)(self._length(k) for k in part)
        return part

    def _new(self, value: Value, kind: str, data: Any = None) -> None:
        shape = self._length(value.shape)
        self.found[value] = Value(value.number, shape, value.dtype, kind, data, value.name)
        self.arrays[value] = np.zeros(shape, value.dtype) if data is None else data

    def _is_alike(self, value: Value) -> bool:
        """Return whether a constant is the same in each row; it is taken over with few."""
        data = np.asarray(put(value.data, CPU))
        if points_of_constant(data, self.count) is None:
            return False
        axis = data.shape.index(self.count)
        if any(self._is_many(size) for k, size in enumerate(data.shape) if k != axis):
            return False
        self._new(value, CONSTANT, np.ascontiguousarray(np.take(data, range(self.few), axis)))
        return True

    def _instruction(self, one: Instruction) -> Instruction:
        """Return an operation on few rows; that it gives what it should is tried."""
        attributes = one.attributes
        if moves(one) or not one.op.elementwise:
            attributes = {
                k: self._length(v) if k in _LENGTHS else v for k, v in attributes.items()
            }
        for output in one.outputs:
            self._new(output, output.kind)
        try:
            with np.errstate(all="ignore"):
                given = [self.arrays[v] if isinstance(v, Value) else v for v in one.inputs]
                result = one.op.forward(np, *given, **attributes)
        except Exception as error:
            raise CannotCompile(f"operation '{one.op.name}' with fewer rows: {error}") from None
        results = result if isinstance(result, (tuple, list)) else (result,)
        if [np.shape(r) for r in results] != [self.found[o].shape for o in one.outputs]:
            raise CannotCompile(f"operation '{one.op.name}' with another number of rows")
        inputs = tuple(self._argument(a) for a in one.inputs)
        return Instruction(one.op, inputs, attributes, tuple(self.found[o] for o in one.outputs))

    def _as_sums(self, one: Instruction) -> list[Instruction]:
        """Return a mean, divided by how many numbers there are in all rows, and a norm as sums."""
        (x, *_), (output, *_) = one.inputs, one.outputs
        is_norm = one.op.name == "vector_norm" and one.attributes["p"] == 2
        if one.op.name != "mean" and not (self.norms and is_norm and x.size > output.size == 1):
            return [one]
        axes = {key: one.attributes[key] for key in ("axes", "keepdims")}
        total = self.whole.new_value(output.shape, output.dtype)
        if not is_norm:
            number = float(x.size // max(1, output.size))
            return [
                Instruction(REGISTRY["sum"], (x,), axes, (total,)),
                Instruction(REGISTRY["div"], (total, number), {}, (output,)),
            ]
        squared = self.whole.new_value(x.shape, x.dtype)
        self.squares.append(total)
        self.sizes.append(x.size)
        return [
            Instruction(REGISTRY["square"], (x,), {}, (squared,)),
            Instruction(REGISTRY["sum"], (squared,), axes, (total,)),
            Instruction(REGISTRY["sqrt"], (total,), {}, (output,)),
        ]

    def _argument(self, argument: Argument) -> Argument:
        return self.found[argument] if isinstance(argument, Value) else argument


def _sizes(program: Program) -> set[int]:
    """Return how many rows the arrays have that a program is given, where they are not few."""
    given = (v for i in program.instructions for v in i.values() if v.kind != COMPUTED)
    return {v.shape[0] for v in given if v.shape and v.shape[0] >= _FEWEST}
