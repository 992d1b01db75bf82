"""Problems with layers that are too thin to begin with, by way of thicker ones."""

from __future__ import annotations

from dataclasses import replace

from pinn.diagnosis.thin_layers import TOO_THIN, Thin, thinnest
from pinn.models import MLP
from pinn.schema.errors import DeclarationError
from pinn.training.auto import Auto
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# The width that training begins with, and how much thinner the layer is from one to the next.
_WIDE, _STEP = 0.1, 10**0.5
# What is left to the last step is no step of its own.
_LEAST_STEP = 1.5


def eased(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return an experiment that goes through thicker layers first, where its own are too thin.

    That is where a constant makes them so in a steady problem, layers of a network are trained, and
    neither stages nor a continuation are given. As it is for problems with unknown coefficients,
    which would follow those of the thicker layers.
    """
    problem = experiment.problem
    given = experiment.continuation or not isinstance(experiment.training, Auto)
    if given or problem.parameters or problem.fields or problem.families:
        return experiment, ()
    if not isinstance(experiment.model, MLP):
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
    widths = [_WIDE]
    while widths[-1] / _STEP > _LEAST_STEP * thin.width:
        widths.append(widths[-1] / _STEP)
    return tuple(float(f"{value * (w / thin.width) ** (1 / thin.power):.3g}") for w in widths)
