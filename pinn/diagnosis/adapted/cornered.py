"""A run that knows of the corners of its domain: its network sees what is singular at them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pinn.diagnosis.adapted.layered import is_left_open
from pinn.diagnosis.posed.singular import Singular, kind, singular
from pinn.geometry.corners import Corner
from pinn.models import AutoModel, CornerEmbedding, InversionEmbedding
from pinn.problem import Problem
from pinn.problem.singularity import Singularity
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# So many corners have inputs of their own; of more, networks would see too many. Of so many, all
# that is singular in a vector is seen.
_MOST, _FEW = 8, 2
# Equations count less nearer to a corner than this share of the domain's size.
_REACH = 0.25


def at_corners(
    experiment: Experiment, asked: Experiment
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run that knows where slopes of its solution are infinite, and what was found.

    Its network sees a root of the plane about each of these places beside all else
    (pinn.CornerEmbedding), and equations count by the distance (pinn.Singularity). asked: the run
    as it was asked for, of which a trial chooses the model and points are by default.
    docs/decisions/0075.
    """
    problem, given = experiment.problem, set(experiment.inputs.coordinates)
    if not is_left_open(asked) or problem.singularities:
        return experiment, ()
    found = [one for one in singular(problem) if set(one.corner.names) <= given]
    if not 0 < len(found) <= _MOST:
        return experiment, ()
    of = kind(problem) if len(found) <= _FEW else "scalar"
    seen = [
        CornerEmbedding(one.corner.at, one.corner.pole, one.exponent, one.corner.names, of)
        for one in found
    ]
    places = [_place(one.corner, [other.corner for other in found], problem) for one in found]
    model = replace(experiment.model, embedding=[*experiment.model.embedding, *seen])
    changed = replace(experiment, problem=problem.with_singularities(places), model=model)
    return changed, (_decided(found),)


def without_places(model: Any) -> AutoModel | None:
    """Return a model that a trial chooses, but that sees no holes and corners; None for others."""
    if not isinstance(model, AutoModel):
        return None
    about = InversionEmbedding | CornerEmbedding
    return replace(model, embedding=[one for one in model.embedding if not isinstance(one, about)])


def _place(corner: Corner, among: Sequence[Corner], problem: Problem) -> Singularity:
    """Return a corner as the problem knows it, with a reach that is its own."""
    others = (math.dist(corner.at, one.at) for one in among if one is not corner)
    reach = min(corner.room, _REACH * problem.domain.size, *others)
    return Singularity(dict(zip(corner.names, corner.at, strict=True)), float(f"{reach:.3g}"))


def _decided(found: Sequence[Singular]) -> Decision:
    return Decision(
        0, f"corners: {'; '.join(map(str, found))}",
        "slopes are infinite there; networks see a root of the plane about each, and equations "
        "count by the distance",
    )  # fmt: skip
