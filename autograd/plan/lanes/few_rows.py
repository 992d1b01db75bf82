"""A program over whole arrays as one with few rows: what has a row a point in it goes into tiles.

A loss that is compiled without points, and the loss at a wall of one with points, are recorded with
all their rows.  Where these are as many in several arrays they belong together, if at all, and a
program with a few of them tells what is done with each, as one that was recorded with few.  That
they do not meet is found out later (split.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...devices import CPU, put
from ...ops.registry import REGISTRY
from ..program import COMPUTED, CONSTANT, INPUT, Argument, Instruction, Program, Value, flops
from .places import CannotCompile, points_of_constant, points_of_expansion
from .prepared import few_points

_FEWEST = 64  # rows: tiles of fewer are mostly empty
_WORTH = 1 << 18  # operations
_LENGTHS = frozenset({"shape", "sizes"})  # attributes that hold numbers of rows


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
    squares: list[Value] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of what is squared

    def made(self) -> FewRows:
        whole, count = self.whole, self.count
        read = [*(v for i in whole.instructions for v in i.values()), *whole.outputs]
        constants = dict.fromkeys(v for v in read if v.kind == CONSTANT)
        shapes = [v.shape for v in (*whole.inputs, *constants)]
        shapes += [o.shape for i in whole.instructions for o in i.outputs]
        self.others = _sizes(whole) - {count}
        self.few = few_points(tuple(n for n in s if not self._is_many(n)) for s in shapes)
        rows = []
        for value in (*whole.inputs, *constants):
            if value.kind == CONSTANT and self._is_alike(value):
                continue
            if value.shape[:1] == (count,) and not any(map(self._is_many, value.shape[1:])):
                rows.append(value)
                self._new(value, INPUT, True)
            else:
                self._new(value, value.kind, False, value.data)
        if not rows:
            raise CannotCompile(f"no array of {count} rows")
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
            ["rows" if self._is_joined(v) else "sum" for v in (*whole.outputs, *self.squares)],
            self.sizes,
        )  # fmt: skip

    def _is_many(self, size: int) -> bool:
        return size > 0 and size % self.count == 0 and size not in self.others

    def _is_few(self, value: Argument) -> bool:
        return isinstance(value, Value) and self.found[value].shape != value.shape

    def _is_joined(self, value: Value) -> bool:
        return self._is_few(value) and value.shape[0] == self.count

    def _length(self, size: int) -> int:
        """Return a size with few rows in place of all."""
        return size // self.count * self.few if self._is_many(size) else size

    def _new(self, value: Value, kind: str, few: bool, data: Any = None) -> None:
        """Find what stands for a value: as it is, or with few rows."""
        shape = value.shape
        if few:
            shape = tuple(map(self._length, shape))
            if sum(map(self._is_many, value.shape)) > 1:
                raise CannotCompile(f"an array {list(value.shape)} of {self.count} rows")
        self.found[value] = Value(value.number, shape, value.dtype, kind, data, value.name)

    def _is_alike(self, value: Value) -> bool:
        """Return whether a constant is the same in each row; it is taken over with few."""
        data = np.asarray(put(value.data, CPU))
        if points_of_constant(data, self.count) is None:
            return False
        axis = data.shape.index(self.count)
        if any(self._is_many(size) for k, size in enumerate(data.shape) if k != axis):
            return False
        self._new(value, CONSTANT, True, np.ascontiguousarray(np.take(data, [0] * self.few, axis)))
        return True

    def _instruction(self, one: Instruction) -> Instruction:
        """Return an operation with few rows, where it has any; that it gives them is tried."""
        makes = points_of_expansion(one, self.count) is not None
        few = makes or any(map(self._is_few, one.inputs))
        for output in one.outputs:
            self._new(output, output.kind, few)
        attributes = one.attributes
        if few:
            attributes = attributes if one.op.elementwise else self._attributes(one)
            self._try(one, attributes)
        inputs = tuple(self._argument(a) for a in one.inputs)
        return Instruction(one.op, inputs, attributes, tuple(self.found[o] for o in one.outputs))

    def _try(self, one: Instruction, attributes: dict[str, Any]) -> None:
        given = [
            np.zeros(self.found[v].shape, v.dtype) if isinstance(v, Value) else v
            for v in one.inputs
        ]
        try:
            with np.errstate(all="ignore"):
                result = one.op.forward(np, *given, **attributes)
        except Exception as error:
            raise CannotCompile(f"operation '{one.op.name}' with fewer rows: {error}") from None
        results = result if isinstance(result, (tuple, list)) else (result,)
        if [np.shape(r) for r in results] != [self.found[o].shape for o in one.outputs]:
            raise CannotCompile(f"operation '{one.op.name}' with another number of rows")

    def _attributes(self, one: Instruction) -> dict[str, Any]:
        """Return an operation's attributes with few rows."""
        found = dict(one.attributes)
        for key in _LENGTHS & found.keys():
            found[key] = tuple(map(self._length, found[key]))
        x = one.outputs[0] if one.op.name == "embed" else one.inputs[0]
        if "index" in found:
            found["index"] = tuple(self._index(found["index"], x))
        if one.op.name == "roll":
            axes = range(len(x.shape)) if found["axes"] is None else found["axes"]
            if any(self._is_many(x.shape[k]) for k in axes):
                raise CannotCompile("rows that are moved on")
        return found

    def _index(self, index: Sequence[Any], value: Value) -> Iterator[Any]:
        """Yield an index in normal form (ops/layout/index.py), of all rows or of sets of rows."""
        sizes = iter(zip(value.shape, self.found[value].shape, strict=True))
        for item in index:
            size, few = (1, 1) if item is None or type(item) is tuple else next(sizes)
            if size == few:
                yield item
                continue
            ends = range(size)[item] if isinstance(item, slice) else range(1)
            if ends.step != 1 or ends.start % self.count or ends.stop % self.count:
                raise CannotCompile(f"some of {self.count} rows")
            yield slice(*(k // self.count * self.few for k in (ends.start, ends.stop)))

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
