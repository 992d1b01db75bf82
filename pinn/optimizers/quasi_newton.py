"""Quasi-Newton descent: what all solvers share that step along -H g, whatever holds H."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pinn.optimizers.ends import converged
from pinn.optimizers.line_search import Conditions, wolfe_step
from pinn.optimizers.solver import Diverged, LeastSquares, StageEnd, Step, StopReason

Transform = Literal["log", "sqrt", "value"]

_CONDITIONS = Conditions(c1=1e-4, c2=0.9)
# Stands for a loss of exactly zero, whose logarithm and gradient's quotient do not exist.
_LEAST_LOSS = np.finfo(np.float64).tiny
# A step along the gradient by this share of theta that lowers no loss is lost in its rounding.
_SHORT = math.sqrt(np.finfo(np.float64).eps)
# How much shorter a first step is after each try that ended in numbers that are not finite.
_SHORTER = 0.1


class Curvature(ABC):
    """A positive definite approximation H of the inverse Hessian, learned from pairs.

    A pair is a step s and the change y of the gradient along it, both (size,). `names` are the
    arrays that H is made of, `version` counts its changes.
    """

    names: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def version(self) -> int: ...

    @abstractmethod
    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return H times a vector."""

    @abstractmethod
    def begin(self, s: np.ndarray, y: np.ndarray) -> bool:
        """Forget all, and learn a first pair; False where it has no positive curvature."""

    @abstractmethod
    def learn(self, s: np.ndarray, y: np.ndarray, sbs: float) -> None:
        """Learn a pair, or leave it out where its curvature is rounding; sbs is s' H^-1 s."""

    @abstractmethod
    def is_positive_definite(self) -> bool:
        """Whether H still is, after rounding."""

    @abstractmethod
    def array(self, name: str) -> np.ndarray:
        """Return a copy of one of the arrays."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over copies of the arrays; ValueError for those of another size."""


@dataclass(frozen=True)
class Descent:
    """The settings of a descent; `solver` is the name that messages begin with.

    steps: most iterations. transform: what is minimised, the "log" of the loss, its "sqrt", or its
    "value". gradient_tolerance: the descent ends when no component of the loss's gradient is
    larger. line_search: most evaluations of one search. The solver has checked them.
    """

    solver: str
    steps: int
    transform: Transform
    gradient_tolerance: float
    line_search: int

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        curvature: Curvature,
        state: Mapping[str, np.ndarray] | None,
    ) -> Generator[Step, None, StageEnd]:
        """Descend from theta with an H that knows nothing yet; see Stage.run.

        At the start, and after a search that failed, the step goes along the gradient and H begins
        anew with its pair; a search that fails along the gradient is the end. Other points keep H
        while it is positive definite.
        """
        memory = _Memory(curvature)
        here = self._point(function, theta)
        if state:
            memory.restore(state, here)
        while True:
            zero = converged(here.theta, memory.number, here.raw, self.gradient_tolerance)
            if zero is not None:
                return zero
            if memory.number == self.steps:
                return StageEnd(here.theta, StopReason.STEPS, f"all {self.steps} steps done")
            direction, slope = memory.direction(here)
            search = _Search(self, function, here, direction)
            alpha = search.step(slope, memory.first_trial(here, slope))
            memory.evaluations += search.evaluations
            if alpha is not None:
                end = search.tried[alpha]
                memory.learn(here, end, -alpha * alpha * slope)
                here = end
                yield Step(memory.number, here.theta, here.loss, state=memory.state(here))
            elif memory.fresh:
                reason, why = search.failure()
                return StageEnd(here.theta, reason, (
                    f"after {memory.number} steps a line search along the gradient found no lower "
                    f"loss, {why}; largest component of the gradient {np.max(np.abs(here.raw)):.1e}"
                ))  # fmt: skip
            else:
                memory.restart()

    def slower(self, number: int, tries: int) -> Mapping[str, np.ndarray]:
        """Return the state of an H that knows nothing, with a shorter first step."""
        return {"number": np.array(number), "reach": np.array(_SHORTER**tries)}

    def _point(self, function: LeastSquares, theta: np.ndarray) -> _Point:
        found = function.value_and_gradient(theta)
        loss, gradient = found.loss, found.gradient
        if self.transform == "value":
            return _Point(theta, loss, gradient, loss, gradient)
        if loss < 0:
            raise ValueError(
                f"{self.solver}: expected a loss >= 0 for transform {self.transform!r}, "
                f"got {loss:.3e}; use transform 'value'"
            )
        loss_here = max(loss, _LEAST_LOSS)
        if self.transform == "log":
            return _Point(theta, loss, gradient, math.log(loss_here), gradient / loss_here)
        root = math.sqrt(loss_here)
        return _Point(theta, loss, gradient, root, gradient / (2 * root))


@dataclass(frozen=True)
class _Point:
    """A theta with its loss and gradient (raw), and the value and gradient of the transform."""

    theta: np.ndarray
    loss: float
    raw: np.ndarray
    value: float
    gradient: np.ndarray


