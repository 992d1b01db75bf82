"""A run whose network knows that the solution is linear in functions that are its inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import MOST_RESIDUALS, Stated, Statement
from pinn.models import AutoModel, DeepONet
from pinn.problem import Problem
from pinn.sampling import Points, stream
from pinn.training.choosing import FOLLOWED, by_modes
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# What is left of two sums that are equal but for rounding, as a share of their terms.
_ROUNDING = 1e-9


def by_functions(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose model goes with functions as inputs, and what was found.

    Where a trial would choose the model: a problem that is linear in its unknowns, its functions
    and families together gets a DeepONet without a branch, whose trunk the trial chooses, any other
    with functions one with a branch.
    """
    auto, problem = experiment.model, experiment.problem
    few = len(problem.domain.coordinates) <= FOLLOWED  # by random features of all coordinates
    if few or not problem.domain.families or not isinstance(auto, AutoModel):
        return experiment, ()
    if is_superposed(problem):
        what = f"model: a part of its own for {by_modes(experiment)}"
        why = "equations and conditions are linear, and so is the solution in what they are given"
        model = DeepONet(replace(auto, scale={}, offset={}), branch=None)
    elif not problem.functions:
        return experiment, ()
    else:
        what = f"model: networks of the point and of the modes of {', '.join(problem.functions)}"
        why = "the solution is not known to be linear in what equations and conditions are given"
        model = DeepONet(auto.trained(depth=3))
    scaled = model.scaled_as(auto, experiment.inputs, problem.unknowns)
    return replace(experiment, model=scaled), (Decision(0, what, why),)


def without_branch(experiment: Experiment) -> list[str]:
    """Return a sentence where a DeepONet without a branch is to solve what is not linear."""
    model, problem = experiment.model, experiment.problem
    if not isinstance(model, DeepONet) or model.branch is not None:
        return []
    if _verdict(problem) is not False:
        return []
    return [
        "the network is linear in the functions and families, as a DeepONet with branch: null is, "
        "and the problem is not linear in them and its unknowns: leave branch out"
    ]


def is_superposed(problem: Problem) -> bool:
    """Return whether a problem is linear in its unknowns, functions and families together.

    Its residuals and those of hard conditions are looked at where unknowns, derivatives, families
    and the numbers of modes have random values, and their sums. One that takes values from
    elsewhere, or is a function that only a network can run, is not known to be.
    """
    families = problem.domain.families
    others = problem.parameters or problem.fields or any(f.spacing == "log" for f in families)
    return not others and bool(families) and _verdict(problem) is True


def _verdict(problem: Problem) -> bool | None:
    """Return whether a problem is linear in all that; None where that is not known."""
    if len(problem.residuals) > MOST_RESIDUALS:
        return None
    statement = Statement(problem)
    names = [one.name for one in problem.domain.families]
    stated = (*statement.equations, *statement.conditions)
    found = {_is_linear(statement, one, names) for one in stated}
    return False if False in found else None if None in found else True


def _is_linear(statement: Statement, stated: Stated, families: list[str]) -> bool | None:
    if not stated.is_finite:
        return None
    columns = [statement.coordinates.index(name) for name in families]
    count = len(stated.points)

    def value(shares: tuple[float, float]) -> np.ndarray:
        """Return the residual at a sum of two states, each with its functions."""

        def drawn(*what: str) -> np.ndarray:
            each = [
                share * stream(0, "superposition", *what, str(k)).standard_normal(count)
                for k, share in enumerate(shares)
            ]
            return sum(each)

        def state(leaf: Leaf, n: int) -> np.ndarray:
            return drawn("leaf", str(leaf))

        places = stated.points.coordinates.copy()
        for name, column in zip(families, columns, strict=True):
            places[:, column] = drawn("family", name)
        points = Points(places, stated.points.columns)
        return statement.value_where(stated, state, points=points)

    both, one, other, none = map(value, ((1, 1), (1, 0), (0, 1), (0, 0)))
    size = sum(np.abs(found).max(initial=0.0) for found in (both, one, other, none))
    left = np.abs(both - one - other + none).max(initial=0.0)
    return bool(left <= _ROUNDING * size) if np.isfinite(left) else None
