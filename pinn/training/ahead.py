"""How many steps a solver on a device takes before it tells of the first of them."""

from __future__ import annotations

from pinn.objective.weighting import Weighting
from pinn.optimizers import Stage
from pinn.training.judging.judge import look_every
from pinn.training.pace import Pace
from pinn.training.points.redraw import Redraw, RedrawOverfit

# So long nobody hears of a step, at most: a live line, Ctrl-C and limits in time wait for it.
_SECONDS = 0.25


def steps_ahead(
    step: int,
    stage: Stage,
    pace: Pace,
    left: float,
    weighting: Weighting | None,
    redraw: Redraw | RedrawOverfit | None,
    served: int,
) -> int:
    """Return how many steps, 1 at least, none of which is likely to be for nothing.

    What is told later than it was taken changes no number: where the points or the weights change,
    or the stage ends, the steps after that are dropped. So this is about time alone. step: counted
    over the whole run. left: seconds, for the stage and the run. redraw: None where the stage draws
    no points. served: the steps that the present ones have had.
    """
    if pace.ordinary == 0.0:  # the first step may record programs
        return 1
    every = look_every(stage)
    most = every - step % every
    if isinstance(redraw, Redraw):
        most = min(most, (redraw.every if stage.redraw is None else stage.redraw) - served)
    most = max(1, min(most, int(min(left, _SECONDS) / pace.ordinary)))
    if weighting is None:
        return most
    due = (k for k in range(1, most) if weighting.is_due(step + k, False, stage.hold))
    return next(due, most)
