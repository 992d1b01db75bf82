"""Whether an equation has next to no points for the network that is to meet it there."""

from __future__ import annotations

from collections.abc import Iterator

from pinn.objective import Objective
from pinn.sampling import Sampling

# So small a share of the trainable numbers, and of the points that are taken where none are asked
# for: large networks do with fewer points than numbers where these lie close.
_FEW = 0.1
# Points that are drawn anew after so many steps are as good as many.
_SOON = 50


def few_points(objective: Objective, sampling: Sampling) -> Iterator[str]:
    """Yield a sentence for each equation whose points are so few that they cannot hold it."""
    if isinstance(sampling.redraw, int) and sampling.redraw <= _SOON:
        return
    problem = objective.problem
    usual = Sampling().resolved(len(problem.domain.coordinates), bool(problem.functions)).interior
    for block in objective.blocks:
        count = block.rows
        if block.name not in problem.equations or count >= _FEW * usual:
            continue
        if count < _FEW * objective.size:
            yield (
                f"{block.what} has {count} {'point' if count == 1 else 'points'} for "
                f"{objective.size} trainable numbers: a network can meet it there and be anything "
                f"in between; set sampling.interior to more ({usual} where it is left out), or "
                "take a smaller model"
            )
