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

from ..devices import CPU, on_its_device, put
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


def check_chunk(small: Program, large: Program, chunk: Program, points: int) -> None:
    """Raise MixesPoints where a chunk of so many points was computed in another way than few were.

    small, large: recordings of one function with n and with 2n points.  points: how many the chunk
    has.  A function may look at how many it is given, and do something else from some number on.
    """
    factor = points / small.inputs[0].shape[0]
    twins = dict(zip(small.inputs, chunk.inputs, strict=True))

    def follow(*trio: Sequence[Argument]) -> bool:
        one, _, here = trio
        return len(one) == len(here) and all(map(_follows, *trio, repeat(factor), repeat(twins)))

    for one, other, here in zip_longest(small.instructions, large.instructions, chunk.instructions):
        alike = (
            one is not None and here is not None and one.op is here.op
            and len(one.outputs) == len(here.outputs)
            and all(map(partial(_scaled, factor), one.outputs, here.outputs))
            and not any(differing_attributes(one, here))
            and _index_follows(*(i.attributes.get("index") for i in (one, other, here)), factor)
            and follow(one.inputs, other.inputs, here.inputs)
        )  # fmt: skip
        if not alike:
            raise MixesPoints(BY_NUMBER)
        twins.update(zip(one.outputs, here.outputs, strict=True))
    if not follow(small.outputs, large.outputs, chunk.outputs):
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


def _follows(
    one: Argument, other: Argument, here: Argument, factor: float, twins: Mapping[Value, Value]
) -> bool:
    """Return whether an argument for n and for 2n points is what so many times n should have."""
    if isinstance(one, Value) != isinstance(here, Value):
        return False
    if not isinstance(one, Value):
        return _number_follows(one, other, here, factor)
    if one.kind != CONSTANT or here.kind != CONSTANT:
        return twins.get(one) is here
    few, more, now = (put(v.data, CPU) for v in (one, other, here))
    if few.shape != more.shape:
        return _rows_follow(few, now, factor)
    if few.size != 1 or same(few, more):
        return not same(few, more) or same(few, now)
    return now.size == 1 and _number_follows(few.item(), more.item(), now.item(), factor)


def _rows_follow(few: np.ndarray, now: np.ndarray, factor: float) -> bool:
    """Return whether rows that are the same for each of n points are for others too."""
    grown = [k for k, (a, b) in enumerate(zip(few.shape, now.shape, strict=False)) if a != b]
    if few.ndim != now.ndim or len(grown) > 1:
        return False
    if not now.size:
        return True
    first = few[tuple(slice(0, 1) if k in grown else slice(None) for k in range(few.ndim))]
    return not (few == first).all() or bool((now == first).all())  # or nothing reads it


def _number_follows(few: Any, more: Any, now: Any, factor: float) -> bool:
    if same(few, more):
        return same(few, now)
    if isinstance(few, (bool, complex)) or not (few and more):
        return True  # nothing reads it, or it would have been refused
    return not factor or agree(now * factor ** np.log2(few / more), few)


def _index_follows(few: Any, more: Any, now: Any, factor: float) -> bool:
    """Return whether an index is the same for any number of points, or ends with the points."""
    if same(few, more):
        return same(few, now)
    return len(few) == len(now) and all(map(_item_follows, few, more, now, repeat(factor)))


def _item_follows(few: Any, more: Any, now: Any, factor: float) -> bool:
    if same(few, more):
        return same(few, now)
    if not all(isinstance(item, slice) for item in (few, more, now)):
        return False
    return (few.start, few.step) == (now.start, now.step) and now.stop == few.stop * factor


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
        return alike and _same_elements(one, other)
    return bool(one == other) or bool(one != one and other != other)


@on_its_device
def _same_elements(one: Any, other: Any) -> bool:
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
