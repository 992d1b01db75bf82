"""A run that knows of the holes of its domain: its network sees what is smooth around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinn.diagnosis.adapted.layered import is_left_open
from pinn.geometry.holes import Hole
from pinn.models import InversionEmbedding
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# So many holes have inputs of their own; of more, networks would see too many.
_MOST = 8


def around_holes(
    experiment: Experiment, asked: Experiment
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose network knows of the holes of its domain, and what was found.

    It sees the inversion in a circle in each hole beside all else: what flows around a hole, or is
    bent by it, is smooth in that. asked: the run as it was asked for, of which a trial chooses the
    model and points are by default. docs/decisions/0072.
    """
    given = set(experiment.inputs.coordinates)
    if not is_left_open(asked):
        return experiment, ()
    # what repeats in a coordinate sees cos and sin of it, and no distance
    found = [hole for hole in experiment.problem.domain.holes if set(hole.names) <= given]
    if not 0 < len(found) <= _MOST:
        return experiment, ()
    seen = [InversionEmbedding(hole.center, hole.radius, hole.names) for hole in found]
    model = replace(experiment.model, embedding=seen)
    return replace(experiment, model=model), (_decided(found),)


def _decided(holes: Sequence[Hole]) -> Decision:
    where = "; ".join(f"{hole} ({2 * hole.radius:.2g} wide)" for hole in holes)
    return Decision(0, f"holes: {where}", "networks see the inversion in a circle in each")
