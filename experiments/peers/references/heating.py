"""Heat in the plane, by finite elements."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference, disagreement
from experiments.peers.references.plane import Region, heat


@cache
def heat_holes() -> Reference:
    """u_t = lap u; dn(u) = 5 - u on large circles, 1 - u on small ones, 0.1 - u on the sides."""
    large = [(sx * 4.0, y, 1.0) for sx in (1, -1) for y in (3.0, -3.0, 9.0, -9.0)]
    large += [(0.0, 0.0, 1.0), (0.0, 6.0, 1.0), (0.0, -6.0, 1.0)]
    small = [(sx * 3.2, y, 0.4) for sx in (1, -1) for y in (6.0, -6.0, 0.0)]
    corners = [(-8, -12), (8, -12), (8, 12), (-8, 12)]
    region = Region(corners, large + small)

    def robin(_: Region, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flux = np.where(Region(corners, large).on_hole(x), 5.0, 0.1)
        return np.ones_like(flux), np.where(Region(corners, small).on_hole(x), 1.0, flux)

    points, kept = region.points(n=1000), 12
    coarse, fine = (
        {"u": heat(3.0, steps, kept, robin)(region.finer(0.6 / size), size, points).ravel()}
        for steps, size in ((30, 0.8), (60, 0.4))
    )
    times = np.repeat(3.0 * np.arange(1, kept + 1) / kept, len(points))
    x, y = np.tile(points, (kept, 1)).T
    columns = {"x": x, "y": y, "t": times}
    return Reference(columns, fine, disagreement(coarse, fine), "quadratic finite elements, DIRK")
