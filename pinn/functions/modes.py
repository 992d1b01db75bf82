"""The modes of a random field on an interval: what its covariance is made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

# Nodes of the quadrature for each length of correlation, and at least; more than these are refused.
_NODES, _LEAST_NODES, _MOST_NODES = 8, 64, 2000
# Points of a period that a covariance is looked at.
_PERIOD = 1024
# Nodes of the cubic splines for each length of correlation: they are then right to 1e-9.
_SPLINE = 80
# A mode is waves of some tenth of the length at most: those of the least variance that counts.
_LEAST_SHARE = 1e-14


class Modes(NamedTuple):
    """The modes of a field of deviation 1 on an interval, those of the most variance first.

    variances: (k,), which add up to the width of the interval, but for modes that are left out.
    nodes, weights: (n,), of a quadrature on it. values: (k, n), of the modes there, orthonormal.
    waves: of a periodic field what each mode is, (number of waves, whether it is a cosine); None.
    """

    variances: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    waves: list[tuple[int, bool]] | None = None

    def at(self, k: int, x: np.ndarray, low: float, high: float) -> np.ndarray:
        """Return a mode of a field that is not periodic at places in the interval."""
        n = len(self.nodes)
        t = (2 * self.nodes - low - high) / (high - low)
        basis = legendre.legvander(t, n - 1)
        sizes = (2 * np.arange(n) + 1) / (high - low)
        series = sizes * (basis.T @ (self.weights * self.values[k]))
        return legendre.legval((2 * x - low - high) / (high - low), series)


def takes_too_many(low: float, high: float, length: float) -> bool:
    """Return whether an interval is too many lengths wide for a quadrature."""
    return _NODES * (high - low) > _MOST_NODES * length


def modes_of(low: float, high: float, length: float) -> Modes:
    """Return the modes of the covariance exp(-|x - x'|^2 / (2 length^2)) on an interval.

    Its eigenfunctions, by Gauss's quadrature (Nystrom's method). Those whose variance is rounding
    are left out.
    """
    n = max(_LEAST_NODES, math.ceil(_NODES * (high - low) / length))
    t, w = legendre.leggauss(n)
    nodes, weights = low + (high - low) * (t + 1) / 2, w * (high - low) / 2
    root = np.sqrt(weights)
    covariance = np.exp(-((nodes[:, None] - nodes) ** 2) / (2 * length**2))
    variances, vectors = np.linalg.eigh(root[:, None] * covariance * root)
    kept = np.flatnonzero(variances > _LEAST_SHARE * variances[-1])[::-1]
    values = (vectors[:, kept] / root[:, None]).T
    values *= np.where(values[:, -1:] < 0, -1.0, 1.0)  # a sign that no machine chooses
    return Modes(variances[kept], nodes, weights, values)


def periodic_modes_of(low: float, high: float, length: float) -> Modes:
    """Return the same for a field of this period: waves, by the chord as the distance.

    The covariance is exp(-chord^2 / (2 length^2)) with chord = (L/pi) sin(pi |x - x'| / L).
    """
    width = high - low
    steps = np.arange(_PERIOD) / _PERIOD
    chord = width / math.pi * np.sin(math.pi * steps)
    found = np.fft.rfft(np.exp(-(chord**2) / (2 * length**2))).real * (width / _PERIOD)
    kept = [k for k in range(_PERIOD // 4) if found[k] > _LEAST_SHARE * found[0]]
    waves = [(k, cosine) for k in kept for cosine in ((True, False) if k else (True,))]
    nodes = low + width * steps
    angles = 2 * math.pi * steps
    values = [
        math.sqrt((2 if k else 1) / width) * (np.cos if cosine else np.sin)(k * angles)
        for k, cosine in waves
    ]
    variances = np.array([found[k] for k, _ in waves])
    weights = np.full(_PERIOD, width / _PERIOD)
    return Modes(variances, nodes, weights, np.array(values), waves)


def chosen(
    along: Sequence[Modes], count: int | None, share: float
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return which modes of each coordinate make those of all, and the roots of their variances.

    Of a product of covariances modes are products. count: how many; None: as many as leave out
    less than `share` of the variance.
    """
    ranges = [range(len(one.variances)) for one in along]
    if len(along) > 1:  # of a product of two the k-th of one needs k of the others
        ranges = [range(min(len(one), 64)) for one in ranges]
    numbers = list(itertools.product(*ranges))
    variances = np.array([
        math.prod(one.variances[k] for one, k in zip(along, number, strict=True))
        for number in numbers
    ])  # fmt: skip
    order = np.argsort(-variances, kind="stable")
    if count is None:
        total = math.prod(float(one.weights.sum()) for one in along)
        left = 1 - np.cumsum(variances[order]) / total
        count = int(np.argmax(left < share)) + 1 if (left < share).any() else len(order)
    order = order[:count]
    return [numbers[k] for k in order], np.sqrt(variances[order])


def spline_nodes(low: float, high: float, length: float) -> np.ndarray:
    """Return where splines through modes have their nodes."""
    return np.linspace(low, high, max(201, math.ceil(_SPLINE * (high - low) / length) + 1))
