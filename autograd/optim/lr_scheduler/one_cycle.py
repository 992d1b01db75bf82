"""One cycle: up to the largest rate, and down to almost none, with the momentum the other way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..optimizer import Optimizer
from .momentum import give_bounds, set_momentum
from .scheduler import LRScheduler, checked_optimizer, per_group


class _Phase(NamedTuple):
    """A part of the cycle: where it ends, and from which option of a group to which it goes."""

    end: float
    rates: tuple[str, str]
    momenta: tuple[str, str]


class OneCycleLR(LRScheduler):
    """Takes the rate from max_lr / div_factor up to `max_lr` and down to far below, step by step.

    max_lr            the top, one number or one a group.
    total_steps       the steps of the cycle; or `epochs` and `steps_per_epoch`, its factors.
    pct_start         the part of it that goes up, in [0, 1].
    anneal_strategy   "cos" or "linear".
    cycle_momentum    take `momentum`, or the first of `betas`, from `max_momentum` down to
                      `base_momentum` and back; each may be one number or one a group.
    final_div_factor  the rate ends at max_lr / div_factor / final_div_factor.
    three_phase       go down to where the rate began as fast as it went up, and then to the end.
    The rates and momenta between which a group goes are options of it: "initial_lr", "max_lr",
    "min_lr", "base_momentum", "max_momentum".  ValueError for arguments that do not fit, and for a
    step beyond the end.  Source: Smith and Topin, arXiv:1708.07120.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        checked_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy!r}"
            )
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = cycle_momentum
        phases = _phases(self.total_steps, pct_start, three_phase)
        self._phases = [tuple(phase) for phase in phases]  # a state is made of plain tuples
        tops = per_group("max_lr", max_lr, optimizer)
        for group, top in zip(optimizer.param_groups, tops, strict=True):
            group["max_lr"] = top
            group["initial_lr"] = top / div_factor
            group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            give_bounds("OneCycleLR", optimizer, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._annealed(lambda phase: phase.rates)

    def _set_rates(self, rates: Sequence[float]) -> None:
        super()._set_rates(rates)
        if not self.cycle_momentum:
            return
        momenta = self._annealed(lambda phase: phase.momenta)
        for group, momentum in zip(self.optimizer.param_groups, momenta, strict=True):
            set_momentum(group, momentum)

    def _annealed(self, ends: Callable[[_Phase], tuple[str, str]]) -> list[float]:
        """Return the place of each group between two of its options, which depend on the phase."""
        phase, part = self._place()
        start, end = ends(phase)
        return [
            self._between(group[start], group[end], part) for group in self.optimizer.param_groups
        ]

    def _place(self) -> tuple[_Phase, float]:
        """Return the phase that `last_epoch` is in, and which part of it is over."""
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is "
                f"{self.total_steps}; make the cycle as long as the training"
            )
        start, phases = 0.0, [_Phase(*phase) for phase in self._phases]
        for phase in phases[:-1]:
            if self.last_epoch <= phase.end:
                break
            start = phase.end
        else:
            phase = phases[-1]
        length = phase.end - start
        return phase, (self.last_epoch - start) / length if length else 1.0

    def _between(self, start: float, end: float, part: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * part
        return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """Return the number of steps of the cycle; ValueError where it is not told, or not positive."""
    if total_steps is not None:
        factors = {"total_steps": total_steps}
    elif epochs is not None and steps_per_epoch is not None:
        factors = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    else:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in factors.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value!r}")
    return math.prod(factors.values())


def _phases(total: int, part_up: float, three_phase: bool) -> list[_Phase]:
    up = _Phase(part_up * total - 1, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
    if not three_phase:
        down = _Phase(total - 1, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))
        return [up, down]
    back = _Phase(
        2 * part_up * total - 2, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum")
    )
    out = _Phase(total - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))
    return [up, back, out]
