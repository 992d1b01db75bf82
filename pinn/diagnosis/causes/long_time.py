"""One network for a time in which much happens."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination, unsolved_orders
from pinn.diagnosis.finding import Change, Finding
from pinn.diagnosis.wave_count import waves_along
from pinn.models import Network, Windows
from pinn.training.windows.marching import can_be_windowed

# Waves of the solution from which on a time is long; windows, one a wave, at least and at most.
_LONG, _LEAST, _MOST = 1.0, 4, 10
_WINDOW = {"mlp": {"width": 20, "depth": 2}}
# What windows bring is not known before they are trained: the loss falls by more than this.
_ORDERS = 1.0


def long_time(seen: Examination) -> Iterator[Finding]:
    """Tell of equations in time alone whose solution goes up and down, and which are not solved.

    A residual that is small late says little: what holds there is a solution from another start.
    One network has to get all of it right at once; windows of time are solved one after the other.
    """
    domain, experiment = seen.problem.domain, seen.experiment
    share = max(seen.shares.values(), default=0.0)
    if domain.time is None or len(domain.coordinates) > 1 or seen.overfit or seen.is_good:
        return
    model = experiment.model
    if not isinstance(model, (Network, Windows)) or not math.isfinite(share):
        return
    if not can_be_windowed(seen.problem, experiment.sampling, experiment.weighting):
        return
    count = max(one.solution for residual in seen.equations if not residual.whole
                for one in waves_along(seen, residual))  # fmt: skip
    if count < _LONG or not seen.is_stuck:
        return
    trial = seen.trial
    lower = trial.before / max(trial.after, 1e-300)
    windows = min(max(math.ceil(count), _LEAST), _MOST)
    if isinstance(model, Windows):
        if model.count >= _MOST:
            return
        windows = min(max(windows, 2 * model.count), _MOST)
        settings: dict[str, Any] = {"count": windows}
        if model.breaks is not None:  # each in two
            edges = model.edges(domain)
            halves = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
            settings = {"count": None, "breaks": halves[1:-1].tolist()}
        change, what = of_model(model, **settings), "few windows for a long time"
    else:
        change = Change("model", {"windows": {"count": windows, "model": _WINDOW}})
        what = "one network for a long time"
    yield Finding(
        "long_time", what,
        f"the solution has {count:.2g} waves in {domain.time}, a residual is off by {share:.2g} of "
        f"its terms, and {trial.steps} steps of {trial.stage.name} from the end lower the loss on "
        f"fresh points by a factor of {lower:.3g} only",
        (change,),
        max(unsolved_orders(share), _ORDERS),
    )  # fmt: skip
