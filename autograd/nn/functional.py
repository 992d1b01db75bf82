"""Layers, activations and losses as functions."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..inplace import in_place
from ..ops.activations import elu, gelu, leaky_relu, logsigmoid, mish, relu, selu, silu, softplus
from ..ops.arrange import pad
from ..ops.matmul import linear
from ..ops.piecewise import clamp
from ..ops.smooth import sigmoid, sin, tanh
from ..ops.softmax import log_softmax, softmax
from ..signature import publish
from ..tensor import Tensor

__all__ = [
    "elu",
    "gelu",
    "huber_loss",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "pad",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "sin",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "tanh",
]

REDUCTIONS = ("mean", "sum", "none")


def check_reduction(reduction: str) -> None:
    """Raise ValueError for anything but "mean", "sum" and "none"."""
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"{reduction!r} is not a valid value for reduction; use one of {REDUCTIONS}"
        )


def _reduce(values: Tensor, reduction: str) -> Tensor:
    check_reduction(reduction)
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else values.sum()


def _difference(input: Tensor, target: Tensor) -> Tensor:
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({list(target.shape)}) that is different to the input size "
            f"({list(input.shape)}): they are broadcast against each other, which is likely a "
            "mistake. Reshape one of them to the other's shape.",
            UserWarning,
            stacklevel=_caller_level(),
        )
    return input - target


def _caller_level() -> int:
    """Return the stacklevel of the first frame outside this package."""
    import sys

    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("autograd."):
        frame = frame.f_back
        level += 1
    return level


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return (input - target)^2, reduced; UserWarning when the shapes differ."""
    difference = _difference(input, target)
    return _reduce(difference * difference, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return |input - target|, reduced; UserWarning when the shapes differ."""
    return _reduce(abs(_difference(input, target)), reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Return 0.5 d^2 / beta where |d| < beta, else |d| - 0.5 beta, reduced (d = input - target).

    RuntimeError for a negative beta; 0 gives `l1_loss`.
    """
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    difference = _difference(input, target)
    return _reduce(_huber(difference, beta) * (1 / beta), reduction)


def _huber(difference: Tensor, delta: float) -> Tensor:
    """Return 0.5 d^2 up to |d| = delta, its tangents beyond: an infinite d has a finite slope."""
    near = clamp(difference, -delta, delta)
    return near * (difference - 0.5 * near)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Return 0.5 d^2 where |d| < delta, else delta (|d| - 0.5 delta), reduced (d = input - target).

    RuntimeError unless delta > 0.
    """
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta must be greater than 0, got {delta}")
    return _reduce(_huber(_difference(input, target), delta), reduction)


def _with_inplace(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return an activation that takes PyTorch's `inplace`: its result then replaces its input."""

    own = inspect.signature(function)
    count = len(own.parameters)

    @functools.wraps(function)
    def activation(input: Tensor, *args: Any, inplace: bool = False, **options: Any) -> Tensor:
        if len(args) == count:
            *args, inplace = args
        if inplace:
            return in_place(input, function, *args, **options)
        return function(input, *args, **options)

    flag = inspect.Parameter(
        "inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False, annotation="bool"
    )
    activation.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*own.parameters.values(), flag]
    )
    return activation


elu, leaky_relu, mish = _with_inplace(elu), _with_inplace(leaky_relu), _with_inplace(mish)
relu, selu, silu = _with_inplace(relu), _with_inplace(selu), _with_inplace(silu)

publish(globals())
