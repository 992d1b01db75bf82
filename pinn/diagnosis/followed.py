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

    residuals: those of pinn.diagnosis.scaled_residuals. Data are meant of which many more are
    fitted than there are coefficients, as the trace of the hat matrix tells. The remedy is their
    sigma where that is not told, as what is left of them says it, and heavier equations where it
    is.
    """
    weak = [name for name in problem.equations if not residuals.get(name, 0.0) < LARGE]
    spent = {
        name: fit for name, fit in recovery.data.items()
        if fit.rows - fit.freedom > len(problem.parameters) + _SPENT * fit.rows
    }  # fmt: skip
    if not weak or not spent:
        return None
    shown = ", ".join(
        f"of the {fit.rows} of {name} about {fit.rows - fit.freedom:.0f} are spent on fitting them"
        for name, fit in spent.items()
    )
    count = len(problem.parameters)
    beside = f", beside {count} coefficient{'s' if count != 1 else ''}" if count else ""
    untold = {name: fit.sigma for name, fit in spent.items() if math.isnan(fit.probability)}
    if untold:
        sizes = ", ".join(f"about {sigma:.2g} in {name}" for name, sigma in untold.items())
        remedy = (
            f"say how large it is (sigma of pinn.Data; {sizes}, by what is left of them), and "
            "equations outweigh it where no weights are given"
        )
    else:
        weights = {name: _HEAVIER for name in problem.equations}
        remedy = (
            "equations that are exact want more weight than data with noise, as "
            f"weighting={weights}"
        )
    return (
        f"the solution follows the noise of data where the equations do not hold: {shown}{beside}; "
        f"{remedy}"
    )
