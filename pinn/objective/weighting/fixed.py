"""Weights that stay as they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights


@dataclass(frozen=True)
class Fixed(Weighting):
    """One number a block for the whole run.

    blocks: block name -> weight >= 0, 1 where left out.
    """

    every: ClassVar[None] = None

    blocks: Mapping[str, float] = field(default_factory=dict)

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights given."""
        return Weights(self.blocks), state
