"""Self-adaptive weights: trained beside the network, to make the loss larger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Literal

import numpy as np

from pinn.objective.block_weights import check_blocks
from pinn.objective.weighting.fixed import WEIGHTS
from pinn.objective.weighting.rows import kept, remembered, steps_since, weighable
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.problem.problem import Problem
from pinn.schema import Count, Name, NonNegative, Positive, declared
from pinn.schema.errors import at
from pinn.schema.kinds import Number


@declared
class SelfAdaptive(Weighting):
    """Self-adaptive weights: each row's is a number that is trained to make the loss larger.

    v_i = lambda_i^power with lambda_i >= 0, and lambda <- lambda + rate * gradient at each step: of
    the block's loss in lambda (transform "value", as in the paper), or of n times its logarithm
    ("log", for n rows), which has no scale and grows by the rate alone. So lambda grows where the
    residual stays large. start: lambda before the first step; starts: for some blocks, by name.
    rows: the blocks whose rows are weighed, all of them where None; blocks: weights of blocks
    besides, as in fixed weights.

    every: steps between two updates, each of which climbs as many steps with the residuals of now.
    Points that are drawn anew take over the lambda of the nearest before.

    McClenny and Braga-Neto, J. Comput. Phys. 474 (2023) 111722 (arXiv 2009.04544), section 3,
    with the mask m(lambda) = lambda^power.
    """

    every: Count = 10
    rate: Positive = 1e-3
    transform: Literal["log", "value"] = "log"
    power: Annotated[float, Number(low=1.0)] = 2.0
    start: NonNegative = 1.0
    starts: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)
    rows: Sequence[Name] | None = None
    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    def check(self, problem: Problem) -> None:
        for key in ("rows", "starts"):
            with at(key):
                check_blocks(problem, getattr(self, key) or ())
        with at("blocks"):
            super().check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return lambda^power for the rows; before the first step it has not climbed yet."""
        steps = steps_since(view, state) if state else 0
        rows, memory = {}, {"step": np.array(view.step)}
        for name in weighable(view, self.rows, view.names):
            points = view.points[name]
            before = remembered(state, name, points)
            if before is None:
                trained = np.full(len(points), self.starts.get(name, self.start))
            else:
                trained = before["lambda"]
            squares = np.square(view.residuals[name], dtype=np.float64)
            for _ in range(steps):
                trained = trained + self.rate * self._slope(
                    trained, squares, weights.blocks.get(name, 1.0)
                )
            rows[name] = trained**self.power
            memory |= kept(name, points, {"lambda": trained})
        return Weights(self.blocks, rows), memory

    def _slope(self, trained: np.ndarray, squares: np.ndarray, weight: float) -> np.ndarray:
        """Return the gradient in lambda of a block's loss, or of n times its logarithm, (n,)."""
        slope = self.power * trained ** (self.power - 1) * squares
        if self.transform == "value":
            return weight * slope / len(slope)
        mean = np.mean(trained**self.power * squares)
        return slope / mean if mean > 0 else 0 * slope
