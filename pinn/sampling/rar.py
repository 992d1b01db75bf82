"""RAR: points are added where the residual is large, and those there are stay."""

from __future__ import annotations

import numpy as np

from pinn.sampling.adaptive import Draw
from pinn.sampling.points import Points
from pinn.sampling.rad import draw_by_density, rad_density


def rar_d(draw: Draw) -> Points:
    """`added` points more, drawn in proportion to the residual and a floor, up to `most` in all.

    RAR-D of Wu, Zhu, Tan, Kartha and Lu, Comput. Methods Appl. Mech. Eng. 403 (2023) 115671,
    algorithm 3, with the density of RAD.
    """

    def rows(residuals: list[np.ndarray], n: int) -> np.ndarray:
        power, floor = draw.sampling.rad_power, draw.sampling.rad_floor
        density = sum(rad_density(residual, power, floor) for residual in residuals)
        return draw_by_density(density, n, draw.rng)

    return _more(draw, rows)


def rar_g(draw: Draw) -> Points:
    """`added` points more, those with the largest residual, up to `most` in all.

    RAR-G of Wu, Zhu, Tan, Kartha and Lu, algorithm 1; Lu, Meng, Mao and Karniadakis, SIAM Rev. 63
    (2021) 208, section 2.8.
    """

    def rows(residuals: list[np.ndarray], n: int) -> np.ndarray:
        size = sum(rad_density(residual, 1.0, 0.0) for residual in residuals)
        return np.argsort(-size, kind="stable")[:n]

    return _more(draw, rows)


def _more(draw: Draw, rows) -> Points:
    """Return the points there are and the rows chosen of some candidates."""
    n = min(draw.sampling.added, draw.sampling.most - len(draw.present))
    if n <= 0:
        return draw.present
    candidates = draw.even(draw.sampling.candidates)
    chosen = candidates[rows(list(draw.residuals(candidates)), n)]
    return Points.joined([draw.present, chosen])
