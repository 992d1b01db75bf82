"""ReLoBRaLo: weights by how far each block's loss has come, looking back at random."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.sampling import stream
from pinn.schema import Count, Fraction, Positive, declared

# A loss of zero would be no divisor.
_LEAST = np.finfo(np.float64).tiny


@declared
class ReLoBRaLo(Weighting):
    """Relative loss balancing with random lookback: blocks that fall behind weigh more.

    bal(t, s) is K times the softmax of L_k(t) / (temperature L_k(s)) over the K blocks, and

        w(t) = memory (rho w(t-1) + (1 - rho) bal(t, 0)) + (1 - memory) bal(t, t-1),

    rho being 1 with probability `lookback`, else 0. All blocks weigh 1 at first, and bal(t, 0) at
    the second update. every: steps between two updates, with memory^n where n of those went by.
    An update costs next to nothing: the losses are those of the last step.

    Bischof and Kraus, arXiv 2110.09813 (2021).
    """

    per_row: ClassVar[bool] = False

    every: Count = 1
    memory: Fraction = 0.999
    lookback: Fraction = 0.999
    temperature: Positive = 0.1

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights by the losses of now, of the last update and of the first."""
        losses = np.array([view.losses[name] for name in view.names])
        if not state:
            found = np.ones(len(losses))
            memory = {"first": losses}
        else:
            from_start = self._balance(losses, state["first"])
            if int(state["count"]) == 1:
                found = from_start
            else:
                # A stream of its own for each update: the same whether resumed or not.
                draw = stream(0, "relobralo", str(int(state["count"]))).random()
                history = state["weights"] if draw < self.lookback else from_start
                share = self.memory ** max(1, (view.step - int(state["step"])) // self.every)
                latest = self._balance(losses, state["last"])
                found = share * history + (1 - share) * latest
            memory = {"first": state["first"]}
        memory |= {
            "last": losses,
            "weights": found,
            "count": np.array(int(state["count"]) + 1 if state else 1),
            "step": np.array(view.step),
        }
        return Weights(dict(zip(view.names, found.tolist(), strict=True))), memory

    def _balance(self, now: np.ndarray, then: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            powers = np.minimum(now / np.maximum(then, _LEAST) / self.temperature, 1e300)
        grown = np.exp(powers - powers.max())
        return len(now) * grown / grown.sum()
