"""When points are drawn anew, and how many."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pinn.optimizers import Stage
from pinn.sampling import Points
from pinn.training.looks import Looks

# Points are overfitted where the loss on others is more than so many times the loss on them.
_OVERFIT = 2.0
# A stage with a number of its own is not to fit its points so much better than others: its few long
# steps make peaks between them, from which there is a long way back.
_FAR_OVERFIT = 10.0
# That happens soon after the points were drawn when it does within so large a share of all steps,
# or so many looks: there are too few points.
_SOON = 0.1
_SOON_LOOKS = 10


@dataclass(frozen=True)
class Redraw:
    """New points on the way: `draw(number)` gives the points of draw 1, 2, ..., by block name.

    They are taken after every `every` steps of a stage that goes on, or when the stage itself says
    (Stage.redraw), and once when it finds no lower loss. The objective is at the last accepted
    theta when `draw` is called.
    """

    every: int
    draw: Callable[[int], Mapping[str, Points]]

    def is_due(self, stage: Stage, steps: int, ratio: float) -> bool:
        """Whether the present points have served so many steps of a stage.

        ratio: the loss on others over that on them, nan for not known. A stage that says how long
        they serve has others at once where that is too much.
        """
        if stage.redraw is None:
            return steps >= self.every
        return steps >= stage.redraw or ratio > _FAR_OVERFIT

    def points(self, number: int, grown: Mapping[str, int]) -> Mapping[str, Points]:
        """Return the points of a draw; their numbers do not grow."""
        return self.draw(number)


@dataclass(frozen=True)
class RedrawOverfit:
    """New points when the present ones are overfitted: `draw(number, grown)` gives them.

    grown: how often the numbers of points have grown, by block name. Otherwise as Redraw.
    """

    draw: Callable[[int, Mapping[str, int]], Mapping[str, Points]]

    def points(self, number: int, grown: Mapping[str, int]) -> Mapping[str, Points]:
        """Return the points of a draw."""
        return self.draw(number, grown)


@dataclass(frozen=True)
class Overfit:
    """Present points that are fitted much better than others.

    ratio: the loss on fresh points over that on the present ones. steps: since these were drawn.
    blocks: of which blocks there are too few, because their points came to that too soon.
    """

    ratio: float
    steps: int
    blocks: tuple[str, ...]

    @property
    def why(self) -> str:
        """Return a sentence."""
        return (
            f"the loss on fresh points is {self.ratio:.1f} times that on these, {self.steps} steps "
            "after they were drawn"
        )


def overfit(
    looks: Looks,
    weights: np.ndarray,
    names: tuple[str, ...],
    drawn_at: int,
    draws: int,
    every: int,
) -> Overfit | None:
    """Judge the present points by the last look; None where they will do.

    weights: (B,) of the blocks of these names. drawn_at: the step after which the points were
    drawn, `draws` how often they had been drawn anew, every: steps between two looks. The first
    ones are never too few: that takes the second time. Of several blocks those are too few that are
    overfitted by themselves.
    """
    ratio = looks.overfit(weights)
    if not ratio > _OVERFIT:
        return None
    steps = looks.last - drawn_at
    soon = draws > 0 and steps <= max(_SOON_LOOKS * every, _SOON * looks.last)
    by_block = zip(names, looks.overfit_blocks(), weights, strict=True)
    few = [name for name, own, weight in by_block if soon and weight > 0 and own > _OVERFIT]
    return Overfit(ratio, steps, tuple(few))


def grown_count(count: int, times: int, most: int) -> int:
    """Return a number of points that has grown by half so often, `most` at most."""
    return max(count, min(most, math.ceil(count * 1.5**times)))