class _Search:
    """The points that one line search tried, by the length of the step."""

    def __init__(
        self, descent: Descent, function: LeastSquares, here: _Point, direction: np.ndarray
    ) -> None:
        self.tried: dict[float, _Point] = {}
        self.evaluations = 0
        self._descent = descent
        self._function = function
        self._here = here
        self._direction = direction

    def step(self, slope: float, first: float) -> float | None:
        """Return the step length that the search accepts, or None.

        Where the loss falls all the way to where it has no value, no step has the curvature that
        the search asks for: the lowest of those that it tried is taken, if it is low enough.
        """
        most, here = self._descent.line_search, self._here
        found = wolfe_step(self._along, here.value, slope, first, most, _CONDITIONS)
        if found is None and self.tried and len(self.tried) < self.evaluations:
            lowest = min(self.tried, key=lambda alpha: self.tried[alpha].value)
            enough = here.value + _CONDITIONS.c1 * lowest * slope
            if self.tried[lowest].value <= enough < here.value:
                return lowest
        return found

    def _along(self, alpha: float) -> tuple[float, float]:
        theta = self._here.theta + alpha * self._direction
        self.evaluations += 1
        try:
            point = self._descent._point(self._function, theta)
        except Diverged:
            # Too far out; not the end of training, which theta itself would be.
            return math.inf, math.inf
        self.tried[alpha] = point
        return point.value, float(point.gradient @ self._direction)

    def failure(self) -> tuple[StopReason, str]:
        """Say why there was none along the gradient, where a short step lowers a smooth loss."""
        if len(self.tried) < self.evaluations:
            return StopReason.LINE_SEARCH, "and no finite one at some of the steps that it tried"
        shortest = self.tried[min(self.tried)]
        moved = np.linalg.norm(shortest.theta - self._here.theta)
        change = f"the shortest step changed it by {shortest.loss - self._here.loss:.1e}"
        if moved > _SHORT * np.linalg.norm(self._here.theta):
            return StopReason.LINE_SEARCH, f"in {self.evaluations} evaluations ({change})"
        return StopReason.NO_DECREASE, f"most likely at the limit of rounding ({change})"


class _Memory:
    """What a descent carries from step to step.

    fresh: H has not learned since the start or the last restart, and stands for the identity.
    previous: the transformed loss one step ago, for the first trial of the next search; NaN where
    there is none on these points. reach: the length of the first trial of a fresh H.
    """

    def __init__(self, curvature: Curvature) -> None:
        self.curvature = curvature
        self.number = 0
        self.fresh = True
        self.previous = math.nan
        self.reach = 1.0
        self.evaluations = 1
        self.restarts = 0

    def direction(self, here: _Point) -> tuple[np.ndarray, float]:
        """Return -H g and its slope; a direction that does not descend is a restart."""
        if not self.fresh:
            direction = -self.curvature.times(here.gradient)
            slope = float(direction @ here.gradient)
            if slope < 0 and math.isfinite(slope):
                return direction, slope
            self.restart()
        return -here.gradient, -float(here.gradient @ here.gradient)

    def restart(self) -> None:
        # H is left as it is until the next pair: a checkpoint may still ask for it.
        self.fresh = True
        self.previous = math.nan
        self.restarts += 1

    def first_trial(self, here: _Point, slope: float) -> float:
        """The step at which the loss would fall as much as it did last, and at most 1."""
        if self.fresh:
            # A step of length one: nothing is known of the scale.
            return self.reach * min(1.0, 1.01 / math.sqrt(-slope))
        # NaN, and a rise from other points, lead to 1: the full quasi-Newton step.
        step = 2.02 * (here.value - self.previous) / slope
        return min(1.0, step) if step > 0 else 1.0

    def learn(self, here: _Point, end: _Point, sbs: float) -> None:
        s, y = end.theta - here.theta, end.gradient - here.gradient
        self.number += 1
        self.previous = here.value
        if self.fresh:
            self.fresh = not self.curvature.begin(s, y)
        else:
            self.curvature.learn(s, y, sbs)

    def state(self, here: _Point) -> Mapping[str, np.ndarray]:
        """Return what `restore` takes."""
        small = {
            "number": np.array(self.number),
            "loss": np.array(here.loss),
            "gradient": here.raw,
            "fresh": np.array(self.fresh),
            "previous": np.array(self.previous),
            "reach": np.array(self.reach),
            "evaluations": np.array(self.evaluations),
            "restarts": np.array(self.restarts),
        }
        return _State(small, self.curvature)

    def restore(self, state: Mapping[str, np.ndarray], here: _Point) -> None:
        """Go on from a state; where the loss is another one by now, only H and the counts stay.

        Of a state from `Descent.slower` there is no H.
        """
        self.number, self.reach = int(state["number"]), float(state["reach"])
        if "fresh" not in state:
            return
        self.evaluations = int(state["evaluations"])
        self.restarts = int(state["restarts"])
        self.fresh = bool(state["fresh"])
        self.curvature.restore(state)
        if here.loss == state["loss"] and np.array_equal(here.raw, state["gradient"]):
            self.previous = float(state["previous"])
            return
        self.evaluations += 1
        if not (self.fresh or self.curvature.is_positive_definite()):
            self.restart()


class _State(Mapping[str, np.ndarray]):
    """The arrays of a descent at one step, those of H copied when they are asked for.

    Copying them at each step may take as long as changing them. Once the next step changes H the
    mapping is empty: what is left would restart the solver from another place than it was at.
    """

    def __init__(self, small: dict[str, np.ndarray], curvature: Curvature) -> None:
        self._small = small
        self._curvature = curvature
        self._version = curvature.version

    def __getitem__(self, name: str) -> np.ndarray:
        if self._curvature.version != self._version:
            raise KeyError(
                f"{name}: the inverse Hessian of this step is gone; ask for the solver's state "
                "before the next step is taken"
            )
        return self._curvature.array(name) if name in self._curvature.names else self._small[name]

    def __iter__(self) -> Iterator[str]:
        if self._curvature.version == self._version:
            yield from (*self._small, *self._curvature.names)

    def __len__(self) -> int:
        return sum(1 for _ in self)
