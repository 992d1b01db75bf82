"""The adaptive methods by name: how points are drawn once there are residuals to go by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pinn.sampling.points import Points

if TYPE_CHECKING:
    from pinn.sampling.sampling import Sampling


@dataclass(frozen=True)
class Draw:
    """What an adaptive method has to go by when the points of some blocks are drawn anew.

    count      how many points the settings ask for
    present    the points until now
    anew       () -> points as they would be drawn without looking at any residual
    even       n -> n points at random, uniform (or of the density that the settings ask for)
    residuals  points -> the residual (n,) there of each block that holds at them
    sampling   the settings, with the numbers of candidates and of points to add
    """

    count: int
    present: Points
    anew: Callable[[], Points]
    even: Callable[[int], Points]
    residuals: Callable[[Points], Sequence[np.ndarray]]
    sampling: Sampling
    rng: np.random.Generator


Adaptive = Callable[[Draw], Points]
"""A way to draw points: it returns them."""


def even(draw: Draw) -> Points:
    """Points drawn anew by the method, whatever the residual: for a block that is an exception."""
    return draw.anew()


ADAPTIVE: dict[str, Adaptive] = {}

RETAINING: set[str] = set()
"""The names of those that keep points as they see fit; `Sampling.keep` is not for them."""
