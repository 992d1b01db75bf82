"""Whether the points of training were fitted, and not the equations between them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pinn.objective import Objective
from pinn.residuals import Measured
from pinn.training.fresh import mean_squares, shares

# The mean square of a residual where training did not look, over that where it did.
_FAR = 100.0
# So small a share of what it was before training is little enough, however much less training sees:
# a residual of six digits.
_SMALL = 1e-12


def overfitted(
    objective: Objective,
    theta: np.ndarray,
    fresh: Mapping[str, float],
    before: Mapping[str, float],
) -> str | None:
    """Return a sentence where the residual of a block is far larger than at its points, else None.

    theta: what training came to. fresh: block name -> the mean square of its residual there, at
    other points and with more nodes in sums (pinn.training.fresh). before: the same of the start.
    Far larger is a hundred times; 1e-12 of what it was will do. Data are what they are, and rows
    that training weighs count like all others.
    """
    left, trained = shares(before, fresh), mean_squares(objective, theta)
    far = []
    for block in objective.blocks:
        name = block.name
        if block.weight == 0 or isinstance(block.residual.source, Measured):
            continue
        if left[name] > _SMALL and fresh[name] > _FAR * trained[name]:
            far.append(f"{name} ({fresh[name]:.1e}, {trained[name]:.1e} at its points)")
    if not far:
        return None
    sums = objective.problem.with_finer_sums is not objective.problem
    nodes = ", more nodes in sums and integrals" if sums else ""
    return (
        "the points are fitted, and not the equations: the mean square of the residual where "
        f"training did not look is far larger than at its points for {', '.join(far)}; take more "
        f"points{nodes}, points that are drawn anew (sampling.redraw) or a smaller model"
    )
