"""What chooses the weights of blocks and rows while training goes on: the interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pinn.objective.block_weights import check_weights
from pinn.objective.weighting.view import View
from pinn.problem.problem import Problem
from pinn.schema import Family

State = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Weights:
    """What Objective.set_weights takes: a number >= 0 a block, and one a row for some blocks.

    blocks  block name -> number, 1 where left out.
    rows    block name -> (rows,), 1 where left out.
    """

    blocks: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, np.ndarray] = field(default_factory=dict)


WEIGHTINGS = Family("weighting", example="pinn.objective.weighting.Fixed({'initial_u': 10})")


class Weighting(ABC):
    """A scheme that chooses weights, with its settings.

    every: steps between two updates; None for weights that stay as they are chosen first. A stage
    that learns from step to step, such as a quasi-Newton one, keeps them for longer: `Stage.hold`.
    per_row: whether rows are weighed, which has to be done again where points are drawn anew.

    Whoever trains calls `reweigh` where `is_due` says so. A scheme keeps nothing in itself: what it
    remembers is its state, a mapping of arrays, so that a run which is resumed with the weights and
    the state of its last step goes on with the same bits. One scheme may serve several runs.
    """

    family = WEIGHTINGS
    every: int | None = None
    per_row: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Raise ValueError, naming the field, where the scheme does not fit a problem."""
        check_weights(problem, self.initial)

    @property
    def initial(self) -> Mapping[str, float]:
        """The weights of blocks that training begins with; 1 where left out."""
        return {}

    @abstractmethod
    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return other weights and the state that goes with them.

        view: the objective as it is now; it computes what is asked for, and no more. weights: those
        of now, at the first call the objective's own; blocks and rows that the result leaves out
        weigh 1. state: what the last call returned, empty at the first. Neither is changed in
        place.
        """

    def outcome(self, view: View, state: State) -> list[tuple[str, str]]:
        """Return what became of the weights where a run has ended, and why, as decisions are told.

        view: the objective as it is then. state: what the last update returned.
        """
        return []

    def is_due(self, step: int, new_points: bool = False, hold: int = 1) -> bool:
        """Return whether to reweigh before a step, counted from 0 over the whole run.

        So it is before the first step and after each `every` steps, or `hold` where that is more;
        and where points were drawn anew, as weights of rows do not outlive their points.
        """
        if step == 0 or self.every is None:
            return step == 0
        return (new_points and self.per_row) or step % max(self.every, hold) == 0


WEIGHTINGS.base = Weighting


def reweigh(weighting: Weighting, view: View, state: State) -> State:
    """Let a scheme choose weights, give them to the objective and return the scheme's new state.

    Raises ValueError, naming the block, for weights that the objective refuses.
    """
    objective = view.objective
    now = Weights(objective.weights, objective.row_weights)
    weights, state = weighting.update(view, now, state)
    objective.set_weights(weights.blocks, weights.rows)
    return state


def alike(one: Weights, other: Weights) -> bool:
    """Return whether weights are the same, of all blocks and rows."""
    return one.blocks == other.blocks and one.rows.keys() == other.rows.keys() and all(
        np.array_equal(one.rows[name], other.rows[name]) for name in one.rows
    )  # fmt: skip
