"""Burgers' equations in the plane, by Fourier series."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.fft import irfft2, rfft2

from experiments.case import Reference, disagreement
from experiments.marching import marched
from experiments.peers.measurements import waves

_NU, _SIDE, _KEPT, _SHOWN = 1e-3, 4.0, 10, 32


@cache
def burgers_plane() -> Reference:
    """u_t + u u_x + v u_y = 0.001 lap u, v alike, periodic on [0, 4]^2, from a sum of waves."""
    coarse, fine = (_table(*sizes) for sizes in ((320, 60), (448, 80)))
    x = _SIDE * np.arange(_SHOWN) / _SHOWN
    t, x, y = np.meshgrid(np.linspace(0, 1, _KEPT + 1), x, x, indexing="ij")
    points = {"x": x.ravel(), "y": y.ravel(), "t": t.ravel()}
    return Reference(
        points, fine, disagreement(coarse, fine), "Fourier series, Runge's method"
    )


def start(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return u and v at t = 0, (2, ...)."""
    size, phase = np.moveaxis(waves().reshape(2, 4, 4, 2, *[1] * x.ndim), 3, 0)
    parts = [
        size[:, i, j] * np.sin(np.pi / 2 * (i * x + j * y) + phase[:, i, j])
        for i in range(4) for j in range(4)
    ]  # fmt: skip
    return sum(parts)


def _table(modes: int, steps: int) -> dict[str, np.ndarray]:
    """Return u and v at some times and places; the classical method, diffusion taken out."""
    x = _SIDE / modes * np.arange(modes)
    along_x = 2 * np.pi / _SIDE * np.fft.fftfreq(modes, 1 / modes)[:, None]
    along_y = 2 * np.pi / _SIDE * np.arange(modes // 2 + 1)
    # Of products of two series a third of the waves would be wrong ones.
    kept = 1.0 * (np.maximum(np.abs(along_x), along_y) < 2 * np.pi / _SIDE * modes / 3)
    h = 1 / steps
    half = np.exp(-_NU * (along_x**2 + along_y**2) * h / 2)

    def rate(a: np.ndarray) -> np.ndarray:
        u, v = irfft2(a, workers=2)
        slopes = irfft2(1j * along_x * a, workers=2), irfft2(1j * along_y * a, workers=2)
        return -kept * rfft2(u * slopes[0] + v * slopes[1], workers=2)

    def step(a: np.ndarray, _: int) -> np.ndarray:
        first = rate(a)
        second = rate(half * (a + h / 2 * first))
        third = rate(half * a + h / 2 * second)
        fourth = rate(half * (half * a + h * third))
        inner = 2 * half * (second + third)
        return half**2 * (a + h / 6 * first) + h / 6 * (inner + fourth)

    begun = rfft2(start(*np.meshgrid(x, x, indexing="ij")))
    rows = np.array([irfft2(a) for a in marched(begun, step, steps, _KEPT)])
    stride = modes // _SHOWN
    shown = rows[:, :, ::stride, ::stride]
    return {"u": shown[:, 0].ravel(), "v": shown[:, 1].ravel()}
