"""A run that knows of the corners of its domain: its network sees what is singular at them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pinn.diagnosis.adapted.layered import is_left_open
from pinn.diagnosis.posed.compatibility import Contradiction, contradictions
from pinn.diagnosis.posed.singular import Singular, is_at, kind, singular
from pinn.geometry.corners import Corner
from pinn.models import AutoModel, CornerEmbedding, InversionEmbedding
from pinn.problem import Problem
from pinn.problem.singularity import Singularity
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# So many corners have inputs of their own; of more, networks would see too many. Of so many, all
# that is singular in a flow is seen.
_MOST, _FEW = 8, 2
# Equations count less nearer to a corner than this share of the domain's size.
_REACH = 0.25


def at_corners(
    experiment: Experiment, asked: Experiment, started: Problem | None = None
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run that knows where slopes of its solution are infinite, and what was found.

    Its network sees a root of the plane about each of these places beside all else, or a logarithm
    where what is given contradicts itself (pinn.CornerEmbedding), and equations count by the
    distance (pinn.Singularity), as a problem may state of some. asked: the run as it was asked for,
    of which a trial chooses the model and points are by default. started: the problem of the
    solution to start from, whose places its network knows. docs/decisions/0075, 0076.
    """
    problem, given = experiment.problem, set(experiment.inputs.coordinates)
    if started is not None and started.singularities and not problem.singularities:
        return _with(experiment, started.singularities), ()
    if not is_left_open(asked):
        return experiment, ()
    found = [one for one in singular(problem) if set(one.corner.names) <= given]
    logs = [
        one for one in contradictions(problem) if set(one.corner.names) <= given
        and not any(is_at(one.corner.at, other.corner.at, problem) for other in found)
    ]  # fmt: skip
    for highest in (1, 0):  # r log r is worse than r^2 log r
        if len(found) + len(logs) > _MOST:
            logs = [one for one in logs if one.degree <= highest]
    if not 0 < len(found) + len(logs) <= _MOST:
        return experiment, ()
    of = kind(problem)
    if of == "flow" and len(found) > _FEW:
        of = "scalar"
    seen = [
        CornerEmbedding(one.corner.at, one.corner.pole, one.exponent, one.corner.names, of)
        for one in found
    ] + [
        CornerEmbedding(one.corner.at, one.corner.pole, one.degree, one.corner.names, of, log=True)
        for one in logs
    ]
    steep = [one.corner for one in (*found, *(log for log in logs if log.degree == 1))]
    places = [_place(one, steep, problem) for one in steep if not _is_stated(one, problem)]
    model = replace(experiment.model, embedding=[*experiment.model.embedding, *seen])
    changed = _with(replace(experiment, model=model), [*problem.singularities, *places])
    return changed, tuple(_decided(found, logs))


def _with(experiment: Experiment, places: Sequence[Singularity]) -> Experiment:
    return replace(experiment, problem=experiment.problem.with_singularities(places))


def without_places(experiment: Experiment, asked: Experiment) -> Experiment | None:
    """Return a run whose model sees no holes and corners; None unless a trial chooses the model.

    asked: the run before these were looked for.
    """
    if not isinstance(experiment.model, AutoModel):
        return None
    about = InversionEmbedding | CornerEmbedding
    left = [one for one in experiment.model.embedding if not isinstance(one, about)]
    plainer = replace(experiment, model=replace(experiment.model, embedding=left))
    return _with(plainer, asked.problem.singularities)


def _is_stated(corner: Corner, problem: Problem) -> bool:
    return any(
        is_at(tuple(map(one.at.get, corner.names)), corner.at, problem)
        for one in problem.singularities if one.at.keys() == set(corner.names)
    )  # fmt: skip


def _place(corner: Corner, among: Sequence[Corner], problem: Problem) -> Singularity:
    """Return a corner as the problem knows it, with a reach that is its own."""
    others = (math.dist(corner.at, one.at) for one in among if one is not corner)
    reach = min(corner.room, _REACH * problem.domain.size, *others)
    return Singularity(dict(zip(corner.names, corner.at, strict=True)), float(f"{reach:.3g}"))


def _decided(found: Sequence[Singular], logs: Sequence[Contradiction]) -> Iterator[Decision]:
    if found:
        yield Decision(
            0, f"corners: {'; '.join(map(str, found))}",
            "slopes are infinite there; networks see a root of the plane about each, and equations "
            "count by the distance",
        )  # fmt: skip
    if logs:
        yield Decision(
            0, f"corners: {'; '.join(map(str, logs))}",
            "what is given there contradicts itself in derivatives of that order, which have no "
            "limit; networks see a logarithm of the plane about each",
        )  # fmt: skip
