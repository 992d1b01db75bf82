"""A solver that has come to an end before the network has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinn.diagnosis.examination import Examination, orders
from pinn.diagnosis.finding import Change, Finding
from pinn.optimizers import STAGES, Stage
from pinn.schema import dump
from pinn.schema.declared import Member
from pinn.training.plan import Scale

# A trial of another solver that lowers the loss by less is none worth telling.
_LOWER = 2.0


def solver(seen: Examination) -> Iterator[Finding]:
    """Tell of a run that another solver, tried for a few steps from its end, takes further."""
    if seen.overfit or not seen.report.stages or seen.rounding.is_all:
        return
    trial, last = seen.trial, seen.report.stages[-1]
    if trial.stage.name == last.name or trial.after * _LOWER > trial.before:
        return
    evidence = (
        f"{trial.steps} steps of {trial.stage.name} from its end lower the loss on fresh points "
        f"from {trial.before:.2g} to {trial.after:.2g}; {last.name} ended: {last.reason}"
    )
    if seen.fall is not None:
        factor, steps = seen.fall
        evidence += f"; the loss fell by a factor of {factor:.2g} over the last {steps} steps"
    stages = seen.experiment.plan.foreseen(
        Scale.of(seen.objective, seen.experiment.seconds)
    )
    change = [*map(short, stages), {trial.stage.name: {"steps": trial.stage.steps}}]
    yield Finding(
        "solver", f"{last.name} has stalled", evidence, (Change("training", change),),
        orders(trial.before, trial.after),
    )  # fmt: skip


def short(stage: Stage) -> Any:
    """Return a stage as a config holds it, without the settings that are its defaults."""
    kind = type(stage)
    if kind not in dict(STAGES.items()).values():
        return stage.name
    ((name, settings),) = Member(STAGES).dump(stage).items()
    usual = dump(kind())
    return {name: {key: value for key, value in settings.items() if value != usual[key]}}
