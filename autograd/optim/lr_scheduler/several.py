"""Schedules that are made of schedules: one after the other, or all at each epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, checked_optimizer, rates_of, set_rate


class Several(LRScheduler):
    """What sets no rate itself, but has other schedulers do so; their states are part of its own.

    It has no `get_lr`: the rates are known once they are set.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        members = list(schedulers)
        if not members:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler")
        for position, scheduler in enumerate(members):
            if not isinstance(scheduler, LRScheduler):
                raise TypeError(
                    f"{name} takes LRSchedulers, whose step() takes no metric, but got "
                    f"{type(scheduler).__name__} at index {position}; step that one by itself"
                )
        self.optimizer = checked_optimizer(members[0].optimizer if optimizer is None else optimizer)
        for position, scheduler in enumerate(members):
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but the "
                    f"{type(scheduler).__name__} at index {position} has another one"
                )
        self._schedulers = members

    def _told(self) -> None:
        """Remember the rates that the members have set."""
        self._last_lr = rates_of(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """Return the state, with those of the schedulers, in order, under "_schedulers"."""
        states = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": states}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state made by `state_dict`; ValueError for one of other schedulers."""
        states = state_dict["_schedulers"]
        if len(states) != len(self._schedulers):
            raise ValueError(
                f"{type(self).__name__}: the state is of {len(states)} schedulers, but this one "
                f"has {len(self._schedulers)}; make it of the same schedulers first"
            )
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, states, strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(Several):
    """Steps all schedulers at each epoch, in order: each changes the rate that the last one set.

    optimizer  theirs; that of the first by default.
    ValueError where they have different ones; TypeError for a ReduceLROnPlateau, whose step needs a
    metric.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(schedulers, optimizer)
        self._told()

    def step(self) -> None:
        """Go on to the next epoch of all schedulers."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._told()

    def _begin(self, last_epoch: int = -1) -> None:
        for scheduler in self._schedulers:
            scheduler._begin(last_epoch)
        self._told()


class SequentialLR(Several):
    """Hands over from one scheduler to the next at each of `milestones`, rising epochs.

    Each begins at its own epoch 0, with the initial rate.
    last_epoch  -1 to begin; the number of the last finished epoch to go on, with schedulers that go
                on themselves and an optimizer whose state is loaded.
    ValueError unless there is one milestone less than schedulers, and where these have different
    optimizers; TypeError for a ReduceLROnPlateau, whose step needs a metric.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(schedulers, optimizer)
        self._milestones = list(milestones)
        if len(self._milestones) != len(self._schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got {len(self._schedulers)} schedulers and "
                f"{len(self._milestones)} milestones"
            )
        if last_epoch == -1:
            self._begin()
        else:
            self.last_epoch = last_epoch + 1
            self._told()

    def step(self) -> None:
        """Go on to the next epoch of the scheduler whose turn it is."""
        self.last_epoch += 1
        if self.last_epoch in self._milestones:
            self._begin_next()
        else:
            self._present().step()
        self._told()

    def _begin(self, last_epoch: int = -1) -> None:
        self.last_epoch = last_epoch + 1
        self._begin_next()
        self._told()

    def _present(self) -> LRScheduler:
        return self._schedulers[bisect_right(self._milestones, self.last_epoch)]

    def _begin_next(self) -> None:
        for group in self.optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        self._present()._begin()
