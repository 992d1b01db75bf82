"""The model of a problem, chosen by a short trial on its equations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from pinn.models import AutoModel
from pinn.optimizers import Diverged, GaussNewton
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.fresh import FreshLoss, judging_points

# Activations and ranges of steepness that are tried, from half a wave across the domain to some
# fifty, as waves where they are many: two from the middle first.
_KINDS = (
    ("tanh", (0.5, 4.0)), ("tanh", (2.0, 16.0)), ("tanh", (0.3, 2.0)), ("tanh", (1.0, 8.0)),
    ("sin", (4.0, 40.0)), ("sin", (20.0, 200.0)),
)  # fmt: skip
# Where both leave more than this share of the loss, the others are not tried.
_HOPELESS = 0.1
# Where one leaves less than this, the others are not tried, and so many features are plenty.
_PLENTY = 1e-20
# Features of all unknowns together in the trial, of each at least, and the points for each.
_FEW, _LEAST_FEW, _POINTS = 600, 250, 4
# Features after it, where those are not plenty.
_MANY, _LEAST_MANY = 2000, 500
# Random features are taken where the loss on points apart falls to less than this share of what it
# is for a network that is zero. The smooth functions that they can follow go far below it.
_RESOLVED = 1e-6
# Steps of a trial, which ends where the next would lower the loss by less than this share.
_STEPS, _FALLS = 10, 0.5
# In more coordinates than these a ridge function sees too little of the domain.
_COORDINATES = 3
# From this limit in time on a fourth hidden layer, and more points, pay.
_LONG = 120.0
_LONG_POINTS = 8000

Kind = tuple[str, tuple[float, float]]


class Chosen(NamedTuple):
    """An experiment whose model is settled, and what was decided."""

    experiment: Experiment
    decisions: tuple[Decision, ...] = ()


def with_model(experiment: Experiment) -> Chosen:
    """Return the experiment with the model that a trial finds, or as it is where one is given."""
    auto = experiment.model
    if not isinstance(auto, AutoModel):
        return Chosen(experiment)
    reason = _not_tried(experiment)
    if reason:
        return _trained(experiment, auto, reason)
    shares: dict[Kind, float] = {}
    for kind in _KINDS:
        if len(shares) == 2 and min(shares.values()) > _HOPELESS:
            break
        shares[kind] = _share_left(experiment, auto, kind)
        if shares[kind] < _PLENTY:
            break
    best = min(shares, key=shares.__getitem__)
    left = f"{shares[best]:.1g} of the loss on points apart"
    said = f"{_few(experiment)} random features leave {left}"
    if not shares[best] < _RESOLVED:
        return _trained(experiment, auto, said)
    width = _few(experiment)
    if shares[best] > _PLENTY:
        width = max(_MANY // len(experiment.problem.unknowns), _LEAST_MANY)
    found = replace(
        _with_points(experiment, _POINTS * width), model=auto.random_features(width, *best)
    )
    return Chosen(found, (Decision(0, f"model: {width} random features", said),))


def _not_tried(experiment: Experiment) -> str:
    """Say why random features are not tried, "" where they are."""
    count = len(experiment.problem.domain.coordinates)
    if experiment.problem.fields:
        return "fields have networks of their own, which are trained"
    if experiment.precision != "float64":
        return f"least squares of random features take more digits than {experiment.precision} has"
    if count > _COORDINATES:
        return f"random features cannot follow {count} coordinates"
    return ""


def _trained(experiment: Experiment, auto: AutoModel, why: str) -> Chosen:
    long = experiment.seconds is not None and experiment.seconds >= _LONG
    model = auto.trained(depth=4 if long else 3)
    found = replace(_with_points(experiment, _LONG_POINTS) if long else experiment, model=model)
    return Chosen(found, (Decision(0, f"model: {model.depth} trained hidden layers", why),))


def _with_points(experiment: Experiment, interior: int) -> Experiment:
    """Return the experiment with so many points inside where their number was left out."""
    if experiment.sampling.interior is not None:
        return experiment
    return replace(experiment, sampling=replace(experiment.sampling, interior=interior))


def _few(experiment: Experiment) -> int:
    return max(_FEW // len(experiment.problem.unknowns), _LEAST_FEW)


def _share_left(experiment: Experiment, auto: AutoModel, kind: Kind) -> float:
    """Return the share of the loss on points apart that a few random features leave."""
    few = _few(experiment)
    tried = replace(
        _with_points(experiment, _POINTS * few), model=auto.random_features(few, *kind)
    )
    objective = tried.objective()
    apart = FreshLoss(objective, judging_points(tried))
    start = theta = objective.theta
    before = apart(start)
    solver = GaussNewton(steps=_STEPS, least_fall=_FALLS)
    try:
        with closing(solver.run(objective, start)) as steps:
            for step in steps:
                theta = step.theta
    except Diverged:
        pass  # as far as it came
    return apart(theta) / before if before > 0 else 0.0
