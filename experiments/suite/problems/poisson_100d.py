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
    """Train the network that is about as large as the values, which are 33 in the mean."""
    model = pinn.MLP(width=20, depth=3, scale={"u": 33})
    return pinn.solve(PROBLEM, model, pinn.Sampling(1000), seconds=seconds, seed=seed)
