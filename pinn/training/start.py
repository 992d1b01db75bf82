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
    parameters: FlatParameters, start: Trained | Mapping[str, np.ndarray] | np.ndarray
) -> None:
    """Set the parameters to those of an old solution, of named parts, or of a whole vector.

    A solution has to be of the same model, part by part. Of its coefficients those go on that are
    declared alike in both problems; others begin at their `initial`. Raises ValueError, naming what
    does not fit, or TypeError.
    """
    try:
        parameters.load(_theta(parameters, start))
    except ValueError as error:
        raise ValueError(f"start: {error}") from error


def _theta(
    parameters: FlatParameters, start: Trained | Mapping[str, np.ndarray] | np.ndarray
) -> np.ndarray:
    if isinstance(start, np.ndarray):
        theta = start
    elif isinstance(start, Mapping):
        theta = parameters.from_named(start)
    elif isinstance(start, Trained):
        old, own = set(start.problem.parameters), set(parameters.parameters)
        dropped = {p.name for p in old - own}
        parts = {name: part for name, part in start.named_theta.items() if name not in dropped}
        begun = parameters.named(parameters.theta)
        theta = parameters.from_named({p.name: begun[p.name] for p in own - old} | parts)
    else:
        raise TypeError(
            f"start: expected a pinn.Solution, a mapping of its named_theta or a vector, got "
            f"{start!r}"
        )
    bad = np.flatnonzero(~np.isfinite(theta))
    if bad.size:
        raise ValueError(f"expected finite numbers, got {theta[bad[0]]} at place {bad[0]}")
    return theta
