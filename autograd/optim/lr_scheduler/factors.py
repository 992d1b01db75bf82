"""Schedules that multiply the rate they find: by steps, exponentials, lines and powers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..optimizer import Optimizer
from .scheduler import LRScheduler


class FactorLR(LRScheduler):
    """What multiplies the rates of all groups by one number at each epoch."""

    def ratio(self) -> float:
        """Return what the rate of the epoch before is multiplied by to get that of `last_epoch`.

        At epoch 0 it is the initial rate that is multiplied.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no ratio")

    def get_lr(self) -> list[float]:
        ratio = 1.0 if self._goes_on() else self.ratio()
        return [rate * ratio for rate in self._rates()]


class StepLR(FactorLR):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        drop = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self.gamma if drop else 1.0


class MultiStepLR(FactorLR):
    """Multiplies the rate by `gamma` at the epochs `milestones` (twice at one that is in twice)."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]


class ExponentialLR(FactorLR):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        return self.gamma if self.last_epoch > 0 else 1.0


class ConstantLR(FactorLR):
    """Multiplies the rate by `factor` (0 < factor <= 1) during the first `total_iters` epochs.

    ValueError for other factors: what was multiplied by 0 has no way back.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < factor <= 1:
            raise ValueError(f"ConstantLR: factor must lie in (0, 1], got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(FactorLR):
    """Takes the rate from `start_factor` times itself to `end_factor` times, on a line.

    It arrives after `total_iters` epochs: with the defaults, a warm-up.  ValueError unless
    0 < start_factor <= 1 and 0 <= end_factor <= 1.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"LinearLR: start_factor must lie in (0, 1], got {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: end_factor must lie in [0, 1], got {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return 1.0 + rise / before


class PolynomialLR(FactorLR):
    """Takes the rate to 0 in `total_iters` epochs, as (1 - epoch / total_iters) ** power."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def ratio(self) -> float:
        if not 0 < self.last_epoch <= self.total_iters:
            return 1.0
        left = self.total_iters - self.last_epoch
        return (left / (left + 1)) ** self.power
