"""A run whose equations are weighed by the errors that they stand for, where conditions are too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pinn.diagnosis.adapted.model_scale import scales_of
from pinn.diagnosis.posed.responses import responses
from pinn.diagnosis.posed.statement import Statement, statement_of
from pinn.equations.leaves import At
from pinn.objective.weighting import Fixed
from pinn.residuals import Measured
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# What an equation makes of an error is taken off its residual down to this weight: short waves see
# more of an error than half a wave tells.
_LEAST = 1e-4


def weighed_by_errors(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run in which residuals count as errors, and what was decided for that.

    Conditions that are terms of the loss see an error itself, equations what their derivatives make
    of it (pinn.diagnosis.posed.responses): each of these is weighed by one over the square of that,
    a power of ten between 1e-4 and 1. Weights of conditions may be given beside them; not where one
    of an equation is, or a target, which is a number in the loss's own units. And where some
    condition is trained beside the equations, along its points: not at a place inside, or by a
    mean. Not in time alone, nor where data are fitted or something is to be found by them, whose
    weights are those of their noise; nor where unknowns have other scales than each other.
    docs/decisions/0074.
    """
    problem = experiment.problem
    fits = any(isinstance(one.source, Measured) for one in problem.residuals)
    finds = bool(problem.parameters or problem.fields)
    families = {family.name for family in problem.domain.families}
    alone = {*problem.domain.coordinates} - families == {problem.domain.time}
    scales = set(scales_of(experiment.model, problem.unknowns).values())
    given = experiment.weighting.blocks if type(experiment.weighting) is Fixed else None
    is_free = given is not None and not problem.equations.keys() & given and not experiment.target
    statement = statement_of(problem)
    is_other = fits or finds or alone or len(scales) > 1
    if is_other or statement is None or not (is_free and _conditions_are_trained(statement)):
        return experiment, ()
    found = responses(statement) or {}
    weights = {name: _weight(response) for name, response in found.items()}
    if all(weight == 1 for weight in weights.values()):
        return experiment, ()
    both = Fixed({**given, **weights})
    return replace(experiment, weighting=both), (_decision(found, weights),)


def _conditions_are_trained(statement: Statement) -> bool:
    """Return whether some condition that is a term of the loss sees errors all along its points.

    One that sees a mean, or the value at a place inside, as of a pressure, is met beside all else.
    """
    problem = statement.problem
    bounds = problem.domain.bounds.values()
    ends = np.array(list(bounds)[0]) if len(bounds) == 1 else np.zeros(0)
    trained = {one.name for one in problem.residuals if not one.whole}
    for one in statement.conditions:
        seen = one.linear is None or any(not isinstance(leaf, At) for leaf in one.leaves)
        places = np.unique(one.points.coordinates, axis=0)
        is_along = len(places) > 1 or np.isin(places, ends).any()
        if one.name in trained and seen and is_along:
            return True
    return False


def _weight(response: float) -> float:
    """Return the weight of an equation: one that makes little of an error counts as it is."""
    return max(_LEAST, 10.0 ** -math.floor(2 * math.log10(max(response, 1.0))))


def _decision(found: Mapping[str, float], weights: Mapping[str, float]) -> Decision:
    written = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
    made = ", ".join(f"{response:.2g} in {name}" for name, response in found.items())
    return Decision(
        0, f"weights: {written}",
        f"an error of one, half a wave over the domain, makes a residual of {made}, and conditions "
        "see it as it is",
    )  # fmt: skip
