"""Rows of data by which a fit is judged: without the outliers that a robust one leaves aside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pinn.residuals.residual import Residual

# Beyond this share they are no outliers: all rows are judged.
_MOST_OUTLIERS = 0.25
# How many sets of data without outliers have a row that is taken for one.
_SELDOM = 0.01


@dataclass(frozen=True)
class Judged:
    """Rows by which the fit of data is judged.

    rows      (m,), in the units of the noise that the source states
    variance  of such a row where its noise is normal with variance 1
    spread    the variance of its square then
    left_out  how many others there are, beyond the threshold of a robust fit
    outliers  how many of those lie so far off as noise brings a row in one of a hundred such sets
    """

    rows: np.ndarray
    variance: float = 1.0
    spread: float = 2.0
    left_out: int = 0
    outliers: int = 0

    @property
    def rms(self) -> float:
        """How large the noise of the rows is, by those that are judged."""
        return float(np.sqrt(np.mean(self.rows**2) / self.variance))

    def most_of_noise(self, noise: float, deviations: float) -> float:
        """Return the largest square of `rms` that noise of a size brings.

        deviations: of such squares, in whose units it lies above the one that is expected.
        """
        return noise**2 * (1 + deviations * math.sqrt(self.spread / len(self.rows)))


def judged(residual: Residual, rows: np.ndarray) -> Judged:
    """Return the rows, (n,) as `residual.evaluate` gives them, by which a fit is judged.

    Of a robust fit those within its threshold k: normal noise that is cut off there has a smaller
    variance, 1 - 2 k phi(k)/P with P the share within. All of them, as differences and not as the
    roots of Huber's loss, where more lie beyond than noise and a quarter of outliers would bring.
    """
    if residual.huber is None:
        return Judged(rows)
    k = residual.huber
    edge = k * (residual.source.noise or 1.0)
    within = np.abs(rows) <= edge
    # h^2 = 2 k |r| - k^2 beyond k
    sizes = np.where(within, np.abs(rows), (rows**2 + edge**2) / (2 * edge))
    share = math.erf(k / math.sqrt(2))
    if np.mean(within) < (1 - _MOST_OUTLIERS) * share:
        return Judged(np.sign(rows) * sizes)
    density = 2 * math.exp(-(k**2) / 2) / math.sqrt(2 * math.pi) / share
    variance = 1 - k * density
    fourth = 3 - (k**3 + 3 * k) * density
    far = NormalDist().inv_cdf(1 - _SELDOM / (2 * len(rows))) * edge / k
    return Judged(
        rows[within], variance, fourth / variance**2 - 1,
        left_out=int(np.count_nonzero(~within)),
        outliers=int(np.count_nonzero(sizes > max(far, edge))),
    )  # fmt: skip
