"""Why training ends by itself, in sentences: what happened, and what could be done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pinn.objective import Objective
from pinn.residuals import Measured
from pinn.training.course import Course
from pinn.training.judging.noise import lie_within_noise, of_one_standard_error, to_be_had
from pinn.training.judging.rounding import Rounding, best_decrease
from pinn.training.looks import Looks

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
# A fit has settled where over so many looks no weight was moved and the loss differed by no more
# than this share of what one standard error does to it ...
_STEADY, _STEADY_LOOKS = 1e-2, 6
# ... what is exact makes up no more than that, nor than this share of the loss of the data ...
_EXACT = 1e-5
# ... and the best step lowers it by no more than this share: by a thirtieth of a standard error.
_LEFT = 1e-3


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


def settled(
    objective: Objective, theta: np.ndarray, course: Course, weights: np.ndarray
) -> str | None:
    """Say that data with noise are fitted, and that no step moves anything beside their noise.

    For a solver that takes the slopes of all rows: measuring takes as long as a step of it, where
    the loss is steady.
    """
    looks = course.looks
    since = looks.before(_STEADY_LOOKS)
    unit = of_one_standard_error(objective)
    if unit == 0 or since < course.weighed_at:
        return None
    if looks.spread(weights, since) > _STEADY * unit:
        return None
    losses = looks.fresh[-1] * weights
    measured = np.array([isinstance(one.residual.source, Measured) for one in objective.blocks])
    exact = float(losses[~measured].sum())
    if exact > min(_STEADY * unit, _EXACT * float(losses[measured].sum())):
        return None
    if not lie_within_noise(objective, theta):
        return None
    left = to_be_had(objective, theta, unit)
    if not left <= _LEFT * unit:
        return None
    share = math.sqrt(max(left, 0.0) / unit)
    return (
        "the data lie within their noise, what is exact holds, no weight was moved lately, and the "
        f"best step would move nothing by more than {max(share, 1e-3):.1g} of its standard error"
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
    over = f"over the last {round(window)} steps {now.what_fell(window)}"
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
