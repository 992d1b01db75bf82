"""A run that knows of the layers of its problem: closer points, and a network that sees them."""

from __future__ import annotations

from dataclasses import replace

from pinn.diagnosis.adapted.thin_layers import TOO_THIN, balances
from pinn.models import AutoModel, Network
from pinn.problem import Problem
from pinn.problem.layers import has_walls, range_of_widths
from pinn.sampling import Layers, Widths
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# Layers that are no thinner than this share of the domain are followed by any network; in time,
# where they form on the way, those that are not TOO_THIN.
_WIDE = 1 / 25
# A layer that is not so many times wider than another one is followed with it.
_OTHER = 3.0


def in_layers(
    experiment: Experiment, started: Problem | None = None
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose points and network know of layers along walls, and what was found.

    Layers are those that a problem states, or where it states none, a trial chooses the model and
    points are where they are by default, those that balances of its terms make: of a problem
    without coefficients to find, families of problems and a continuation. A network to which
    neither features nor embeddings are given sees exp(-distance/width) beside the coordinates.
    Where the solution has a part in where a layer lies, it may lie anywhere: those of nonlinear
    equations are left to a continuation. started: the problem of the solution to start from, whose
    layers its network knows. docs/decisions/0063.
    """
    decisions = ()
    found = {}
    if not experiment.problem.layers:
        found = _found(experiment) if started is None else dict(started.layers)
    if found:
        experiment = replace(experiment, problem=experiment.problem.with_layers(found))
        decisions = (_decided(experiment.problem.walls),)
    model, layers = experiment.model, experiment.problem.walls
    is_open = isinstance(model, Network) and not (model.features or model.embedding or started)
    if layers and is_open:
        given = experiment.inputs.coordinates  # cos and sin of those in which all repeats
        seen = (*given, *(one.profile for one in layers if one.coordinate in given))
        experiment = replace(experiment, model=replace(model, features=seen))
    return experiment, decisions


def _found(experiment: Experiment) -> Widths:
    """Return the layers of a problem of which nothing is known that stands against them."""
    problem = experiment.problem
    if problem.parameters or problem.fields or problem.domain.families:
        return {}
    return layers_of(problem) if is_left_open(experiment) else {}


def is_left_open(experiment: Experiment) -> bool:
    """Return whether a trial chooses the model of one problem, and points are by default."""
    sampling, model = experiment.sampling, experiment.model
    if not isinstance(model, AutoModel) or model.features or model.embedding:
        return False
    placed = any(block.points is not None or block.density for block in sampling.blocks.values())
    return not (experiment.continuation or placed or sampling.density is not None)


def layers_of(problem: Problem) -> Widths:
    """Return the thin layers along walls that the balances of a problem's terms make."""
    widths: dict[str, tuple[list[float], list[float]]] = {}
    widest = _WIDE if problem.domain.time is None else TOO_THIN
    for one in sorted(balances(problem, at_walls=True), key=lambda one: one.width):
        if one.width > widest or not one.linear:
            continue
        if not has_walls(problem.domain, problem.conditions, one.coordinate):
            continue
        least, length = range_of_widths(problem.domain, one.coordinate)
        width = float(f"{one.width * length:.3g}")
        if width < least:
            continue
        own = widths.setdefault(one.coordinate, ([], []))
        for side, lies_there in zip(own, (one.at_low, one.at_high), strict=True):
            if lies_there and not (side and width < _OTHER * side[-1]):
                side.append(width)
    return {
        name: tuple(tuple(side) or None for side in sides) for name, sides in widths.items()
    }  # fmt: skip


def _decided(layers: Layers) -> Decision:
    walls = ", ".join(
        f"exp(-d/{one.width:g}) at {one.coordinate} = {one.low if one.at_low else one.high:g}"
        for one in layers
    )
    why = "the highest derivatives balance lower ones; points lie closer, and networks see them"
    return Decision(0, f"layers: {walls}", why)
