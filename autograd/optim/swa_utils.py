"""Averages of the weights over training, and the rate at which they are taken."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import devices, modes
from ..nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ..nn.module import Module
from ..tensor import Tensor
from .lr_scheduler.scheduler import LRScheduler, per_group, rates_of
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

One = Callable[[Tensor, Tensor, Any], Tensor]
Several = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


class AveragedModel(Module):
    """A copy of a model, `module`, whose parameters are the mean of those at each update.

    device        where the copy lies; beside the model by default.
    avg_fn        `(averaged, present, n_averaged) -> averaged`, for one parameter.
    multi_avg_fn  the same for lists of all, written into the first; one of both, or neither.
    use_buffers   average the buffers as well, which are copied otherwise.
    `n_averaged` counts the updates; the first one copies.
    Source: Izmailov et al., UAI 2018, algorithm 1.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: One | None = None,
        multi_avg_fn: Several | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _count(device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the averaged model makes of the arguments."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the average."""
        modes.refuse_write("the average of a model", "Update it after the call")
        averaged, present = self._averaged(self.module), self._averaged(model)
        with modes.no_grad():
            present = [p.detach().to(a.device) for a, p in zip(averaged, present, strict=True)]
            self._take(averaged, present, int(self.n_averaged))
            if not self.use_buffers:
                pairs = zip(self.module.buffers(), model.buffers(), strict=True)
                for ours, theirs in pairs:
                    ours.detach().copy_(theirs)
            self.n_averaged += 1

    def _averaged(self, model: Module) -> list[Tensor]:
        buffers = list(model.buffers()) if self.use_buffers else []
        return [*model.parameters(), *buffers]

    def _take(self, averaged: list[Tensor], present: list[Tensor], count: int) -> None:
        ours = [tensor.detach() for tensor in averaged]
        if count == 0:
            for average, now in zip(ours, present, strict=True):
                average.copy_(now)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(ours, present, self.n_averaged)
        else:
            for average, now in zip(ours, present, strict=True):
                average.copy_(self.avg_fn(average, now, self.n_averaged))


def _count(device: Any) -> Tensor:
    return Tensor(devices.zeros((), "int64", devices.as_device(device)))


def get_swa_avg_fn() -> One:
    """Return the mean of all updates as an `avg_fn`."""

    def averaged(average: Tensor, now: Tensor, count: Any) -> Tensor:
        return average + (now - average) / (int(count) + 1)

    return averaged


def get_swa_multi_avg_fn() -> Several:
    """Return the mean of all updates as a `multi_avg_fn`; what is not floating point is copied."""
    return _each(get_swa_avg_fn())


def get_ema_avg_fn(decay: float = 0.999) -> One:
    """Return decay average + (1 - decay) present as an `avg_fn`; ValueError outside [0, 1]."""
    _check_decay(decay)

    def averaged(average: Tensor, now: Tensor, count: Any) -> Tensor:
        return decay * average + (1 - decay) * now

    return averaged


def get_ema_multi_avg_fn(decay: float = 0.999) -> Several:
    """Return `get_ema_avg_fn` as a `multi_avg_fn`; what is not floating point is copied."""
    return _each(get_ema_avg_fn(decay))


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _each(function: One) -> Several:
    def averaged(averages: Sequence[Tensor], present: Sequence[Tensor], count: Any) -> None:
        for average, now in zip(averages, present, strict=True):
            average.copy_(function(average, now, count) if average.dtype.kind in "fc" else now)

    return averaged


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Make the running statistics of batch normalisations those of the batches of a loader.

    loader  gives the input of `model`, or a tuple or list of which it is the first.
    device  where inputs are moved before.
    What an averaged model normalises by is no average of what its models did.  The model is run in
    training, without gradients, and each batch counts alike, whatever the momentum is; modes and
    momenta are as they were afterwards.  Does nothing without batch normalisations.
    Source: Izmailov et al., UAI 2018, section 3.2.
    """
    modes.refuse_write("running statistics", "Update them after the call")
    layers = [m for m in model.modules() if isinstance(m, (BatchNorm1d, BatchNorm2d, BatchNorm3d))]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    were_training = [(module, module.training) for module in model.modules()]
    try:
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # the mean of all batches
        model.train()
        with modes.no_grad():
            for batch in loader:
                first = batch[0] if isinstance(batch, (tuple, list)) else batch
                model(first if device is None else first.to(device))
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for module, training in were_training:
            module.training = training


class SWALR(LRScheduler):
    """Takes the rate from where it is to `swa_lr` (one, or one a group), and keeps it there.

    anneal_epochs    the epochs that this takes.
    anneal_strategy  "cos" or "linear".
    ValueError for others.  Source: Izmailov et al., UAI 2018, section 3.2.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy!r}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs!r}"
            )
        self.swa_lrs = per_group("swa_lr", swa_lr, optimizer)
        self.anneal_epochs = anneal_epochs
        self.anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        number = self._step_count - 1
        if self.anneal_epochs == 0:
            number = max(1, number)
        before, now = self._part(number - 1), self._part(number)
        return [
            last * now + _start(rate, last, before) * (1 - now)
            for rate, last in zip(rates_of(self.optimizer), self.swa_lrs, strict=True)
        ]

    def _part(self, number: int) -> float:
        """Return how much of the way is done after `number` epochs."""
        part = max(0.0, min(1.0, number / max(1, self.anneal_epochs)))
        return part if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2


def _start(rate: float, last: float, part: float) -> float:
    """Return the rate from which `part` of the way to `last` leads to `rate`."""
    return last if part == 1 else (rate - part * last) / (1 - part)
