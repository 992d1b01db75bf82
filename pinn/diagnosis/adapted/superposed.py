"""A run whose network knows that the solution is linear in functions that are its inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pinn.diagnosis.posed.linear import Leaf
from pinn.diagnosis.posed.statement import MOST_RESIDUALS, Stated, Statement
from pinn.models import AutoModel, DeepONet
from pinn.problem import Problem
from pinn.sampling import Points, stream
from pinn.training.auto import MOST_REDUCED
from pinn.training.choosing import FOLLOWED
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# What is left of two sums that are equal but for rounding, as a share of their terms.
_ROUNDING = 1e-9


def by_functions(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose network goes with functions as inputs, and what was found.

    Where a trial would choose the model: a problem that is linear in its unknowns, its functions
    and families together gets a DeepONet without a branch, any other with functions one with it.
    """
    auto, problem = experiment.model, experiment.problem
    few = len(problem.domain.coordinates) <= FOLLOWED  # by random features, to more digits
    if few or not problem.domain.families or not isinstance(auto, AutoModel):
        return experiment, ()
    names, trunk = ", ".join(problem.functions), auto.trained(depth=3)
    if is_superposed(problem):
        model = _with_basis(DeepONet(trunk, branch=None), experiment)
        of = [f"each mode of {name}" for name in problem.functions]
        what = f"a network of the point for {', '.join([*of, *(f.name for f in problem.families)])}"
        why = "equations and conditions are linear, and so is the solution in what they are given"
    elif not problem.functions:
        return experiment, ()
    else:
        model = DeepONet(trunk)
        what = f"networks of the point and of the modes of {names}"
        why = "the solution is not known to be linear in what equations and conditions are given"
    scaled = model.scaled_as(trunk, experiment.inputs, problem.unknowns)
    return replace(experiment, model=scaled), (Decision(0, f"model: {what}", why),)


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


def _with_basis(model: DeepONet, experiment: Experiment) -> DeepONet:
    """Return a model whose last hidden layer is as wide as there is room for.

    Its units are what the solutions for all families are sums of: twice as many as there are
    outputs, if Levenberg-Marquardt's method can still take all numbers.
    """
    domain, unknowns = experiment.inputs, experiment.problem.unknowns
    outputs = (1 + len(domain.families)) * len(unknowns)
    rows = experiment.sampling.interior
    most = MOST_REDUCED if rows is None else min(MOST_REDUCED, rows // 2)
    *hidden, last = model.trunk.widths
    for width in range(2 * outputs, last, -1):
        wider = replace(model, trunk=replace(model.trunk, width=(*hidden, width)))
        count = wider.parameter_count(domain, unknowns)
        if count is not None and count <= most:
            return wider
    return model


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
