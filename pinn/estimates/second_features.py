"""The error of random features for each family and mode: how far those of another draw are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from pinn.estimates.record import ErrorEstimate, left_out
from pinn.estimates.second_solution import apart_from
from pinn.objective import Objective
from pinn.sampling import stream
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import judging_points
from pinn.training.judging.trial import Budget, Trial, fitted
from pinn.training.superposition import is_by_superposition

# The second solution has so many times the features; what a solve takes grows like this power of
# their number, and this share of them, and no fewer than so many, are solved for first, to tell how
# long.
_MORE, _POWER, _FIRST, _FEW = 1.25, 2.5, 0.4, 400
# Of the time that is left it may take this share. With fewer than these shares of the features it
# tells of itself too, and of itself alone.
_SHARE, _AS_MANY, _LEAST = 0.8, 0.9, 0.5
# Where it leaves more of the loss than this, it is none.
_LEAVES = 1e-2

_SAID = (
    "the error is how far a second solution is from this one, of other random features for each "
    "family and mode, at other points"
)
_FEWER = (
    "the limit in time left room for {share:.0%} of the features in the second solution, so that "
    "the error may be told too large"
)
_NONE = "a second solution of other random features does not satisfy the equations"


def by_second_features(
    experiment: Experiment, objective: Objective, theta: np.ndarray, budget: Budget,
    sizes: Mapping[str, float],
) -> ErrorEstimate | None:  # fmt: skip
    """Return the error of a model by superposition, by a second one; None for other models.

    objective: the run's; it is left at theta. sizes: natural ones of unknowns. budget: what it may
    take. Where that is too little for as many features there are fewer, and a doubt; where there
    would be too few, a doubt alone.
    """
    if not is_by_superposition(experiment.model):
        return None
    width = experiment.model.trunk.width
    most, doubts, few = round(_MORE * width), [], max(_FEW, round(_FIRST * width))
    if budget.limit is not None and most > few:
        began = budget.spent
        _solved(_again(experiment, few), budget)
        each = (budget.spent - began) / few**_POWER
        room = _SHARE * (budget.limit - budget.spent)
        most = min(most, int((max(room, 0.0) / each) ** (1 / _POWER)))
        if most < _LEAST * width:
            takes = budget.spent + each * (_MORE * width) ** _POWER
            return ErrorEstimate(doubts=(left_out(takes, budget.limit),), share=0.0)
        if most < _AS_MANY * width:
            doubts.append(_FEWER.format(share=most / width))
    again = _again(experiment, most)
    trial = _solved(again, budget)
    if not trial.left <= _LEAVES and budget.is_spent(1.0):
        return ErrorEstimate(doubts=(left_out(budget.spent, budget.limit),), share=0.0)
    domain = experiment.problem.domain
    found = apart_from(experiment, objective, theta, again, trial.theta, domain, sizes)
    if not trial.left <= _LEAVES:
        doubts.append(_NONE)
    return dataclasses.replace(
        found, doubts=(*doubts, *found.doubts), remarks=(_SAID, *found.remarks)
    )


def _again(experiment: Experiment, width: int) -> Experiment:
    """Return the run with so many features, points for them, and another seed."""
    model, sampling = experiment.model, experiment.sampling
    if sampling.interior is not None:
        share = width / model.trunk.width
        sampling = dataclasses.replace(sampling, interior=max(2, round(share * sampling.interior)))
    seed = int(stream(experiment.seed, "error estimate", "second features").integers(2**31))
    model = dataclasses.replace(model, trunk=dataclasses.replace(model.trunk, width=width))
    return dataclasses.replace(experiment, model=model, sampling=sampling, seed=seed)


def _solved(run: Experiment, budget: Budget) -> Trial:
    objective = run.objective()
    return fitted(objective, judging_points(run), objective.theta, budget, 1.0)
