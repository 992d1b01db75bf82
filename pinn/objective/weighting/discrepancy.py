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
            refuse("expected data with a sigma, the size of their noise, got none")
        with at("blocks"):
            super().check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the weights of what is exact, heavier where the data allow it."""
        heavier, before = (float(state[one]) for one in _STATE) if state else (1.0, math.inf)
        data = {
            block.name: block.residual for block in view.objective.blocks
            if isinstance(block.residual.source, Measured)
        }  # fmt: skip
        given = {name: self.blocks.get(name, 1.0) for name in view.names}
        if state:
            losses = {name: weight * view.losses[name] for name, weight in given.items()}
            of_data = sum(losses[name] for name in data)
            others = heavier * sum(loss for name, loss in losses.items() if name not in data)
            told = {name: one for name, one in data.items() if has_told_noise(one)}
            if (
                _HELD * of_data < others < _LESS * before
                and all(_fits(one, view.residuals[name]) for name, one in told.items())
            ):  # fmt: skip
                heavier, before = min(heavier * self.factor, self.most), others
        found = {name: one if name in data else one * heavier for name, one in given.items()}
        return Weights(found), dict(zip(_STATE, map(np.array, (heavier, before)), strict=True))


def has_told_noise(residual: Residual) -> bool:
    """Return whether a residual is of data whose sigma is told."""
    source = residual.source
    return isinstance(source, Measured) and source.told


def _fits(residual: Residual, rows: np.ndarray) -> bool:
    """Return whether data lie no further off than their noise may bring; rows: (n,)."""
    mine = judged(residual, rows.astype(np.float64))
    chi_square = float(np.mean(mine.rows**2)) / (mine.variance * residual.source.noise**2)
    return chi_square <= 1 + _DEVIATIONS * math.sqrt(mine.spread / len(mine.rows))
