"""A recorded computation: values, instructions over registered operations, inputs and outputs."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops.registry import Op
from ..tensor import writes_to
from .bits import has_bits

INPUT, CONSTANT, COMPUTED = "input", "constant", "computed"


@dataclass(eq=False)
class Value:
    """An array of a program, known by identity.

    kind  "input" (given at each replay), "constant" (`data` is frozen) or "computed".
    """

    number: int
    shape: tuple[int, ...]
    dtype: np.dtype
    kind: str = COMPUTED
    data: Any = None
    name: str = ""

    @property
    def nbytes(self) -> int:
        """The bytes of the dense array."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        sigil = "%" if self.kind == COMPUTED else "$"
        return f"{sigil}{self.number}{self.name and ':' + self.name}"


@dataclass(frozen=True, eq=False)
class Captured:
    """A tensor that was there before the recording and is a constant of the program."""

    tensor: weakref.ref
    data: Any
    version: list[int]  # of all tensors of that memory; counts the library's writes to it
    count: tuple[int, ...]  # those that the version check does not see with it
    numbers: Any  # that the constant has

    @classmethod
    def of(cls, tensor: Any, numbers: Any) -> Captured:
        """Remember a tensor as it is now, with a copy of its numbers."""
        version = writes_to(tensor)
        return cls(weakref.ref(tensor), tensor._data, version, tuple(version), numbers)

    def is_current(self) -> bool:
        """Return whether the tensor has neither been written to nor been given other memory.

        Writes that numpy makes into memory of the host are seen by the numbers.
        """
        tensor = self.tensor()
        if tuple(self.version) != self.count or not (tensor is None or tensor._data is self.data):
            return False
        return type(self.data) is not np.ndarray or has_bits(self.data, self.numbers)


Argument = Value | int | float | complex | bool | None


@dataclass(eq=False)
class Instruction:
    """One application of a registered operation."""

    op: Op
    inputs: tuple[Argument, ...]
    attributes: dict[str, Any]
    outputs: tuple[Value, ...]

    def values(self) -> Iterator[Value]:
        """Yield the input values (not the Python numbers)."""
        return iter([v for v in self.inputs if isinstance(v, Value)])  # faster than one by one

    def __str__(self) -> str:
        left = ", ".join(str(o) for o in self.outputs)
        right = ", ".join(str(i) for i in self.inputs)
        extra = "".join(f", {k}={_short(v)}" for k, v in self.attributes.items())
        shapes = " ".join("x".join(map(str, o.shape)) or "()" for o in self.outputs)
        return f"{left} = {self.op.name}({right}{extra})  [{shapes}]"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(eq=False)
class Program:
    """A straight-line computation.

    inputs   values given at each replay, in order.
    outputs  values read after each replay, in order; may be inputs or constants.
    captured the tensors that were frozen into constants.
    """

    inputs: list[Value]
    instructions: list[Instruction]
    outputs: list[Value]
    counter: list[int] = field(default_factory=lambda: [0])
    captured: list[Captured] = field(default_factory=list)

    def is_current(self) -> bool:
        """Return whether the tensors frozen into constants are as they were when recorded."""
        return all(captured.is_current() for captured in self.captured)

    def new_value(self, shape: Iterable[int], dtype: Any) -> Value:
        """Return a new computed value of this program."""
        self.counter[0] += 1
        return Value(self.counter[0], tuple(shape), np.dtype(dtype))

    def new_constant(self, data: Any) -> Value:
        """Return a new constant of this program."""
        self.counter[0] += 1
        return Value(self.counter[0], data.shape, data.dtype, CONSTANT, data)

    def replaced(
        self, instructions: list[Instruction], outputs: list[Value] | None = None
    ) -> Program:
        """Return the program with other instructions (and outputs)."""
        return Program(
            self.inputs,
            instructions,
            self.outputs if outputs is None else outputs,
            self.counter,
            self.captured,
        )

    def part(
        self, inputs: Sequence[Value], instructions: Sequence[Instruction], outputs: Sequence[Value]
    ) -> Program:
        """Return a program of some of the instructions, with values of its own for these."""
        own: dict[Value, Value] = {
            v: Value(v.number, v.shape, v.dtype, INPUT, v.data, v.name) for v in inputs
        }

        def of(argument: Any) -> Any:
            return own.get(argument, argument) if isinstance(argument, Value) else argument

        made = []
        for instruction in instructions:
            own |= {o: Value(o.number, o.shape, o.dtype) for o in instruction.outputs}
            made.append(Instruction(
                instruction.op, tuple(of(i) for i in instruction.inputs), instruction.attributes,
                tuple(own[o] for o in instruction.outputs),
            ))  # fmt: skip
        return Program(
            [own[v] for v in inputs], made, [of(v) for v in outputs], self.counter, self.captured
        )

    def uses(self) -> dict[Value, int]:
        """Return how often each value is read, outputs included."""
        count: dict[Value, int] = {}
        for instruction in self.instructions:
            for value in instruction.values():
                count[value] = count.get(value, 0) + 1
        for value in self.outputs:
            count[value] = count.get(value, 0) + 1
        return count

    def work(self) -> tuple[int, int]:
        """Return (bytes written, floating point operations)."""
        written = operations = 0
        for instruction in self.instructions:
            written += sum(o.nbytes for o in instruction.outputs)
            operations += flops(instruction)
        return written, operations

    def __str__(self) -> str:
        written, operations = self.work()
        lines = [
            f"program: {len(self.instructions)} instructions, {written / 1e6:.3f} MB written, "
            f"{operations / 1e6:.3f} Mflop",
            "  inputs " + ", ".join(f"{v} {list(v.shape)}" for v in self.inputs),
        ]
        lines += [f"  {instruction}" for instruction in self.instructions]
        lines.append("  outputs " + ", ".join(str(v) for v in self.outputs))
        return "\n".join(lines)


def flops(instruction: Instruction) -> int:
    """Return the floating point operations of an instruction; 0 for views."""
    op, inputs, outputs = instruction.op, list(instruction.values()), instruction.outputs
    if op.view:
        return 0
    if op.flops is not None:
        return op.flops(inputs, outputs, instruction.attributes)
    return len(outputs) * max(v.size for v in (*inputs, *outputs))
