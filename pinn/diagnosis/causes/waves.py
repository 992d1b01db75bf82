"""A residual that oscillates faster than the network has learned to."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.causes.front import half
from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination, unsolved_orders
from pinn.diagnosis.finding import Finding
from pinn.diagnosis.scaled_residual import LARGE
from pinn.diagnosis.wave_count import waves_along
from pinn.models import Network, RandomFeatures

# Waves across the domain below which a network needs no help, and by how much the residual's
# outnumber those of the solution where it does not follow.
_FEW, _MORE = 3.0, 1.5
_SPREAD = 0.03
_COUNT = 16


def waves(seen: Examination) -> Iterator[Finding]:
    """Tell of an equation that does not hold; its residual has more waves than the solution."""
    model = seen.experiment.model
    if seen.overfit or seen.has_found("long_time") or not isinstance(model, Network):
        return
    for residual in seen.equations:
        share = seen.shares.get(residual.name, 0.0)
        if share < LARGE or residual.whole:
            continue
        if half(np.sort(seen.residuals[residual.name] ** 2)[::-1]) < _SPREAD:
            continue  # sharp rather than wavy
        found = max(waves_along(seen, residual), key=lambda one: one.residual)
        if found.residual < max(_FEW, _MORE * found.solution):
            continue
        if not seen.is_stuck:
            continue
        if isinstance(model, RandomFeatures):
            most = math.ceil(1.5 * math.pi * found.residual)
            change = of_model(model, steepness=[model.steepness[0], most])
        else:
            scales = [1, max(2, round(found.residual))]
            fourier = {"fourier": {"count": _COUNT, "scale": scales}}
            change = of_model(model, embedding=fourier)
        yield Finding(
            "waves", "waves that the network does not follow",
            f"{residual.name} is off by {share:.2g} of its terms; along {found.coordinate} its "
            f"residual has {found.residual:.2g} waves across the domain, the solution "
            f"{found.solution:.2g}", (change,), unsolved_orders(share),
        )  # fmt: skip
