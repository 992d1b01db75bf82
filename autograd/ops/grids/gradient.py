"""Derivatives of values on a grid by finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tensor import Tensor
from ..elementwise.arithmetic import add, div, mul, sub
from ..layout.index import narrow
from ..layout.join import cat
from ..layout.shape import normal_axis, reshape_op

__all__ = ["gradient"]


def _differences(x: Tensor, axis: int, spacing: Any, edge_order: int) -> Tensor:
    """Return the derivative along `axis`: central inside, one-sided at the ends.

    spacing  a number, or the coordinates of the points.
    """
    size = x.shape[axis]

    def at(start: int, length: int = 1) -> Tensor:
        return narrow(x, axis, start, length)

    if isinstance(spacing, Tensor):
        steps = sub(narrow(spacing, 0, 1, size - 1), narrow(spacing, 0, 0, size - 1))
    else:
        steps = None

    def step(k: int, length: int = 1) -> Any:
        if steps is None:
            return spacing
        shape = (-1, *(1,) * (x.ndim - 1 - axis))
        return reshape_op(narrow(steps, 0, k, length), shape=shape)

    inside = size - 2
    a, b = step(0, inside), step(1, inside)
    if steps is None:
        middle = div(sub(at(2, inside), at(0, inside)), 2 * spacing)
    else:
        # the parabola through three neighbours
        left = mul(at(0, inside), div(-b, mul(a, add(a, b))))
        centre = mul(at(1, inside), div(sub(b, a), mul(a, b)))
        middle = add(add(left, centre), mul(at(2, inside), div(a, mul(b, add(a, b)))))
    if edge_order == 1:
        first = div(sub(at(1), at(0)), step(0))
        last = div(sub(at(size - 1), at(size - 2)), step(size - 2))
    else:
        first = _edge([at(0), at(1), at(2)], step(0), step(1), 1)
        last = _edge([at(size - 1), at(size - 2), at(size - 3)], step(size - 2), step(size - 3), -1)
    return cat([first, middle, last], axis)


def _edge(values: list[Tensor], a: Any, b: Any, direction: int) -> Tensor:
    """Return the slope at the first of three points of the parabola through them."""
    total = a + b
    first = mul(values[0], -(2 * a + b) / (a * total))
    second = mul(values[1], total / (a * b))
    return mul(sub(add(first, second), mul(values[2], a / (b * total))), direction)


def gradient(
    input: Tensor,
    *,
    spacing: Any = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """Return the derivative of values on a grid along each of `dim` (all by default).

    spacing     of the grid: a number for all, numbers one a dimension, or 1-d tensors of
                coordinates one a dimension, which need not be evenly spaced; None is 1.
    edge_order  1 or 2: the order of the one-sided differences at the ends; inside it is 2.
    Raises RuntimeError for fewer than edge_order + 1 points and for spacings that do not fit.
    """
    axes = range(input.ndim) if dim is None else (dim if isinstance(dim, (tuple, list)) else (dim,))
    axes = [normal_axis(axis, input.ndim) for axis in axes]
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"torch.gradient expected each dim once, got {list(axes)}")
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and 2, got {edge_order}")
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, (tuple, list)):
        spacings = list(spacing)
    else:
        spacings = [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to {len(axes)}, one a dimension, got {len(spacings)}"
        )
    x = input if input.dtype.kind in "fc" else mul(input, 1.0)
    for axis, one in zip(axes, spacings, strict=True):
        if x.shape[axis] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1 = "
                f"{edge_order + 1}, got {x.shape[axis]} along dimension {axis}"
            )
        if isinstance(one, Tensor) and one.ndim and one.shape != (x.shape[axis],):
            raise RuntimeError(
                f"torch.gradient expected coordinates of shape {[x.shape[axis]]} along dimension "
                f"{axis}, got {list(one.shape)}"
            )
    given = [one.item() if isinstance(one, Tensor) and not one.ndim else one for one in spacings]
    return tuple(
        _differences(x, axis, one, edge_order) for axis, one in zip(axes, given, strict=True)
    )
