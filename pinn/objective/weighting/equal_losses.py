"""Weights that drift to where every block has the same share of the loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np

from pinn.objective.weighting.fixed import WEIGHTS
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import Count, Fraction, declared

# Of the mean: what is lower is rounding, and zero would be no divisor.
_LEAST = np.finfo(np.float64).eps


@declared
class EqualLosses(Weighting):
    """Each block's weight moves a little at a time to where all weighted losses are equal.

    w_k <- w_k (l / l_k)^rate, then divided by their mean: l_k = w_k mean(v r_k^2), l their mean.
    blocks: block name -> the weight that it begins with, 1 where left out; a block of 0 stays at
    0. every: steps between two updates. An update costs next to nothing: the losses are those of
    the last step.

    As DSGNAR weighs its losses (arXiv 2607.02194), equations beginning at 1e-2 to 1e-8 there.
    """

    per_row: ClassVar[bool] = False

    rate: Fraction = 0.05
    every: Count = 1
    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights of now, a little closer to equal losses; there is no state."""
        now = np.array([weights.blocks.get(name, 1.0) for name in view.names])
        losses = now * np.array([view.losses[name] for name in view.names])
        mean = losses.mean()
        if not mean > 0:
            return weights, state
        found = now * (mean / np.maximum(losses, _LEAST * mean)) ** self.rate
        found = found / found.mean()
        return Weights(dict(zip(view.names, found.tolist(), strict=True))), state
