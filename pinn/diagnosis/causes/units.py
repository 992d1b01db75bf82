"""Unknowns whose size is far from what the network gives."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pinn.diagnosis.changes import of_model
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Finding
from pinn.models import Network
from pinn.residuals import Interior
from pinn.sampling import Sampling, stream
from pinn.training.given import given_values

_FAR = 20.0
_POINTS = Sampling(interior=500)


def units(seen: Examination) -> Iterator[Finding]:
    """Tell of unknowns that are many times larger or smaller than the outputs of the network.

    Their size is the root mean square of what conditions give and, where the problem is solved, of
    the solution; the larger one.
    """
    model = seen.experiment.model
    if not isinstance(model, Network):
        return
    given = given_values(seen.problem, seen.experiment.draw_points)
    rng = stream(0, "units")
    places = Interior(seen.problem.domain).draw(_POINTS, rng).coordinates.T
    columns = dict(zip(seen.problem.domain.coordinates, places, strict=True))
    found = seen.solution.evaluate_anywhere(**columns)
    sizes = {n: _rms(given(n)) for n in seen.problem.unknowns}
    if seen.unsolved is None:
        sizes = {n: max(size, _rms(found[n])) for n, size in sizes.items()}
    scale = {n: model.scale.get(n, 1.0) for n in seen.problem.unknowns}
    far = {n: s for n, s in sizes.items() if s > 0 and not 1 / _FAR < s / scale[n] < _FAR}
    if not far:
        return
    told = ", ".join(f"{n} is about {s:.2g}" for n, s in far.items())
    better = {**dict(model.scale), **{n: 10.0 ** round(math.log10(s)) for n, s in far.items()}}
    worst = max(abs(math.log10(s / scale[n])) for n, s in far.items())
    yield Finding(
        "units", "unknowns far from the size that the network gives",
        f"{told}, where the network begins with values of about "
        f"{', '.join(f'{scale[n]:g}' for n in far)}",
        (of_model(model, scale=better),), 2 * worst,
    )  # fmt: skip


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
