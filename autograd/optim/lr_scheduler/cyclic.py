"""Rates that go up and down again and again, on lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..optimizer import Optimizer
from .momentum import give_bounds, set_momentum
from .scheduler import LRScheduler, checked_optimizer, per_group

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """Takes the rate from `base_lr` up to `max_lr` and back, again and again, step by step.

    base_lr, max_lr   one number, or one a group.
    step_size_up      the steps up, and
    step_size_down    those down; as many by default.
    mode              how high the cycles are: "triangular" (all alike), "triangular2" (each half as
                      high as the one before) or "exp_range" (gamma to the number of steps).
    scale_fn          instead of a mode, a function of the number of the cycle, from 1 on, or with
                      scale_mode "iterations" of that of the step, which returns the height.
    cycle_momentum    take `momentum`, or the first of `betas`, from `max_momentum` down to
                      `base_momentum` and back; each may be one number or one a group.
    ValueError for arguments that do not fit.  Source: Smith, WACV 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        checked_optimizer(optimizer)
        if mode not in _MODES and scale_fn is None:
            raise ValueError(f"CyclicLR: mode must be one of {_MODES}, got {mode!r}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(
                f"CyclicLR: scale_mode must be 'cycle' or 'iterations', got {scale_mode!r}"
            )
        self.step_size_up = step_size_up
        self.step_size_down = step_size_up if step_size_down is None else step_size_down
        for name in ("step_size_up", "step_size_down"):
            if not getattr(self, name) > 0:
                raise ValueError(f"CyclicLR: {name} must be positive, got {getattr(self, name)}")
        self.mode, self.gamma = mode, gamma
        self.scale_fn, self.scale_mode = scale_fn, scale_mode
        self.cycle_momentum = cycle_momentum
        self.max_lrs = per_group("max_lr", max_lr, optimizer)
        lowest = per_group("base_lr", base_lr, optimizer)
        for group, rate in zip(optimizer.param_groups, lowest, strict=True):
            group["initial_lr"] = rate
        if cycle_momentum:
            give_bounds("CyclicLR", optimizer, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        height = self._height()
        return [
            base + (top - base) * height
            for base, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def _set_rates(self, rates: Sequence[float]) -> None:
        super()._set_rates(rates)
        if self.cycle_momentum:
            height = self._height()
            for group in self.optimizer.param_groups:
                top = group["max_momentum"]
                set_momentum(group, top - (top - group["base_momentum"]) * height)

    def _height(self) -> float:
        """Return how high the rate is: 0 at the lowest, 1 at the highest."""
        cycle, place = divmod(self.last_epoch, self.step_size_up + self.step_size_down)
        if place <= self.step_size_up:
            part = place / self.step_size_up
        else:
            part = 1 - (place - self.step_size_up) / self.step_size_down
        if self.scale_fn is not None:
            cycles = self.scale_mode == "cycle"
            return part * self.scale_fn(cycle + 1 if cycles else self.last_epoch)
        if self.mode == "triangular2":
            return part * 0.5**cycle
        return part * self.gamma**self.last_epoch if self.mode == "exp_range" else part
