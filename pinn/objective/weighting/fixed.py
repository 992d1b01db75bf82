"""Weights that stay as they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import declared
from pinn.schema.kinds import BLOCK_NAME, Names, Number

WEIGHTS = Names(Number(low=0.0), "a mapping from block names to weights", key=BLOCK_NAME)


@declared
class Fixed(Weighting):
    """One number a block for the whole run.

    blocks: block name -> weight >= 0, 1 where left out. Where no equation is named, pinn.solve
    weighs those beside conditions that are trained by the errors that they stand for, and without
    any all blocks of a problem in units far from its own by their size (docs/decisions/0060, 0074).
    """

    every: ClassVar[None] = None

    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights given."""
        return Weights(self.blocks), state
