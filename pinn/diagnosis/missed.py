"""What is known and happens where no point of training is: training cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pinn.objective import Objective
from pinn.residuals import Narrow, Residual, narrow
from pinn.sampling import Points

# A residual that is this share of a source, at its place, has not seen it.
_LEFT = 0.1
# The mean square of a residual, at the place of a coefficient, over that at the points of training,
# and as a share of what it was before training.
_FAR, _SMALL = 100.0, 1e-6


def missed(objective: Objective, theta: np.ndarray, before: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each known part that points of training miss, and so did training.

    Parts are sources and coefficients of a text that are narrow (pinn.residuals.narrow), and points
    miss one where fewer than three of them are where it is. theta: what training came to, whose
    residual there tells whether another way, as windows that end there, has seen it. before: block
    name -> the mean square of its residual before training. The objective is left at theta.
    """
    for block, residual, part in unmet(objective):
        squares = np.square(objective.residuals(theta, _only(objective, block, part))[block])
        there = float(np.mean(squares))
        if part.added:
            seen = there < _LEFT**2 * np.mean(part.change**2)
        else:
            here = float(np.mean(np.square(objective.residuals(theta)[block])))
            seen = there < max(_FAR * here, _SMALL * before[block])
        if not seen:
            yield (
                f"{told(objective, residual, part)}, and the residual there is "
                f"{np.sqrt(there):.1e}: what it does is not in the solution; {_remedy(objective)}"
            )


def unmet_sources(objective: Objective) -> Iterator[str]:
    """Yield a sentence for each known part that points of training miss, before training."""
    for _, residual, part in unmet(objective):
        yield f"{told(objective, residual, part)}: training cannot see it; {_remedy(objective)}"


def unmet(objective: Objective) -> Iterator[tuple[str, Residual, Narrow]]:
    """Yield the block, the residual and the known part of each that points of training miss."""
    problem = objective.problem
    residuals = {residual.name: residual for residual in problem.residuals}
    for block in objective.blocks:
        if block.weight == 0 or block.name not in residuals:
            continue
        for part in narrow(residuals[block.name], problem.constants):
            if not part.is_met_by(len(block.points)) and not part.is_met(block.points):
                yield block.name, residuals[block.name], part


def told(objective: Objective, residual: Residual, part: Narrow) -> str:
    """Return what is missed, and where it is."""
    (count,) = (len(one.points) for one in objective.blocks if one.name == residual.name)
    return (
        f"{residual.what}: the {count} points of training miss {part.text}, which is at "
        f"{part.place(objective.problem.domain.bounds)}"
    )


def _only(objective: Objective, name: str, part: Narrow) -> dict[str, Points]:
    """Return points of all blocks, those of one where a part is."""
    own = {block.name: block.points for block in objective.blocks}
    return {**own, name: Points(part.points)}


def _remedy(objective: Objective) -> str:
    windows = ""
    if objective.problem.domain.time is not None:
        windows = ", windows of time that end where it begins and ends (pinn.Windows(breaks=...))"
    return (
        "put points there: points of your own or a density for this block "
        f"(sampling.blocks){windows}, or a source that is wider and makes as much in all"
    )
