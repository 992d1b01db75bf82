"""Weights that give all blocks gradients of the same size."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective.weighting.balance import averaged, balanced
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import Count, Fraction, declared


@declared
class GradNorm(Weighting):
    """Each block weighs the more, the smaller the gradient of its loss is.

    w_k = mean over the blocks j of |grad L_j| / |grad L_k|, averaged over the updates: memory is
    the share of the old weights. every: steps between two updates. The blocks' gradients cost about
    as much as a step for each of them.

    Wang, Sankaran, Wang and Perdikaris, arXiv 2308.08468 (2023), algorithm 1 (global weights),
    divided by the number of blocks, so that blocks of equal gradients weigh 1.
    """

    per_row: ClassVar[bool] = False

    every: Count = 100
    memory: Fraction = 0.9

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights that make the blocks' gradients equal, averaged."""
        norms = {name: float(np.linalg.norm(g)) for name, g in view.gradients.items()}
        return averaged(balanced(norms), self.memory, state)
