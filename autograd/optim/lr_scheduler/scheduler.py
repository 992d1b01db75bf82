"""The base of all schedules: it counts epochs and sets the rates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ...tensor import Tensor
from ..optimizer import Optimizer


class LRScheduler:
    """The base: counts epochs and asks `get_lr()` for the rate of each group.

    last_epoch  -1 to begin; the number of the last finished epoch to go on (then every group needs
                an "initial_lr", and has the rate of the next epoch: load the optimizer's state
                first).
    A rate that is a Tensor is written in place.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked_optimizer(optimizer)
        for position, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{position}] when resuming"
                    " a scheduler with last_epoch >= 0; load the optimizer's state first"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._begin(last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`, from the present ones."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def get_last_lr(self) -> list[float]:
        """Return the rate of each group that was set last."""
        return list(self._last_lr)

    def step(self) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and self.optimizer.steps_taken == 0:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first "
                "learning rate is skipped. Call optimizer.step() first.",
                UserWarning,
                stacklevel=2,
            )
        self._advance()

    def _begin(self, last_epoch: int = -1) -> None:
        """Set the rates of the epoch after `last_epoch`, as the first that are set."""
        self.last_epoch = last_epoch
        self._step_count = 0
        self._advance()

    def _advance(self) -> None:
        self.last_epoch += 1
        self._step_count += 1
        self._set_rates(self.get_lr())

    def _set_rates(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = list(rates)

    def _rates(self) -> list[float]:
        return rates_of(self.optimizer)

    def _goes_on(self) -> bool:
        """Whether this is the first epoch of a run that goes on: its rates are there already."""
        return self._step_count == 1 and self.last_epoch > 0

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer (and functions)."""
        return {
            name: list(value) if isinstance(value, list) else value
            for name, value in self.__dict__.items()
            if name not in ("optimizer", "lr_lambdas", "scale_fn")
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state made by `state_dict`."""
        self.__dict__.update(state_dict)


def checked_optimizer(optimizer: Any) -> Optimizer:
    """Return `optimizer`; TypeError where it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def rates_of(optimizer: Optimizer) -> list[float]:
    """Return the present rate of each group."""
    return [number(group["lr"]) for group in optimizer.param_groups]


def set_rate(group: dict[str, Any], rate: float) -> None:
    """Set the rate of a group; a Tensor is written in place, since others may hold it."""
    if isinstance(group["lr"], Tensor):
        group["lr"].detach().fill_(rate)
    else:
        group["lr"] = rate


def number(option: Any) -> Any:
    """Return an option of a group as a number: it may be a Tensor of one element."""
    return option.item() if isinstance(option, Tensor) else option


def per_group(name: str, given: Any, optimizer: Optimizer) -> list:
    """Return what was given once, or once a group, as a list of one a group."""
    groups = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [given] * groups
    if len(given) != groups:
        raise ValueError(
            f"Expected {groups} {name}s, one for each group, got {len(given)}; pass one for all, "
            "or a list"
        )
    return list(given)
