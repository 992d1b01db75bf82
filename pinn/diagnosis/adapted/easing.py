"""Problems with layers that are too thin to begin with, by way of thicker ones."""

from __future__ import annotations

import math
from dataclasses import replace

from pinn.diagnosis.adapted.thin_layers import TOO_THIN, Thin, balances, thinnest
from pinn.models import MLP
from pinn.schema.errors import DeclarationError
from pinn.training.auto import Auto
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# The width that training begins with, and how much thinner the layer is from one to the next.
_WIDE, _STEP = 0.1, 10**0.5
# What is left to the last step is no step of its own, and there are so many at most.
_LEAST_STEP, _MOST = 1.5, 8


def eased(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return an experiment that goes through thicker layers first, where its own are too thin.

    That is where a constant makes them so in a steady problem, layers of a network are trained, and
    neither stages nor a continuation are given. As it is for problems with unknown coefficients,
    which would follow those of the thicker layers, and where the layers are those of a linear
    equation along walls that networks see.
    """
    problem = experiment.problem
    given = experiment.continuation or not isinstance(experiment.training, Auto)
    if given or problem.parameters or problem.fields or problem.domain.families:
        return experiment, ()
    if not isinstance(experiment.model, MLP):
        return experiment, ()
    too_thin = [one for one in balances(problem) if one.width <= TOO_THIN]
    if all(one.linear and one.coordinate in problem.layers for one in too_thin):
        return experiment, ()
    thin = thinnest(problem)
    if thin is None or thin.width > TOO_THIN or not thin.constant:
        return experiment, ()
    values = _values(thin, problem.constants[thin.constant])
    try:
        found = replace(experiment, continuation={thin.constant: values})
    except DeclarationError:  # a value that the problem refuses
        return experiment, ()
    listed = ", ".join(f"{value:.3g}" for value in values)
    why = (
        f"{thin.constant} makes layers of about {thin.width:.1g} of the domain, which training "
        "finds from thicker ones"
    )
    return found, (Decision(0, f"continuation: {thin.constant} = {listed} first", why),)


def _values(thin: Thin, value: float) -> tuple[float, ...]:
    """Return the values that a constant has in turn before its own."""
    count = math.ceil(math.log(_WIDE / (_LEAST_STEP * thin.width)) / math.log(_STEP))
    step = _STEP if count <= _MOST else (_WIDE / thin.width) ** (1 / _MOST)
    widths = [_WIDE / step**k for k in range(min(count, _MOST))]
    return tuple(float(f"{value * (w / thin.width) ** (1 / thin.power):.3g}") for w in widths)
