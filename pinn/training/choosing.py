"""The model of a problem, chosen by a short trial on its equations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

from pinn.models import AutoModel
from pinn.optimizers import Diverged, GaussNewton
from pinn.training.experiment import Experiment
from pinn.training.fresh import FreshLoss, fresh_points

# Ranges of steepness that are tried: half a wave across the domain to some fifty.
_STEEPNESS = ((0.3, 2.0), (0.5, 4.0), (1.0, 8.0), (2.0, 16.0), (4.0, 40.0), (10.0, 160.0))
# Features of an unknown in the trial, and the points for each.
_FEW, _POINTS = 400, 4
# Features of all unknowns together after it; each unknown has some hundred at least.
_MANY, _LEAST = 3000, 500
# Random features are taken where the loss on fresh points falls to less than this share of what it
# is for a network that is zero. Those that cannot follow a solution stay above a hundredth.
_RESOLVED = 1e-4
_STEPS = 10
# From this limit in time on a fourth hidden layer, and more points, pay.
_LONG = 120.0


@dataclass(frozen=True)
class Chosen:
    """An experiment whose model is settled, and a sentence on why it is that one."""

    experiment: Experiment
    why: str


def choose_model(experiment: Experiment) -> Chosen | None:
    """Return the experiment with the model that a trial finds; None where its model is given.

    Problems with networks of their own for fields are not tried: they are not linear in those.
    """
    auto = experiment.model
    if not isinstance(auto, AutoModel):
        return None
    if experiment.problem.fields or experiment.precision == "float32":
        return _trained(experiment, auto, "")
    tried = {steepness: _trial(experiment, auto, steepness) for steepness in _STEEPNESS}
    best = min(tried, key=tried.__getitem__)
    if tried[best] > _RESOLVED:
        return _trained(experiment, auto, (
            f"{_FEW} random features leave {tried[best]:.0e} of the loss on fresh points"
        ))  # fmt: skip
    width = max(_MANY // len(experiment.problem.unknowns), _LEAST)
    found = _with_points(experiment, _POINTS * width)
    return Chosen(
        replace(found, model=auto.random_features(width, best)),
        f"{width} random features: {_FEW} left {tried[best]:.0e} of the loss on fresh points",
    )


def _trained(experiment: Experiment, auto: AutoModel, why: str) -> Chosen:
    long = experiment.seconds is not None and experiment.seconds >= _LONG
    model = auto.trained(depth=4 if long else 3)
    found = _with_points(experiment, 8000) if long else experiment
    said = f"a network of {model.depth} hidden layers"
    return Chosen(replace(found, model=model), f"{said}: {why}" if why else said)


def _with_points(experiment: Experiment, interior: int) -> Experiment:
    """Return the experiment with so many points inside where their number was left out."""
    if experiment.sampling.interior is not None:
        return experiment
    return replace(experiment, sampling=replace(experiment.sampling, interior=interior))


def _trial(experiment: Experiment, auto: AutoModel, steepness: tuple[float, float]) -> float:
    """Return the share of the loss on fresh points that a few random features leave."""
    tried = _with_points(experiment, _POINTS * _FEW)
    tried = replace(tried, model=auto.random_features(_FEW, steepness))
    objective = tried.objective()
    fresh = FreshLoss(objective, fresh_points(tried))
    start = theta = objective.theta
    try:
        with closing(GaussNewton(steps=_STEPS).run(objective, start)) as steps:
            for step in steps:
                theta = step.theta
    except Diverged:
        pass
    before = fresh(start)
    return fresh(theta) / before if before > 0 else 0.0
