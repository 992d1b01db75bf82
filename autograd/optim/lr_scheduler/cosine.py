"""Schedules along cosines: one that swings, and one that starts again at the top."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .scheduler import LRScheduler


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

    def get_lr(self) -> list[float]:
        if self._step_count == 1:
            return self._rates()
        rates = []
        before, now = (_height(at / self.T_max) for at in (self.last_epoch - 1, self.last_epoch))
        for rate, base in zip(self._rates(), self.base_lrs, strict=True):
            if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
                rates.append(self.eta_min + (base - self.eta_min) * now)  # out of the valley
            else:
                rates.append(self.eta_min + (rate - self.eta_min) * now / before)
        return rates


class CosineAnnealingWarmRestarts(LRScheduler):
    """Takes the rate along half a cosine from its start to `eta_min`, again and again.

    T_0     the epochs of the first cycle, at least 1.
    T_mult  how many times as long each cycle is as the one before, at least 1.
    ValueError for others.  Source: Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803 - PyTorch's name
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"CosineAnnealingWarmRestarts: {name} must be an integer >= 1, got {value!r}"
                )
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self._within = 0.0  # how far `step(epoch)` has gone into the epoch
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to `epoch` (>= 0), which may lie between two."""
        if epoch is None:
            super().step()
            return
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.last_epoch = math.floor(epoch) - 1
        self._within = epoch - math.floor(epoch)
        self._advance()

    def get_lr(self) -> list[float]:
        at, length = self.last_epoch + self._within, self.T_0
        if self.T_mult == 1:
            at %= length
        while at >= length:
            at, length = at - length, length * self.T_mult
        height = _height(at / length)
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


def _height(turn: float) -> float:
    """Return the height of the cosine after so many half turns: 1 at 0, and 0 at 1."""
    return (1 + math.cos(math.pi * turn)) / 2
