"""What part of an estimate a limit in time has room for, by what small pieces of it take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from pinn.estimates.linearised import Linearised
from pinn.objective import Objective
from pinn.sampling import Points

# Evaluations of the residual at as many points as a correction is fitted at: of the solution
# itself, at candidates for these points most of all; and of a corrected one.
_PLAIN, _CORRECTED = 10, 9
# What one of these takes where the corrected network is a difference of two copies.
_COPIES = 2.5
# Products of the Jacobian with itself that its factorisations take as much as.
_PRODUCTS = 12.0
# Programs that are recorded, and evaluations at the places at which corrections are compared.
_RECORDED, _COMPARED = 6, 12
# What else the machine does.
_MARGIN = 1.15
# Of fewer points and functions no estimate is made.
_LEAST = 0.2


class Foreseen(NamedTuple):
    """What an estimate takes: seconds of its evaluations, of its Jacobian and of its algebra.

    fixed: what takes as long whatever the points and functions.
    """

    fixed: float
    evaluations: float
    jacobian: float
    algebra: float

    @classmethod
    def by(
        cls,
        sample: Objective,
        others: Mapping[str, Points],
        columns: np.ndarray,
        compared: Callable[[], object],
        parts: int,
        copies: bool,
        clock: Callable[[], float],
        left: float = math.inf,
    ) -> Foreseen:
        """Measure it at a sample of the points, one of so many parts of them, and at others.

        The others since what points alone make is kept from one evaluation to the next. columns:
        the numbers that move. compared: evaluates the network where corrections are compared.
        copies: whether a corrected network is a difference of two. left: the seconds that it may
        take; where evaluations alone take too many the rest is not measured, and left out.
        """
        points = {block.name: block.points for block in sample.blocks}
        first = _seconds(lambda: sample.residuals(sample.theta, points), clock)
        residual = _seconds(lambda: sample.residuals(sample.theta, others), clock)
        copied = _COPIES if copies else 1.0
        times = _PLAIN + _CORRECTED * copied
        evaluations = _MARGIN * parts * times * residual
        recorded = _MARGIN * _RECORDED * max(0.0, first - residual)
        if cls(recorded, evaluations, 0.0, 0.0).share(left) == 0:
            return cls(recorded, evaluations, 0.0, 0.0)
        Linearised(sample, columns)
        sample.set_points(others)
        slopes = _seconds(lambda: Linearised(sample, columns), clock)
        some = np.ones((1 + len(columns) // parts, len(columns)))
        product = _seconds(lambda: some.T @ some, clock)
        values = _seconds(compared, clock)
        # rows are a few times as many as numbers
        return cls(
            recorded + _MARGIN * _COMPARED * copied * values, evaluations,
            _MARGIN * parts * slopes, _MARGIN * parts * _PRODUCTS * product,
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """What all of it takes."""
        return self.fixed + self.evaluations + self.jacobian + self.algebra

    def share(self, left: float) -> float:
        """Return the part of points and functions for which some seconds are enough, 0 to 1.

        0 where that is so small a part that it would be no estimate.
        """
        share = min(1.0, (left - self.fixed) / max(self.seconds - self.fixed, 1e-300))
        return share if share >= _LEAST else 0.0


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began
