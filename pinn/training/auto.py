"""The plan that is followed where none is given: what it chooses, and by which rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pinn.optimizers import (
    LBFGS,
    Adam,
    ExponentialDecay,
    GaussNewton,
    LevenbergMarquardt,
    SSBroyden,
    Stage,
    StopReason,
)
from pinn.schema import declared
from pinn.training.course import Choice
from pinn.training.plan import Plan, Scale, Situation

# Up to this size a step from all slopes of all rows, some size^2 operations for each row, is worth
# the hundred steps by gradients that take as long ...
MOST_REDUCED = 2000
# ... where there are so many rows for each number that it does not fit the points alone.
LEAST_ROWS = 2.0
# Slopes of all rows are held at a time: so many, 400 MB, at most.
MOST_SLOPES = 50_000_000
# The first steps fit the few points they have within some ten: other points soon, later ones serve
# longer.
_FIRST, _SOON = 40, 10
# Up to this size a step of the dense inverse Hessian costs no more than a gradient on a few
# thousand points, and is worth many of those of L-BFGS.
MOST_DENSE = 5000
# Of the last stage without a limit in time: about half a minute for a small network.
_REDUCED_STEPS, _STEPS = 300, 5000
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
    """Stages that are chosen while training runs, by the numbers of parameters and rows.

    Levenberg-Marquardt up to 2000 trainable numbers with two residual rows each at least, and up to
    50 million slopes of rows in them, in float64; for others Adam to settle and then quasi-Newton
    steps, SSBroyden where its dense inverse Hessian pays, L-BFGS beyond. A stage that stalls, so
    that the loss on points apart fell by less than 5 % over the last half of all steps, ends. By
    steps and losses alone where there is no limit in time, so that equal runs have equal bits; with
    one the last stage goes on until it is reached.
    """

    def next(self, now: Situation) -> Choice:
        """Return the stage that comes next, and why."""
        stages = self.foreseen(now)
        done = len(now.stages)
        if done < len(stages):
            return Choice(stages[done], _why(stages[done], done, now))
        last = now.stages[-1]
        if last.reason is StopReason.STALLED:
            return Choice(None, f"nothing better than {last.name} is left to try")
        return Choice(None)

    def again(self, number: int, stage: Stage, scale: Scale) -> Stage:
        """Return a stage that was chosen before, with the limits that it would have now."""
        return self.foreseen(scale)[number]

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
        return f"over the last {window} steps {now.what_fell(window)} {_fell(fall)}"

    def foreseen(self, scale: Scale) -> tuple[Stage, Stage]:
        """Return the two stages, with limits in time where the run has one."""
        limited = scale.seconds is not None
        if not _not_reduced(scale):
            steps = _UNLIMITED if limited else _REDUCED_STEPS
            return LevenbergMarquardt(_FIRST, redraw=_SOON), LevenbergMarquardt(steps)
        steps, share = (_UNLIMITED, _ADAM_SHARE * scale.seconds) if limited else (_STEPS, None)
        falls = ExponentialDecay(final_rate=1e-3)
        settle = Adam(steps=500, learning_rate=5e-3, schedule=falls, seconds=share)
        return settle, SSBroyden(steps) if scale.size <= MOST_DENSE else LBFGS(steps)


@dataclass(frozen=True)
class LeastSquaresPlan(Plan):
    """Gauss-Newton steps, for a network that is linear in what is trained."""

    count = 1

    def next(self, now: Situation) -> Choice:
        """Return the stage, once."""
        if now.stages:
            return Choice(None)
        return Choice(self._stage, f"the network is linear in its {now.size} trainable numbers")

    def foreseen(self, scale: Scale) -> tuple[Stage, ...]:
        return (self._stage,)

    @property
    def _stage(self) -> GaussNewton:
        # A linear problem takes one step and one that mends its rounding, others some more; the
        # points stay, four for each feature.
        return GaussNewton(
            steps=_SOLVES, cutoff=_CUTOFF, least_fall=_LEAST_FALL_OF_SOLVES, redraw="never"
        )


def default_training(
    size: int,
    seconds: float | None = None,
    rows: int | None = None,
    precision: str = "float64",
) -> list[Stage]:
    """Return the stages that `auto` chooses where nothing stalls, as a list to change.

    size: the number of trainable numbers. seconds: the time that all stages together may take, as
    the limit of pinn.solve. rows: the number of residuals at all points; enough of them where left
    out. precision: "float64" or "float32".
    """
    enough = math.ceil(LEAST_ROWS * size)
    scale = Scale(
        size=size, rows=enough if rows is None else rows, precision=precision, seconds=seconds
    )
    return list(Auto().foreseen(scale))


def _why(stage: Stage, done: int, now: Situation) -> str:
    """Return why a stage is the one that comes."""
    if isinstance(stage, LevenbergMarquardt):
        if done and now.stages[-1].name == stage.name:
            return "the points serve longer now"
        return (
            f"{now.size} trainable numbers and {now.rows} rows are few enough for steps from the "
            "slopes of all rows"
        )
    if isinstance(stage, Adam):
        return f"gradient steps settle a new network; {_not_reduced(now)}"
    if isinstance(stage, SSBroyden):
        return f"{now.size} trainable numbers are few enough for a dense inverse Hessian"
    return f"an inverse Hessian of {now.size} trainable numbers is too large to be kept"


def _not_reduced(now: Scale) -> str:
    """Return what speaks against Levenberg-Marquardt, "" where nothing does."""
    if now.precision != "float64":
        return f"in {now.precision} the slopes of all rows have too few digits"
    if now.size > MOST_REDUCED:
        return f"{now.size} trainable numbers are too many for the slopes of all rows"
    if now.rows < LEAST_ROWS * now.size:
        return (
        f"{now.rows} rows are too few for the slopes of {now.size} trainable numbers, which take "
        f"{LEAST_ROWS:g} each"
    )
    if now.rows * now.size > MOST_SLOPES:
        return f"the slopes of {now.rows} rows in {now.size} trainable numbers are too many"
    return ""


def _fell(share: float) -> str:
    return f"fell by {100 * share:.3g} %" if share > 0 else "did not fall"
