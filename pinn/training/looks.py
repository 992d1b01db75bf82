"""What a run sees of itself on its way: its losses on points apart, beside those on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# A loss that vanishes has no logarithm.
_LEAST = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Looks:
    """Losses at some steps, from which is judged how training goes.

    steps: (m,) numbers of steps over all stages, rising. fresh, present: (m, B), of each block the
    mean square of its residual before its weight, on points that training does not take and on
    those that it took then. Losses at different steps are compared under the same weights, and on
    the same (fresh) points: neither another weight nor other points are progress, or none.
    """

    steps: np.ndarray
    fresh: np.ndarray
    present: np.ndarray

    @classmethod
    def none(cls, blocks: int) -> Looks:
        """Return those of a run of so many blocks that has taken none."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, blocks)), np.zeros((0, blocks)))

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def last(self) -> int:
        """The step of the last one, 0 where there is none."""
        return int(self.steps[-1]) if len(self) else 0

    def before(self, count: int) -> int:
        """Return the step of the look that was so many before the last one; -1 for none."""
        return int(self.steps[-1 - count]) if len(self) > count else -1

    def is_at(self, step: int) -> bool:
        """Whether the last one is of this step."""
        return len(self) > 0 and self.last == step

    def taken(self, step: int, fresh: np.ndarray, present: np.ndarray) -> Looks:
        """Return these and one more."""
        return Looks(
            np.append(self.steps, step),
            np.concatenate([self.fresh, [fresh]]),
            np.concatenate([self.present, [present]]),
        )

    def fresh_loss(self, weights: np.ndarray) -> float:
        """Return the last loss on fresh points under the weights (B,) of blocks."""
        return float(self.fresh[-1] @ weights)

    def overfit(self, weights: np.ndarray) -> float:
        """Return the last loss on fresh points over that on the present ones; nan for no number."""
        return _ratio(self.fresh[-1] @ weights, self.present[-1] @ weights)

    def overfit_blocks(self) -> np.ndarray:
        """Return the same of each block by itself, (B,)."""
        pairs = zip(self.fresh[-1], self.present[-1], strict=True)
        return np.array([_ratio(fresh, present) for fresh, present in pairs])

    def fall(self, weights: np.ndarray, since: int) -> float:
        """Return ln(a / b): a the lowest fresh loss up to a step, b the lowest after it.

        Lowest ones: neither a step that goes up nor a redraw, after which the loss goes up for a
        while, is a loss of what was reached. Infinite where there are no two to compare.
        """
        losses = np.maximum(self.fresh @ weights, _LEAST)
        before, after = losses[self.steps <= since], losses[self.steps > since]
        if not (before.size and after.size and np.isfinite(losses).all()):
            return math.inf
        return math.log(before.min() / after.min())

    def spread(self, weights: np.ndarray, since: int) -> float:
        """Return by how much the fresh losses from a step on differ at most; inf for no two."""
        losses = self.fresh[self.steps >= since] @ weights
        return float(np.ptp(losses)) if len(losses) > 1 and np.isfinite(losses).all() else math.inf


def _ratio(fresh: float, present: float) -> float:
    if not (math.isfinite(fresh) and math.isfinite(present)):
        return math.nan
    return float(fresh) / max(float(present), _LEAST)
