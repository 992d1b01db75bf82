"""Schedules that are given as functions of the epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..optimizer import Optimizer
from .scheduler import LRScheduler, per_group


class _OfFunctions(LRScheduler):
    """Has a function of the epoch for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = per_group("lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)


class LambdaLR(_OfFunctions):
    """Sets the rate to the initial one times `lr_lambda(epoch)`; one function, or one a group."""

    def get_lr(self) -> list[float]:
        return [
            base * function(self.last_epoch)
            for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(_OfFunctions):
    """Multiplies the rate by `lr_lambda(epoch)` from epoch 1 on; one function, or one a group."""

    def get_lr(self) -> list[float]:
        if self._step_count == 1:
            return self._rates()
        return [
            rate * function(self.last_epoch)
            for rate, function in zip(self._rates(), self.lr_lambdas, strict=True)
        ]
