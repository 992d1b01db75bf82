"""Waves and layers in one dimension of space: Fourier and cosine series, ETDRK4 in time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import dct, idct, irfft, rfft

from experiments.case import Reference, disagreement
from experiments.marching import etdrk4, marched
from experiments.stored import stored

_ROWS = 64  # times at which the tables are compared with, besides the start
_Size = tuple[int, int]
"""Modes and steps."""


@stored
def kdv() -> Reference:
    """u_t + u u_x + 0.022^2 u_xxx = 0, periodic on [-1, 1], u = cos(pi x) at the start, t <= 1.

    Zabusky and Kruskal, Phys. Rev. Lett. 15 (1965) 240.
    """
    return kdv_of((512, 6400), (768, 12800))


def kdv_of(*sizes: _Size) -> Reference:
    """Return the reference of two resolutions, at 128 places."""
    coarse, fine = (kdv_table(modes, steps)[:, :: modes // 128] for modes, steps in sizes)
    return _reference(-1 + 2 * np.arange(128) / 128, coarse, fine, "Fourier series, ETDRK4")


@stored
def allen_cahn() -> Reference:
    """u_t = 1e-4 u_xx + 5 u - 5 u^3, periodic on [-1, 1], u = x^2 cos(pi x) at the start, t <= 1.

    Continued periodically the start has a kink at x = 1, which the steps begin small for.
    """
    return allen_cahn_of((1024, 256), (2048, 512))


def allen_cahn_of(*sizes: _Size) -> Reference:
    """Return the reference of two resolutions, at 513 places."""
    tables = [allen_cahn_table(modes, steps)[:, :: modes // 256] for modes, steps in sizes]
    coarse, fine = (np.concatenate([u[:, :0:-1], u], axis=1) for u in tables)
    return _reference(np.linspace(-1, 1, 513), coarse, fine, "cosine series, ETDRK4")


def _reference(x: np.ndarray, coarse: np.ndarray, fine: np.ndarray, method: str) -> Reference:
    """Return tables of u, (times, x), at even times from 0 to 1 as a reference."""
    t, x = np.meshgrid(np.linspace(0, 1, len(fine)), x, indexing="ij")
    values = {"u": fine.ravel()}
    agreement = disagreement({"u": coarse.ravel()}, values)
    return Reference({"x": x.ravel(), "t": t.ravel()}, values, agreement, method)


def kdv_table(
    modes: int, steps: int, kept: int = _ROWS, end: float = 1.0,
    start: Callable[[np.ndarray], np.ndarray] = lambda x: np.cos(np.pi * x),
) -> np.ndarray:  # fmt: skip
    """Return u at `kept` even times after the start and at x = -1 + 2 j / modes, (times, x)."""
    x = -1 + 2 * np.arange(modes) / modes
    k = np.pi * np.arange(modes // 2 + 1)
    slope = np.where(np.arange(len(k)) < modes / 3, 1j * k, 0)

    def other(a: np.ndarray) -> np.ndarray:
        return -slope / 2 * rfft(irfft(a, modes) ** 2)

    advance = etdrk4(1j * 0.022**2 * k**3, other, end / steps)
    rows = marched(rfft(start(x)), lambda a, _: advance(a), steps, kept)
    return np.array([irfft(a, modes) for a in rows])


def allen_cahn_table(modes: int, steps: int, halvings: int = 16) -> np.ndarray:
    """Return u at 64 even times after the start and at x = j / modes from 0 to 1, (times, x).

    steps: of each of the intervals of time [1/2, 1], [1/4, 1/2] ... (64 of them or a power of 2
    below); the last one, from the start, ends at 2^-halvings.
    """
    x = np.arange(modes + 1) / modes
    linear = -1e-4 * (np.pi * np.arange(modes + 1)) ** 2

    def other(a: np.ndarray) -> np.ndarray:
        u = idct(a, 1)
        return dct(5 * u - 5 * u**3, 1)

    rows = {0.0: x**2 * np.cos(np.pi * x)}
    state, time = 2 * modes * _cosines(modes), 0.0
    for level in range(halvings, -1, -1):
        length = 2.0**-level if level == halvings else 2.0 ** -(level + 1)
        advance = etdrk4(linear, other, length / steps)
        for n in range(1, steps + 1):
            state = advance(state)
            now = time + n * length / steps  # all of them are powers of 2: no rounding
            if now * _ROWS % 1 == 0:
                rows[now] = idct(state, 1)
        time += length
    return np.array(list(rows.values()))


def _cosines(modes: int) -> np.ndarray:
    """Return c of x^2 cos(pi x) = c_0 + sum of c_n cos(n pi x), those of n > 0 halved.

    The integrals of x^2 cos(m pi x) from 0 to 1 are 2 (-1)^m / (m pi)^2, and 1/3 for m = 0.
    """
    m = np.arange(-1, modes + 2)
    with np.errstate(divide="ignore"):
        integral = np.where(m == 0, 1 / 3, 2 * (-1.0) ** m / (m * np.pi) ** 2)
    return (integral[2:] + integral[:-2]) / 2
