"""Learning-rate annealing: conditions whose gradients are as large as that of the equations."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective.weighting.balance import averaged
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.schema import Count, Fraction, declared

_LEAST_SHARE = 1e-5


@declared
class LRA(Weighting):
    """Learning-rate annealing: equations weigh 1, conditions by how small their gradient is.

    w_k = max |grad L_r| / mean |grad L_k|, maximum and mean over the components and L_r the sum of
    the losses of the equations, averaged over the updates: memory is the share of the old weights.
    every: steps between two updates. A mean below 1e-5 of the largest counts as so much.

    Wang, Teng and Perdikaris, SIAM J. Sci. Comput. 43 (2021) A3055, algorithm 1.
    """

    per_row: ClassVar[bool] = False

    every: Count = 10
    memory: Fraction = 0.9

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return weights of the conditions, averaged, and 1 for the equations."""
        largest = float(np.max(np.abs(sum(view.gradients[name] for name in view.equations))))
        means = {
            name: float(np.mean(np.abs(gradient)))
            for name, gradient in view.gradients.items()
            if name not in view.equations
        }
        least = _LEAST_SHARE * max([largest, *means.values()])
        wanted = dict.fromkeys(view.names, 1.0)
        if least > 0:
            wanted |= {name: largest / max(mean, least) for name, mean in means.items()}
        return averaged(wanted, self.memory, state)
