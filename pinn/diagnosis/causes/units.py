"""Unknowns whose size is far from what the network gives."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pinn.diagnosis.adapted.model_scale import scaled, scales_of
from pinn.diagnosis.examination import Examination
from pinn.diagnosis.finding import Finding
from pinn.diagnosis.posed.sizes import FAR, rms, stated_sizes
from pinn.residuals import Interior
from pinn.sampling import Sampling, stream
from pinn.training.given import given_values

_POINTS = Sampling(interior=500)


def units(seen: Examination) -> Iterator[Finding]:
    """Tell of unknowns that are many times larger or smaller than the outputs of the network.

    Their size is the larger one of what conditions give and what the solution has, where the
    problem is solved, and else what equations and conditions state (pinn.diagnosis.posed.sizes).
    Of a network that is linear in what is trained nothing is said: it becomes as large as it must.
    """
    if getattr(seen.experiment.model, "linear", False):
        return
    scale = scales_of(seen.experiment.model, seen.problem.unknowns)
    if not scale:
        return
    given = given_values(seen.problem, seen.experiment.draw_points)
    sizes = {name: rms(given(name)) for name in scale}
    others = _of_solution(seen) if seen.unsolved is None else _of_statement(seen)
    sizes = {name: max(size, others.get(name, 0.0)) for name, size in sizes.items()}
    far = {n: s for n, s in sizes.items() if s > 0 and not 1 / FAR < s / scale[n] < FAR}
    if not far:
        return
    told = ", ".join(f"{n} is about {s:.2g}" for n, s in far.items())
    worst = max(abs(math.log10(s / scale[n])) for n, s in far.items())
    yield Finding(
        "units", "unknowns far from the size that the network gives",
        f"{told}, where the network begins with values of about "
        f"{', '.join(f'{scale[n]:g}' for n in far)}",
        (scaled(seen.experiment.model, far),), 2 * worst,
    )  # fmt: skip


def _of_solution(seen: Examination) -> dict[str, float]:
    places = Interior(seen.problem.domain).draw(_POINTS, stream(0, "units")).coordinates.T
    columns = dict(zip(seen.problem.domain.coordinates, places, strict=True))
    return {name: rms(one) for name, one in seen.solution.evaluate_anywhere(**columns).items()}


def _of_statement(seen: Examination) -> dict[str, float]:
    stated = {} if seen.statement is None else stated_sizes(seen.statement)
    return {name: size.value for name, size in stated.items() if size.is_told}
