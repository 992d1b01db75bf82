"""A run whose equations outweigh data with noise, which a network would follow in their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pinn.equations.leaves import Column
from pinn.objective.weighting import Discrepancy, Fixed
from pinn.objective.weighting.discrepancy import has_told_noise
from pinn.problem import Problem
from pinn.training.course import Decision
from pinn.training.experiment import Experiment

# Noise below this share of what the data vary by bends no equation that holds as well.
_LITTLE = 1e-3


def outweighing_noise(
    experiment: Experiment, asked: Experiment
) -> tuple[Experiment, tuple[Decision, ...]]:
    """Return a run whose equations grow heavier than data with noise, and why, where there are any.

    asked: the run as it was asked for. Weights that are given, by number or by a scheme, stay as
    they are, and so does the loss where a target is given, and the plan of a network that is linear
    in what is trained. docs/decisions/0066.
    """
    if asked.weighting != Fixed() or asked.target is not None or not experiment.problem.equations:
        return experiment, ()
    if getattr(experiment.model, "linear", False):
        return experiment, ()
    shares = {name: share for name, share in _noise(experiment.problem).items() if share > _LITTLE}
    if not shares:
        return experiment, ()
    noise = ", ".join(f"{share:.1g} of {name}" for name, share in shares.items())
    decision = Decision(
        0, "weights: equations and conditions grow heavier while the data lie within their noise",
        f"noise makes up {noise}, by what is said of its size, and equations are exact",
    )  # fmt: skip
    weighting = Discrepancy(blocks=experiment.weighting.blocks)
    return replace(experiment, weighting=weighting), (decision,)


def _noise(problem: Problem) -> dict[str, float]:
    """Return the told noise of each block of data, as a share of what its values vary by."""
    found = {}
    for residual in problem.residuals:
        if has_told_noise(residual) and residual.right is not None:
            source, right = residual.source, residual.right
            if isinstance(right.tree, Column):
                spread = float(np.std(source.measured(right.tree.name)))
                if spread > 0:
                    found[residual.name] = source.noise / spread
    return found
