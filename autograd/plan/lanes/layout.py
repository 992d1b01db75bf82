"""Where the values of a tile lie, and the calls that compute them.

A value's elements are rows, numbered through all buffers; a buffer is a run of rows that one call
writes.  What moves elements makes no call: its result is another list of the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..passes.clusters import Loop, Operand, Step, fused_op
from ..program import Instruction, Program, Value
from . import vector_functions
from .places import CannotCompile, broadcast, factors, moved, moves, summed_dimensions

ZEROS = 0
"""The row that holds zeros."""


@dataclass(eq=False)
class Buffer:
    """Rows that follow each other; `first` is the number of the first."""

    first: int
    count: int


@dataclass(frozen=True)
class Numbers:
    """Numbers of an array that knows no point: which of them, in its dense memory."""

    array: int
    places: np.ndarray


@dataclass(frozen=True)
class Take:
    """Column `column` of `width` of the points' array `array` becomes a row."""

    array: int
    column: int
    width: int
    out: Buffer


@dataclass(frozen=True)
class Product:
    """out = W x for each of the lists of rows x (o, k); W (m, k) by number, out (o, m)."""

    weights: Numbers
    x: np.ndarray
    out: Buffer


@dataclass(frozen=True)
class Contraction:
    """Sum `total` (m, n) of a (o, m) and b (o, n) over o and the points."""

    a: np.ndarray
    b: np.ndarray
    total: int


@dataclass(frozen=True)
class RowSum:
    """Sum `total` (n,) of rows (n, o) over o and the points."""

    rows: np.ndarray
    total: int


@dataclass(frozen=True)
class Fused:
    """A loop over rows; operands are rows (r,) or Numbers with as many places."""

    loop: Loop
    numbers: tuple[float, ...]
    inner: int
    operands: tuple[np.ndarray | Numbers, ...]
    outs: tuple[Buffer, ...]


@dataclass(frozen=True)
class Copy:
    """Rows (r,) one after the other in a buffer."""

    rows: np.ndarray
    out: Buffer


@dataclass(frozen=True)
class Give:
    """Rows (n,) become the joined result `result`, (points, n)."""

    rows: np.ndarray
    result: int


Call = Take | Product | Contraction | RowSum | Fused | Copy | Give


@dataclass
class Layout:
    """The calls of a tile, in order.

    rows     rows of all buffers, which are numbered one after the other.
    shapes   of the arrays without points that calls read, by number: positions of body inputs.
    totals   sizes of the sums, in the order of the body's first outputs.
    given    how many rows each joined result has, in the order of the other outputs.
    """

    calls: list[Call] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    rows: int = 1  # the row of zeros
    totals: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)


def lay_out(body: Program, points: int, sums: int) -> Layout:
    """Return the calls of a body with fused loops whose first `points` inputs are the points'.

    sums  so many of its outputs, the first, are sums over the points.
    Raises CannotCompile for what tiles do not hold.
    """
    return _Layout(body, points, sums).layout()


