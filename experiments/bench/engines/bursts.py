"""Ours on a GPU, as training runs it: steps of pinn.Adam, taken in bursts."""

from __future__ import annotations

from typing import Any

import numpy as np

import pinn
from experiments.bench.adam import BETA1, BETA2, EPSILON, LEARNING_RATE
from experiments.bench.engines.ours import objective_of
from experiments.bench.workloads import Workload
from pinn.objective.objective import MOST_STEPS_AHEAD
from pinn.optimizers import Step

# Of the stage: more than a measurement takes.
_STEPS = 10**9


class _Bursts:
    def __init__(self, workload: Workload, seed: int) -> None:
        objective = objective_of(workload, seed, device="cuda")
        objective.steps_ahead = lambda: self._ahead
        adam = pinn.Adam(
            _STEPS, learning_rate=LEARNING_RATE, beta1=BETA1, beta2=BETA2, epsilon=EPSILON
        )
        self._run = adam.run(objective, objective.theta)
        self._ahead = 1
        self._last: Step | None = None

    def step(self) -> float:
        """Take a burst of one step, and return its loss."""
        self.steps(1)
        return self._last.loss

    def steps(self, count: int) -> None:
        """Take steps in bursts as long as training's are at most, and hear of each."""
        while count:
            self._ahead = min(count, MOST_STEPS_AHEAD)
            self._last = next(self._run)
            told = 1
            while self._last.ahead:
                self._last = next(self._run)
                told += 1
            count -= told

    def first_moment(self) -> np.ndarray:
        """Return Adam's first moment as one vector."""
        return self._last.state["first"]

    def facts(self) -> dict[str, Any]:
        """Return how many numbers are trained."""
        return {"size": self._last.theta.size}


def prepare(workload: Workload, way: str, seed: int, threads: int) -> _Bursts:
    """Return the step of a workload."""
    return _Bursts(workload, seed)
