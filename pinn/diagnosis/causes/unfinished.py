"""Training that ended at a limit while the loss still fell."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pinn.diagnosis.changes import of_training, short
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Change, Finding
from pinn.optimizers import StopReason
from pinn.training.plan import Scale

# What falls by less does not still fall.
_STILL = 1.5
_TIMES = 3


def unfinished(seen: Examination) -> Iterator[Finding]:
    """Tell of a loss that still fell when the steps or the time were used up.

    Over the last half of all steps, or in some more steps of the last solver. Of a solution that is
    good already that is no fault.
    """
    report = seen.report
    if seen.overfit or seen.is_good or not report.stages:
        return
    if report.stop_reason not in (StopReason.STEPS, StopReason.TIME):
        return
    trial, (factor, steps) = seen.trial, seen.fall or (1.0, 0)
    more = trial.before / trial.after if trial.stage.name == report.stages[-1].name else 1.0
    if max(factor, more) < _STILL:
        return
    said = []
    if factor >= _STILL:
        said.append(f"the loss fell by a factor of {factor:.2g} over the last {steps} steps")
    if more >= _STILL:
        said.append(
            f"{trial.steps} more steps of {trial.stage.name} lower the loss on fresh points from "
            f"{trial.before:.2g} to {trial.after:.2g}"
        )
    yield Finding(
        "unfinished", "training was not over",
        f"{', and '.join(said)}; training ended at the {report.stop_reason}", _longer(seen),
        math.log10(max(factor, more)),
    )  # fmt: skip


def _longer(seen: Examination) -> tuple[Change, ...]:
    experiment = seen.experiment
    if experiment.seconds is not None:
        return (Change("seconds", _TIMES * experiment.seconds),)
    stages = experiment.plan.foreseen(Scale.of(seen.objective))
    last = short(stages[-1])
    if not isinstance(last, dict):  # a stage of one's own, which no file holds
        return (Change(f"training.{len(stages) - 1}.steps", _TIMES * stages[-1].steps),)
    ((name, settings),) = last.items()
    longer = {name: {**settings, "steps": _TIMES * stages[-1].steps}}
    return tuple(of_training(experiment.model, [*map(short, stages[:-1]), longer]))
