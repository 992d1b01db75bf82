"""What is to be said about a problem and a model before they are trained."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import autograd as T
from pinn.diagnosis.posed.backward import backward
from pinn.diagnosis.posed.contradictions import contradictions, not_finite, unbounded
from pinn.diagnosis.posed.dependent import dependent
from pinn.diagnosis.posed.held import HeldByModel
from pinn.diagnosis.posed.hidden import hidden
from pinn.diagnosis.posed.homogeneous import branching
from pinn.diagnosis.posed.jumps import jumps
from pinn.diagnosis.posed.missing import missing, underdetermined
from pinn.diagnosis.posed.multiples import multiples
from pinn.diagnosis.posed.network import network_values, other_parameters
from pinn.diagnosis.posed.regions import empty_regions, idle_shapes
from pinn.diagnosis.posed.starts import starts
from pinn.diagnosis.posed.statement import Statement, statement_of
from pinn.diagnosis.posed.surplus import surplus
from pinn.diagnosis.posed.uncovered import uncovered
from pinn.equations.leaves import At, Derivative, parts_of
from pinn.objective import Objective
from pinn.residuals import Residual
from pinn.sampling import stream

_PROBES = 16
# A coordinate that takes fewer values is no continuous one.
_FEWEST_NUMBERS = 1000
_MOST_POINTS = 5000


def preflight(objective: Objective) -> list[str]:
    """Return a sentence for each thing that seems wrong; an empty list is no proof of anything.

    Looked for are missing conditions, more of them than are taken, unknowns and coefficients that
    nothing determines, or up to a constant, a rotation or a factor alone, equations and conditions
    that contradict each other or have no value, equations that follow from others, starts that
    break a constraint, equations that run the wrong way in time, constraints that hide their
    derivatives, solutions that branch off zero, initial values that change with time, regions
    without a point, shapes that take away nothing, parts of the domain without an equation,
    derivatives across a jump, coordinates that the precision does not resolve, and a model without
    the second derivatives that are asked for. Takes some milliseconds for each residual, and looks
    at no more than 100 of them, in at most 12 coordinates. The objective is left as it was; the
    random numbers are a stream of their own.
    """
    statement = statement_of(objective.problem)
    if statement is None:
        return []
    points = {block.name: block.points for block in objective.blocks}
    training = [
        (stated, points[stated.name][: _few_of(stated.residual)])
        for stated in (*statement.equations, *statement.conditions)
        if stated.name in points
    ]
    return [
        *not_finite(statement, training),
        *unbounded(statement),
        *missing(statement, HeldByModel(objective)),
        *contradictions(statement),
        *starts(statement),
        *surplus(statement),
        *uncovered(statement),
        *_unasked(statement),
        *backward(statement),
        *underdetermined(statement),
        *dependent(statement),
        *hidden(statement),
        *branching(statement),
        *_idle_coefficients(objective),
        *multiples(statement),
        *empty_regions(objective.problem),
        *idle_shapes(objective.problem),
        *jumps(objective.problem),
        *_unresolved(objective),
        *_straight(objective, statement),
    ]


def _few_of(residual: Residual) -> int:
    """Return how many of a residual's points are looked at: whole sums over nodes."""
    if residual.nodes is None:
        return _MOST_POINTS
    return residual.nodes * max(1, _MOST_POINTS // residual.nodes)


def _unasked(statement: Statement) -> Iterator[str]:
    """Name the unknowns that conditions ask for and no equation does."""
    if any(equation.linear is None for equation in statement.equations):
        return
    asked = {leaf.unknown for equation in statement.equations for leaf in equation.leaves}
    for unknown in statement.problem.unknowns:
        if unknown not in asked:
            yield (
                f"no equation uses the unknown {unknown!r}, so nothing but its conditions "
                "determines it; use it in an equation, or leave it out"
            )


def _idle_coefficients(objective: Objective) -> Iterator[str]:
    """Name the coefficients and fields that change no residual, for two networks."""
    problem = objective.problem
    kinds = {
        **{one.name: "parameter" for one in problem.parameters},
        **{one.name: "field" for one in problem.fields},
    }
    if not kinds:
        return
    owned = {name: objective.parameters.tensors_of(name) for name in kinds}
    moved = dict.fromkeys(kinds, False)
    rng = stream(0, "idle coefficients")
    for _ in range(2):
        with other_parameters(objective, rng):
            for block in objective.blocks:
                points = block.points if block.whole else block.points[:_PROBES]
                rows = block.residual_at(points)
                weights = T.tensor(
                    rng.standard_normal(len(rows)), dtype=rows.dtype, device=rows.device
                )
                tensors = [tensor for own in owned.values() for tensor in own]
                slopes = iter(T.grad(rows, tensors, weights, materialize_grads=True))
                for name, own in owned.items():
                    # One that is not finite is no zero.
                    found = [bool((next(slopes) != 0).any()) for _ in own]
                    moved[name] |= any(found)
    for name, kind in kinds.items():
        if not moved[name]:
            yield (
                f"the {kind} {name!r} changes no residual, so nothing determines it; use it in "
                "an equation or a condition, or leave it out"
            )


def _unresolved(objective: Objective) -> Iterator[str]:
    """Name the coordinates of which the precision has next to no numbers between the bounds."""
    eps = float(np.finfo(objective.dtype).eps)
    for name, (low, high) in objective.problem.domain.bounds.items():
        steps = (high - low) / (eps * max(abs(low), abs(high)))
        if steps < _FEWEST_NUMBERS:
            yield (
                f"{np.dtype(objective.dtype)} has only about {steps:.0f} numbers between {name} = "
                f"{low:.9g} and {high:.9g}, so that points fall on each other; measure {name} from "
                "its lower bound, or take float64"
            )


def _straight(objective: Objective, statement: Statement) -> Iterator[str]:
    """Tell of a network without second derivatives where they are asked for."""
    stated = [*statement.equations, *statement.conditions]
    asked = dict.fromkeys(
        leaf.leaf if isinstance(leaf, At) else leaf for one in stated for leaf in one.leaves
    )
    high, seconds = [], {}
    for leaf in asked:
        for names, _ in parts_of(leaf, objective.problem.domain.space):
            if len(names) >= 2:
                high.append(leaf)
                # What has no second derivative has none of a higher order.
                seconds[Derivative(leaf.unknown, names[:2])] = None
    if not high:
        return
    domain, rng = objective.problem.domain, stream(0, "second derivatives")
    low, span = np.array([(low, high - low) for low, high in domain.bounds.values()]).T
    points = low + span * rng.random((_PROBES, len(low)))
    first = dict.fromkeys(Derivative(leaf.unknown, leaf.coordinates[:1]) for leaf in seconds)
    with other_parameters(objective, rng):
        values = network_values(objective, [*first, *seconds], points, bare=True)
    if any(map(np.any, values[: len(first)])) and not any(map(np.any, values[len(first) :])):
        shown = ", ".join(dict.fromkeys(map(str, high)))
        yield (
            f"the model has slopes but no second derivatives: {shown} "
            "vanish everywhere, as those of a network with ReLU do, so no training can change "
            "them; take a smooth activation such as tanh"
        )
