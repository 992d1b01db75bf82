"""Quasi-Newton descent: what all solvers share that step along -H g, whatever holds H."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from autograd.devices import CPU, device_of, put
from pinn.objective import OnDevice
from pinn.optimizers.ends import converged_to
from pinn.optimizers.quasi_newton.line_search import Conditions, wolfe_step
from pinn.optimizers.quasi_newton.vectors import Found, evaluated, evaluated_along, inner
from pinn.optimizers.solver import Diverged, LeastSquares, Stage, StageEnd, Step, StopReason

Transform = Literal["log", "sqrt", "value"]

_CONDITIONS = Conditions(c1=1e-4, c2=0.9)
# Stands for a loss of exactly zero, whose logarithm and gradient's quotient do not exist.
_LEAST_LOSS = np.finfo(np.float64).tiny
# A step along the gradient by this share of theta that lowers no loss is lost in its rounding.
_SHORT = math.sqrt(np.finfo(np.float64).eps)
# Every so many steps the direction is a product with H of its own: what rounding makes of one that
# came with a pair goes into the next.
_AFRESH = 10
# How much shorter a first step is after each try that ended in numbers that are not finite.
_SHORTER = 0.1


class Curvature(ABC):
    """A positive definite approximation H of the inverse Hessian, learned from pairs.

    A pair is a step s and the change y of the gradient along it, both (size,). `names` are the
    arrays that H is made of, `version` counts its changes. Vectors lie where the loss is computed,
    and H with them; on a device `direction` and `learn` wait for it once.
    """

    names: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def version(self) -> int: ...

    @abstractmethod
    def direction(self, gradient: Any) -> tuple[Any, float]:
        """Return -H times a gradient, and its inner product with the gradient."""

    @abstractmethod
    def begin(self, s: Any, y: Any) -> bool:
        """Forget all, and learn a first pair; False where it has no positive curvature."""

    @abstractmethod
    def learn(self, s: Any, y: Any, sbs: float) -> None:
        """Learn a pair, or leave it out where its curvature is rounding; sbs is s' H^-1 s."""

    def step(self, s: Any, y: Any, sbs: float, direction: Any, gradient: Any) -> Any | None:
        """Learn a pair, and return -H times the gradient at its end if that comes with learning.

        direction: -H times the gradient at its beginning.
        """
        self.learn(s, y, sbs)
        return None

    @abstractmethod
    def is_positive_definite(self) -> bool:
        """Whether H still is, after rounding."""

    @abstractmethod
    def array(self, name: str) -> np.ndarray:
        """Return a copy of one of the arrays, on the host."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over copies of the arrays; ValueError for those of another size."""

    @abstractmethod
    def copy(self, other: Curvature) -> bool:
        """Become a copy of another H of the same device; False where it has to come as arrays."""


