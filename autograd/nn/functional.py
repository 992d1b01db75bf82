"""Layers, activations and losses as functions."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..inplace import in_place
from ..ops.creation.create import arange
from ..ops.elementwise.activations import (
    celu,
    elu,
    gelu,
    leaky_relu,
    logsigmoid,
    mish,
    prelu,
    relu,
    selu,
    silu,
    softplus,
    softsign,
)
from ..ops.elementwise.piecewise import bent, clamp, where
from ..ops.elementwise.smooth import sigmoid, sin, tanh
from ..ops.grids.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.grids.grid_sample import grid_sample
from ..ops.grids.interpolate import interpolate
from ..ops.grids.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from ..ops.layout.arrange import pad
from ..ops.layout.index import value_range
from ..ops.layout.shape import broadcast_tensors
from ..ops.matrices.distance import pdist
from ..ops.matrices.matmul import linear
from ..ops.matrices.norm import vector_norm
from ..ops.reductions.softmax import log_softmax, softmax
from ..ops.registry import floating, refuse_mixed
from ..signature import publish
from ..tensor import Tensor
from .arranging import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from .dot_products import scaled_dot_product_attention
from .dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d
from .embedding import embedding
from .gates import (
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    rrelu,
    softmin,
    softshrink,
    tanhshrink,
    threshold,
)
from .likelihoods import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    gaussian_nll_loss,
    kl_div,
    nll_loss,
    poisson_nll_loss,
)
from .margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    pairwise_distance,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .norms import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from .reduction import reduced

__all__ = [
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "sin",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
]

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
    return reduced(difference * difference, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return |input - target|, reduced; UserWarning when the shapes differ."""
    return reduced(abs(_difference(input, target)), reduction)


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
    difference = _difference(floating(input), floating(target))
    return reduced(_huber(difference, beta) * (1 / beta), reduction)


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
    difference = _difference(floating(input), floating(target))
    return reduced(_huber(difference, delta), reduction)


# ---- activations with two kinks


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return `input` between `min_val` and `max_val`, and these beyond, with derivative 0 there.

    At both ends the derivative is 0 too.  Of integers both are rounded towards 0.  Raises
    ValueError for min_val > max_val, RuntimeError for bool tensors and for limits below 0 of
    integers without a sign.
    """
    if min_val > max_val:
        raise ValueError(
            f"hardtanh: min_val cannot be greater than max_val, got {min_val} and {max_val}; "
            "exchange them"
        )
    if input.dtype.kind == "b":
        raise RuntimeError("hardtanh: bool inputs are not supported; convert with .long()")
    if input.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if input.dtype.kind == "u" and min_val < 0:
            raise RuntimeError(
                f"cannot do hardtanh on an unsigned type with negative limits, got {input.dtype} "
                f"and min_val {min_val}; convert with .long()"
            )
    return where(input <= min_val, min_val, where(input >= max_val, max_val, bent(input)))


def relu6(input: Tensor) -> Tensor:
    """Return min(max(input, 0), 6), with derivative 0 at both ends."""
    return hardtanh(input, 0.0, 6.0)


# ---- layers


def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Return the sums of `input1[i] * weight[k, i, j] * input2[j]`, plus `bias[k]`.

    Shapes: input1 (..., n), input2 (..., m), weight (k, n, m), bias (k,) or None; the result is
    (..., k).  Raises RuntimeError for shapes that do not fit and for different dtypes.
    """
    refuse_mixed("bilinear", input1, input2, weight, bias)
    expected = [*input1.shape[-1:], *input2.shape[-1:]]
    if weight.ndim != 3 or list(weight.shape[1:]) != expected:
        raise RuntimeError(
            f"bilinear(): expected a weight of shape [out, {', '.join(map(str, expected))}] for "
            f"inputs of shapes {list(input1.shape)} and {list(input2.shape)}, got "
            f"{list(weight.shape)}"
        )
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            "bilinear(): input batch dimensions do not match: got shapes "
            f"{list(input1.shape)} and {list(input2.shape)}; expand one of them"
        )
    out, n, m = weight.shape
    rows = input1.reshape(-1, n) @ weight.permute(1, 0, 2).reshape(n, out * m)
    rows = (rows.reshape(-1, out, m) @ input2.reshape(-1, m, 1)).squeeze(-1)
    result = rows.reshape(*input1.shape[:-1], out)
    return result if bias is None else result + bias


# ---- vectors


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Return `input` divided by its p-norm over `dim`, or by `eps` where that is larger."""
    return input / vector_norm(input, p, dim, True).clamp_min(eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosines of the angles between the vectors along `dim`, broadcast.

    eps  the least norm that is divided by.
    Raises RuntimeError for integers.
    """
    if not (x1 + x2).is_floating_point():
        raise RuntimeError(
            "cosine_similarity: expected common dtype to be floating point, got "
            f"{x1.dtype} and {x2.dtype}; convert with .float()"
        )
    x1, x2 = broadcast_tensors(x1, x2)
    return (normalize(x1, 2.0, dim, eps) * normalize(x2, 2.0, dim, eps)).sum(dim)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return int64 zeros (..., num_classes) with a 1 at the positions that `tensor` (...) holds.

    num_classes  -1: one more than the largest position.
    Raises RuntimeError for dtypes other than int64 and for positions outside [0, num_classes).
    """
    if tensor.dtype != dtypes.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}; "
            "convert with .long()"
        )
    low, high = value_range(tensor._whole())
    if num_classes < 1:
        if not tensor.numel() or num_classes != -1:
            raise RuntimeError(
                "one_hot: Can not infer total number of classes from empty tensor; pass num_classes"
                if num_classes == -1
                else f"one_hot: num_classes must be positive (or -1), got {num_classes}"
            )
        num_classes = tensor.max().item() + 1
    if low < 0 or high >= num_classes:
        raise RuntimeError(
            f"one_hot: Class values must be non-negative and smaller than num_classes = "
            f"{num_classes}, but they lie in [{low}, {high}]"
        )
    return (tensor.unsqueeze(-1) == arange(num_classes, device=tensor.device)).long()


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


celu, hardtanh, relu6 = _with_inplace(celu), _with_inplace(hardtanh), _with_inplace(relu6)
elu, leaky_relu, mish = _with_inplace(elu), _with_inplace(leaky_relu), _with_inplace(mish)
relu, selu, silu = _with_inplace(relu), _with_inplace(selu), _with_inplace(silu)
hardsigmoid, hardswish = _with_inplace(hardsigmoid), _with_inplace(hardswish)
rrelu, threshold = _with_inplace(rrelu), _with_inplace(threshold)

publish(globals())
