"""What the tests of the tables share: a problem's formula in place of a network."""

import dataclasses
import warnings

import pytest

import autograd as T
import pinn
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.term import Term
from pinn.equations.values import Values
from pinn.models.spaced import as_given


class Exact(T.nn.Module):
    """A problem's formula as a network whose one parameter is a factor of 1."""

    def __init__(self, problem):
        super().__init__()
        self.factor = T.nn.Parameter(T.ones((), dtype=T.float64))
        self._problem = problem
        scope = problem.scope.of_values(parameters=False)
        self._terms = [Term("exact", problem.reference[u], scope) for u in problem.unknowns]

    def forward(self, points):
        domain = self._problem.domain
        columns = {name: points[:, i] for i, name in enumerate(domain.coordinates)}
        for one in domain.families:
            if one.spacing == "log":  # a network is shown something else
                columns[one.name] = as_given(one, columns[one.name])
        values = Values(columns, self._problem.constants)
        outputs = [term.evaluate(values, TENSOR_FUNCTIONS) for term in self._terms]
        return self.factor * T.stack(outputs, dim=1)


def solution_of_formula(problem):
    """Return the formula as the solution of its problem, with no condition built in."""
    soft = [
        dataclasses.replace(condition, hard=False) if getattr(condition, "hard", False)
        else condition for condition in problem.conditions
    ]  # fmt: skip
    problem = dataclasses.replace(problem, conditions=soft)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        return pinn.solve(
            problem, Exact(problem), pinn.Sampling(20, initial=10, boundary=10),
            [pinn.Adam(steps=1, learning_rate=1e-300)], derivatives="nested", engine="eager",
        )


@pytest.fixture(name="exact", scope="session")
def _exact():
    return Exact


@pytest.fixture(name="solution_of_formula", scope="session")
def _solution_of_formula():
    return solution_of_formula
