"""The program of any number of points, made of two recordings with few of them.

To record a function is to run it, in memory for all that it makes on the way: with a thousand
points that takes longer than all else until the first step. What it does hardly ever depends on
how many points there are, so two programs, of n and of 2n points, tell that of any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import namespace_of
from .number_of_points import same
from .program import COMPUTED, CONSTANT, Argument, Instruction, Program, Value


class _Differs(Exception):
    """The two programs do something else, or have a number that follows no law."""


def resized(small: Program, large: Program, count: int) -> Program | None:
    """Return the program with `count` points, None where that is not to be told from the two.

    small, large: programs of one function with n and with 2n points, the length of the first
    input. They have to be alike but for lengths and numbers that are n or 1 / n times a whole
    number, and for constants whose rows are alike.
    """
    try:
        return _Resized(small, large, count).program()
    except _Differs:
        return None


class _Resized:
    def __init__(self, small: Program, large: Program, count: int) -> None:
        self.small, self.large = small, large
        self.few, self.count = small.inputs[0].shape[0], count
        # of a value with n points: that with 2n, and that with so many
        self.found: dict[Value, tuple[Value, Value]] = {}

    def program(self) -> Program:
        small, large = self.small, self.large
        if [len(small.inputs), len(small.instructions), len(small.outputs)] != [
            len(large.inputs), len(large.instructions), len(large.outputs)
        ]:  # fmt: skip
            raise _Differs
        inputs = [self._new(a, b) for a, b in zip(small.inputs, large.inputs, strict=True)]
        pairs = zip(small.instructions, large.instructions, strict=True)
        instructions = [self._instruction(one, other) for one, other in pairs]
        outputs = [self._value(a, b) for a, b in zip(small.outputs, large.outputs, strict=True)]
        return Program(inputs, instructions, outputs, [small.counter[0]], small.captured)

    def _instruction(self, one: Instruction, other: Instruction) -> Instruction:
        counts = len(one.inputs), len(one.outputs)
        if one.op is not other.op or counts != (len(other.inputs), len(other.outputs)):
            raise _Differs
        inputs = tuple(self._argument(a, b) for a, b in zip(one.inputs, other.inputs, strict=True))
        attributes = self._attribute(one.attributes, other.attributes)
        outputs = tuple(self._new(a, b) for a, b in zip(one.outputs, other.outputs, strict=True))
        return Instruction(one.op, inputs, attributes, outputs)

    # ---- values

    def _argument(self, one: Argument, other: Argument) -> Argument:
        if isinstance(one, Value) and isinstance(other, Value):
            return self._value(one, other)
        if type(one) is not type(other):
            raise _Differs
        return one if same(one, other) else self._number(one, other)

    def _value(self, one: Value, other: Value) -> Value:
        if one not in self.found:
            if one.kind != CONSTANT:
                raise _Differs
            self._new(one, other)
        twin, value = self.found[one]
        if twin is not other:
            raise _Differs
        return value

    def _new(self, one: Value, other: Value) -> Value:
        """Return the value with so many points of one that is met for the first time."""
        if (one.kind, one.dtype) != (other.kind, other.dtype):
            raise _Differs
        shape = self._attribute(one.shape, other.shape)
        data = self._constant(one, other, shape) if one.kind == CONSTANT else None
        kept = data is one.data and one.kind != COMPUTED and shape == one.shape
        value = one if kept else Value(one.number, shape, one.dtype, one.kind, data, one.name)
        self.found[one] = other, value
        return value

    def _constant(self, one: Value, other: Value, shape: tuple[int, ...]) -> Any:
        if one.data is other.data or same(one.data, other.data):
            return one.data
        if one.size == 1 and one.shape == other.shape:
            return self._lone(one, other)
        grown = [k for k, (a, b) in enumerate(zip(one.shape, other.shape, strict=True)) if a != b]
        if len(grown) != 1 or 0 in one.shape:
            raise _Differs
        first = (*[slice(None)] * grown[0], slice(0, 1))
        row = one.data[first]
        if not (same(row, other.data[first]) and all((v.data == row).all() for v in (one, other))):
            raise _Differs
        xp = namespace_of(one.data)
        return xp.ascontiguousarray(xp.broadcast_to(row, shape))

    def _lone(self, one: Value, other: Value) -> Any:
        """Return a constant of one element that follows a law as a number does."""
        if one.dtype.kind != "f":
            raise _Differs
        number = self._number(float(one.data.item()), float(other.data.item()), one.dtype.type)
        return namespace_of(one.data).full(one.shape, number, one.dtype)

    # ---- numbers

    def _attribute(self, one: Any, other: Any) -> Any:
        if type(one) is not type(other):
            raise _Differs
        if type(one) is int:
            return self._length(one, other)
        if isinstance(one, dict):
            if one.keys() != other.keys():
                raise _Differs
            return {key: self._attribute(one[key], other[key]) for key in one}
        if type(one) in (tuple, list):
            if len(one) != len(other):
                raise _Differs
            return type(one)(map(self._attribute, one, other))
        if isinstance(one, slice):
            pairs = zip(_parts(one), _parts(other), strict=True)
            return slice(*(self._attribute(a, b) for a, b in pairs))
        if one is not other and not same(one, other):
            raise _Differs
        return one

    def _length(self, one: int, other: int) -> int:
        if one == other:
            return one
        if other != 2 * one or one % self.few:
            raise _Differs
        return one // self.few * self.count

    def _number(self, one: Any, other: Any, rounded: Any = float) -> Any:
        """Return what becomes of a number that is so many times n, or one over that."""
        if type(one) is int:
            return self._length(one, other)
        if type(one) is not float or not np.isfinite([one, other]).all() or 0.0 in (one, other):
            raise _Differs
        if one.is_integer() and other == 2 * one and one % self.few == 0:
            return one / self.few * self.count
        inverse = 1 / one
        times = round(inverse / self.few)
        laws = (
            [float(rounded(1.0 / (times * n))) for n in (self.few, 2 * self.few)] if times else []
        )
        if [one, other] != laws:
            raise _Differs
        return 1.0 / (times * self.count)


def _parts(one: slice) -> tuple[Any, Any, Any]:
    return one.start, one.stop, one.step
