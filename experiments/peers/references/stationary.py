"""The stationary problems in the plane that have no formula."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference
from experiments.peers.references.plane import Region, agreed, elliptic, flow, scattering


def _square(half: float) -> list[tuple[float, float]]:
    return [(-half, -half), (half, -half), (half, half), (-half, half)]


@cache
def l_shape() -> Reference:
    """-lap u = 1, u = 0 on the boundary; the mesh follows r^(2/3) into the corner."""
    corners = [(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)]
    region = Region(corners, fine={(0, 0): 1e-4})
    return agreed(region, (0.04, 0.02), elliptic(source=1.0, fixed=lambda _, x: 0 * x[0]))


@cache
def four_holes() -> Reference:
    """lap u = 0, 1 on the sides and 0 on the circles."""
    region = Region(_square(0.5), [(a, b, 0.1) for a in (0.3, -0.3) for b in (0.3, -0.3)])
    return agreed(region, (0.02, 0.01), elliptic(fixed=lambda r, x: np.where(r.on_hole(x), 0., 1.)))


@cache
def poisson_boltzmann() -> Reference:
    """-lap u + 64 u = f, 0.2 on the sides and 1 on the circles."""
    holes = [(0.5, 0.5, 0.2), (0.4, -0.4, 0.4), (-0.2, -0.7, 0.1), (-0.6, 0.5, 0.3)]

    def source(x):
        return 10 * (17 + x[0]**2 + x[1]**2) * np.sin(np.pi * x[0]) * np.sin(4 * np.pi * x[1])

    solver = elliptic(64.0, source, lambda r, x: np.where(r.on_hole(x), 1.0, 0.2))
    return agreed(Region(_square(1.0), holes), (0.04, 0.02), solver)


@cache
def scattered_wave() -> Reference:
    """The wave that a disk scatters in a box whose sides let it out to first order."""
    region = Region(_square(np.pi), [(0, 0, np.pi / 4)])
    return agreed(region, (0.15, 0.075), scattering(2.0, np.pi / 4))


@cache
def cavity() -> Reference:
    """The lid-driven cavity, nu = 1/100, u = 4 x (1 - x) on the lid; p = 0 at the origin."""

    def velocity(x):
        return np.where(x[1] > 1 - 1e-9, 4 * x[0] * (1 - x[0]), 0.0), 0 * x[0]

    region = Region([(0, 0), (1, 0), (1, 1), (0, 1)], fine={(0, 1): 0.001, (1, 1): 0.001})
    return agreed(region, (0.016, 0.008), flow(0.01, velocity, pin=True))


@cache
def backward_step() -> Reference:
    """Flow over a step, nu = 1/100; u = 4 y (1 - y) comes in and leaves without traction."""

    def velocity(x):
        u = np.where(x[0] < 1e-9, 4 * x[1] * (1 - x[1]), 0.0)
        leaving = (x[0] > 4 - 1e-9) & (x[1] > 1e-9) & (x[1] < 2 - 1e-9)
        return np.where(leaving, np.nan, u), np.where(leaving, np.nan, 0 * u)

    corners = [(0, 0), (4, 0), (4, 2), (2, 2), (2, 1), (0, 1)]
    region = Region(corners, fine={(2, 1): 0.002, (2, 2): 0.02, (0, 1): 0.02})
    return agreed(region, (0.08, 0.04), flow(0.01, velocity))


@cache
def channel_two_disks() -> Reference:
    """Slow flow around two disks, nu = 1; u = y (8 - y) / 16 comes in, no traction out."""
    holes = [(6, 6, 1.0), (2, 1, 0.5)]

    def velocity(x):
        u = np.where(x[0] < 1e-9, x[1] * (8 - x[1]) / 16, 0.0)
        leaving = (x[0] > 8 - 1e-9) & (x[1] > 1e-9) & (x[1] < 8 - 1e-9)
        return np.where(leaving, np.nan, u), np.where(leaving, np.nan, 0 * u)

    region = Region([(0, 0), (8, 0), (8, 8), (0, 8)], holes)
    return agreed(region, (0.16, 0.08), flow(1.0, velocity))
