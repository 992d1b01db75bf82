"""Normalisation of channels with statistics that are kept from batch to batch."""

from __future__ import annotations

from typing import Any

from .. import dtypes, modes
from ..ops.creation.create import ones, tensor, zeros
from ..tensor import Tensor
from . import functional, init
from .module import Module
from .normalization import give_factors, reset_factors
from .norms import refuse_examples


class _WithStatistics(Module):
    """What all share: a factor and a summand a channel, and running statistics.

    weight, bias               (num_features,), ones and zeros at first; both None with
                               `affine=False`, bias alone with `bias=False`.
    running_mean, running_var  buffers (num_features,), zeros and ones at first;
    num_batches_tracked        a buffer (), how many batches they come from; all None with
                               `track_running_stats=False`.
    """

    _dims: tuple[int, ...]  # how many dimensions an input may have
    _since = {"num_batches_tracked": 2}

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        give_factors(self, num_features, affine, affine and bias, device, dtype)
        tracked = track_running_stats
        mean = zeros(num_features, dtype=dtype, device=device) if tracked else None
        variance = ones(num_features, dtype=dtype, device=device) if tracked else None
        count = tensor(0, dtype=dtypes.int64, device=device) if tracked else None
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", variance)
        self.register_buffer("num_batches_tracked", count)

    def reset_running_stats(self) -> None:
        """Set the running statistics to zeros and ones, of no batch."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros, and the running statistics as at first."""
        self.reset_running_stats()
        reset_factors(self)

    def _check_input(self, input: Tensor) -> None:
        if input.ndim not in self._dims:
            expected = " or ".join(f"{dims}D" for dims in self._dims)
            raise ValueError(
                f"{type(self).__name__}: expected {expected} input (got {input.ndim}D input, of "
                f"shape {list(input.shape)})"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_WithStatistics):
    """What batch normalisations share: each channel is normalised over the whole batch."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input(input)
        by_batch = self.training or self.running_mean is None
        moves = self.training and self.track_running_stats
        running = (self.running_mean, self.running_var)
        if moves:  # before the batch is counted
            refuse_examples(input, *running)
        if not self.training or self.track_running_stats:
            mean, variance = running
        else:
            mean = variance = None
        return functional.batch_norm(
            input, mean, variance, self.weight, self.bias, by_batch,
            self._share_of_this_batch() if moves else 0.0, self.eps,
        )  # fmt: skip

    def _share_of_this_batch(self) -> Any:
        """Count the batch, and return how much of the running numbers comes from it."""
        count = self.num_batches_tracked
        if count is None:
            return 0.0 if self.momentum is None else self.momentum
        if modes.state.tracer is not None:  # the function refuses it, with the remedy
            return 0.0
        count.add_(1)
        if self.momentum is not None:
            return self.momentum
        if count.__dispatch__ is not None:  # a count of each of several models, by vmap
            return 1.0 / count.to(self.running_mean.dtype)
        return 1.0 / count.item()


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(variance + eps) * weight + bias of each channel: Ioffe and Szegedy 2015.

    Inputs are (n, num_features) or (n, num_features, l); ValueError for others.  While training,
    mean and variance are those of the batch, and the running ones move towards them by `momentum`
    (None: they are averages of all batches); in evaluation (`eval()`) the running ones are taken,
    or, with `track_running_stats=False`, those of the batch too.
    weight, bias               (num_features,), ones and zeros at first; both None with
                               `affine=False`, bias alone with `bias=False`.
    running_mean, running_var  buffers (num_features,), zeros and ones at first, and
    num_batches_tracked        a buffer (); all None with `track_running_stats=False`.
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """As `BatchNorm1d`, for inputs (n, num_features, h, w)."""

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """As `BatchNorm1d`, for inputs (n, num_features, d, h, w)."""

    _dims = (5,)


class _InstanceNorm(_WithStatistics):
    """What instance normalisations share: each channel of a sample is normalised by itself."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input(input)
        alone = input.ndim == self._dims[0]
        batch = input.unsqueeze(0) if alone else input
        if self.affine and batch.shape[1] != self.num_features:
            raise ValueError(
                f"{type(self).__name__}: expected input's size at dim={0 if alone else 1} to match "
                f"num_features ({self.num_features}), but got: {batch.shape[1]}"
            )
        by_itself = self.training or not self.track_running_stats
        result = functional.instance_norm(
            batch, self.running_mean, self.running_var, self.weight, self.bias, by_itself,
            self.momentum or 0.0, self.eps,
        )  # fmt: skip
        return result.squeeze(0) if alone else result


class InstanceNorm1d(_InstanceNorm):
    """(x - mean) / sqrt(variance + eps) of each channel of each sample: Ulyanov et al. 2016.

    Inputs are (n, num_features, l) or (num_features, l); ValueError for others.
    weight, bias               (num_features,), ones and zeros at first, with `affine=True` alone.
    running_mean, running_var  buffers (num_features,) with `track_running_stats=True` alone; they
                               then move while training by `momentum`, and are taken in evaluation.
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """As `InstanceNorm1d`, for inputs (n, num_features, h, w) or (num_features, h, w)."""

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """As `InstanceNorm1d`, for inputs (n, num_features, d, h, w) or (num_features, d, h, w)."""

    _dims = (4, 5)
