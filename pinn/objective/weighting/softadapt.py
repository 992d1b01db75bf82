"""SoftAdapt: weights by how fast each block's loss changes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import Count, declared


@declared
class SoftAdapt(Weighting):
    """Blocks whose loss grows, or falls slowest, weigh more.

    w_k is K times the softmax of beta s_k over the K blocks, s_k being the change of L_k since the
    last update; so their sum is K (in the paper 1). normalized: by the sum of |s_j|, so that the
    scale of the losses does not matter. by_loss: each term of the softmax times its loss. beta:
    negative for more weight on the blocks that fall fastest. every: steps between two updates. All
    blocks weigh 1 at first. An update costs next to nothing.

    Heydari, Thompson and Mehmood, arXiv 1912.12355 (2019), sections 3.1.1 to 3.1.3.
    """

    per_row: ClassVar[bool] = False

    every: Count = 10
    beta: float = 0.1
    normalized: bool = True
    by_loss: bool = True

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights by the losses of now and of the last update."""
        losses = np.array([view.losses[name] for name in view.names])
        found = np.ones(len(losses))
        if state:
            slopes = losses - state["last"]
            total = np.abs(slopes).sum()
            if self.normalized and total > 0:
                slopes = slopes / total
            terms = np.exp(self.beta * slopes - np.max(self.beta * slopes))
            if self.by_loss:
                terms = terms * losses
            if terms.sum() > 0:
                found = len(losses) * terms / terms.sum()
        return Weights(dict(zip(view.names, found.tolist(), strict=True))), {"last": losses}