class _Layout:
    def __init__(self, body: Program, points: int, sums: int) -> None:
        self.body = body
        self.points = points
        self.result = Layout()
        self.count = body.inputs[0].shape[0]
        self.places: dict[Value, np.ndarray] = {}  # row * count + point, for each element
        self.numbers: dict[Value, int] = {
            v: k for k, v in enumerate(body.inputs[points:])
        }
        self.totals: dict[Value, int] = {v: k for k, v in enumerate(body.outputs[:sums])}
        self.joined = body.outputs[sums:]

    def layout(self) -> Layout:
        result = self.result
        dtype = next((v.dtype for v in self.body.inputs[: self.points]), None)
        for value in (*self.body.inputs, *(o for i in self.body.instructions for o in i.outputs)):
            if value.dtype != dtype or dtype not in (np.float32, np.float64):
                raise CannotCompile(f"values of dtype {value.dtype} beside {dtype}")
        for position, value in enumerate(self.body.inputs[: self.points]):
            self._take(position, value)
        for instruction in self.body.instructions:
            self._visit(instruction)
        result.totals = [v.size for v in self.totals]
        for k, value in enumerate(self.joined):
            rows, _ = self._by_row(self.places[value])
            result.given.append(rows.size)
            result.calls.append(Give(rows, k))
        return result

    # ---- rows

    def _buffer(self, count: int) -> Buffer:
        buffer = Buffer(self.result.rows, count)
        self.result.rows += count
        self.result.buffers.append(buffer)
        return buffer

    def _places_of(self, buffer: Buffer, value: Value, inner: int) -> np.ndarray:
        """Return the places of a value whose rows are those of a buffer, outer x inner."""
        rows = buffer.first + np.arange(buffer.count).reshape(-1, 1, inner)
        places = rows * self.count + np.arange(self.count).reshape(1, -1, 1)
        return np.broadcast_to(places, (buffer.count // inner, self.count, inner)).reshape(
            value.shape
        )

    def _by_row(self, places: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the rows of a value's elements, a point's in order, and the inner size."""
        flat = places.reshape(-1) % self.count
        inner = int(np.argmax(flat == 1)) if self.count > 1 else flat.size
        rows = places.reshape(-1, self.count, inner)
        expected = np.arange(self.count).reshape(1, -1, 1)
        if np.any(rows % self.count != expected) or np.any(
            rows // self.count != rows[:, :1] // self.count
        ):
            raise CannotCompile("a value whose points do not follow each other")
        return (rows[:, 0] // self.count).reshape(-1), inner

    def _take(self, position: int, value: Value) -> None:
        width = value.size // self.count
        buffer = self._buffer(width)
        self.places[value] = self._places_of(buffer, value, width)
        for column in range(width):
            one = Buffer(buffer.first + column, 1)
            self.result.calls.append(Take(position, column, width, one))

    def _run(self, rows: np.ndarray) -> np.ndarray:
        """Return lists of rows (lists, n) that each follow one another: copies of those that do not."""
        lists = rows.reshape(-1, rows.shape[-1])
        result = np.array(lists)
        for k, one in enumerate(lists):
            owners = {id(self._owner(int(r))) for r in (one[0], one[-1])}
            if len(one) > 1 and (np.any(np.diff(one) != 1) or len(owners) > 1):
                buffer = self._buffer(len(one))
                self.result.calls.append(Copy(one, buffer))
                result[k] = buffer.first + np.arange(len(one))
        return result

    def _owner(self, row: int) -> Buffer | None:
        low, high = 0, len(self.result.buffers)
        while low < high:
            middle = (low + high) // 2
            if self.result.buffers[middle].first <= row:
                low = middle + 1
            else:
                high = middle
        return self.result.buffers[low - 1] if low else None

    # ---- operations

    def _visit(self, instruction: Instruction) -> None:
        name = instruction.op.name
        if moves(instruction):
            self._move(instruction)
        elif instruction.op is fused_op:
            self._loop(
                instruction, instruction.attributes["loop"], instruction.attributes["numbers"]
            )
        elif instruction.op.elementwise:
            self._single(instruction)
        elif name == "matmul":
            self._matmul(instruction)
        elif name in ("sum", "sum_to"):
            self._sum(instruction)
        else:
            raise CannotCompile(f"operation '{name}'")

    def _move(self, instruction: Instruction) -> None:
        filled = [self._filled(v) for v in instruction.inputs]
        for output, places in zip(instruction.outputs, moved(instruction, filled), strict=True):
            if places.min() < 0:
                flat = places.reshape(-1)
                rows = np.where(flat < 0, ZEROS, flat // self.count)
                known = int(np.argmax(flat >= 0))
                places = self._with_zeros(rows, flat, known, output)
            self.places[output] = places

    def _with_zeros(
        self, rows: np.ndarray, flat: np.ndarray, known: int, output: Value
    ) -> np.ndarray:
        inner = 1
        while inner <= flat.size // self.count:
            if flat.size % (self.count * inner) == 0:
                points = np.arange(flat.size) // inner % self.count
                if np.all((flat < 0) | (flat % self.count == points)):
                    return (rows * self.count + points).reshape(output.shape)
            inner += 1
        raise CannotCompile("zeros beside points whose rows cannot be told")

    def _filled(self, value: Value) -> np.ndarray:
        """Return the places of a value; of zeros that know no point, the row of zeros."""
        if value in self.places:
            return self.places[value]
        raise CannotCompile("numbers that know no point beside those of points")

    def _operand(self, value: Value, output: Value) -> tuple[np.ndarray | Numbers, int]:
        """Return what a loop over `output` reads of a value, row by row, and its inner size."""
        if value in self.places:
            return self._by_row(broadcast(self.places[value], output))
        return self._number_places(value, output), 0

    def _number_places(self, value: Value, output: Value) -> Numbers:
        numbers = np.arange(value.size).reshape(value.shape)
        return Numbers(self.numbers[value], broadcast(numbers, output))

    def _loop(self, instruction: Instruction, loop: Loop, numbers: tuple[float, ...]) -> None:
        for step in loop.steps:
            if step.op not in vector_functions.HELD:
                raise CannotCompile(f"operation '{step.op}'")
        output = instruction.outputs[0]
        found = [self._operand(v, output) for v in instruction.inputs]
        inner = next(size for one, size in found if not isinstance(one, Numbers))
        if any(size != inner for one, size in found if not isinstance(one, Numbers)):
            raise CannotCompile("operands whose points lie differently")
        operands = tuple(
            self._numbers_by_row(one, inner) if isinstance(one, Numbers) else one
            for one, _ in found
        )
        count = output.size // self.count
        outs = tuple(self._buffer(count) for _ in instruction.outputs)
        for value, out in zip(instruction.outputs, outs, strict=True):
            self.places[value] = self._places_of(out, value, inner)
        self.result.calls.append(Fused(loop, tuple(numbers), inner, operands, outs))

    def _numbers_by_row(self, numbers: Numbers, inner: int) -> Numbers:
        places = numbers.places.reshape(-1, self.count, inner)
        if np.any(places != places[:, :1]):
            data = self.body.inputs[self.points + numbers.array].data  # of a constant
            if data is None or np.any(data.flat[places] != data.flat[places[:, :1]]):
                raise CannotCompile("an array that knows no point and differs along the points")
        return Numbers(numbers.array, places[:, 0].reshape(-1))

    def _single(self, instruction: Instruction) -> None:
        """An operation that stands alone, as a loop of one step."""
        operands, inputs = [], 0
        for argument in instruction.inputs:
            if isinstance(argument, Value):
                operands.append(Operand("input", inputs))
                inputs += 1
            else:
                operands.append(Operand("literal", float(argument)))
        if instruction.attributes or len(instruction.outputs) != 1:
            raise CannotCompile(f"operation '{instruction.op.name}' with attributes")
        loop = Loop(
            str(instruction.outputs[0].dtype), ("full",) * inputs, 0,
            (Step(instruction.op.name, tuple(operands)),), (0,),
        )  # fmt: skip
        values = tuple(instruction.values())
        self._loop(
            Instruction(instruction.op, values, {}, instruction.outputs), loop, ()
        )

    def _matmul(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        x, y = instruction.inputs
        if output in self.totals:
            self._contract(instruction)
            return
        flags = instruction.attributes
        if x in self.places and y in self.numbers:
            left, _ = factors(self.places[x], np.zeros(y.shape), flags)
            weights = np.arange(y.size).reshape(y.shape)
            weights = weights if flags["transpose_y"] else weights.swapaxes(-1, -2)
            if weights.ndim != 2:
                raise CannotCompile("a matrix product with several matrices")
            self._product(weights, self.numbers[y], left, output)
        else:
            raise CannotCompile(f"a matrix product of this form: {instruction}")

    def _product(
        self, weights: np.ndarray, array: int, left: np.ndarray, output: Value
    ) -> None:
        m, k = weights.shape
        flat = left.reshape(-1, k)  # (outer * points, k)
        points = flat[:, 0] % self.count
        if np.any(points != np.arange(len(flat)) % self.count):
            raise CannotCompile("a matrix product whose points do not follow each other")
        rows = self._run(flat[:: self.count] // self.count)
        out = self._buffer(len(rows) * m)
        self.places[output] = self._places_of(out, output, m)
        self.result.calls.append(Product(Numbers(array, weights), rows, out))

    def _contract(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        x, y = instruction.inputs
        for value in (x, y):
            if value not in self.places:
                raise CannotCompile("a matrix product of points with numbers that know none")
        left, right = factors(self.places[x], self.places[y], instruction.attributes)
        if left.ndim != 2 or right.ndim != 2:
            raise CannotCompile("a contraction of more than two dimensions")
        lists = []
        for side in (left.T, right):  # (outer * points, elements)
            if np.any(side[:, 0] % self.count != np.arange(len(side)) % self.count):
                raise CannotCompile("a contraction whose points do not follow each other")
            lists.append(self._run(side[:: self.count] // self.count))
        self.result.calls.append(Contraction(*lists, self.totals[output]))

    def _sum(self, instruction: Instruction) -> None:
        (x,), (output,) = instruction.inputs, instruction.outputs
        if output not in self.totals:
            raise CannotCompile("a sum inside of a point")
        axes = summed_dimensions(instruction)
        places = self.places[x]
        kept = tuple(k for k in range(places.ndim) if k not in axes)
        lists = places.transpose(*kept, *axes).reshape(max(1, output.size), -1)
        rows = np.stack([one[one % self.count == 0] // self.count for one in lists])
        self.result.calls.append(RowSum(rows, self.totals[output]))

