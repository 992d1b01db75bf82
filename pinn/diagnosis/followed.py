"""Noise of data that a solution follows, where the equations are too weak beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pinn.diagnosis.scaled_residual import LARGE
from pinn.problem import Problem
from pinn.solution.recovery import Recovery

# Beside the coefficients the data may well tell a start, or what comes in at a boundary: so large a
# share of them is not spent on that.
_SPENT = 0.2
_HEAVIER = 100


def follows_noise(
    problem: Problem, residuals: Mapping[str, float], recovery: Recovery
) -> str | None:
    """Return a sentence where equations do not hold since the noise of data is followed, else None.

    residuals: those of pinn.diagnosis.scaled_residuals. Data whose sigma is told are meant, of
    which many more are fitted than there are coefficients, as the trace of the hat matrix tells.
    """
    weak = [name for name in problem.equations if not residuals.get(name, 0.0) < LARGE]
    spent = {
        name: fit.rows - fit.freedom for name, fit in recovery.data.items()
        if not math.isnan(fit.probability)
        and fit.rows - fit.freedom > len(problem.parameters) + _SPENT * fit.rows
    }  # fmt: skip
    if not weak or not spent:
        return None
    shown = ", ".join(
        f"of the {recovery.data[name].rows} of {name} about {count:.0f} are spent on fitting them"
        for name, count in spent.items()
    )
    weights = {name: _HEAVIER for name in problem.equations}
    count = len(problem.parameters)
    coefficients = f"{count} coefficient{'s' if count != 1 else ''}"
    return (
        f"the solution follows the noise of data where the equations do not hold: {shown}, beside "
        f"{coefficients}; equations that are exact want more weight than data with noise, as "
        f"weighting={weights}"
    )
