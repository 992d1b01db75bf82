"""Rules of convolutions and pools: examples are more images, or more groups of channels."""

from __future__ import annotations

from typing import Any

from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .rules import Application, rule


def _merged(x: Tensor, dim: int) -> Tensor:
    """Return `x` with the dimensions `dim` and `dim + 1` as one."""
    shape = x._data.shape
    whole = (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])
    return REGISTRY["reshape"](x, shape=whole)


def _parted(x: Tensor, dim: int, size: int) -> Tensor:
    """Return `x` with dimension `dim` as two, the first of a size."""
    shape = x._data.shape
    parts = (*shape[:dim], size, shape[dim] // size, *shape[dim + 1 :])
    return REGISTRY["reshape"](x, shape=parts)


def _exchanged(x: Tensor) -> Tensor:
    return REGISTRY["permute"](x, axes=(1, 0, *range(2, x._data.ndim)))


def _in_channels(x: Tensor) -> Tensor:
    """Return images (examples, n, c, ...) as (n, examples * c, ...)."""
    return _merged(_exchanged(x), 1)


def _of_channels(x: Tensor, size: int) -> Tensor:
    """Return images (n, examples * c, ...) as (examples, n, c, ...)."""
    return _exchanged(_parted(x, 1, size))


@rule("conv", "conv_input")
def _by_kernel(call: Application) -> Tensor:
    images, kernel = call.args
    if not call.has_examples[1]:
        return _parted(call.done(_merged(images, 0), kernel), 0, call.size)
    groups = call.attributes["groups"]
    if groups == 1 and call.op.name == "conv" and not call.has_examples[0]:
        return _of_channels(call.done(images, _merged(kernel, 0)), call.size)
    whole = _in_channels(call.spread(0))
    return _of_channels(call.done(whole, _merged(kernel, 0), groups=groups * call.size), call.size)


@rule("conv_kernel")
def _kernel(call: Application) -> Tensor:
    x, y = map(_in_channels, call.all_spread())
    groups = call.attributes["groups"] * call.size
    return _parted(call.done(x, y, groups=groups), 0, call.size)


@rule("largest_in_windows")
def _largest(call: Application) -> Any:
    return _parted(call.done(_merged(call.args[0], 0)), 0, call.size)
