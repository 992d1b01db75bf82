"""How the error of either side is measured: the same reference at the same points."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from experiments.case import Case, relative_l2
from experiments.measure import problem
from pinn.evaluation.test_grid import test_points

Evaluate = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]


class Yardstick:
    """The reference of a case, and how far from it something is: the worst of its errors.

    Of unknowns the relative L2 error at points that are the same for all, of coefficients the
    relative error. method: what the reference is. agreement: how well it is known, where it is no
    formula.
    """

    def __init__(self, case: Case) -> None:
        self._truth, self._free = case.truth, case.up_to_constant
        self.agreement: float | None = None
        if case.reference is None:
            stated = problem(case)
            columns = zip(stated.domain.coordinates, test_points(stated.domain).T, strict=True)
            self.points, self.method = dict(columns), "formula"
            self.values = stated.exact(self.points)
        else:
            reference = case.reference()
            self.points, self.values = reference.points, reference.values
            self.agreement, self.method = reference.agreement, reference.method

    def error(self, evaluate: Evaluate, coefficients: Mapping[str, float]) -> float:
        """Return the worst error; evaluate: coordinate -> (n,) to unknown -> (n,)."""
        found = evaluate(self.points) if self.values else {}
        errors = [
            relative_l2(found[name], exact, name in self._free)
            for name, exact in self.values.items()
        ]
        errors += [abs(coefficients[n] - value) / abs(value) for n, value in self._truth.items()]
        return max(errors) if all(map(math.isfinite, errors)) else math.nan
