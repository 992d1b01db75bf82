"""Learning rates that change from epoch to epoch.

A scheduler sets `lr` of the optimizer's groups once when it is made and again at each `step()`,
which comes after the optimizer's own `step()`.  Several may act on one optimizer: each changes the
rate it finds (LambdaLR sets it from the initial one).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer


class LRScheduler:
    """The base: counts epochs and asks `get_lr()` for the rate of each group.

    last_epoch  -1 to begin; the number of the last finished epoch to go on (then every group needs
                an "initial_lr").
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for position, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{position}] when resuming"
                    " a scheduler with last_epoch >= 0; load the optimizer's state first"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._advance()

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`, from the present ones."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def get_last_lr(self) -> list[float]:
        """Return the rate of each group that was set last."""
        return list(self._last_lr)

    def step(self) -> None:
        """Go on to the next epoch."""
        if self.last_epoch == 0 and self.optimizer.steps_taken == 0:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first "
                "learning rate is skipped. Call optimizer.step() first.",
                UserWarning,
                stacklevel=2,
            )
        self._advance()

    def _advance(self) -> None:
        self.last_epoch += 1
        rates = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = rates

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer (and functions)."""
        return {
            name: list(value) if isinstance(value, list) else value
            for name, value in self.__dict__.items()
            if name not in ("optimizer", "lr_lambdas")
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state made by `state_dict`."""
        self.__dict__.update(state_dict)


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        drop = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if drop else rate for rate in self._rates()]


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [rate * self.gamma if self.last_epoch > 0 else rate for rate in self._rates()]


class CosineAnnealingLR(LRScheduler):
    """Takes the rate from its start to `eta_min` in `T_max` epochs along half a cosine, and back.

    Source: Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5 (without restarts).
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list[float]:
        rates = []
        for rate, base in zip(self._rates(), self.base_lrs, strict=True):
            before, now = self._height(self.last_epoch - 1), self._height(self.last_epoch)
            if self.last_epoch == 0:
                rates.append(rate)
            elif (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
                rates.append(self.eta_min + (base - self.eta_min) * now)  # out of the valley
            else:
                rates.append(self.eta_min + (rate - self.eta_min) * now / before)
        return rates


class LambdaLR(LRScheduler):
    """Sets the rate to the initial one times `lr_lambda(epoch)`; one function, or one a group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        many = list(lr_lambda) if isinstance(lr_lambda, Sequence) else [lr_lambda] * groups
        if len(many) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, one for each group, got {len(many)}")
        self.lr_lambdas = many
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [
            base * function(self.last_epoch)
            for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


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
        groups = len(optimizer.param_groups)
        minima = list(min_lr) if isinstance(min_lr, Sequence) else [min_lr] * groups
        if len(minima) != groups:
            raise ValueError(f"expected {groups} min_lrs, one for each group, got {len(minima)}")
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lrs, self.eps = cooldown, minima, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        self.last_epoch = 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

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
            for group, minimum in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                rate = max(group["lr"] * self.factor, minimum)
                if group["lr"] - rate > self.eps:
                    group["lr"] = rate
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

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
