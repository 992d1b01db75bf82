"""R3: points of large residual are retained, the others released and drawn anew."""

from __future__ import annotations

import numpy as np

from pinn.sampling.adaptive import Draw
from pinn.sampling.points import Points


def r3(draw: Draw) -> Points:
    """Points stay where |r| is above its mean; the others are drawn anew, evenly.

    Of several equations the mean of |r| / mean(|r|) counts. A point whose residual is not finite
    stays: the loss that it makes tells of it.

    Daw, Bu, Wang, Perdikaris and Karpatne, ICML 2023 (arXiv 2207.02338), algorithm 1.
    """
    fitness = np.mean([_relative(residual) for residual in draw.residuals(draw.present)], axis=0)
    finite = fitness[np.isfinite(fitness)]
    retained = ~(fitness <= (finite.mean() if finite.size else 0.0))
    stay = draw.present[np.flatnonzero(retained)[: draw.count]]
    missing = draw.count - len(stay)
    return Points.joined([stay, draw.even(missing)])[: draw.count] if missing else stay


def _relative(residual: np.ndarray) -> np.ndarray:
    """Return |r| / mean(|r|), the mean over the finite ones; zeros where it vanishes."""
    size = np.abs(np.asarray(residual, dtype=np.float64))
    finite = np.isfinite(size)
    mean = size[finite].mean() if finite.any() else 1.0
    with np.errstate(invalid="ignore"):
        return size / (mean or 1.0)