class QuasiNewton(Stage):
    """A solver that steps along -H g, whatever holds H; each step's length is searched for.

    steps: most iterations. transform: what is minimised, the "log" of the loss, its "sqrt", or its
    "value". gradient_tolerance: the descent ends when no component of the loss's gradient is
    larger. line_search: most evaluations of one search.

    At the start, and after a search that failed, the step goes along the gradient and H begins
    anew with its pair; a search that fails along the gradient is the end. Other points keep H
    while it is positive definite.
    """

    transform: Transform
    gradient_tolerance: float
    line_search: int

    @abstractmethod
    def curvature(self, size: int, there: OnDevice | None) -> Curvature:
        """Return an H for theta of (size,) that knows nothing yet; there: where vectors lie."""

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        memory = _Memory(self.curvature(theta.size, function.on_device))
        here = self._point(evaluated(function, theta))
        if state:
            memory.restore(state, here)
        while True:
            zero = converged_to(
                here.theta, memory.number, here.largest, self.gradient_tolerance
            )
            if zero is not None:
                return zero
            if memory.number == self.steps:
                return StageEnd(here.theta, StopReason.STEPS, f"all {self.steps} steps done")
            direction, slope = memory.direction(here)
            search = _Search(self, function, here, direction)
            alpha = search.step(slope, memory.first_trial(here, slope))
            memory.evaluations += search.evaluations
            # where what is asked for is less than rounding, a step that changes nothing has it
            still = memory.fresh and alpha is not None and search.tried[alpha].loss >= here.loss
            if alpha is not None and not still:
                end = search.tried[alpha]
                memory.learn(here, end, direction, -alpha * alpha * slope)
                here = end
                yield Step(memory.number, here.theta, here.loss, state=memory.state(here))
            elif memory.fresh:
                reason, why = search.failure()
                return StageEnd(here.theta, reason, (
                    f"after {memory.number} steps a line search along the gradient found no lower "
                    f"loss, {why}; largest component of the gradient {here.largest:.1e}"
                ))  # fmt: skip
            else:
                memory.restart()

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state that has forgotten H, with a first step a tenth of the try before."""
        return {"number": np.array(number), "reach": np.array(_SHORTER**tries)}

    def _point(self, found: Found, direction: Any = None) -> _Point:
        """Return the point of an evaluation, with its slope along the direction that led there."""
        value, chained = self._transformed(found.loss)
        gradient, slope = chained(found.gradient), math.nan
        if found.slope is not None:
            slope = chained(found.slope)
        elif direction is not None:
            (slope,) = inner((gradient, direction))
        return _Point(
            found.theta, found.at, found.loss, found.gradient, found.largest, value, gradient,
            slope,
        )  # fmt: skip

    def _transformed(self, loss: float) -> tuple[float, Callable[[Any], Any]]:
        """Return the transform of a loss, and what makes its derivatives of those of the loss."""
        if self.transform == "value":
            return loss, lambda derivative: derivative
        if loss < 0:
            raise ValueError(
                f"{self.name}: expected a loss >= 0 for transform {self.transform!r}, "
                f"got {loss:.3e}; use transform 'value'"
            )
        loss = max(loss, _LEAST_LOSS)
        if self.transform == "log":
            return math.log(loss), lambda derivative: derivative / loss
        root = math.sqrt(loss)
        return root, lambda derivative: derivative / (2 * root)


@dataclass(frozen=True)
class _Point:
    """A theta with its loss and gradient (raw), and the value and gradient of the transform.

    theta: on the host; at: the same where vectors lie, as raw and gradient do. largest: component
    of raw. slope: of the transform along the direction that led here, NaN at a start.
    """

    theta: np.ndarray
    at: Any
    loss: float
    raw: Any
    largest: float
    value: float
    gradient: Any
    slope: float


class _Search:
    """The points that one line search tried, by the length of the step."""

    def __init__(
        self, solver: QuasiNewton, function: LeastSquares, here: _Point, direction: Any
    ) -> None:
        self.tried: dict[float, _Point] = {}
        self.evaluations = 0
        self._solver = solver
        self._function = function
        self._here = here
        self._direction = direction

    def step(self, slope: float, first: float) -> float | None:
        """Return the step length that the search accepts, or None.

        Where the loss falls all the way to where it has no value, no step has the curvature that
        the search asks for: the lowest of those that it tried is taken, if it is low enough.
        """
        most, here = self._solver.line_search, self._here
        found = wolfe_step(self._along, here.value, slope, first, most, _CONDITIONS)
        if found is None and self.tried and len(self.tried) < self.evaluations:
            lowest = min(self.tried, key=lambda alpha: self.tried[alpha].value)
            enough = here.value + _CONDITIONS.c1 * lowest * slope
            if self.tried[lowest].value <= enough < here.value:
                return lowest
        return found

    def _along(self, alpha: float) -> tuple[float, float]:
        self.evaluations += 1
        try:
            found = evaluated_along(self._function, self._here.at, alpha, self._direction)
        except Diverged:
            # Too far out; not the end of training, which theta itself would be.
            return math.inf, math.inf
        point = self._solver._point(found, self._direction)
        self.tried[alpha] = point
        return point.value, point.slope

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
    there is none on these points. reach: the length of the first trial of a fresh H. next: -H g,
    where it came with the last pair.
    """

    def __init__(self, curvature: Curvature) -> None:
        self.curvature = curvature
        self.number = 0
        self.fresh = True
        self.previous = math.nan
        self.reach = 1.0
        self.next: Any | None = None
        self.evaluations = 1
        self.restarts = 0

    def direction(self, here: _Point) -> tuple[Any, float]:
        """Return -H g and its slope; a direction that does not descend is a restart."""
        if not self.fresh:
            if self.next is None:
                direction, slope = self.curvature.direction(here.gradient)
            else:
                direction, (slope,) = self.next, inner((self.next, here.gradient))
            if slope < 0 and math.isfinite(slope):
                return direction, slope
            self.restart()
        (square,) = inner((here.gradient, here.gradient))
        return -here.gradient, -square

    def restart(self) -> None:
        # H is left as it is until the next pair: a checkpoint may still ask for it.
        self.fresh = True
        self.previous = math.nan
        self.next = None
        self.restarts += 1

    def first_trial(self, here: _Point, slope: float) -> float:
        """The step at which the loss would fall as much as it did last, and at most 1."""
        if self.fresh:
            # A step of length one: nothing is known of the scale.
            return self.reach * min(1.0, 1.01 / math.sqrt(-slope))
        # NaN, and a rise from other points, lead to 1: the full quasi-Newton step.
        step = 2.02 * (here.value - self.previous) / slope
        return min(1.0, step) if step > 0 else 1.0

    def learn(self, here: _Point, end: _Point, direction: Any, sbs: float) -> None:
        s, y = end.at - here.at, end.gradient - here.gradient
        self.number += 1
        self.previous = here.value
        if self.fresh:
            self.fresh = not self.curvature.begin(s, y)
        elif self.number % _AFRESH:
            self.next = self.curvature.step(s, y, sbs, direction, end.gradient)
        else:
            self.curvature.learn(s, y, sbs)
            self.next = None

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
        if self.next is not None:
            small["direction"] = self.next
        return _State(small, self.curvature)

    def restore(self, state: Mapping[str, np.ndarray], here: _Point) -> None:
        """Go on from a state; where the loss is another one by now, only H and the counts stay.

        Of a state from `QuasiNewton.slower` there is no H.
        """
        self.number, self.reach = int(state["number"]), float(state["reach"])
        if "fresh" not in state:
            return
        self.evaluations = int(state["evaluations"])
        self.restarts = int(state["restarts"])
        self.fresh = bool(state["fresh"])
        if not (isinstance(state, _State) and self.curvature.copy(state.curvature)):
            self.curvature.restore(state)
        if here.loss == state["loss"] and np.array_equal(put(here.raw, CPU), state["gradient"]):
            self.previous = float(state["previous"])
            if "direction" in state:
                self.next = put(state["direction"], device_of(here.gradient))
            return
        self.evaluations += 1
        if not (self.fresh or self.curvature.is_positive_definite()):
            self.restart()


class _State(Mapping[str, np.ndarray]):
    """The arrays of a descent at one step, those of H copied when they are asked for.

    Copying them at each step may take as long as changing them; on a device all vectors stay there
    until then. Once the next step changes H the
    mapping is empty: what is left would restart the solver from another place than it was at.
    """

    def __init__(self, small: dict[str, Any], curvature: Curvature) -> None:
        self.curvature = curvature
        self._small = small
        self._version = curvature.version

    def __getitem__(self, name: str) -> np.ndarray:
        if self.curvature.version != self._version:
            raise KeyError(
                f"{name}: the inverse Hessian of this step is gone; ask for the solver's state "
                "before the next step is taken"
            )
        if name in self.curvature.names:
            return self.curvature.array(name)
        return put(self._small[name], CPU)

    def __iter__(self) -> Iterator[str]:
        if self.curvature.version == self._version:
            yield from (*self._small, *self.curvature.names)

    def __len__(self) -> int:
        return sum(1 for _ in self)
