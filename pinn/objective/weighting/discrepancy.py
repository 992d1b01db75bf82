"""The discrepancy principle: what is exact weighs as much as data with noise leave it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np

from pinn.objective.weighting.fixed import WEIGHTS
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.problem.problem import Problem
from pinn.residuals import Measured, Residual, judged
from pinn.schema import Count, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Number

# Noise of the stated size brings sums of squares that are larger by so many standard deviations.
_DEVIATIONS = 2.0
# What is exact holds where its part of the loss is less than this share of that of the data, and
# holds no better where a larger weight did not leave less than so much of that part.
_HELD, _LESS = 1e-5, 0.5
# How much heavier it is, and its part of the loss before it became so heavy.
_STATE = ("heavier", "before")


@declared
class Discrepancy(Weighting):
    """Equations and conditions grow heavier as long as data lie within their noise.

    Equal weights let a network follow the noise of data at the cost of equations, which are exact.
    At each update all blocks but data weigh `factor` times as much as before, up to `most`, where
    the mean square of all data whose sigma is told is within two standard deviations of what noise
    brings: so a network finds a fit first, and then the one that the equations allow. Data that the
    equations do not allow stop it, as a discrepancy that is larger than the noise. So does what is
    exact where its part of the loss is below 1e-5 of that of the data, and as long as it is more
    than half of what it was before the last change: at the least loss it falls like one over the
    weight, but where the network cannot follow, or has not yet. blocks: weights of blocks besides,
    as in fixed weights. every: steps between two updates.

    Morozov, Sov. Math. Dokl. 7 (1966) 414; quadratic penalties that grow: Nocedal and Wright,
    Numerical Optimization, 2nd ed. (2006), section 17.1.
    """

    per_row: ClassVar[bool] = False

    every: Count = 10
    factor: Annotated[float, Number(above=1.0)] = 10.0
    most: Annotated[float, Number(low=1.0)] = 1e6
    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    def check(self, problem: Problem) -> None:
        if not any(map(has_told_noise, problem.residuals)):
            refuse(
                "discrepancy: expected data whose noise has a stated size, got none; state it with "
                "the data, data: {..., sigma: 0.01} or pinn.Data(..., sigma=0.01), or choose "
                "another weighting"
            )
        with at("blocks"):
            super().check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights of what is exact, heavier where the data allow it."""
        heavier, before = _remembered(state)
        data, given = _data(view), self._given(view)
        if state:
            of_data, others = self._parts(view, heavier)
            if _HELD * of_data < others < _LESS * before and not _too_far(view):
                heavier, before = min(heavier * self.factor, self.most), others
        found = {name: one if name in data else one * heavier for name, one in given.items()}
        return Weights(found), dict(zip(_STATE, map(np.array, (heavier, before)), strict=True))

    def outcome(self, view: View, state: State) -> list[tuple[str, str]]:
        """Return by how much what is exact has become heavier, and why by no more."""
        if not state:
            return []
        heavier, before = _remembered(state)
        weigh = "kept their weights"
        if heavier > 1:
            weigh = f"came to weigh {heavier:.3g} times as much"
        return [(f"weights: equations and conditions {weigh}", self._why(view, heavier, before))]

    def _why(self, view: View, heavier: float, before: float) -> str:
        """Return why what is exact is no heavier."""
        of_data, others = self._parts(view, heavier)
        far = _too_far(view)
        if far:
            return f"{', '.join(far)} {'lies' if len(far) == 1 else 'lie'} further off than noise"
        if others <= _HELD * of_data:
            share = others / of_data if of_data > 0 else 0.0
            return f"they hold: their part of the loss is {share:.1g} of that of the data"
        if heavier >= self.most:
            return "that is the most that they may"
        if others >= _LESS * before:
            return "their part of the loss has not come down to half since: they hold no better yet"
        return f"training ended before they grew heavier{' still' * (heavier > 1)}"

    def _given(self, view: View) -> dict[str, float]:
        return {name: self.blocks.get(name, 1.0) for name in view.names}

    def _parts(self, view: View, heavier: float) -> tuple[float, float]:
        """Return the part of the loss that data have, and that of what is exact."""
        data = _data(view)
        losses = {name: weight * view.losses[name] for name, weight in self._given(view).items()}
        others = heavier * sum(loss for name, loss in losses.items() if name not in data)
        return sum(losses[name] for name in data), others


def _remembered(state: State) -> tuple[float, float]:
    heavier, before = (float(state[one]) for one in _STATE) if state else (1.0, math.inf)
    return heavier, before


def _data(view: View) -> dict[str, Residual]:
    return {
        block.name: block.residual for block in view.objective.blocks
        if isinstance(block.residual.source, Measured)
    }  # fmt: skip


def _too_far(view: View) -> list[str]:
    """Return the names of data that lie further off than their noise may bring."""
    return [
        name for name, one in _data(view).items()
        if has_told_noise(one) and not within_noise(one, view.residuals[name])
    ]  # fmt: skip


def has_told_noise(residual: Residual) -> bool:
    """Return whether a residual is of data whose sigma is told."""
    source = residual.source
    return isinstance(source, Measured) and source.told


def within_noise(residual: Residual, rows: np.ndarray) -> bool:
    """Return whether data lie no further off than their noise may bring; rows: (n,)."""
    mine = judged(residual, rows.astype(np.float64))
    return mine.rms**2 <= mine.most_of_noise(residual.source.noise, _DEVIATIONS)
