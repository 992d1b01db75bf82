"""The plan that is followed where none is given: what it chooses, and by which rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pinn.optimizers import LBFGS, Adam, ExponentialDecay, GaussNewton, SSBroyden, Stage, StopReason
from pinn.schema import declared
from pinn.training.course import Choice
from pinn.training.plan import Plan, Situation

# Up to this size a step of the dense inverse Hessian costs no more than a gradient on a few
# thousand points, and is worth many of those of L-BFGS.
MOST_DENSE = 5000
# Of a quasi-Newton stage without a limit in time: about half a minute for a small network.
_STEPS = 5000
# Of each stage where the limit is the time.
_UNLIMITED = 10_000_000
# The share of the time that Adam may take before the quasi-Newton stage begins.
_ADAM_SHARE = 0.2

# Of a network that is linear: steps, and the directions that are left out, at rounding.
# Where half of the loss cannot be had by another step, there is none.
_SOLVES, _CUTOFF, _LEAST_FALL_OF_SOLVES = 20, 1e-14, 0.5

# A stage has stalled when over so large a share of all steps of the run, and over so many looks at
# least, the loss on fresh points fell by less than so much. Quasi-Newton losses creep for a
# thousand steps (ten looks) before they fall again.
_WINDOW = 0.5
_FEWEST = 20
_LEAST_FALL = 0.05


@declared
class Auto(Plan):
    """Stages that are chosen while training runs: Adam to settle, then quasi-Newton steps.

    SSBroyden where its dense inverse Hessian pays, L-BFGS for larger models. A stage that stalls,
    so that the loss on points apart fell by less than 5 % over the last half of all steps, ends. By
    steps and losses alone where there is no limit in time, so that equal runs have equal bits; with
    one the last stage goes on until it is reached.
    """

    def next(self, now: Situation) -> Choice:
        """Return the stage that comes next, and why."""
        first, second = self.foreseen(now.size, now.seconds)
        if not now.stages:
            return Choice(first, "gradient steps settle a new network")
        last = now.stages[-1]
        if len(now.stages) == 1:
            if isinstance(second, SSBroyden):
                return Choice(second, f"{now.size} trainable numbers are few enough for a dense "
                                      "inverse Hessian")  # fmt: skip
            return Choice(second, f"an inverse Hessian of {now.size} trainable numbers is too "
                                  "large to be kept")  # fmt: skip
        if last.reason is StopReason.STALLED:
            return Choice(None, f"nothing better than {last.name} is left to try")
        return Choice(None)

    def suited(self, model: Any) -> Plan:
        """Return the plan for a network that is linear, where it is one."""
        return LeastSquaresPlan() if getattr(model, "linear", False) else self

    def enough(self, stage: Stage, now: Situation) -> str | None:
        """Say that the stage has stalled, where it has."""
        since = min(now.looks.before(_FEWEST), math.floor((1 - _WINDOW) * now.steps))
        if since < now.steps - now.stage_step:
            return None
        window = now.steps - since
        fall = -math.expm1(-now.fall(window))
        if fall >= _LEAST_FALL:
            return None
        return f"over the last {window} steps the loss on fresh points {_fell(fall)}"

    def foreseen(self, size: int, seconds: float | None) -> tuple[Stage, Stage]:
        """Return the two stages, with limits in time where the run has one."""
        steps, share = (_STEPS, None) if seconds is None else (_UNLIMITED, _ADAM_SHARE * seconds)
        falls = ExponentialDecay(final_rate=1e-3)
        settle = Adam(steps=500, learning_rate=5e-3, schedule=falls, seconds=share)
        return settle, SSBroyden(steps=steps) if size <= MOST_DENSE else LBFGS(steps=steps)


@dataclass(frozen=True)
class LeastSquaresPlan(Plan):
    """Gauss-Newton steps, for a network that is linear in what is trained."""

    count = 1

    def next(self, now: Situation) -> Choice:
        """Return the stage, once."""
        if now.stages:
            return Choice(None)
        return Choice(self._stage, f"the network is linear in its {now.size} trainable numbers")

    def foreseen(self, size: int, seconds: float | None) -> tuple[Stage, ...]:
        return (self._stage,)

    @property
    def _stage(self) -> GaussNewton:
        # A linear problem takes one step and one that mends its rounding, others some more; the
        # points stay, four for each feature.
        return GaussNewton(
            steps=_SOLVES, cutoff=_CUTOFF, least_fall=_LEAST_FALL_OF_SOLVES, redraw=_UNLIMITED
        )


def default_training(size: int, seconds: float | None = None) -> list[Stage]:
    """Return the stages that `auto` chooses where nothing stalls, as a list to change.

    size: the number of trainable numbers. seconds: the time that all stages together may take, as
    the limit of pinn.solve.
    """
    return list(Auto().foreseen(size, seconds))


def _fell(share: float) -> str:
    return f"fell by {100 * share:.2g} %" if share > 0 else "did not fall"
