"""Where training begins, if not at the model's own random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np

from pinn.objective.flat_parameters import FlatParameters
from pinn.problem import Problem


@runtime_checkable
class Trained(Protocol):
    """What training needs of a solution, which is made of training and so stands above it."""

    @property
    def problem(self) -> Problem: ...

    @property
    def named_theta(self) -> Mapping[str, np.ndarray]: ...


def load_start(
    parameters: FlatParameters,
    start: Trained | Mapping[str, np.ndarray] | np.ndarray,
    problem: Problem,
) -> None:
    """Set the parameters to those of an old solution, of named parts, or of a whole vector.

    A solution has to be of the same model, part by part. Of its coefficients and fields those go on
    that are declared alike in both problems; others begin as they do without it. Raises
    ValueError, naming what does not fit, or TypeError.
    """
    try:
        parameters.load(_theta(parameters, start, problem))
    except ValueError as error:
        remedy = ""
        if isinstance(start, Trained):
            remedy = "; give the model of that solution, model=start.experiment.model"
        raise ValueError(f"start: {error}{remedy}") from error


def _theta(
    parameters: FlatParameters,
    start: Trained | Mapping[str, np.ndarray] | np.ndarray,
    problem: Problem,
) -> np.ndarray:
    if isinstance(start, np.ndarray):
        theta = start
    elif isinstance(start, Mapping):
        theta = parameters.from_named(start)
    elif isinstance(start, Trained):
        old = (*start.problem.parameters, *start.problem.fields)
        own = (*problem.parameters, *problem.fields)
        carried = {"model", *(one.name for one in own if one in old)}
        begun = parameters.named(parameters.theta)
        theta = parameters.from_named(
            {name: part for name, part in begun.items() if _owner(name) not in carried}
            | {n: part for n, part in start.named_theta.items() if _owner(n) in carried}
        )
    else:
        raise TypeError(
            f"start: expected a pinn.Solution, a mapping of its named_theta or a vector, got "
            f"{start!r}"
        )
    bad = np.flatnonzero(~np.isfinite(theta))
    if bad.size:
        raise ValueError(f"expected finite numbers, got {theta[bad[0]]} at place {bad[0]}")
    return theta


def _owner(part: str) -> str:
    return part.partition(".")[0]
