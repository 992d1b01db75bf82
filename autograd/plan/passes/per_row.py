"""Per-row gradients: the gradient of a sum over rows, taken apart into its rows.

A reverse sweep seeded with ones gives `sum_n dr_n/dW`.  The adjoints of the rows only meet in the
contractions over points at the end of the sweep (weight gradients, bias sums).  This pass finds
them and leaves the row index in: `einsum('cna,cnb->nab')` instead of `einsum('cna,cnb->ab')`, one
contraction a layer.  Everything before is untouched, everything after carries a leading row axis.

A value with rows is known by how its rows lie in it: flattened, it is `outer x rows x inner`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY, Op
from ..program import CONSTANT, Argument, Instruction, Program, Value

# what keeps its rows apart, though it moves them: see `_inner_by_dimension`
_KEEP_ROWS = frozenset({"cat", "stack", "unbind", "split", "expand", "slice", "permute", "embed"})


class CannotSplitRows(RuntimeError):
    """An operation mixes the rows in a way that this pass does not know."""


def _outer_rows(xp: Any, x: Any, y: Any, out: Any = None, *, rows: int) -> Any:
    """Contract (outer * rows, a) and (outer * rows, b) over outer to (rows, a, b)."""
    left = x.reshape(-1, rows, x.shape[-1]).transpose(1, 2, 0)
    right = y.reshape(-1, rows, y.shape[-1]).transpose(1, 0, 2)
    return xp.matmul(left, right) if out is None else xp.matmul(left, right, out=out)


outer_rows_op = Op(
    "outer_rows",
    _outer_rows,
    flops=lambda inputs, outputs, attributes: 2 * inputs[0].size * inputs[1].shape[-1],
)


def split_rows(program: Program, outputs: Sequence[int], inputs: int) -> Program:
    """Return a program whose outputs of these numbers keep their rows: (rows, *shape).

    The first `inputs` inputs carry the rows in their first dimension.  The seed of the sweep has to
    be one of them: adjoints that are constants would have lost their rows.
    Raises CannotSplitRows for an operation between points that is no plain contraction.
    """
    rows = program.inputs[0].shape[0]
    if rows > 1:
        return _Splitter(program, inputs).split(outputs)
    return _with_row_axis(program, outputs, rows)


def _with_row_axis(program: Program, outputs: Sequence[int], rows: int) -> Program:
    """The sum over one row is its share; over none there is nothing to take apart."""
    results, instructions = list(program.outputs), list(program.instructions)
    for k in outputs:
        total = results[k]
        shape = (rows, *total.shape)
        if rows == 0:
            results[k] = program.new_constant(np.zeros(shape, total.dtype))
        else:
            results[k] = program.new_value(shape, total.dtype)
            instructions.append(
                Instruction(REGISTRY["reshape"], (total,), {"shape": shape}, (results[k],))
            )
    return program.replaced(instructions, results)


class _Splitter:
    def __init__(self, program: Program, inputs: int) -> None:
        self.program = program
        self.rows = program.inputs[0].shape[0]
        self.inner: dict[Value, int] = {
            v: v.size // self.rows for v in program.inputs[:inputs]
        }  # a value with rows -> elements inside one row, for each outer block
        self.batched: dict[Value, Value] = {}  # a contracted value -> its per-row version
        self.instructions: list[Instruction] = []

    def split(self, outputs: Sequence[int]) -> Program:
        for instruction in self.program.instructions:
            self.instructions.append(instruction)
            self._visit(instruction)
        results = list(self.program.outputs)
        for k in outputs:
            if results[k] in self.batched:
                results[k] = self.batched[results[k]]
            elif results[k] in self.inner:
                raise CannotSplitRows("an output keeps its rows already")
            else:
                shape = (self.rows, *results[k].shape)
                zero = np.zeros(shape, results[k].dtype)
                results[k] = self.program.new_constant(zero)
        return self.program.replaced(self.instructions, results)

    def _emit(
        self, name: str, inputs: Sequence[Argument], to: tuple[int, ...], /, **attributes: Any
    ) -> Value:
        dtype = next(i.dtype for i in inputs if isinstance(i, Value))
        output = self.program.new_value(to, dtype)
        self.instructions.append(Instruction(REGISTRY[name], tuple(inputs), attributes, (output,)))
        return output

    def _visit(self, instruction: Instruction) -> None:
        name = instruction.op.name
        values = list(instruction.values())
        with_rows = any(v in self.inner for v in values)
        batched = any(v in self.batched for v in values)
        if not with_rows and not batched:
            return
        if name == "matmul" and with_rows:
            self._matmul(instruction)
        elif name in ("sum_to", "sum") and with_rows:
            self._sum(instruction)
        elif batched:
            self._on_batch(instruction)
        else:
            self._with_rows(instruction)

    # ---- values with rows

    def _with_rows(self, instruction: Instruction) -> None:
        """Follow the rows through an operation that treats each by itself."""
        name = instruction.op.name
        sources = [v for v in instruction.values() if v in self.inner]
        source = sources[0]
        for output in instruction.outputs:
            if instruction.op.elementwise or name in _KEEP_ROWS:
                self.inner[output] = self._inner_by_dimension(instruction, source, output)
            elif name == "reshape":
                self.inner[output] = self.inner[source]
            else:
                raise CannotSplitRows(f"operation '{name}' between points")

    def _row_dimension(self, value: Value) -> int | None:
        """Return the dimension of a value that the rows lie in, as its last factor."""
        inner = 1
        for dim in range(len(value.shape) - 1, -1, -1):
            if inner == self.inner[value] and value.shape[dim] % self.rows == 0:
                return dim
            inner *= value.shape[dim]
        return None

    def _inner_by_dimension(self, instruction: Instruction, source: Value, output: Value) -> int:
        dim = self._row_dimension(source)
        name = instruction.op.name
        if dim is None:
            raise CannotSplitRows(f"operation '{name}': the rows are spread over dimensions")
        from_end = len(source.shape) - dim
        if name == "stack" and instruction.attributes["dim"] % len(output.shape) > dim:
            from_end += 1
        elif name == "unbind":
            along = instruction.attributes["dim"] % len(source.shape)
            if along == dim:
                raise CannotSplitRows("operation 'unbind' along the rows")
            from_end -= along > dim
        elif name == "split" and instruction.attributes["dim"] % len(source.shape) == dim:
            raise CannotSplitRows("operation 'split' along the rows")
        elif name == "permute":
            from_end = len(output.shape) - instruction.attributes["axes"].index(dim)
        elif name in ("slice", "embed") and len(source.shape) != len(output.shape):
            if dim != 0:
                raise CannotSplitRows(f"operation '{name}' before the rows")
            from_end = len(output.shape)
        inner = 1
        for size in output.shape[len(output.shape) - from_end + 1 :]:
            inner *= size
        return inner

    # ---- contractions

    def _matmul(self, instruction: Instruction) -> None:
        x, y = instruction.inputs
        (output,) = instruction.outputs
        flags = instruction.attributes
        x_rows, y_rows = x in self.inner, y in self.inner
        if x_rows and not y_rows and not flags["transpose_x"] and y not in self.batched:
            self.inner[output] = self.inner[x] // x.shape[-1] * output.shape[-1]
            return
        # a constant that meets each row (folded ones) has the rows that the other side has
        paired = (x_rows or x.kind == CONSTANT) and (y_rows or y.kind == CONSTANT)
        if not (paired and flags["transpose_x"] and not flags["transpose_y"]):
            raise CannotSplitRows(f"a matrix product between points: {instruction}")
        inner = self.inner[x] // x.shape[-1] if x_rows else self.inner[y] // y.shape[-1]
        if len(x.shape) != 2 or len(y.shape) != 2 or inner != 1:
            raise CannotSplitRows("a contraction over points of more than two dimensions")
        self.batched[output] = self._emit(
            "outer_rows", (x, y), (self.rows, *output.shape), rows=self.rows
        )

    def _sum(self, instruction: Instruction) -> None:
        (x,) = instruction.inputs
        (output,) = instruction.outputs
        dim = self._row_dimension(x)
        if dim is None:
            raise CannotSplitRows("a sum over rows that are spread over dimensions")
        kept = _kept_dimensions(instruction)
        if dim in kept:
            inner = 1
            for k in kept:
                if k > dim:
                    inner *= x.shape[k]
            self.inner[output] = inner
            return
        blocks = x.shape[dim] // self.rows
        if blocks > 1:  # several rows of a sweep belong to each point: they are summed as well
            shape = (*x.shape[:dim], blocks, self.rows, *x.shape[dim + 1 :])
            x = self._emit("reshape", (x,), shape, shape=shape)
            kept = tuple(k + (k > dim) for k in kept)
            dim += 1
        # put the rows first, then sum over the other dimensions as before
        order = (dim, *(k for k in range(len(x.shape)) if k != dim))
        first = (
            x
            if dim == 0
            else self._emit("permute", (x,), tuple(x.shape[k] for k in order), axes=order)
        )
        shape = tuple(x.shape[k] if k in kept else 1 for k in order[1:])
        summed = first
        if shape != first.shape[1:]:
            summed = self._emit("sum_to", (first,), (self.rows, *shape), shape=(self.rows, *shape))
        final = (self.rows, *output.shape)
        self.batched[output] = (
            summed
            if summed.shape == final
            else self._emit("reshape", (summed,), final, shape=final)
        )

    # ---- values that carry a leading row axis

    def _on_batch(self, instruction: Instruction) -> None:
        name, attributes = instruction.op.name, dict(instruction.attributes)
        if any(v in self.inner for v in instruction.values()):
            raise CannotSplitRows(f"operation '{name}' between contracted values and points")
        if len(instruction.outputs) != 1:
            raise CannotSplitRows(f"operation '{name}' on contracted values")
        (output,) = instruction.outputs
        shape = (self.rows, *output.shape)
        inputs = [self._lifted(i, len(output.shape)) for i in instruction.inputs]
        if instruction.op.elementwise or name == "matmul":
            pass
        elif name == "sum_to":
            self.batched[output] = self._sum_on_batch(instruction)
            return
        elif name in ("reshape", "expand"):
            attributes["shape"] = shape
        elif name in ("cat", "stack"):
            attributes["dim"] = attributes["dim"] % len(output.shape) + 1
            inputs = [self._repeated(i) for i in instruction.inputs]
        elif name == "permute":
            attributes["axes"] = (0, *(a + 1 for a in attributes["axes"]))
        elif name in ("slice", "embed"):  # reading a part of a parameter, and its transpose
            attributes["index"] = (slice(None), *attributes["index"])
            if name == "embed":
                attributes["shape"] = (self.rows, *attributes["shape"])
            inputs = [self.batched[i] for i in instruction.inputs]
        else:
            raise CannotSplitRows(f"operation '{name}' on contracted values")
        self.batched[output] = self._emit(name, inputs, shape, **attributes)

    def _sum_on_batch(self, instruction: Instruction) -> Value:
        """Sum a contracted value, dimension by dimension: the rows are no part of the alignment."""
        (x,) = instruction.inputs
        (output,) = instruction.outputs
        total = self.batched[x]
        aligned = (1,) * (len(x.shape) - len(output.shape)) + output.shape
        for shape, name in ((aligned, "sum_to"), (output.shape, "reshape")):
            if total.shape != (self.rows, *shape):
                to = (self.rows, *shape)
                total = self._emit(name, (total,), to, shape=to)
        return total

    def _lifted(self, argument: Argument, ndim: int) -> Argument:
        """Return the per-row version, with ones after the row axis so that it broadcasts."""
        if not isinstance(argument, Value) or argument not in self.batched:
            return argument
        value = self.batched[argument]
        missing = ndim - len(argument.shape)
        if missing <= 0:
            return value
        shape = (self.rows, *(1,) * missing, *argument.shape)
        return self._emit("reshape", (value,), shape, shape=shape)

    def _repeated(self, argument: Argument) -> Argument:
        if argument in self.batched:
            return self.batched[argument]
        shape = (self.rows, *argument.shape)
        return self._emit("expand", (argument,), shape, shape=shape)


def _kept_dimensions(instruction: Instruction) -> tuple[int, ...]:
    """Return the dimensions of the input that a sum keeps in full."""
    (x,) = instruction.inputs
    if instruction.op.name == "sum":
        return tuple(k for k in range(len(x.shape)) if k not in instruction.attributes["axes"])
    target = instruction.attributes["shape"]
    extra = len(x.shape) - len(target)
    return tuple(extra + k for k, size in enumerate(target) if size == x.shape[extra + k])
