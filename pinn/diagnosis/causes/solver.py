"""A solver that has come to an end before the network has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pinn.diagnosis.changes import of_training, short
from pinn.diagnosis.examination import Examination, orders
from pinn.diagnosis.finding import Finding
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
    if seen.experiment.seconds is not None:  # the last of these would take all of the time
        change = [*map(short, stages[:-1]), short(replace(trial.stage, steps=stages[-1].steps))]
    yield Finding(
        "solver", f"{trial.stage.name} goes further", evidence,
        tuple(of_training(seen.experiment.model, change)),
        orders(trial.before, trial.after),
    )  # fmt: skip
