"""Times that the text of equations says something changes at: there windows of time end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pinn.expressions import Expression
from pinn.problem import Problem
from pinn.residuals import crossings, switched

# More of them are all over the time, as those of a train of pulses: windows find their own ends.
_MOST = 200


def switch_times(problem: Problem) -> np.ndarray:
    """Return the times, sorted, at which equations in time alone jump or have a kink.

    As far as their text says so: where the sides of a comparison of times, or of max and min, are
    equal, and where sign and abs change sides. The ends of time are none of them. Empty where there
    are more than 200.
    """
    (time,), bounds = problem.domain.coordinates, problem.domain.bounds
    trees = [one for tree in _trees(problem) for one in switched(tree)]
    found = crossings(trees, time, bounds[time], problem.constants)
    return found if len(found) <= _MOST else np.empty(0)


def _trees(problem: Problem) -> Iterator[Expression]:
    for residual in problem.residuals:
        if residual.name in problem.equations:
            yield from (term.tree for term in residual.terms if term.tree is not None)
