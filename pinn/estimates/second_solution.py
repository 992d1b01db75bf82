"""The error of what was solved for in windows of time alone: how far a second solution is from it.

Windows hand on what they end with, so an error is made in each and carried through all that come
after it. A correction over the whole of time sees little of that; to solve all windows again is
quick, and has both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pinn.estimates.differences import differences, rms
from pinn.estimates.error_field import ErrorField
from pinn.estimates.record import ErrorEstimate, left_out, partly_of_no_solution
from pinn.evaluation import Evaluation
from pinn.evaluation.test_grid import test_points
from pinn.geometry import Shape, during
from pinn.models import RandomFeatures, Windows
from pinn.objective import Objective
from pinn.sampling import stream
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import fresh_points
from pinn.training.judging.trial import Budget, fitted
from pinn.training.windows.marching import of_window
from pinn.training.windows.pacing import Seen, changed_alone, constant_start

# The second solution has so many times the features and points.
_MORE = 1.25
# Windows in which programs are recorded, which those after them share; and as many as tell what
# all of them take.
_RECORDED, _TELLING = 2, 4
# Where all of them seem to take so many times as long as they may, no more are solved. Less of it
# may be wrong: a few windows stand for many.
_TOO_LONG = 1.5
# Where it leaves more of what changes in a window, as a share of the unknown, it is none.
_LEAVES = 1e-6

_SAID = (
    "the error is how far a second solution is from this one, of other and more random features in "
    "the same windows, at other points"
)
_NOT_LOWEST = (
    "the limit in time left no room for the last steps of the second solution, so that the error "
    "may be told too large"
)


def second_solution(
    experiment: Experiment, objective: Objective, theta: np.ndarray, budget: Budget,
    sizes: Mapping[str, float],
) -> ErrorEstimate | None:  # fmt: skip
    """Return the error of a run by a second solution, of other features, more of them and points.

    None where the run is not one of random features in windows of time alone, and where the second
    solution is not found. objective: the run's; it is left at theta. sizes: natural ones of
    unknowns. budget: what it may take; where that is foreseen to be too little the last steps of
    each window are left out, and where that does not do, there is a doubt alone.
    """
    model, domain = experiment.model, experiment.problem.domain
    if not (isinstance(model, Windows) and isinstance(model.model, RandomFeatures)):
        return None
    if domain.coordinates != (domain.time,) or not model.linear:
        return None
    again = _again(experiment)
    found = _solved(again, budget)
    if isinstance(found, float):
        return ErrorEstimate(doubts=(left_out(found, budget.limit),), share=0.0)
    if found is None:
        return None
    solved, doubts = domain, ()
    if model.until is not None:
        solved = during(domain, float(domain.bounds[domain.time][0]), model.until)
        doubts = (not_solved_after(model, domain),)
    remarks = (_SAID, *([] if found.lowest else [_NOT_LOWEST]))
    estimate = apart_from(experiment, objective, theta, again, found.theta, solved, sizes)
    return dataclasses.replace(
        estimate, doubts=(*doubts, *estimate.doubts), remarks=(*remarks, *estimate.remarks)
    )


def apart_from(
    experiment: Experiment, objective: Objective, theta: np.ndarray, again: Experiment,
    other: np.ndarray, domain: Shape, sizes: Mapping[str, float],
) -> ErrorEstimate:
    """Return how far the second solution of a run is from its solution, as an estimate.

    again, other: the run that gave it and its numbers. domain: where they are compared. sizes:
    natural ones of unknowns.
    """
    fresh = objective.residuals(theta, fresh_points(experiment))
    trained = objective.residuals(theta)
    places, parameters = test_points(domain), again.initial_parameters()
    parameters.load(other)
    own = experiment.initial_parameters()
    own.load(theta)
    better, present = Evaluation(again, parameters), Evaluation(experiment, own)
    apart = differences(experiment.problem, places, present.at(places), better.at(places), sizes)
    return ErrorEstimate(
        relative_l2=apart.relative, maximum=apart.maximum, where=apart.where,
        fresh={name: rms(rows) for name, rows in fresh.items()},
        trained={name: rms(rows) for name, rows in trained.items()},
        doubts=tuple(partly_of_no_solution(apart.relative)),
        remarks=(*apart.collapsed, *apart.vanishing),
        error=ErrorField(better, present),
    )  # fmt: skip


def not_solved_after(model: Windows, domain: Shape) -> str:
    """Return the doubt of a solution that is solved for a part of time alone."""
    return (
        f"nothing is solved after {domain.time} = {model.until:.6g}, where the solution may be "
        "anything: the estimate is of what is before"
    )


def _again(experiment: Experiment) -> Experiment:
    """Return the run with more features and points, of another seed."""
    model, sampling = experiment.model, experiment.sampling
    network = dataclasses.replace(model.model, width=round(_MORE * model.model.width))
    if sampling.interior is not None:
        sampling = dataclasses.replace(sampling, interior=round(_MORE * sampling.interior))
    seed = int(stream(experiment.seed, "error estimate", "second solution").integers(2**31))
    model = dataclasses.replace(model, model=network)
    return dataclasses.replace(experiment, model=model, sampling=sampling, seed=seed)


class _Second(NamedTuple):
    """The numbers of all windows of a second solution, and whether each went as low as it gets."""

    theta: np.ndarray
    lowest: bool


def _solved(run: Experiment, budget: Budget) -> _Second | float | None:
    """Return the second solution of a run, None where features do not follow in a window.

    Where the time that is left is too short for that, windows end where a further step would lower
    their loss by less than half. Of what would take longer than it may even so: the seconds of all,
    as far as the windows so far tell.
    """
    here, networks, thetas, seen = None, [], [], Seen()
    edges = run.model.edges(run.problem.domain)
    lowest, recorded, lowering = True, 0.0, 0.0

    def foreseen(windows: int) -> float:
        # what was recorded is not recorded again
        alike = windows - _RECORDED if windows > _RECORDED else windows
        each = (budget.spent - recorded - (0.0 if lowest else lowering)) / alike
        return budget.spent + (run.model.trained - windows) * each

    for number in range(run.model.trained):
        if number == _RECORDED:
            recorded, lowering = budget.spent, 0.0
        here = of_window(run, number, networks, here)
        objective = here.objective
        judging = here.collocation.fresh("judging")
        if not networks:
            objective.parameters.load(constant_start(objective, float(edges[0])))
        begun = objective.theta
        trial = fitted(objective, judging, begun, budget, 1.0)
        if budget.is_spent(1.0):
            return foreseen(number + 1)
        times = float(edges[number]), float(edges[number + 1])
        alone = changed_alone(trial, objective, judging, begun)
        if seen.left(trial, objective, times, alone) > _LEAVES:
            return None
        seen.take(trial)
        if lowest:
            began = budget.spent
            trial = fitted(objective, judging, trial.theta, budget, 1.0)
            lowering += budget.spent - began
        objective.parameters.load(trial.theta)
        networks.append(here.trained_network())
        thetas.append(trial.theta)
        if number + 1 >= _TELLING and not budget.allows(foreseen(number + 1), 1.0):
            lowest = False
            if not budget.allows(foreseen(number + 1), _TOO_LONG):
                return foreseen(number + 1)
    not_solved = run.model.count - run.model.trained
    return _Second(np.concatenate([*thetas, *[np.zeros_like(thetas[-1])] * not_solved]), lowest)
