"""Why training ends by itself, in sentences: what happened, and what could be done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pinn.objective import Objective
from pinn.training.looks import Looks
from pinn.training.rounding import Rounding, best_decrease

if TYPE_CHECKING:
    from pinn.training.plan import Situation

# Rounding is measured, which takes a few evaluations, where the loss fell by less than this share
# over so many looks: at its floor it does not fall.
_SLOW, _SLOW_LOOKS = 0.1, 5
# Over this share of all steps a run that ended at a limit is asked whether its loss still fell, and
# said to do so where it fell by so much.
_RECENT, _STILL = 0.5, 0.05
# A loss of so many times the squares of its rounding errors, a thousand times the errors, has no
# digits that a larger network could mend.
_NEAR_FLOOR = 1e6


def target_reached(
    loss: float, target: float | None, looks: Looks, weights: np.ndarray
) -> str | None:
    """Say that the loss is not above the target, on present points and on fresh ones."""
    if target is None:
        return None
    fresh = looks.fresh_loss(weights)
    if not max(loss, fresh) <= target:
        return None
    return f"the loss {loss:.3g}, {fresh:.3g} on fresh points, is not above the target {target:g}"


def at_floor(
    objective: Objective, theta: np.ndarray, looks: Looks, weights: np.ndarray
) -> str | None:
    """Say that rounding is all that is left of the loss, where it has hardly fallen lately."""
    fall = looks.fall(weights, looks.before(_SLOW_LOOKS))
    if fall >= -math.log1p(-_SLOW):
        return None
    found = Rounding.at(objective, theta)
    if not found.is_all:
        return None
    return (
        f"the loss {found.loss:.3g} is what rounding in {objective.dtype.name} makes of zero, "
        f"{found.floor:.2g}{_remedy(objective)}"
    )


def no_way_down(objective: Objective, theta: np.ndarray) -> str | None:
    """Say that rounding hides the way down the gradient; None where it cannot be to blame.

    For a solver that has found no lower loss along it.
    """
    found, decrease = Rounding.at(objective, theta), best_decrease(objective, theta)
    if found.is_all:
        return (
            f"the loss {found.loss:.3g} is what rounding in {objective.dtype.name} makes of zero, "
            f"{found.floor:.2g}{_remedy(objective)}"
        )
    if not decrease <= found.noise:
        return None
    return (
        f"the best step along the gradient would lower the loss {found.loss:.3g} by {decrease:.1g}"
        f", which is lost in its rounding error in {objective.dtype.name}, {found.noise:.1g}"
        f"{_remedy(objective)}"
    )


def outlook(now: Situation) -> str:
    """Say whether more steps would have helped a run that ended at a limit; "" if not known."""
    window = _RECENT * now.steps
    fall = now.fall(window)
    if math.isinf(fall):
        return ""
    share = -math.expm1(-fall)
    over = f"over the last {round(window)} steps the loss on fresh points"
    if share >= _STILL:
        return f"; {over} fell by {100 * share:.3g} %: more of them would lower it further"
    return f"; {over} fell by no more than 5 %: more of them alone would hardly help"


def further(
    objective: Objective, theta: np.ndarray, left: Callable[[], float] | None
) -> str:
    """Say what may go lower where a network is at its end; "" where rounding is near.

    left: tells the seconds of a limit that were not needed, None where there was none; it is asked
    in the end, as what is measured here takes time as well.
    """
    found = Rounding.at(objective, theta)
    if found.loss <= _NEAR_FLOOR * found.floor:
        return ""
    seconds = 0.0 if left is None else left()
    time = "" if seconds < 1 else f", for which {seconds:.0f} s of the limit are left"
    return f"; a larger network, or one whose layers are trained, may go lower{time}"


def _remedy(objective: Objective) -> str:
    return "; float64 goes lower" if objective.dtype.name == "float32" else ""
