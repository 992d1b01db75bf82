"""Residual-based attention: rows whose residual has been large weigh more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated

import numpy as np

from pinn.objective.block_weights import check_blocks
from pinn.objective.weighting.fixed import WEIGHTS
from pinn.objective.weighting.rows import kept, remembered, steps_since, weighable
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.problem.problem import Problem
from pinn.schema import Count, Fraction, Name, Positive, declared
from pinn.schema.errors import at


@declared
class Attention(Weighting):
    """Residual-based attention: a row weighs by a running sum of its share of the residual.

    v_i = lambda_i^2, lambda_i <- gamma lambda_i + eta |r_i| / max |r| at each step, from 0 before
    the first; lambda stays below eta / (1 - gamma). rows: the blocks whose rows are weighed, the
    equations where None; blocks: weights of blocks besides, as in fixed weights.

    every: steps between two updates, each of which stands for so many of the paper's with the
    residuals of now. Points that are drawn anew take over the lambda of the nearest before.

    Anagnostopoulos, Toscano, Stergiopulos and Karniadakis, Comput. Methods Appl. Mech. Eng. 421
    (2024) 116805 (arXiv 2307.00379), the update rule of lambda.
    """

    every: Count = 10
    gamma: Fraction = 0.999
    eta: Positive = 0.01
    rows: Sequence[Name] | None = None
    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    def check(self, problem: Problem) -> None:
        with at("rows"):
            check_blocks(problem, self.rows or ())
        with at("blocks"):
            super().check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return lambda^2 for the rows."""
        steps = steps_since(view, state)
        decay = self.gamma**steps
        rows, memory = {}, {"step": np.array(view.step)}
        for name in weighable(view, self.rows, view.equations):
            size = np.abs(view.residuals[name].astype(np.float64))
            largest = size.max()
            share = size / largest if largest > 0 else size
            points = view.points[name]
            before = remembered(state, name, points)
            attention = 0.0 if before is None else before["attention"]
            # `steps` of the paper's updates with one residual: a geometric sum.
            grown = self.eta * (1 - decay) / (1 - self.gamma)
            attention = decay * attention + grown * share
            rows[name] = attention**2
            memory |= kept(name, points, {"attention": attention})
        return Weights(self.blocks, rows), memory
