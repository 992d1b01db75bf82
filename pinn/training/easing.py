"""Problems with layers that are too thin to begin with, by way of thicker ones."""

from __future__ import annotations

from dataclasses import replace

from pinn.diagnosis.thin_layers import Thin, thinnest
from pinn.schema.errors import DeclarationError
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# Thinner layers than this share of the domain are not found from the start of a network: the
# residual is small too where the solution jumps elsewhere, or does not meet a condition.
_TOO_THIN = 1 / 200
# The width that training begins with, and how much thinner the layer is from one to the next.
_WIDE, _STEP = 0.1, 10**0.5
# What is left to the last step is no step of its own.
_LEAST_STEP = 1.5


def eased(experiment: Experiment) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return an experiment that goes through thicker layers first, where its own are too thin.

    That is where a constant makes them so in a steady problem, and no continuation is given. As it
    is for problems with unknown coefficients, which would follow those of the thicker layers.
    """
    problem = experiment.problem
    if experiment.continuation or problem.parameters or problem.fields or problem.families:
        return experiment, ()
    thin = thinnest(problem)
    if thin is None or thin.width > _TOO_THIN:
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
