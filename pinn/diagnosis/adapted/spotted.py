"""A run that knows where known sources and coefficients are narrow: points there, and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinn.diagnosis.adapted.layered import is_left_open
from pinn.residuals import Spot, narrow, spots
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# The mean of what is added to a density of one: half of the points are near spots.
_ADDED = 1.0
# More of them are left to points that follow the residual.
_MOST = 8
# Points of a density are taken out of about so many even ones (pinn.sampling.thinned): half a one
# is to be in a spot, and they lie around it at all larger distances.
_EVEN, _SEEN = 2**14, 0.5


def at_spots(experiment: Experiment, asked: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose points and network know of spots, and what was found.

    A spot is where a source or coefficient in an equation is narrow, as its text says: a heat
    source of a hundredth of the plate, one that moves, a well. Half of the points lie around spots,
    as many at a distance of one to two widths as at any other, and a network that is given no
    features sees the logarithm of the distance beside the coordinates, which a solution follows
    from the source to the walls. asked: the run as it was asked for, of which a trial chooses the
    model and points are by default. docs/decisions/0064.
    """
    problem = experiment.problem
    if not is_left_open(asked):
        return experiment, ()
    parts = [
        part for residual in problem.residuals if residual.name in problem.equations
        for part in narrow(residual, problem.constants)
    ]  # fmt: skip
    found = [one for one in spots(parts, problem.domain) if one.share * _EVEN >= _SEEN]
    if not 0 < len(found) <= _MOST:
        return experiment, ()
    density = " + ".join(["1", *(one.density(_ADDED / len(found)) for one in found)])
    sampling = replace(experiment.sampling, density=density)
    given = experiment.model.features or experiment.inputs.coordinates
    # what repeats in a coordinate sees cos and sin of it, and no distance
    seen = [one.profile for one in found if set(one.coordinates) <= set(given)]
    model = replace(experiment.model, features=(*given, *seen)) if seen else experiment.model
    return replace(experiment, sampling=sampling, model=model), (_decided(found),)


def _decided(found: Sequence[Spot]) -> Decision:
    where = "; ".join(one.where for one in found)
    return Decision(
        0, f"spots: {where}",
        "what the text says is narrow there; half of the points lie around it, and networks see "
        "the logarithm of the distance",
    )  # fmt: skip
