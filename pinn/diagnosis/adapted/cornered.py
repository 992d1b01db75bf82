"""A run that knows of the corners of its domain: its network sees what is singular at them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pinn.diagnosis.adapted.layered import is_left_open
from pinn.diagnosis.posed.switches import switches
from pinn.geometry.corners import Corner
from pinn.models import AutoModel, CornerEmbedding, InversionEmbedding
from pinn.problem import Problem
from pinn.problem.singularity import Singularity, order_of, orders_of
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# So many corners have inputs of their own; of more, networks would see too many. Of so many, all
# that is singular in a vector is seen.
_MOST, _FEW = 8, 2
# What goes like the distance to a power above this is smooth enough.
_SMOOTH = 0.9
# Equations count less nearer to a corner than this share of the domain's size.
_REACH = 0.25


def at_corners(
    experiment: Experiment, asked: Experiment
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run that knows where slopes of its solution are infinite, and what was found.

    In corners that turn inward, and where an unknown's values end along a wall and slopes begin,
    its network sees a root of the plane beside all else (pinn.CornerEmbedding), and equations count
    by the distance (pinn.Singularity). asked: the run as it was asked for, of which a trial chooses
    the model and points are by default. docs/decisions/0075.
    """
    problem, given = experiment.problem, set(experiment.inputs.coordinates)
    if not is_left_open(asked) or problem.singularities or not _is_of_second_order(problem):
        return experiment, ()
    found = [one for one in _singular(problem) if set(one.corner.names) <= given]
    if not 0 < len(found) <= _MOST:
        return experiment, ()
    of = _kind(problem) if len(found) <= _FEW else "scalar"
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


@dataclass(frozen=True)
class _Singular:
    """A corner, the power of the distance that a solution goes like there, and why."""

    corner: Corner
    exponent: float
    why: str


def _singular(problem: Problem) -> list[_Singular]:
    """Return the corners of a problem at which slopes are infinite."""
    coupled = _kind(problem) != "scalar"
    mixed = {} if coupled else {one.at: one for one in switches(problem)}
    found = []
    for corner in problem.domain.inward_corners:
        degrees = f"{math.degrees(corner.angle):.4g} degrees"
        changes = mixed.pop(corner.at, None) is not None
        exponent = _of_vectors(corner.angle) if coupled else math.pi / corner.angle
        said = degrees + ", from values to slopes" * changes
        found.append(_Singular(corner, exponent / 2 if changes else exponent, said))
    for corner in mixed.values():
        found.append(_Singular(corner, math.pi / (2 * corner.angle), "from values to slopes"))
    return [one for one in found if one.exponent < _SMOOTH]


def _of_vectors(angle: float) -> float:
    """Return the least exponent of a flow, or an elastic plate, at a corner of two like walls.

    The root of sin(e angle) = e |sin angle|, for angles of more than 180 degrees.
    """
    from scipy.optimize import brentq

    if angle > 2 * math.pi - 1e-6:
        return 0.5
    return float(brentq(lambda e: math.sin(e * angle) + e * math.sin(angle), 0.5, math.pi / angle))


def _is_of_second_order(problem: Problem) -> bool:
    """Return whether the highest derivatives in space are second ones."""
    orders = [order_of(one, problem.domain.space) for one in problem.residuals]
    return max(orders, default=0) == 2


def _kind(problem: Problem) -> str:
    """Return what is singular in a corner: see CornerEmbedding.of."""
    orders = [
        orders_of(one, problem.domain.space) for one in problem.residuals
        if one.name in problem.equations
    ]  # fmt: skip
    if all(sum(order > 0 for order in one.values()) < 2 for one in orders):
        return "scalar"
    highest = {name: max(one.get(name, 0) for one in orders) for name in problem.unknowns}
    return "flow" if 1 in highest.values() else "vector"


def _place(corner: Corner, among: Sequence[Corner], problem: Problem) -> Singularity:
    """Return a corner as the problem knows it, with a reach that is its own."""
    others = (math.dist(corner.at, one.at) for one in among if one is not corner)
    reach = min(corner.room, _REACH * problem.domain.size, *others)
    return Singularity(dict(zip(corner.names, corner.at, strict=True)), float(f"{reach:.3g}"))


def _decided(found: Sequence[_Singular]) -> Decision:
    where = "; ".join(f"at {one.corner} ({one.why})" for one in found)
    return Decision(
        0, f"corners: {where}",
        "slopes are infinite there; networks see a root of the plane about each, and equations "
        "count by the distance",
    )  # fmt: skip
