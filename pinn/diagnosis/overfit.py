"""Whether the points of training were fitted, and not the equations between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from pinn.objective import Objective
from pinn.residuals import Measured
from pinn.training.judging.fitted import POINTS, Fitted, fitted_in
from pinn.training.judging.fresh import mean_squares, shares

# The mean square of a residual where training did not look, over that where it did.
_FAR = 100.0
# So small a share of what it was before training is little enough, however much less training sees:
# a residual of six digits.
_SMALL = 1e-12

_SHOWN = {"points": "points", "times": "times", "nodes": "nodes of sums"}


def overfitted(
    objective: Objective,
    theta: np.ndarray,
    fresh: Mapping[str, float],
    before: Mapping[str, float],
    widespread: Mapping[str, float] | None = None,
) -> str | None:
    """Return a sentence where the residual of a block is far larger than at its points, else None.

    theta: what training came to. fresh: block name -> the mean square of its residual there, at
    other points and with more nodes in sums (pinn.training.judging.fresh). before: the same of the
    start. widespread: that of fresh without a few points: what is large at these alone, as at a
    corner, is not told of.
    It says what was fitted: the points, the times of an Integral, or the nodes of sums where these
    alone make the difference. Far larger is a hundred times; 1e-12 of what it was will do. Data are
    what they are, and rows that training weighs count like all others.
    """
    left, trained = shares(before, fresh), mean_squares(objective, theta)
    widespread = fresh if widespread is None else widespread
    far = [
        block for block in objective.blocks
        if block.weight != 0 and not isinstance(block.residual.source, Measured)
        and left[block.name] > _SMALL and widespread[block.name] > _FAR * trained[block.name]
    ]  # fmt: skip
    if not far:
        return None
    by_nodes = _far_by_nodes(objective, theta, trained)
    fitted = {one.name: fitted_in(one.residual, one.name in by_nodes) for one in far}
    numbers = ", ".join(
        f"{name} ({math.sqrt(fresh[name]):.1e}, {math.sqrt(trained[name]):.1e} at its {one.kind})"
        for name, one in fitted.items()
    )
    kinds = " and ".join(dict.fromkeys(_SHOWN[one.kind] for one in fitted.values()))
    return (
        f"the {kinds} are fitted, and not the equations: the root mean square of the residual "
        f"where training did not look is far larger than where it did for {numbers}; "
        f"{'; '.join(_remedies(fitted))}"
    )


def _far_by_nodes(
    objective: Objective, theta: np.ndarray, trained: Mapping[str, float]
) -> set[str]:
    """Return the blocks that are far larger with more nodes in their sums at the same points."""
    finer = objective.with_finer_sums()
    if finer is objective:
        return set()
    found = mean_squares(finer, theta)
    return {name for name, own in trained.items() if found[name] > _FAR * own}


def _remedies(fitted: Mapping[str, Fitted]) -> Iterator[str]:
    if POINTS in fitted.values():
        yield "take more points, points that are drawn anew (sampling.redraw) or a smaller model"
    for name, one in fitted.items():
        if one is not POINTS:
            yield f"{one.remedy}{name}{f' ({one.setting})' if one.setting else ''}"
