"""Activations made of pieces, and those that let a part of their input through."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..ops.creation.create import rand, zeros_like
from ..ops.elementwise.activations import hardsigmoid_op, hardswish_op
from ..ops.elementwise.piecewise import bent, where
from ..ops.elementwise.smooth import log, sigmoid, tanh
from ..ops.layout.gather import scatter
from ..ops.reductions.reduce import converted
from ..ops.reductions.softmax import softmax
from ..tensor import Tensor


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """Return `input` where it is larger than `threshold`, `value` elsewhere.

    Of integers both are rounded towards 0.  Raises RuntimeError for bool tensors.
    """
    if input.dtype.kind == "b":
        raise RuntimeError("threshold: bool inputs are not supported; convert with .long()")
    if input.dtype.kind in "iu":
        threshold, value = int(threshold), int(value)
    return where(input <= threshold, value, bent(input))  # NaN is neither, and stays


def hardsigmoid(input: Tensor) -> Tensor:
    """Return input / 6 + 1/2 between 0 and 1, and these beyond."""
    return hardsigmoid_op(input)


def hardswish(input: Tensor) -> Tensor:
    """Return input * hardsigmoid(input): 0 up to -3, input from 3 on (Howard et al. 2019)."""
    return hardswish_op(input)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return `input` where it is farther from 0 than `lambd`, 0 elsewhere."""
    return where((input >= -lambd) & (input <= lambd), 0.0, bent(input))


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return `input` moved by `lambd` towards 0, which it does not pass.

    Raises RuntimeError for a negative `lambd`.
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}")
    input = bent(input)
    return where(input > lambd, input - lambd, where(input < -lambd, input + lambd, 0.0 * input))


def tanhshrink(input: Tensor) -> Tensor:
    """Return input - tanh(input)."""
    return input - tanh(input)


def softmin(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return exp(-input) / sum exp(-input) along `dim`, of input as `dtype`."""
    return softmax(-converted(input, dtype, dtypes.get_default_dtype()), dim)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half along `dim` times the sigmoid of the second (Dauphin et al. 2017).

    Raises RuntimeError for an odd size.
    """
    size = input.shape[dim]
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {size}; its halves are "
            "numbers and gates"
        )
    value, gate = input.split(size // 2, dim)
    return value * sigmoid(gate)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """Return `input` where it is positive, else a slope times it (Xu et al. 2015).

    training  draw each slope from [lower, upper), by the default generator; else it is their mean.
    Raises RuntimeError for lower > upper.
    """
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )
    slope: Tensor | float = (lower + upper) / 2
    if training:
        drawn = rand(input.shape, dtype=input.dtype, device=input.device)
        slope = drawn * (upper - lower) + lower
    input = bent(input)
    return where(input > 0, input, input * slope)


def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Return a random choice along `dim` with probabilities softmax(logits), made smooth.

    tau   how smooth; `softmax((logits + g) / tau)` with g of the Gumbel distribution.
    hard  return ones and zeros, with the derivative of the smooth choice.
    eps   changes nothing.
    Jang et al. 2017; drawn by the default generator.
    """
    noise = -log(-log(rand(logits.shape, dtype=logits.dtype, device=logits.device)))
    smooth = softmax((logits + noise) / tau, dim)
    if not hard:
        return smooth
    ones = scatter(zeros_like(smooth), dim, smooth.detach().argmax(dim, True), 1.0)
    return ones - smooth.detach() + smooth
