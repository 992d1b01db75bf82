"""Numbers with mean 0 and deviation 1: over a sample's own numbers, over a batch, over channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import modes
from ..jets.jet import Jet
from ..levels import levels_of
from ..ops.elementwise.smooth import rsqrt
from ..ops.layout.arrange import pad
from ..ops.reductions.standardize import scaled, standardized
from ..ops.registry import NoTaylorRule, refuse_mixed
from ..tensor import Tensor

# ---- over the last dimensions


def check_shapes(
    name: str, input: Tensor, shape: tuple[int, ...], *factors: tuple[str, Tensor | None]
) -> None:
    """Raise RuntimeError where `shape` is not that of the last dimensions, or of the factors."""
    if not shape or tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}] of at least one dimension, but got input of size "
            f"{list(input.shape)}"
        )
    refuse_mixed(name, input, *(tensor for _, tensor in factors))
    for what, tensor in factors:
        if tensor is not None and tensor.shape != shape:
            raise RuntimeError(
                f"{name}: Expected {what} to be of same shape as normalized_shape, but got "
                f"{what} of shape {list(tensor.shape)} and normalized_shape = {list(shape)}"
            )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` less its mean, divided by its deviation over the last dimensions.

    normalized_shape  the sizes of these dimensions, which weight (a factor) and bias have too.
    eps               added to the variance, which is that of the population.
    Raises RuntimeError for shapes that do not fit and for different dtypes (Ba et al. 2016).
    """
    shape = tuple(normalized_shape)
    check_shapes("layer_norm", input, shape, ("weight", weight), ("bias", bias))
    result, _, _ = standardized(input, tuple(range(-len(shape), 0)), eps)
    return scaled(result, weight, bias, shape)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Return `input` divided by the root of its mean square over the last dimensions.

    normalized_shape  the sizes of these dimensions, which weight (a factor) has too.
    eps               added to the mean square; None: the smallest step of the dtype at 1.
    Raises RuntimeError for shapes that do not fit and for different dtypes (Zhang, Sennrich 2019).
    """
    shape = tuple(normalized_shape)
    check_shapes("rms_norm", input, shape, ("weight", weight))
    axes = tuple(range(-len(shape), 0))
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    result = input * rsqrt((input * input).mean(axes, True) + eps)
    return result if weight is None else result * weight


# ---- over the numbers of a channel, which is a place of dimension 1


def _check_channels(name: str, input: Tensor, **given: Tensor | None) -> None:
    """Raise RuntimeError for what is not one number a channel, or not of the dtype."""
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor of {name}, (n, channels, ...), but "
            f"received shape {list(input.shape)}"
        )
    refuse_mixed(name, input, *given.values())
    channels = input.shape[1]
    for what, tensor in given.items():
        if tensor is not None and tuple(tensor.shape) != (channels,):
            raise RuntimeError(
                f"{name}: {what} should contain {channels} elements, one a channel of the input "
                f"of shape {list(input.shape)}, not {tensor.numel()} (shape {list(tensor.shape)})"
            )


def _along_channels(numbers: Tensor, like: Tensor) -> Tensor:
    """Return one number a channel, (channels,), in a shape that goes with (n, channels, ...)."""
    return numbers.reshape(1, -1, *(1,) * (like.ndim - 2))


def _scaled(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    return scaled(input, weight, bias, (1, input.shape[1], *(1,) * (input.ndim - 2)))


def _with_statistics(
    input: Tensor, mean: Tensor, variance: Tensor, weight: Tensor | None, bias: Tensor | None,
    eps: float,
) -> Tensor:  # fmt: skip
    """Return what is normalised by numbers known before: a factor and a summand a channel."""
    factor = rsqrt(variance + eps)
    factor = factor if weight is None else factor * weight
    return _scaled(input - _along_channels(mean, input), factor, bias)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 in each channel (Ioffe, Szegedy 2015).

    input                      (n, channels, ...).
    running_mean, running_var  (channels,): what is normalised by, or in training, where they may be
                               None, what becomes (1 - momentum) times itself plus momentum times
                               what the batch has, its variance with n - 1 in the denominator.
    weight, bias               (channels,): a factor and a summand, or None.
    training                   normalise by mean and variance of the batch.
    Raises ValueError for one number a channel in training, RuntimeError for shapes that do not fit,
    different dtypes and missing statistics, TraceError where running numbers change in a recording.
    """
    _check_channels(
        "batch_norm", input, running_mean=running_mean, running_var=running_var, weight=weight,
        bias=bias,
    )  # fmt: skip
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "batch_norm: Expected running_mean and running_var to be defined when training="
                "False; pass them, or training=True to normalise by the batch"
            )
        return _with_statistics(input, running_mean, running_var, weight, bias, eps)
    count = input.numel() // max(input.shape[1], 1)
    if count == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}; one value has no variance: pass more, or call eval()"
        )
    _refuse_sweep(input)
    _refuse_recording(running_mean, running_var)
    refuse_examples(input, running_mean, running_var)
    result, mean, variance = _by_channels(input, (0, *range(2, input.ndim)), weight, bias, eps)
    _move(running_mean, mean, momentum)
    _move(running_var, variance, momentum, count)
    return result


