"""Weights that give all blocks the same rate of convergence, by the tangent kernel."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective.weighting.balance import averaged, balanced
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import Count, Fraction, declared


@declared
class NTK(Weighting):
    """Each block weighs the more, the smaller the trace of its neural tangent kernel is.

    w_k = mean over the blocks j of T_j / T_k with T_k the mean over the rows of
    v_i |dr_i/dtheta|^2, v being the weights of the rows: the trace of the kernel of the block's
    rows as the loss has them, sqrt(v_i / n) r_i. Averaged over the updates: memory is the share of
    the old weights. every: steps between two updates; one takes all rows of the Jacobian.

    Wang, Yu and Perdikaris, J. Comput. Phys. 449 (2022) 110768, algorithm 1, divided by the number
    of blocks, so that blocks of equal traces weigh 1.
    """

    per_row: ClassVar[bool] = False

    every: Count = 500
    memory: Fraction = 0.9

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights that make the blocks' traces equal, averaged."""
        traces = {
            name: float(np.mean(weights.rows.get(name, 1.0) * diagonal))
            for name, diagonal in view.kernel_diagonals.items()
        }
        return averaged(balanced(traces), self.memory, state)
