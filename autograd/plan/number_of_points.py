"""Whether what a function does depends on how many points it is given, seen from its recordings.

A chunk has fewer points than all: it must be computed as few points and as all of them are, with
the same operations, and with numbers that follow one law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat, zip_longest
from typing import Any

import numpy as np

from .program import CONSTANT, Argument, Instruction, Program, Value
from .trace import TraceError

BY_NUMBER = (
    "what is done depends on how many points there are, and a chunk has fewer than all; compile it "
    "without points, or give their number as an argument"
)
_RATIO_TOLERANCE = 1e-6  # of numbers that may have been rounded to single precision
# Attributes that follow from the shapes, which are looked at themselves.
_SHAPES = frozenset({"shape", "index", "sizes"})


class MixesPoints(ValueError):
    """A function of points in which one point's part of a result depends on the others."""


def check_chunk(
    small: Program, large: Program, instructions: Sequence[Instruction], points: int
) -> None:
    """Raise MixesPoints where a chunk of so many points was computed in another way than few were.

    small, large: recordings of one function with n and with 2n points.  points: how many the chunk
    has.  A function may look at how many it is given, and do something else from some number on.
    """
    few = small.inputs[0].shape[0]
    trio = zip_longest(small.instructions, large.instructions, instructions)
    for one, other, here in trio:
        alike = one is not None and here is not None and one.op is here.op
        if not (alike and all(map(partial(_scaled, points / few), one.outputs, here.outputs))):
            raise MixesPoints(BY_NUMBER)
        if any(differing_attributes(one, here)):
            raise MixesPoints(BY_NUMBER)
        for numbers in zip(one.inputs, other.inputs, here.inputs, strict=True):
            if not _follows(*numbers, points / few):
                raise MixesPoints(BY_NUMBER)


def check_repeats(name: str, found: str | None) -> None:
    """Raise TraceError for what two recordings of a function at the same points differ in."""
    if found is not None:
        raise TraceError(
            f"{name} does something else at each call, seen at {found}: random numbers of numpy or "
            "Python, a counter, a list that grows; pass what changes as an argument"
        )


def difference(one: Program, other: Program) -> str | None:
    """Return None where two recordings at the same points are alike, else what differs first."""
    twins: dict[Value, Value] = {}

    def meet(here: Sequence[Argument], there: Sequence[Argument]) -> bool:
        return len(here) == len(there) and all(map(_twins, here, there, repeat(twins)))

    twins.update(zip(one.inputs, other.inputs, strict=True))
    for here, there in zip_longest(one.instructions, other.instructions):
        if (
            here is None or there is None or here.op is not there.op
            or not meet(here.inputs, there.inputs)
            or not same(here.attributes, there.attributes)
            or len(here.outputs) != len(there.outputs)
        ):  # fmt: skip
            return f"operation {(here or there).op.name!r}"
        twins.update(zip(here.outputs, there.outputs, strict=True))
    return None if meet(one.outputs, other.outputs) else "what it returns"


def _twins(one: Argument, other: Argument, twins: Mapping[Value, Value]) -> bool:
    """Return whether two arguments of recordings are one: made alike, or the same numbers."""
    if not (isinstance(one, Value) and isinstance(other, Value)):
        return type(one) is type(other) and same(one, other)
    if CONSTANT not in (one.kind, other.kind):
        return twins[one] is other
    return one.kind == other.kind and (one.data is other.data or same(one.data, other.data))


def _number(argument: Argument) -> Any:
    """Return a number, of a constant too; None for all else."""
    if isinstance(argument, Value):
        lone = argument.kind == CONSTANT and argument.shape == () and argument.dtype.kind in "iuf"
        return float(argument.data) if lone else None
    return argument


def _follows(one: Argument, other: Argument, here: Argument, factor: float) -> bool:
    """Return whether a number that n and 2n points have is what so many times n should have."""
    few, more, now = map(_number, (one, other, here))
    if few is None or now is None:
        return True
    if same(few, more):  # a constant that is frozen may have been written to since
        return isinstance(one, Value) or same(few, now)
    power = np.log2(few / more)
    return not factor or agree(now * factor**power, few)


def _scaled(factor: float, one: Value, other: Value) -> bool:
    """Return whether an array has the shape of another, one dimension scaled at most."""
    if len(one.shape) != len(other.shape):
        return False
    changed = [(a, b) for a, b in zip(one.shape, other.shape, strict=True) if a != b]
    return len(changed) <= 1 and all(a * factor == b for a, b in changed)


def differing_attributes(one: Instruction, other: Instruction) -> Iterator[str]:
    """Give the attributes in which two instructions of one operation differ, but for shapes."""
    for key, value in one.attributes.items():
        if key not in _SHAPES and not same(value, other.attributes[key]):
            yield key


def agree(one: float, other: float) -> bool:
    """Return whether two numbers are the same but for rounding."""
    return abs(one / other - 1) < _RATIO_TOLERANCE


def same(one: Any, other: Any) -> bool:
    """Return whether two attributes are equal, or no numbers both; arrays by their elements."""
    if type(one) is not type(other):
        return not _is_array(one) and not _is_array(other) and bool(one == other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if _is_array(one):
        alike = one.shape == other.shape and one.dtype == other.dtype
        return alike and bool(((one == other) | ((one != one) & (other != other))).all())
    return bool(one == other) or bool(one != one and other != other)


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
