"""Rates that fall when a metric does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import checked_optimizer, per_group, rates_of, set_rate


class ReduceLROnPlateau:
    """Multiplies the rate by `factor` when a metric has not improved for `patience` epochs.

    mode            "min" or "max": what counts as better.
    threshold       the least improvement, relative ("rel") or absolute ("abs") by threshold_mode.
    cooldown        epochs to wait after a reduction before bad ones are counted again.
    min_lr          a lower bound of the rate, one number or one a group.
    eps             reductions smaller than this are not made.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor should be < 1.0, got {factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode must be 'rel' or 'abs', got {threshold_mode!r}")
        self.optimizer = checked_optimizer(optimizer)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.min_lrs = per_group("min_lr", min_lr, optimizer)
        self.cooldown, self.eps = cooldown, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        self.last_epoch = 0
        self._last_lr = rates_of(optimizer)

    def step(self, metrics: Any) -> None:
        """Take the metric (a number or a 0-d tensor) of one more epoch."""
        current = float(metrics)
        self.last_epoch += 1
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            groups, rates = self.optimizer.param_groups, rates_of(self.optimizer)
            for group, rate, minimum in zip(groups, rates, self.min_lrs, strict=True):
                lower = max(rate * self.factor, minimum)
                if rate - lower > self.eps:
                    set_rate(group, lower)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates_of(self.optimizer)

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * value < sign * self.best - self.threshold
        return sign * value < sign * self.best * (1 - sign * self.threshold)

    def get_last_lr(self) -> list[float]:
        """Return the rate of each group after the last step."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state made by `state_dict`."""
        self.__dict__.update(state_dict)
