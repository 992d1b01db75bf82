"""What the residual does not see: how far an unknown may be off with the residual as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import autograd as T
from pinn.estimates.differences import size_of
from pinn.estimates.linearised import Linearised
from pinn.objective.flat_parameters import FlatParameters

# Places at which unknowns are looked at, and random sums over them that stand for all of these.
_PLACES, _SUMS = 1000, 24
# What a column of norm 1 counts by itself: next to nothing, and more where p fits rows alone.
_TINY = (1e-13, 1e-10, 1e-7, 1e-4)
# An unknown is not determined where it may be off by this share of its size, and by so many times
# an error that is estimated to be small.
_LARGE, _BEYOND, _SMALL = 1e-3, 1e4, 1e-2
# An error of all of an unknown and more is told of as that: to first order its number says nothing.
_ALL = 1.0


def possible_errors(
    problem: Linearised,
    parameters: FlatParameters,
    places: Mapping[str, np.ndarray],
    sizes: Mapping[str, float],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the largest relative L2 error of each output that the residual allows, to first order.

    That is the largest |U p| / |u| of all p with |J p| <= |r|: what the numbers of a linearised
    problem can change the output by (U) while they change the residual by no more than what is
    left of it. The estimate is one of these errors, and how far it is below the largest tells how
    well the problem determines the output. |U p|^2 is that of random sums over the places, which is
    right on average (Johnson and Lindenstrauss, 1984). A p of huge numbers may change the residual
    between the rows alone: where rows that took no part see that, smaller p are looked at, and of
    the smallest they count as well. parameters: those of the problem, whose module gives the
    outputs in this order. places: (n, d) of each output by name. sizes: natural ones, which count
    where an output vanishes (differences.size_of). Outputs of no size are left out.
    """
    from scipy.linalg import solve_triangular

    slopes = dict(slopes_of_outputs(problem, parameters, places, sizes, rng))
    allowed, found = float(np.linalg.norm(problem.rows)), {}
    for tiny in _TINY:
        triangle = problem.triangle(tiny)
        for name in [name for name in slopes if name not in found]:
            seen = solve_triangular(triangle, slopes[name].T, trans="T", check_finite=False)
            p = solve_triangular(triangle, _longest(seen), check_finite=False)
            fitted, apart = problem.changes(p)
            # |J p|^2 + |tiny p|^2 is 1 in the rows of the fit
            if apart <= 1 or tiny == _TINY[-1]:
                changed = max(np.hypot(fitted, apart), tiny * np.linalg.norm(p))
                found[name] = float(allowed * np.linalg.norm(slopes[name] @ p) / changed)
        if len(found) == len(slopes):
            break
    return found


def undetermined(
    possible: Mapping[str, float], estimated: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield each unknown that the residual does not determine, and by how much it may be off."""
    for name, error in possible.items():
        said = estimated.get(name, np.inf)
        if is_large(error) and error >= _BEYOND * said and said < _SMALL:
            yield name, error


def is_large(error: float) -> bool:
    """Whether an error is so large that an unknown may not be determined."""
    return error >= _LARGE


def not_determined(name: str, error: float) -> str:
    """Return a sentence on an unknown that `undetermined` yields."""
    share = f"{error:.1%} of its size" if error < 1 else "all of its size"
    return (
        f"{name} may be off by {share} or more: such an error changes the residual by no more than "
        "what is left of it, so that the equations and conditions do not determine it better"
    )


def at_most(
    possible: Mapping[str, float], estimated: Mapping[str, float], explained: bool
) -> Iterator[str]:
    """Yield sentences on how large errors may be.

    explained: whether the estimate explains the residual. Where it does not, much of that comes
    from errors of other kinds than were looked for, and there `possible` is no bound; nor is it one
    of an error that is estimated to be larger.
    """
    open_ended = [name for name, error in possible.items() if not error < _ALL]
    bounded = {
        name: error for name, error in possible.items()
        if error < _ALL and not error < estimated.get(name, 0.0)
    }  # fmt: skip
    if bounded:
        shown = ", ".join(f"{error:.1e} of {name}" for name, error in bounded.items())
        yield f"errors up to {shown} (relative L2) leave the residual as small as it is, " + (
            "larger ones would be seen" if explained
            else "and larger ones of a kind that was not looked for may as well"
        )  # fmt: skip
    if open_ended:
        yield (
            f"how far {', '.join(open_ended)} may be off is not told: an error as large as "
            f"{'each' if len(open_ended) > 1 else open_ended[0]} itself leaves the residual as "
            "small as it is"
        )


def _longest(columns: np.ndarray) -> np.ndarray:
    """Return the direction in which some columns (P, k) are longest, of length 1."""
    return np.linalg.svd(columns, full_matrices=False)[0][:, 0]


def slopes_of_outputs(
    problem: Linearised,
    parameters: FlatParameters,
    places: Mapping[str, np.ndarray],
    sizes: Mapping[str, float],
    rng: np.random.Generator,
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each output with the slopes of random sums of it over places, (sums, P).

    Their squares add up to the square of its relative change on average.
    """
    like = parameters.tensors[0]
    for k, (name, all_places) in enumerate(places.items()):
        few = all_places[rng.permutation(len(all_places))[:_PLACES]]
        output = parameters.module(T.tensor(few, dtype=like.dtype, device=like.device))[:, k]
        values = output.detach().cpu().numpy()
        size = size_of(values, sizes.get(name, 0.0)) if len(few) else 0.0
        if size > 0 and output.requires_grad:
            sums = rng.standard_normal((_SUMS, len(few))) / (size * np.sqrt(_SUMS * len(few)))
            yield name, np.stack([problem.scaled(_slope(output, w, parameters)) for w in sums])


def _slope(output: T.Tensor, weights: np.ndarray, parameters: FlatParameters) -> np.ndarray:
    """Return the gradient of a weighted sum of an output in all numbers, (size,)."""
    total = (output * T.tensor(weights, dtype=output.dtype, device=output.device)).sum()
    tensors: list[Any] = list(parameters.tensors)
    slopes = T.grad(total, tensors, retain_graph=True, materialize_grads=True)
    return np.concatenate([slope.cpu().numpy().reshape(-1) for slope in slopes])
