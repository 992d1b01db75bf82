"""Numbers less their mean, by their deviation, and scaled: operations of few passes each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import modes
from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul, sub
from ..elementwise.smooth import rsqrt
from ..layout.shape import reshape_op
from ..registry import Op, are_plain
from .products import dots, sum_of_products, sum_of_squares
from .reduce import count, mean_op, sum_op


def _factor(xp: Any, variance: Any, eps: float) -> Any:
    """Return 1 / sqrt(variance + eps)."""
    root = xp.sqrt(variance + eps)
    return xp.reciprocal(root, out=root)


def _standardized(xp: Any, x: Any, *, axes: tuple, eps: float) -> tuple:
    number = count(x.shape, axes)
    mean = xp.asarray(x.mean(axis=axes, keepdims=True))
    result = xp.subtract(x, mean)
    variance = sum_of_squares(xp, result, axes, keepdims=True)
    variance /= number
    return xp.multiply(result, _factor(xp, variance, eps), out=result), mean, variance


def _run(xp: Any, op: Op, *arrays: Any) -> Any:
    """Return what an elementwise operation gives, on the host in the way that is fastest there."""
    found = op.on_host if xp is np else None
    return op.forward(xp, *arrays) if found is None else found(*arrays)


def _alongside(xp: Any, whole: Any, *parts: Any) -> list:
    """Return arrays of fewer numbers so that they lack the first or the last dimensions alone."""
    first = parts[0].shape
    if len(first) < 3 or first[0] != 1 or all(n == 1 for n in first[1:]) or first[-1] != 1:
        return list(parts)
    shape = whole.shape[:1] + first[1:]
    return [xp.ascontiguousarray(xp.broadcast_to(part, shape)) for part in parts]


def _sum_parts(xp: Any, g: Any, y: Any, along: Any, shift: Any, factor: Any) -> Any:
    result = xp.subtract(g, xp.multiply(y, along))
    result = xp.subtract(result, shift)
    return xp.multiply(result, factor)


sum_parts_op = Op("standardized_sum", _sum_parts, elementwise=True, broadcasts=True)
"""(g - y * along - shift) * factor, in one pass where it can be."""
scaled_and_shifted_op = Op(
    "scaled_and_shifted",
    lambda xp, x, weight, bias: xp.add(xp.multiply(x, weight), bias),
    elementwise=True,
    broadcasts=True,
)


def _gradient(
    xp: Any, g: Any, along_mean: Any, along_variance: Any, y: Any, variance: Any, *,
    axes: tuple, eps: float,
) -> Any:  # fmt: skip
    number = count(y.shape, axes)
    factor = _factor(xp, variance, eps)
    shift = g.sum(axis=axes, keepdims=True)
    shift -= along_mean / factor
    along = sum_of_products(xp, g, y, axes, keepdims=True)
    along -= 2 * along_variance / (factor * factor)
    return _run(xp, sum_parts_op, g, y, *_alongside(xp, y, along / number, shift / number, factor))


gradient_op = Op("standardized_gradient", _gradient)
"""The gradient of what is standardized, for passes that are not recorded."""


def _rule(g: tuple, out: tuple, axes: tuple, eps: float) -> tuple:
    """Differentiate y = f (x - m), f = (v + eps)^-1/2, given dy, dm and dv.

    dx = f (dy - mean(dy) + dm / (n f) - y (mean(dy y) - 2 dv / (n f^2))).
    """
    (of_result, of_mean, of_variance), (y, _, variance) = g, out
    if not modes.state.grad_enabled and are_plain(*g, *out):
        return (gradient_op(of_result, of_mean, of_variance, y, variance, axes=axes, eps=eps),)
    number = float(count(y._data.shape, axes))
    factor = rsqrt(add(variance, eps))
    shift = sub(mean_op(of_result, axes=axes, keepdims=True), of_mean / (factor * number))
    along = mean_op(mul(of_result, y), axes=axes, keepdims=True)
    along = sub(along, of_variance * 2 / (factor * factor * number))
    return (mul(sub(sub(of_result, shift), mul(y, along)), factor),)


# ---- a factor and a summand


def _scaled(xp: Any, x: Any, weight: Any, bias: Any, *, shape: tuple) -> Any:
    parts = (weight.reshape(shape), bias.reshape(shape))
    return _run(xp, scaled_and_shifted_op, x, *_alongside(xp, x, *parts))


def _scaled_rule(g: Tensor, x: Tensor, weight: Tensor, shape: tuple, needed: tuple) -> tuple:
    rank = x._data.ndim
    whole = (1,) * (rank - len(shape)) + shape
    axes = tuple(k for k in range(rank) if whole[k] == 1)
    size = weight._data.shape
    of_x = of_weight = of_bias = None
    if needed[0]:
        of_x = mul(g, reshape_op(weight, shape=shape))
    if needed[1]:
        of_weight = reshape_op(dots(g, x, axes), shape=size)
    if needed[2]:
        of_bias = reshape_op(sum_op(g, axes=axes, keepdims=True), shape=size)
    return of_x, of_weight, of_bias


scaled_op = Op("scaled", _scaled, _scaled_rule, taylor="nested")
"""x times a weight plus a bias, each reshaped so that they are broadcast to x."""


def scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: tuple) -> Tensor:
    """Return `x` times a weight plus a bias, either of which may be None.

    shape  that the two are brought to, to be broadcast to that of x.
    """
    if weight is not None and bias is not None and are_plain(x, weight, bias):
        return scaled_op(x, weight, bias, shape=shape)
    result = x if weight is None else mul(x, reshape_op(weight, shape=shape))
    return result if bias is None else add(result, reshape_op(bias, shape=shape))


standardized_op = Op("standardized", _standardized, _rule, outputs=3, taylor="nested")


def standardized(x: Tensor, axes: tuple, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return (x - mean) / sqrt(variance + eps) over some dimensions, the mean and the variance.

    The variance is that of the population; it and the mean keep the dimensions, with size 1.
    In recordings, under vmap and derivatives in the coordinates, and for complex numbers and half
    precision, it is made of operations that are known there.
    """
    if are_plain(x):
        axes = tuple(sorted(axis % x.ndim for axis in axes))
        return standardized_op(x, axes=axes, eps=eps)
    mean = x.mean(axes, True)
    centred = x - mean
    variance = (centred * centred).mean(axes, True)
    return centred * rsqrt(variance + eps), mean, variance
