"""From a program's operations to the calls of a tile.

What moves elements makes no call: its result is another list of the same rows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence

import numpy as np

from ..passes.clusters import Loop, Operand, Step, fused_op
from ..program import Instruction, Program, Value
from .instructions import (
    ZEROS,
    Blank,
    Buffer,
    Contraction,
    Copy,
    Fused,
    Gather,
    Give,
    Layout,
    Numbers,
    Outer,
    Product,
    RowSum,
    Take,
)
from .places import (
    CannotCompile,
    broadcast,
    factors,
    inner_size,
    moved,
    moves,
    points_of_constant,
    points_of_expansion,
    summed_dimensions,
    with_rows,
)
from .totals import together

_WIDEST = 256
"""Of matrices: BLAS, which packs them, is as fast there and faster beyond (decision 0049)."""


def lay_out(body: Program, points: int, totals: Sequence[int], held: Collection[str]) -> Layout:
    """Return the calls of a body with fused loops whose first `points` inputs are the points'.

    totals  of its first outputs, sums over the points: to which total each is added.
    held    the elementwise operations that loops may have.
    Raises CannotCompile for what tiles do not hold.
    """
    return _Layout(body, points, totals, held).layout()


class _Layout:
    def __init__(
        self, body: Program, points: int, totals: Sequence[int], held: Collection[str]
    ) -> None:
        self.body = body
        self.points = points
        self.held = held
        self.dtype = body.inputs[0].dtype
        self.result = Layout(self.dtype)
        self.count = body.inputs[0].shape[0]
        self.places: dict[Value, np.ndarray] = {}  # row * count + point, for each element
        self.numbers = {
            v: Numbers(k, np.arange(v.size).reshape(v.shape), v.data)
            for k, v in enumerate(body.inputs[points:])
        }
        self.totals = dict(zip(body.outputs, totals, strict=False))
        self.joined = body.outputs[len(totals) :]
        self.blank: set[int] = set()  # rows that have zeros where points are missing

    def layout(self) -> Layout:
        result = self.result
        dtype = self.dtype
        for value in (*self.body.inputs, *(o for i in self.body.instructions for o in i.outputs)):
            if value.dtype not in (dtype, bool) or dtype not in (np.float32, np.float64):
                raise CannotCompile(f"values of dtype {value.dtype} beside {dtype}")
        for position, value in enumerate(self.body.inputs[: self.points]):
            self._take(position, value)
        for value in self.numbers:
            self._constant(value)
        for instruction in self.body.instructions:
            self._visit(instruction)
        sizes = {total: value.size for value, total in self.totals.items()}
        result.totals = [sizes[k] for k in range(len(sizes))]
        for k, value in enumerate(self.joined):
            if value.dtype != dtype:
                raise CannotCompile(f"a result of dtype {value.dtype}")
            rows, _ = self._by_row(self.places[value])
            result.given.append(rows.size)
            result.calls.append(Give(rows, k))
        result.calls = together(result.calls)
        return result

    # ---- rows

    def _buffer(self, count: int) -> Buffer:
        buffer = Buffer(self.result.rows, count)
        self.result.rows += count
        self.result.buffers.append(buffer)
        return buffer

    def _laid(self, buffer: Buffer, points: np.ndarray) -> np.ndarray:
        """Return the places of a value whose rows are a buffer's, from its elements' points."""
        inner = inner_size(points, self.count)
        places = (buffer.first + np.arange(buffer.count).reshape(-1, 1, inner)) * self.count
        return (places + np.arange(self.count).reshape(1, -1, 1)).reshape(points.shape)

    def _by_row(self, places: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the rows of a value's elements, a point's in order, and the inner size."""
        inner = inner_size(places % self.count, self.count)
        rows = places.reshape(-1, self.count, inner) // self.count
        if np.any(rows != rows[:, :1]):
            raise CannotCompile("a value whose rows are not those of one call")
        return rows[:, 0].reshape(-1), inner

    def _take(self, position: int, value: Value) -> None:
        width = value.size // self.count
        buffer = self._buffer(width)
        points = np.arange(self.count).reshape(-1, *(1,) * (len(value.shape) - 1))
        self.places[value] = self._laid(buffer, np.broadcast_to(points, value.shape))
        for column in range(width):
            one = Buffer(buffer.first + column, 1)
            self.result.calls.append(Take(position, column, width, one))

    def _constant(self, value: Value) -> None:
        """Make rows of a constant that knows points, such as ones."""
        points = None if value.data is None else points_of_constant(value.data, self.count)
        if points is not None:
            self._repeat(value, points)

    def _repeat(self, value: Value, points: np.ndarray) -> None:
        """Make rows of numbers that are the same for all points."""
        numbers = self._numbers_of(value)
        index = numbers.places[points == 0]
        buffer = self._buffer(index.size)
        self.places[value] = self._laid(buffer, points)
        self._fill_buffer(buffer, numbers.at(index))

    def _fill_buffer(self, buffer: Buffer, numbers: Numbers) -> None:
        self.result.calls.append(Fused(_FILLING[str(self.dtype)], (), 1, (numbers,), (buffer,)))

    def _run(self, rows: np.ndarray) -> np.ndarray:
        """Return lists of rows (lists, n) that follow each other: copies of those that do not."""
        lists = rows.reshape(-1, rows.shape[-1])
        result = np.array(lists)
        for k, one in enumerate(lists):
            apart = self._owner(int(one[0])) != self._owner(int(one[-1]))
            if apart or np.any(np.diff(one) != 1):
                buffer = self._buffer(len(one))
                self.result.calls.append(Copy(one, buffer))
                result[k] = buffer.first + np.arange(len(one))
        return result

    def _owner(self, row: int) -> int:
        """Return the number of a row's buffer, 0 for the row of zeros."""
        return bisect_right(self.result.buffers, row, key=lambda buffer: buffer.first)

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
        elif name == "outer_rows":
            self._outer(instruction)
        else:
            raise CannotCompile(f"operation '{name}'")

    def _move(self, instruction: Instruction) -> None:
        """Find where the elements lie now; numbers that know no point become rows first."""
        inputs = instruction.inputs
        if not any(v in self.places for v in inputs):
            self._move_numbers(instruction)
            points = points_of_expansion(instruction, self.count)
            if points is not None:
                self._repeat(instruction.outputs[0], points)
            return
        unknown = [np.full(v.shape, -1) for v in inputs]
        of_points = [self.places.get(v, blank) for v, blank in zip(inputs, unknown, strict=True)]
        results = moved(instruction, of_points)
        rows = [with_rows(places, self.count) for places in results]
        for k, value in enumerate(inputs):
            if value in self.places:
                continue
            numbers = self._numbers_of(value)
            found = moved(instruction, [*unknown[:k], numbers.places, *unknown[k + 1 :]])
            for places, points, one in zip(results, rows, found, strict=True):
                self._fill(places, points, numbers.at(one))
        for output, places, points in zip(instruction.outputs, results, rows, strict=True):
            self.places[output] = np.where(places < 0, ZEROS * self.count + points, places)
            self._by_row(self.places[output])  # refused where it takes a part of the points

    def _numbers_of(self, value: Value) -> Numbers:
        found = self.numbers.get(value)
        if found is None:
            raise CannotCompile("numbers of several arrays, joined, or with zeros beside them")
        return found

    def _move_numbers(self, instruction: Instruction) -> None:
        """Look through a move of numbers of one array: what is read is that array."""
        given = [self.numbers.get(v) for v in instruction.inputs]
        if any(one is None for one in given) or len({one.array for one in given}) > 1:
            return  # what reads it is refused
        results = moved(instruction, [one.places for one in given])
        for output, places in zip(instruction.outputs, results, strict=True):
            if places.min() >= 0:
                self.numbers[output] = given[0].at(places)

    def _fill(self, places: np.ndarray, points: np.ndarray, numbers: Numbers) -> None:
        """Make rows of numbers; write their places where the numbers go."""
        here = np.flatnonzero((numbers.places >= 0) & (points == 0))
        if not here.size:
            return
        flat = numbers.places.reshape(-1)
        inner = inner_size(points, self.count)
        buffer = self._buffer(here.size)
        for k, at in enumerate(here):
            along = at + inner * np.arange(self.count)
            _check_same(numbers.at(flat[along]))
            places.reshape(-1)[along] = (buffer.first + k) * self.count + np.arange(self.count)
        self._fill_buffer(buffer, numbers.at(flat[here]))

    def _operand(self, value: Value, output: Value) -> tuple[np.ndarray | Numbers, int]:
        """Return what a loop over `output` reads of a value, row by row, and its inner size."""
        if value in self.places:
            return self._by_row(broadcast(self.places[value], output))
        numbers = self._numbers_of(value)
        return numbers.at(broadcast(numbers.places, output)), 0

    def _loop(self, instruction: Instruction, loop: Loop, numbers: tuple[float, ...]) -> None:
        for step in loop.steps:
            if step.op not in self.held:
                raise CannotCompile(f"operation '{step.op}'")
        output = instruction.outputs[0]
        found = [self._operand(v, output) for v in instruction.inputs]
        inner = next((size for one, size in found if not isinstance(one, Numbers)), 0)
        if not inner:
            raise CannotCompile("a loop over numbers that know no point")
        if any(size != inner for one, size in found if not isinstance(one, Numbers)):
            raise CannotCompile("operands whose points lie differently")
        operands = tuple(
            self._numbers_by_row(one, inner) if isinstance(one, Numbers) else one
            for one, _ in found
        )
        count = output.size // self.count
        outs = tuple(self._buffer(count) for _ in instruction.outputs)
        points = (np.arange(output.size) // inner % self.count).reshape(output.shape)
        for value, out in zip(instruction.outputs, outs, strict=True):
            self.places[value] = self._laid(out, points)
        self.result.calls.append(Fused(loop, tuple(numbers), inner, operands, outs))

    def _numbers_by_row(self, numbers: Numbers, inner: int) -> Numbers:
        places = numbers.places.reshape(-1, self.count, inner)
        if np.any(places != places[:, :1]):
            for one in places.transpose(0, 2, 1).reshape(-1, self.count):
                _check_same(numbers.at(one))
        return numbers.at(places[:, 0].reshape(-1))

    def _single(self, instruction: Instruction) -> None:
        """An operation that stands alone, as a loop of one step."""
        operands, inputs = [], 0
        for argument in instruction.inputs:
            if isinstance(argument, Value):
                operands.append(Operand("input", inputs))
                inputs += 1
            else:
                operands.append(Operand("literal", float(argument)))
        if instruction.op.name in ("to", "clone") and not operands[1:]:  # yes and no are numbers
            (value,), (output,) = instruction.values(), instruction.outputs
            if output.dtype.kind == "b" != value.dtype.kind:
                raise CannotCompile("a cast of numbers to yes and no")
            if value in self.places:
                self.places[output] = self.places[value]
                return
        if instruction.attributes or len(instruction.outputs) != 1:
            raise CannotCompile(f"operation '{instruction.op.name}' with attributes")
        loop = Loop(
            str(self.dtype), ("full",) * inputs, 0,
            (Step(instruction.op.name, tuple(operands)),), (0,),
        )  # fmt: skip
        values = tuple(instruction.values())
        self._loop(Instruction(instruction.op, values, {}, instruction.outputs), loop, ())

    def _matmul(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        x, y = instruction.inputs
        if output in self.totals:
            self._contract(instruction)
            return
        flags = instruction.attributes
        if x in self.places and y in self.numbers:
            left, _ = factors(self.places[x], np.zeros(y.shape), flags)
            weights = self.numbers[y].places
            weights = weights if flags["transpose_y"] else weights.swapaxes(-1, -2)
            if weights.size != math.prod(weights.shape[-2:]):
                raise CannotCompile("a matrix product with several matrices")
            weights = weights.reshape(weights.shape[-2:])
            self._product(self.numbers[y].at(weights), left, output)
        else:
            raise CannotCompile(f"a matrix product of this form: {instruction}")

    def _product(self, weights: Numbers, left: np.ndarray, output: Value) -> None:
        m, k = weights.places.shape
        if min(m, k) > _WIDEST:
            raise CannotCompile(f"a product with {m} x {k} numbers, for which BLAS is faster")
        points = left[..., 0] % self.count
        rows = self._run(left[points == 0] // self.count)
        # A buffer for each: their memory is needed for different times.
        outs = tuple(self._buffer(m) for _ in rows)
        whole = Buffer(outs[0].first, len(rows) * m)
        self.places[output] = self._laid(whole, np.repeat(points[..., None], m, -1))
        self.result.calls.append(Product(weights, rows, outs))

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
        self._blank(*lists)
        self.result.calls.append(Contraction(*lists, self.totals[output]))

    def _blank(self, *rows: np.ndarray) -> None:
        for one in rows:
            new = np.array(sorted({*one.reshape(-1).tolist()} - self.blank), np.int64)
            if new.size:
                self.result.calls.append(Blank(new))
                self.blank.update(new.tolist())

    def _sum(self, instruction: Instruction) -> None:
        (x,), (output,) = instruction.inputs, instruction.outputs
        axes = summed_dimensions(instruction)
        places = self.places[x]
        kept = tuple(k for k in range(places.ndim) if k not in axes)
        lists = places.transpose(*kept, *axes).reshape(max(1, output.size), -1)
        if output in self.totals:
            rows = np.stack([one[one % self.count == 0] // self.count for one in lists])
            self._blank(rows)
            self.result.calls.append(RowSum(rows, self.totals[output]))
            return
        points = lists[:, 0] % self.count
        rows = lists[points == 0] // self.count
        out = self._buffer(len(rows))
        self.places[output] = self._laid(out, points.reshape(output.shape))
        self.result.calls.append(Gather(rows, out))

    def _outer(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        sides = []
        for value in instruction.inputs:
            if value not in self.places:
                raise CannotCompile("a product of points with numbers that know none, row by row")
            places = self.places[value].reshape(-1, value.shape[-1])
            sides.append(self._run(places[places[:, 0] % self.count == 0] // self.count))
        out = self._buffer(output.size // self.count)
        points = np.arange(self.count)[:, None, None]
        self.places[output] = self._laid(out, np.broadcast_to(points, output.shape))
        self.result.calls.append(Outer(*sides, out))


def _check_same(numbers: Numbers) -> None:
    """Check that what all points meet is one number, or equal ones of a constant."""
    places, data = numbers.places, numbers.data
    if np.any(places != places[0]) and (
        data is None or np.any(data.flat[places] != data.flat[places[0]])
    ):
        raise CannotCompile("an array that knows no point and differs along the points")


_FILLING = {
    dtype: Loop(
        dtype, ("full",), 0, (Step("mul", (Operand("input", 0), Operand("literal", 1.0))),), (0,)
    )
    for dtype in ("float32", "float64")
}
"""The loops that write a number to a whole row."""