def _by_channels(
    input: Tensor, axes: tuple[int, ...], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...]:
    """Return what is normalised over some dimensions and scaled, the mean and the variance."""
    result, mean, variance = standardized(input, axes, eps)
    return _scaled(result, weight, bias), mean, variance


def _refuse_sweep(input: Tensor) -> None:
    """Raise NoTaylorRule for a jet, whose directions move all points and so their mean."""
    if isinstance(input, Jet):
        raise NoTaylorRule("normalising by the statistics of a batch of points")


def _refuse_recording(*running: Tensor | None) -> None:
    if any(numbers is not None for numbers in running):
        modes.refuse_write(
            "normalising by a batch whose statistics are tracked",
            "Call eval() first, or build the layer with track_running_stats=False",
        )


def refuse_examples(input: Tensor, *running: Tensor | None) -> None:
    """Raise RuntimeError for running statistics that are one for all examples of a vmap."""
    if input.__dispatch__ is None:
        return
    levels = levels_of(input.detach())
    if any(numbers is not None and levels - levels_of(numbers) for numbers in running):
        raise RuntimeError(
            "vmap: running statistics are one for all examples, and would be moved towards those "
            "of each. Map them too (stack_module_state and functional_call), call eval(), or build "
            "the layer with track_running_stats=False"
        )


def _move(running: Tensor | None, found: Tensor, share: Any, count: int = 1) -> None:
    """Move a running statistic, in place, towards the mean over samples of what was found.

    share  a number, or a 0-d tensor of one an example.
    count  how many numbers a variance is of, for n - 1 in its denominator.
    """
    if running is None:
        return
    with modes.no_grad():
        values = found.detach()
        if found.shape[0] != 1:
            values = values.mean(0)
        values = values.reshape(-1)
        running.lerp_(values if count == 1 else values * (count / max(count - 1, 1)), share)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 in each channel of each sample.

    input                      (n, channels, ...), with at least one dimension after these.
    running_mean, running_var  (channels,): as in `batch_norm`, of averages over the samples.
    weight, bias               (channels,): a factor and a summand, or None.
    use_input_stats            False: normalise by running_mean and running_var.
    Raises ValueError for one number a channel, RuntimeError for shapes that do not fit, different
    dtypes and missing statistics (Ulyanov et al. 2016).
    """
    _check_channels(
        "instance_norm", input, running_mean=running_mean, running_var=running_var, weight=weight,
        bias=bias,
    )  # fmt: skip
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "instance_norm: Expected running_mean and running_var to be defined when "
                "use_input_stats=False"
            )
        return _with_statistics(input, running_mean, running_var, weight, bias, eps)
    count = math.prod(input.shape[2:])
    if count == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{list(input.shape)}; a channel of a sample needs several numbers"
        )
    _refuse_recording(running_mean, running_var)
    refuse_examples(input, running_mean, running_var)
    result, mean, variance = _by_channels(input, tuple(range(2, input.ndim)), weight, bias, eps)
    _move(running_mean, mean, momentum)
    _move(running_var, variance, momentum, count)
    return result


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 in each group of channels of each sample.

    input         (n, channels, ...).
    num_groups    the number of groups of neighbouring channels.
    weight, bias  (channels,): a factor and a summand, or None.
    Raises RuntimeError for channels that make no such groups, shapes that do not fit and different
    dtypes (Wu, He 2018).
    """
    _check_channels("group_norm", input, weight=weight, bias=bias)
    samples, channels = input.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={num_groups}"
        )
    if channels == num_groups and input.numel() and samples * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}; a group needs several numbers: take fewer groups"
        )
    size = math.prod(input.shape[1:]) // num_groups
    groups, _, _ = standardized(input.reshape(samples, num_groups, size), (2,), eps)
    return _scaled(groups.reshape(input.shape), weight, bias)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return x / (k + alpha m)^beta, m the mean square of `size` channels around x's own.

    input  (n, channels, ...) of at least 3 dimensions; beyond the first and the last channel are
           zeros.
    Raises ValueError for fewer dimensions (Krizhevsky et al. 2012, with alpha over the size).
    """
    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality input of local_response_norm, (n, channels, "
            f"...), got {input.ndim} dimensions"
        )
    if not input.numel():
        return input
    channels = input.shape[1]
    ends = (0, 0) * (input.ndim - 2) + (size // 2, (size - 1) // 2)
    squares = pad(input * input, ends)
    total = squares.narrow(1, 0, channels)
    for start in range(1, size):
        total = total + squares.narrow(1, start, channels)
    return input * (total * (alpha / size) + k) ** -beta
