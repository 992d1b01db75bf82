"""Causal weights: an equation counts at a time once it holds at all times before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated

import numpy as np

from pinn.geometry import AS_TIME
from pinn.objective.weighting.fixed import WEIGHTS
from pinn.objective.weighting.rows import weighable
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights
from pinn.problem.problem import Problem
from pinn.schema import Count, Fraction, declared
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Items, Number

_TOLERANCES = Items(Number(above=0.0), "a list of numbers > 0 that grow", least=1)


@declared
class Causal(Weighting):
    """Rows of the equations weigh by the losses in all slices of time before theirs.

    w_i = exp(-epsilon sum_{j<i} l_j) for the rows in slice i of `slices` of equal length in time,
    l_j being the mean of r^2 in slice j; of several equations each slice takes the smallest weight.
    epsilons: they are taken in turn, the next once all weights are above `next_at`. backward: time
    runs backwards, from a condition at its end. blocks: weights of blocks besides, as in fixed
    weights. every: steps between two updates.

    Wang, Sankaran and Perdikaris, Comput. Methods Appl. Mech. Eng. 421 (2024) 116813 (arXiv
    2203.07404), algorithm 1.
    """

    every: Count = 10
    slices: Count = 32
    epsilons: Annotated[Sequence[float], _TOLERANCES] = (0.01, 0.1, 1.0, 10.0, 100.0)
    next_at: Fraction = 0.99
    backward: bool = False
    blocks: Annotated[Mapping[str, float], WEIGHTS] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(a >= b for a, b in zip(self.epsilons, self.epsilons[1:], strict=False)):
            shown = ", ".join(f"{one:g}" for one in self.epsilons)
            refuse(f"expected numbers that grow, got {shown}", "epsilons")

    def check(self, problem: Problem) -> None:
        if problem.domain.time is None:
            refuse(f"expected a problem with a time coordinate, got none; {AS_TIME}")
        with at("blocks"):
            super().check(problem)

    @property
    def initial(self) -> Mapping[str, float]:
        return self.blocks

    def update(self, view: View, weights: Weights, state: State) -> tuple[Weights, State]:
        """Return the slice's weight for each row of the equations."""
        slices = {
            name: self._slices(view, name)
            for name in weighable(view, None, view.equations)
        }
        losses = [self._losses(view.residuals[name], own) for name, own in slices.items()]
        stage = int(state["stage"]) if state else 0
        found = self._weights(losses, stage)
        # No further than to the next: its weights decide whether it holds already.
        if state and stage + 1 < len(self.epsilons) and found.min() > self.next_at:
            stage += 1
            found = self._weights(losses, stage)
        rows = {name: found[own] for name, own in slices.items()}
        memory = {"stage": np.array(stage), "epsilon": np.array(self.epsilons[stage])}
        return Weights(self.blocks, rows), memory

    def _slices(self, view: View, name: str) -> np.ndarray:
        """Return the number of the slice that each row is in, counted from where time begins."""
        domain = view.objective.problem.domain
        low, high = domain.bounds[domain.time]
        times = view.points[name].coordinates[:, domain.coordinates.index(domain.time)]
        share = (times - low) / (high - low)
        if self.backward:
            share = 1 - share
        return np.clip((share * self.slices).astype(int), 0, self.slices - 1)

    def _losses(self, residual: np.ndarray, slices: np.ndarray) -> np.ndarray:
        """Return the mean square in each slice, 0 in one without rows."""
        squares = np.square(residual, dtype=np.float64)
        sums = np.bincount(slices, squares, self.slices)
        return sums / np.maximum(np.bincount(slices, minlength=self.slices), 1)

    def _weights(self, losses: list[np.ndarray], stage: int) -> np.ndarray:
        """Return the weight of each slice, (slices,)."""
        before = [np.cumsum(own) - own for own in losses]
        return np.exp(-self.epsilons[stage] * np.max(before, axis=0, initial=0.0))
