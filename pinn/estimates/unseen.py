"""What the residual does not see: how far an unknown may be off with the residual as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import autograd as T
from pinn.estimates.differences import rms
from pinn.estimates.linearised import Linearised
from pinn.objective.flat_parameters import FlatParameters

# Places at which unknowns are looked at, and random sums over them that stand for all of these.
_PLACES, _SUMS = 1000, 24
# An unknown is not determined where it may be off by this share of its size, and by so many times
# the error that is estimated.
_LARGE, _BEYOND = 1e-3, 1e4


def possible_errors(
    problem: Linearised,
    parameters: FlatParameters,
    names: tuple[str, ...],
    places: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the largest relative L2 error of each output that the residual allows, to first order.

    That is the largest |U p| / |u| of all p with |J p| <= |r|: what the numbers of a linearised
    problem can change the output by (U) while they change the residual by no more than what is
    left of it. The estimate is one of these errors, and how far it is below the largest tells how
    well the problem determines the output. |U p|^2 is that of random sums over the places, which is
    right on average (Johnson and Lindenstrauss, 1984). parameters: those of the problem, whose
    module gives the outputs. places: (n, d). Outputs of no size are left out.
    """
    from scipy.linalg import solve_triangular

    few = places[rng.permutation(len(places))[:_PLACES]]
    like = parameters.tensors[0]
    outputs = parameters.module(T.tensor(few, dtype=like.dtype, device=like.device))
    triangle, allowed = problem.triangle(), float(np.linalg.norm(problem.rows))
    found = {}
    for k, name in enumerate(names):
        output = outputs[:, k]
        size = rms(output.detach().cpu().numpy())
        if not (size > 0 and output.requires_grad):
            continue
        sums = rng.standard_normal((_SUMS, len(few))) / (size * np.sqrt(_SUMS * len(few)))
        slopes = np.stack([problem.scaled(_slope(output, weights, parameters)) for weights in sums])
        seen = solve_triangular(triangle, slopes.T, trans="T", check_finite=False)
        found[name] = allowed * float(np.linalg.norm(seen, 2))
    return found


def undetermined(
    possible: Mapping[str, float], estimated: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield each unknown that the residual does not determine, and by how much it may be off."""
    for name, error in possible.items():
        if error >= _LARGE and error >= _BEYOND * estimated.get(name, np.inf):
            yield name, error


def not_determined(name: str, error: float) -> str:
    """Return a sentence on an unknown that `undetermined` yields."""
    share = f"{error:.1%} of its size" if error < 1 else "all of its size"
    return (
        f"{name} may be off by {share} or more: such an error changes the residual by no more than "
        "what is left of it, so that the equations and conditions do not determine it better"
    )


def at_most(possible: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence on how large errors may be."""
    if possible:
        shown = ", ".join(f"{error:.1e} of {name}" for name, error in possible.items())
        yield (
            f"errors up to {shown} (relative L2) leave the residual as small as it is, larger ones "
            "would be seen"
        )


def _slope(output: T.Tensor, weights: np.ndarray, parameters: FlatParameters) -> np.ndarray:
    """Return the gradient of a weighted sum of an output in all numbers, (size,)."""
    total = (output * T.tensor(weights, dtype=output.dtype, device=output.device)).sum()
    tensors: list[Any] = list(parameters.tensors)
    slopes = T.grad(total, tensors, retain_graph=True, materialize_grads=True)
    return np.concatenate([slope.cpu().numpy().reshape(-1) for slope in slopes])
