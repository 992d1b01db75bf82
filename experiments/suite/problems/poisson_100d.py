"""Poisson's equation in a hundred dimensions, lap u = 200 in the unit cube with u = |x|^2."""

from __future__ import annotations

from math import prod

import pinn

_COORDINATES = [f"x{i + 1}" for i in range(100)]
_SQUARES = " + ".join(f"{name}**2" for name in _COORDINATES)

PROBLEM = pinn.Problem(
    domain=prod((pinn.Interval(name, 0, 1) for name in _COORDINATES[1:]),
                start=pinn.Interval(_COORDINATES[0], 0, 1)),
    unknowns=["u"], equations={"poisson": "laplacian(u)/200 - 1"},
    conditions=[pinn.Dirichlet("u", _SQUARES)], name="poisson_100d",
)


def solve(seconds: float, seed: int) -> pinn.Solution:
    """Fit features of one coordinate each, about as large as the values, 33 in the mean.

    A sum of functions of one coordinate is the most that some hundred features can be in a hundred
    dimensions; that it is enough here is what the loss on fresh points says.
    """
    model = pinn.RandomFeatures(width=1000, steepness=(0.1, 1), interaction=1, scale={"u": 33})
    sampling = pinn.Sampling(1000, boundary=2000)
    training = [pinn.GaussNewton(cutoff=1e-14)]
    return pinn.solve(
        PROBLEM, model, sampling, training, seconds=seconds, seed=seed, error_bars=False
    )  # estimated after the time that is measured
