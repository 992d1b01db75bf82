"""Whether random features would go further than the network that was trained."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination
from pinn.models import AutoModel, Network
from pinn.training.auto import Auto
from pinn.training.choosing import with_model

# How many times lower their loss on fresh points has to be.
_LOWER = 10.0


def by_features(seen: Examination) -> str | None:
    """Say how much lower a trial of random features comes, and how to take them; None if it is not.

    On the fresh points and by the weights by which the solution is looked at. Not where a trial
    chose the layers that were trained. Takes as long as the trial: some seconds.
    """
    model = seen.experiment.model
    chosen = any(one.what.startswith("model: ") for one in seen.report.decisions)
    if chosen or not isinstance(model, Network) or model.linear:
        return None
    kept = {one.name for one in fields(AutoModel)} & {one.name for one in fields(model)}
    auto = AutoModel(**{name: getattr(model, name) for name in kept - {"factorization"}})
    tried = with_model(replace(seen.experiment, model=auto, training=Auto()))
    if tried.interrupted:
        raise KeyboardInterrupt
    if tried.theta is None:
        return None
    objective = tried.experiment.objective()
    left = objective.residuals(tried.theta, seen.fresh_points)
    after = seen.total({n: float(np.mean(r.astype(np.float64) ** 2)) for n, r in left.items()})
    before = seen.total(seen.fresh)
    if after * _LOWER > before:
        return None
    given = "" if isinstance(seen.experiment.training, Auto) else " --set training=auto"
    return (
        f"random features follow this solution further: a trial of some left {after:.2g} on fresh "
        f"points, where the network is at {before:.2g}; --set '{of_model(auto)}'{given}"
    )
