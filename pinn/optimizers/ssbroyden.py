"""SSBroyden: self-scaled quasi-Newton steps with a dense inverse Hessian."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pinn.optimizers.broyden_update import InverseHessian, Member
from pinn.optimizers.stage import Diverged, Evaluate, Stage, StageEnd, Step, StopReason
from pinn.optimizers.wolfe import Conditions, wolfe_step
from pinn.schema import Count, NonNegative, Positive, declared

_CONDITIONS = Conditions(c1=1e-4, c2=0.9)
# Stands for a loss of exactly zero, whose logarithm and gradient's quotient do not exist.
_LEAST_LOSS = np.finfo(np.float64).tiny


# An inverse Hessian beyond this also makes each step and each checkpoint slow.
_MOST_GIB = 2


@declared
class SSBroyden(Stage):
    """Quasi-Newton with a dense inverse Hessian H, a strong Wolfe search, and restarts.

    steps: most iterations; one takes one evaluation, now and then a few more. member: the rule for
    H, "ssbroyden", "ssbfgs" or "bfgs". transform: what is minimised, "log" of the loss (which keeps
    its scale the same all the way down), its "sqrt", or its "value"; log and sqrt need a loss that
    is not negative, as sums of squares are. gradient_tolerance: the stage ends when no component of
    the loss's gradient is larger. line_search: most evaluations of one search before scipy's takes
    over. seconds: limit of the stage's wall time, None for none.

    H takes size^2 / 2 float64 numbers and two passes over them a step: meant for up to a few
    thousand parameters. At the start, and after a line search that failed, the step goes along the
    gradient and the next H is plain BFGS from (y's / y'y) times the identity; a search that fails
    along the gradient ends the stage. New points keep H while it is positive definite. Raises
    ValueError for a number outside its range or an unknown member or transform.

    Urban, Stefanou and Pons, J. Comput. Phys. 523 (2025) 113656 (arXiv 2405.04230); Kiyani et al.,
    Comput. Methods Appl. Mech. Eng. 446 (2025) (arXiv 2501.16371).
    """

    name = "ssbroyden"
    needs_fixed_points = True

    steps: Count = 10_000
    member: Literal["ssbroyden", "ssbfgs", "bfgs"] = "ssbroyden"
    transform: Literal["log", "sqrt", "value"] = "log"
    gradient_tolerance: NonNegative = 0.0
    line_search: Count = 30
    seconds: Positive | None = None

    def check_size(self, size: int) -> None:
        """Raise ValueError where the inverse Hessian would take too much memory."""
        gib = size * size / 2 * 8 / 2**30
        if gib > _MOST_GIB:
            raise ValueError(
                f"ssbroyden: its inverse Hessian of {size} trainable numbers takes {gib:.1f} GiB; "
                f"expected at most {_MOST_GIB} GiB. Use lbfgs, or a smaller model"
            )

    def minimize(
        self,
        evaluate: Evaluate,
        theta: np.ndarray,
        on_step: Callable[[Step], None],
        done: int = 0,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> StageEnd:
        memory = _Memory(theta.size)
        here = self._point(theta, *evaluate(theta))
        if state:
            memory.restore(state, here)
        while True:
            largest = float(np.max(np.abs(here.raw)))
            if largest <= self.gradient_tolerance:
                return StageEnd(here.theta, StopReason.CONVERGED, (
                    f"after {done} steps the largest component of the gradient, {largest:.1e}, is "
                    f"not above the tolerance {self.gradient_tolerance:.1e}"
                ))  # fmt: skip
            if done == self.steps:
                return StageEnd(here.theta, StopReason.STEPS, f"all {self.steps} steps done")
            direction, slope = memory.direction(here)
            found = self._search(evaluate, here, direction, slope, memory)
            if found is None:
                if memory.fresh:
                    return StageEnd(here.theta, StopReason.LINE_SEARCH, (
                        f"after {done} steps a line search along the gradient found no lower "
                        f"loss; largest component of the gradient {largest:.1e}"
                    ))  # fmt: skip
                memory.restart()
                continue
            alpha, end = found
            memory.learn(here, end, -alpha * alpha * slope, self.member)
            here = end
            done += 1
            on_step(Step(done, here.theta, here.loss, state=memory.state(here)))

    def _point(self, theta: np.ndarray, loss: float, gradient: np.ndarray) -> _Point:
        if self.transform == "value":
            return _Point(theta, loss, gradient, loss, gradient)
        if loss < 0:
            raise ValueError(
                f"ssbroyden: expected a loss >= 0 for transform {self.transform!r}, "
                f"got {loss:.3e}; use transform 'value'"
            )
        loss_here = max(loss, _LEAST_LOSS)
        if self.transform == "log":
            return _Point(theta, loss, gradient, math.log(loss_here), gradient / loss_here)
        root = math.sqrt(loss_here)
        return _Point(theta, loss, gradient, root, gradient / (2 * root))

    def _search(
        self,
        evaluate: Evaluate,
        here: _Point,
        direction: np.ndarray,
        slope: float,
        memory: _Memory,
    ) -> tuple[float, _Point] | None:
        """Return the step length and the point that the line search accepts, or None."""
        tried: dict[float, _Point] = {}

        def along(alpha: float) -> tuple[float, float]:
            theta = here.theta + alpha * direction
            memory.evaluations += 1
            try:
                point = self._point(theta, *evaluate(theta))
            except Diverged:
                # Too far out; not the end of training, which theta itself would be.
                return math.inf, math.inf
            tried[alpha] = point
            return point.value, float(point.gradient @ direction)

        first = memory.first_trial(here, slope)
        alpha = wolfe_step(along, here.value, slope, first, self.line_search, _CONDITIONS)
        return None if alpha is None else (alpha, tried[alpha])


@dataclass(frozen=True)
class _Point:
    """A theta with its loss and gradient (raw), and the value and gradient of the transform."""

    theta: np.ndarray
    loss: float
    raw: np.ndarray
    value: float
    gradient: np.ndarray


class _Memory:
    """What the solver carries from step to step.

    fresh: H has not learned since the start or the last restart, and stands for the identity.
    previous: the transformed loss one step ago, for the first trial of the next search; NaN where
    there is none on these points.
    """

    def __init__(self, size: int) -> None:
        self.inverse = InverseHessian(size)
        self.fresh = True
        self.previous = math.nan
        self.evaluations = 1
        self.restarts = 0

    def direction(self, here: _Point) -> tuple[np.ndarray, float]:
        """Return -H g and its slope; a direction that does not descend is a restart."""
        if not self.fresh:
            direction = -self.inverse.times(here.gradient)
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
            return min(1.0, 1.01 / math.sqrt(-slope))
        # NaN, and a rise from other points, lead to 1: the full quasi-Newton step.
        step = 2.02 * (here.value - self.previous) / slope
        return min(1.0, step) if step > 0 else 1.0

    def learn(self, here: _Point, end: _Point, sbs: float, member: Member) -> None:
        s, y = end.theta - here.theta, end.gradient - here.gradient
        self.previous = here.value
        if not self.fresh:
            self.inverse.update(s, y, sbs, member)
            return
        ys, yy = float(y @ s), float(y @ y)
        if ys > 0 and math.isfinite(ys / yy):
            self.inverse.set_identity(ys / yy)
            self.fresh = not self.inverse.update(s, y, sbs, "bfgs")

    def state(self, here: _Point) -> Mapping[str, np.ndarray]:
        """Return what `restore` takes."""
        small = {
            "loss": np.array(here.loss),
            "gradient": here.raw,
            "fresh": np.array(self.fresh),
            "previous": np.array(self.previous),
            "scale": np.array(self.inverse.scale),
            "evaluations": np.array(self.evaluations),
            "restarts": np.array(self.restarts),
        }
        return _State(small, self.inverse)

    def restore(self, state: Mapping[str, np.ndarray], here: _Point) -> None:
        """Go on from a state; where the loss is another one by now, only H and the counts stay."""
        self.evaluations = int(state["evaluations"])
        self.restarts = int(state["restarts"])
        self.fresh = bool(state["fresh"])
        self.inverse.set_packed(state["packed"], float(state["scale"]))
        if here.loss == state["loss"] and np.array_equal(here.raw, state["gradient"]):
            self.previous = float(state["previous"])
            return
        self.evaluations += 1
        if not (self.fresh or self.inverse.is_positive_definite()):
            self.restart()


class _State(Mapping[str, np.ndarray]):
    """The solver's arrays at one step, "packed" (the inverse Hessian) copied when it is asked for.

    Copying it at each step would take as long as changing it. Once the next step changes H the
    mapping is empty: what is left would restart the solver from another place than it was at.
    """

    def __init__(self, small: dict[str, np.ndarray], inverse: InverseHessian) -> None:
        self._small = small
        self._inverse = inverse
        self._version = inverse.version

    def __getitem__(self, name: str) -> np.ndarray:
        if self._inverse.version != self._version:
            raise KeyError(
                f"{name}: the inverse Hessian of this step is gone; ask for the solver's state "
                "before the next step is taken"
            )
        return self._inverse.packed.copy() if name == "packed" else self._small[name]

    def __iter__(self) -> Iterator[str]:
        if self._inverse.version == self._version:
            yield from self._small
            yield "packed"

    def __len__(self) -> int:
        return len(self._small) + 1 if self._inverse.version == self._version else 0
