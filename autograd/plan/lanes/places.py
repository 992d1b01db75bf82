"""Which row, the point's, each element of a recorded value belongs to: found by running the moves.

A program is recorded for a few rows.  To each of its values belongs an array of its shape whose
elements are numbers of places: an operation that only moves elements is run on these numbers, and
what comes out says where each element of its result lies, whatever the operation was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices import CPU, put
from ..program import Instruction, Value


class CannotCompile(ValueError):
    """Something in a program that compiled tiles do not hold; the text names it."""


_MOVES = frozenset({
    "reshape", "permute", "expand", "slice", "embed", "cat", "stack", "unbind", "split",
    "index", "flip", "roll", "tile", "diagonal", "diagonal_into", "tril", "triu",
})  # fmt: skip


def moves(instruction: Instruction) -> bool:
    """Return whether an instruction only puts elements elsewhere, or zeros beside them."""
    return instruction.op.name in _MOVES and not _adds_up(instruction)


def _adds_up(instruction: Instruction) -> bool:
    """Return whether elements are added where a position comes up twice."""
    if not instruction.attributes.get("accumulate"):
        return False
    (value,) = instruction.values()
    return bool((_applied(instruction, [np.ones(value.shape)]) > 1).any())


def _applied(instruction: Instruction, arrays: list[np.ndarray]) -> Any:
    """Return what an instruction makes of arrays on the host."""
    attributes = dict(instruction.attributes)
    if "index" in attributes:
        attributes["index"] = tuple(map(_on_host, attributes["index"]))
    return instruction.op.forward(np, *arrays, **attributes)


def _on_host(item: Any) -> Any:
    """Return an item of an index, its positions on the host."""
    if isinstance(item, tuple):
        return tuple(map(_on_host, item))
    return put(item, CPU) if hasattr(item, "dtype") else item


def moved(instruction: Instruction, places: list[np.ndarray]) -> list[np.ndarray]:
    """Return the places of the outputs' elements from those of the inputs, -1 for a new zero."""
    found = _applied(instruction, [p + 1 for p in places])
    return [np.asarray(one) - 1 for one in (found if isinstance(found, tuple) else (found,))]


def broadcast(places: np.ndarray, value: Value) -> np.ndarray:
    """Return the places of an elementwise operation's operand for each element of its result."""
    return np.broadcast_to(places, value.shape)


def factors(x: np.ndarray, y: np.ndarray, attributes: dict[str, Any]) -> tuple[Any, Any]:
    """Return the places of a matrix product's factors as (..., n, k) and (..., k, m)."""
    return (
        x.swapaxes(-1, -2) if attributes["transpose_x"] else x,
        y.swapaxes(-1, -2) if attributes["transpose_y"] else y,
    )


def summed_dimensions(instruction: Instruction) -> tuple[int, ...]:
    """Return the dimensions of the input that a `sum`, `mean` or `sum_to` sums over."""
    source, target = instruction.inputs[0].shape, instruction.outputs[0].shape
    if instruction.op.name != "sum_to":
        return tuple(k % len(source) for k in instruction.attributes["axes"])
    extra = len(source) - len(target)
    return tuple(range(extra)) + tuple(
        extra + k for k, n in enumerate(target) if n == 1 and source[extra + k] != 1
    )


def is_same_along(places: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Return whether an array is the same along some of its axes."""
    first = places[tuple(slice(0, 1) if k in axes else slice(None) for k in range(places.ndim))]
    return bool(np.all(places == first))


def inner_size(points: np.ndarray, count: int) -> int:
    """Return the inner size of a value whose elements belong to these points.

    A value's elements are outer x points x inner; CannotCompile where they are not.
    """
    flat = points.reshape(-1)
    inner = int(np.argmax(flat == 1))
    if (
        not inner
        or flat.size % (count * inner)
        or np.any(flat.reshape(-1, count, inner) != np.arange(count).reshape(1, -1, 1))
    ):
        raise CannotCompile("a value whose points do not follow each other")
    return inner


def points_of_constant(data: np.ndarray, count: int) -> np.ndarray | None:
    """Return which point each element of a constant belongs to; None where it knows none.

    One that knows points, such as a seed of ones, has them as a dimension and is the same along it.
    """
    for axis, size in enumerate(data.shape):
        if size == count and is_same_along(data, (axis,)):
            shape = (1,) * axis + (count,) + (1,) * (data.ndim - axis - 1)
            return np.broadcast_to(np.arange(count).reshape(shape), data.shape)
    return None


def points_of_expansion(instruction: Instruction, count: int) -> np.ndarray | None:
    """Return which point each element of numbers that are repeated for each belongs to.

    None where an instruction is no such thing: no `expand` of one number to as many as points.
    """
    if instruction.op.name != "expand":
        return None
    (source,), (output,) = instruction.inputs, instruction.outputs
    before = (1,) * (len(output.shape) - len(source.shape)) + source.shape
    for axis, (old, new) in enumerate(zip(before, output.shape, strict=True)):
        if old == 1 and new == count:
            shape = (1,) * axis + (count,) + (1,) * (len(output.shape) - axis - 1)
            return np.broadcast_to(np.arange(count).reshape(shape), output.shape)
    return None


def with_rows(places: np.ndarray, count: int) -> np.ndarray:
    """Return which of `count` points each element belongs to, where some places are not known (-1).

    A value's elements are outer x points x inner: the known ones say what the inner size is.
    """
    points = np.where(places < 0, -1, places % count)
    if points.min() >= 0:
        return points
    flat = points.reshape(-1)
    for inner in range(1, flat.size // count + 1):
        if flat.size % (count * inner) == 0:
            expected = np.arange(flat.size) // inner % count
            if np.all((flat < 0) | (flat == expected)):
                return expected.reshape(places.shape)
    raise CannotCompile("zeros beside points whose points cannot be told")
