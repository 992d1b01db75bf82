"""How parts of arrays at fixed positions depend on the points: x[:, 1:3], x[..., [2, 0]].

Points stay apart where all of them are taken, in order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .dependence import Dependence
from .look_ups import Reading, together
from .number_of_points import same
from .program import Argument, Instruction, Value


class _Reading(Reading, Protocol):
    count: int

    def grown(self, value: Value) -> int | None: ...


def part(reading: _Reading, one: Instruction, other: Instruction) -> Dependence:
    """slice, index: a part of an array."""
    (value,), (twin,) = one.values(), other.values()
    found = reading.of(value)
    if found.axis is not None and reading.grown(one.outputs[0]) is None:
        raise reading.refusal(one, "takes some of the points")
    step = _step(reading, one, other, found.axis, found.inner, value.shape, twin.shape)
    return replace(found, inner=found.inner // step) if found.axis is not None else found


def embedded(reading: _Reading, one: Instruction, other: Instruction) -> Dependence:
    """embed: zeros with an array as a part."""
    (value,), (output,), (twin,) = one.values(), one.outputs, other.outputs
    found, axis = reading.of(value), reading.grown(output)
    inner = 0
    if found.axis is not None:
        if axis is None:
            raise reading.refusal(one, "puts points at given positions")
        inner = found.inner * (output.shape[axis] // value.shape[found.axis])
    _step(reading, one, other, axis, inner, output.shape, twin.shape)
    return replace(found, inner=inner)


def put(reading: _Reading, one: Instruction, other: Instruction) -> Dependence:
    """index_put: an array with other numbers at a part, or with them added there."""
    target, values = one.inputs
    found, given = reading.of(target), reading.of(values)
    shapes = target.shape, other.inputs[0].shape
    _step(reading, one, other, found.axis, found.inner, *shapes)
    if found.axis is None:
        return together(reading, one, (target, values))
    if given.axis is not None:
        # what is written says where it lies among the points' own numbers
        nothing = np.full(target.shape, -1)
        places = _points(reading, values, given)
        index = one.attributes["index"]
        written = one.op.forward(np, nothing, places, index=index, accumulate=False)
        if np.any((written >= 0) & (written != _points(reading, target, found))):
            raise reading.refusal(one, "moves the numbers of a point to another")
        given = replace(given, axis=found.axis, inner=found.inner)
    if given.total or (given.power != found.power and not reading.is_zero(values)):
        raise reading.refusal(one, "joins what depends on the points in different ways")
    return found


def _points(reading: _Reading, value: Argument, found: Dependence) -> np.ndarray:
    """Return which point each number of a value belongs to."""
    points = np.arange(value.shape[found.axis]) // found.inner % reading.count
    after = len(value.shape) - found.axis - 1
    return np.broadcast_to(points.reshape(-1, *(1,) * after), value.shape)


def _step(
    reading: _Reading,
    one: Instruction,
    other: Instruction,
    axis: int | None,
    inner: int,
    *shapes: tuple[int, ...],
) -> int:
    """Return how far apart the numbers are that an index takes along the points, all of these.

    shapes  of what is indexed, with n and with 2n points.
    Any other part of the index is to be the same with both.
    """
    indices = one.attributes["index"], other.attributes["index"]
    if len(indices[0]) != len(indices[1]):
        raise reading.refusal(one, "has an index that depends on how many points there are")
    step, dim = 1, 0
    for pair in zip(*indices, strict=True):
        makes_dimension = pair[0] is None or type(pair[0]) is tuple
        if dim == axis and not makes_dimension:
            sizes = [shape[axis] for shape in shapes]
            steps = {_whole(item, size, inner) for item, size in zip(pair, sizes, strict=True)}
            if len(steps) > 1 or None in steps:
                raise reading.refusal(one, "takes some of the points")
            (step,) = steps
        elif not same(*pair):
            raise reading.refusal(one, "has an index that depends on how many points there are")
        dim += not makes_dimension
    return step


def _whole(item: Any, size: int, inner: int) -> int | None:
    """Return the step of a slice that takes as many numbers of each point; None for others."""
    if not isinstance(item, slice):
        return None
    start, stop, step = item.indices(size)
    if start >= step or inner % step or len(range(start, stop, step)) != size // step:
        return None
    return step


def depends_on_number(one: Instruction, other: Instruction) -> bool:
    """Return whether an index of what knows no point is another for another number of them."""
    return not same(one.attributes.get("index"), other.attributes.get("index"))


