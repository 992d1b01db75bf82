"""Losses that are negative logarithms of likelihoods: of classes, counts and normal noise."""

from __future__ import annotations

import math

from .. import dtypes
from ..modes import no_grad
from ..ops.creation.create import full_like
from ..ops.elementwise.activations import logsigmoid
from ..ops.elementwise.piecewise import clamp, where, xlogy
from ..ops.elementwise.smooth import exp, log
from ..ops.layout.gather import gather
from ..ops.layout.index import value_range
from ..ops.reductions.softmax import log_softmax
from ..ops.registry import floating, refuse_mixed
from ..tensor import Tensor
from .reduction import reduced


def _refuse_other_shape(name: str, input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ValueError(
            f"{name}: Using a target size ({list(target.shape)}) that is different to the input "
            f"size ({list(input.shape)}) is deprecated; reshape one of them to the other's shape"
        )


# ---- yes or no


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return -t log p - (1 - t) log(1 - p) for probabilities p = `input`, reduced.

    target  of the same shape, from 0 to 1.  weight: a factor, broadcast.
    Logarithms are at least -100, so that no value is infinite, and derivatives are divided by
    1e-12 at least.  Raises ValueError for another shape, RuntimeError for numbers outside [0, 1].
    """
    _refuse_other_shape("binary_cross_entropy", input, target)
    refuse_mixed("binary_cross_entropy", input, target, weight)
    low, high = value_range(input._whole())
    if input.numel() and not (low >= 0 and high <= 1):
        raise RuntimeError(
            "binary_cross_entropy: all elements of input should be between 0 and 1, but they lie "
            f"in [{low:g}, {high:g}]; pass sigmoid(input), or use "
            "binary_cross_entropy_with_logits"
        )
    values = -target * _bounded_log(input) - (1 - target) * _bounded_log(1 - input)
    return reduced(values if weight is None else values * weight, reduction)


def _bounded_log(p: Tensor) -> Tensor:
    """Return max(log p, -100), of slope 1e12 where p is smaller than that allows."""
    tiny = 1e-12
    inside = log(clamp(p, min=tiny))
    value = clamp(log(p.detach()), min=-100.0)
    steep = p / tiny - (p / tiny).detach() + value
    return where(p >= tiny, inside, steep)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return `binary_cross_entropy` of sigmoid(input), without overflow, reduced.

    weight, pos_weight  factors of all, and of what belongs to target 1; broadcast.
    Raises ValueError for a target of another shape.
    """
    if input.shape != target.shape:
        raise ValueError(
            f"Target size ({list(target.shape)}) must be the same as input size "
            f"({list(input.shape)}): binary_cross_entropy_with_logits broadcasts neither"
        )
    input, target = floating(input), floating(target)
    yes = target * logsigmoid(input)
    yes = yes if pos_weight is None else yes * pos_weight
    values = -yes - (1 - target) * logsigmoid(-input)
    return reduced(values if weight is None else values * weight, reduction)


# ---- one of several classes


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Return minus the logarithm of the target's probability, reduced.

    input   logarithms of probabilities, (classes,) or (n, classes, ...).
    target  int64 classes, () or (n, ...); those that are `ignore_index` do not count.
    weight  (classes,), a factor for each; a mean is divided by the sum of those that are met.
    Raises RuntimeError for other dtypes and shapes, IndexError for classes that do not exist.
    """
    dim = 0 if input.ndim == 1 else 1
    shape = tuple(n for k, n in enumerate(input.shape) if k != dim)
    if target.dtype != dtypes.int64:
        raise RuntimeError(
            f"nll_loss: expected target of dtype int64 (Long), got {target.dtype}; convert with "
            ".long()"
        )
    if tuple(target.shape) != shape:
        raise RuntimeError(
            f"nll_loss: expected target of shape {list(shape)} for input of shape "
            f"{list(input.shape)}, (n, classes, ...), got {list(target.shape)}"
        )
    classes = input.shape[dim]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes, got "
            f"weight tensor of shape {list(weight.shape)}"
        )
    counts = target != ignore_index
    known = where(counts, target, full_like(target, 0))
    low, high = value_range(known._whole()) if known.numel() else (0, 0)
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise IndexError(f"Target {wrong} is out of bounds: there are {classes} classes, from 0")
    factor = counts.to(input.dtype)
    if weight is not None:
        factor = factor * weight[known]
    values = -gather(input, dim, known.unsqueeze(dim)).squeeze(dim)
    values = where(counts, values, full_like(values, 0.0)) * factor
    return reduced(values, reduction) if reduction != "mean" else values.sum() / factor.sum()


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return minus the logarithm of the target's probability by softmax(input), reduced.

    input   (classes,) or (n, classes, ...), any numbers.
    target  int64 classes as for `nll_loss`, or probabilities of the input's shape.
    label_smoothing  this share of the target is spread over all classes.
    Raises RuntimeError for other shapes and for a share outside [0, 1].
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        )
    dim = 0 if input.ndim == 1 else 1
    logs = log_softmax(input, dim)
    if target.shape == input.shape and target.is_floating_point():
        return _of_probabilities(logs, target, weight, reduction, label_smoothing, dim)
    certain = nll_loss(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return certain
    counts = target != ignore_index
    known = where(counts, target, full_like(target, 0))
    shape = [-1 if k == dim else 1 for k in range(input.ndim)]
    spread = -(logs if weight is None else logs * weight.reshape(shape)).sum(dim)
    spread = where(counts, spread, full_like(spread, 0.0))
    if reduction == "mean":
        met = counts.to(input.dtype) if weight is None else weight[known] * counts
        spread = spread.sum() / met.sum()
    else:
        spread = reduced(spread, reduction)
    return (1 - label_smoothing) * certain + label_smoothing / input.shape[dim] * spread


def _of_probabilities(
    logs: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    label_smoothing: float,
    dim: int,
) -> Tensor:
    classes = logs.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    if weight is not None:
        logs = logs * weight.reshape([-1 if k == dim else 1 for k in range(logs.ndim)])
    values = -(logs * target).sum(dim)
    if reduction == "mean":
        return values.sum() / max(1, logs.numel() // classes)
    return reduced(values, reduction)


def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Return t (log t - input), the divergence of `input`, logarithms, from t = `target`, reduced.

    reduction   "batchmean" as well: the sum by the first dimension, the divergence itself.
    log_target  whether `target` has logarithms too.
    """
    input, target = floating(input), floating(target)
    if log_target:
        values = exp(target) * (target - input)
    else:
        values = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return values.sum() / (input.shape[0] if input.ndim else 1)
    return reduced(values, reduction)


# ---- counts, and numbers with noise


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Return rate - target log(rate) for counts of an expected rate, reduced.

    input  log(rate), or the rate with `log_input=False`, to which `eps` is added in the logarithm.
    full   add Stirling's approximation of log(target!) where target > 1.
    """
    input, target = floating(input), floating(target)
    if log_input:
        values = exp(input) - target * input
    else:
        values = input - target * log(input + eps)
    if full:
        many = where(target > 1, target, full_like(target, 1.0))
        stirling = many * log(many) - many + 0.5 * log(2 * math.pi * many)
        values = values + where(target > 1, stirling, full_like(stirling, 0.0))
    return reduced(values, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return (log v + (input - target)^2 / v) / 2 for normal noise of variance v, reduced.

    var   of the input's shape, or without its last dimension, or with 1 there, or one number.
    full  add log(2 pi) / 2.
    eps   the least variance; the derivative goes through it.
    Raises ValueError for negative variances, and for a shape that does not fit.
    """
    input, target = floating(input), floating(target)
    if not isinstance(var, Tensor):
        var = full_like(input, float(var))
    if var.ndim and var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.shape[:-1] != var.shape[:-1] or var.shape[-1] != 1:
            raise ValueError(
                f"gaussian_nll_loss: var is of incorrect size: expected {list(input.shape)}, the "
                f"same without or with 1 in the last dimension, got {list(var.shape)}"
            )
    if value_range(var._whole())[0] < 0:
        raise ValueError("gaussian_nll_loss: var has negative entry/entries; pass squares or exp()")
    with no_grad():
        missing = clamp(var, min=eps) - var
    var = var + missing
    values = 0.5 * (log(var) + (input - target) ** 2 / var)
    return reduced(values + 0.5 * math.log(2 * math.pi) if full else values, reduction)
