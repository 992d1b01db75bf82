"""RAD: collocation points drawn anew where the residual is large."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pinn.sampling.adaptive import Draw
from pinn.sampling.points import Points


def rad_density(residual: np.ndarray, power: float = 1.0, floor: float = 1.0) -> np.ndarray:
    """Return |r|^power / mean(|r|^power) + floor, the density that points are drawn from, (n,).

    Where a residual is not finite the density is infinite, and the mean is that of the others. A
    residual that vanishes everywhere gives an even density. ValueError for an array that is not one
    number a candidate.

    Wu, Zhu, Tan, Kartha and Lu, Comput. Methods Appl. Mech. Eng. 403 (2023) 115671, equation 2.
    """
    size = np.abs(np.asarray(residual, dtype=np.float64))
    if size.ndim != 1 or not size.size:
        raise ValueError(
            f"RAD: expected one residual for each candidate, shape (n,), got {size.shape}"
        )
    finite = np.isfinite(size)
    density = np.full(size.shape, math.inf)
    largest = size[finite].max(initial=0.0)
    if largest == 0:
        density[finite] = 1.0
        return density
    # By the largest, so that no power overflows; the quotient does not change.
    powers = (size[finite] / largest) ** power
    density[finite] = powers / powers.mean() + floor
    return density


def draw_by_density(density: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n different indices, drawn one after the other in proportion to the density.

    A candidate of infinite density is taken before all others, one of density zero after them. Uses
    one random number for each candidate. ValueError for more indices than candidates.

    Exponential keys: Efraimidis and Spirakis, Inf. Process. Lett. 97 (2006) 181.
    """
    if n > len(density):
        raise ValueError(f"RAD: expected at least {n} candidates to draw from, got {len(density)}")
    waiting = rng.standard_exponential(len(density))
    with np.errstate(divide="ignore"):
        # The first of exponential clocks with these rates rings is the first drawn, and so on.
        keys = waiting / density
    # Stable, so that ties (at zero and infinity) have one order everywhere.
    return np.argsort(keys, kind="stable")[:n]


def rad_rows(
    residuals: Sequence[np.ndarray],
    n: int,
    rng: np.random.Generator,
    power: float = 1.0,
    floor: float = 1.0,
) -> np.ndarray:
    """Return n of the rows of some candidates, (n,), drawn without replacement from `rad_density`.

    residuals: (m,) with m >= n for each equation that holds there; the density is the mean of
    theirs. power 0 draws evenly, floor 0 from the residuals alone. Candidates whose residual is not
    finite are always among the rows: the loss that they make then tells of them. ValueError for
    residuals that do not fit together.
    """
    if len({np.shape(residual) for residual in residuals}) != 1:
        shapes = ", ".join(str(np.shape(residual)) for residual in residuals)
        raise ValueError(f"RAD: expected residuals of one shape (m,), got {shapes or 'none'}")
    density = sum(rad_density(residual, power, floor) for residual in residuals)
    return draw_by_density(density / len(residuals), n, rng)


def rad(draw: Draw) -> Points:
    """Points drawn anew in proportion to the residual and a floor.

    The density is |r|^rad_power / mean(|r|^rad_power) + rad_floor.
    """
    candidates = draw.even(draw.sampling.candidates)
    found, settings = draw.residuals(candidates), draw.sampling
    rows = rad_rows(found, draw.count, draw.rng, settings.rad_power, settings.rad_floor)
    return candidates[rows]
