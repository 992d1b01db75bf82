"""Steps in time of the references that are computed in time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def etdrk4(linear: np.ndarray, other: Callable, h: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return one step of a' = linear * a + other(a).

    linear: real or complex, (n,). The coefficients are contour integrals: Kassam and Trefethen,
    SIAM J. Sci. Comput. 26 (2005) 1214.
    """
    circle = np.exp(2j * np.pi * (np.arange(64) + 0.5) / 64)
    is_real = not np.iscomplexobj(linear)  # the lower half then has the conjugates of the upper
    z = h * linear[:, None] + (circle[:32] if is_real else circle)
    whole, half = np.exp(h * linear), np.exp(h * linear / 2)

    def mean(values: np.ndarray) -> np.ndarray:
        found = h * np.mean(values, axis=1)
        return found.real if is_real else found

    middle = mean((np.exp(z / 2) - 1) / z)
    first = mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3)
    second = mean((2 + z + np.exp(z) * (z - 2)) / z**3)
    third = mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3)

    def step(a: np.ndarray) -> np.ndarray:
        at_a = other(a)
        b = half * a + middle * at_a
        at_b = other(b)
        c = half * a + middle * at_b
        at_c = other(c)
        d = half * b + middle * (2 * at_c - at_a)
        return whole * a + first * at_a + 2 * second * (at_b + at_c) + third * other(d)

    return step


def split_step(length: float, modes: int, step: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return one step of order 4 of i h_t + h_xx / 2 + |h|^2 h = 0, periodic, values to values.

    Source: Yoshida, Phys. Lett. A 150 (1990) 262.
    """
    k = 2 * np.pi * np.fft.fftfreq(modes, length / modes)
    outer = 1 / (2 - 2 ** (1 / 3))
    parts = [w * step for w in (outer, 1 - 2 * outer, outer)]
    moves = [np.exp(-0.5j * k**2 * part) for part in parts]

    def advance(h: np.ndarray) -> np.ndarray:
        for part, move in zip(parts, moves, strict=True):
            h = h * np.exp(0.5j * part * np.abs(h) ** 2)
            h = np.fft.ifft(move * np.fft.fft(h))
            h = h * np.exp(0.5j * part * np.abs(h) ** 2)
        return h

    return advance


def marched(
    start: np.ndarray, step: Callable[[np.ndarray, int], np.ndarray], steps: int, kept: int
) -> list[np.ndarray]:
    """Return the state at the start and at `kept` equal times."""
    state, rows = start, [start]
    for n in range(1, steps + 1):
        state = step(state, n)
        if n % (steps // kept) == 0:
            rows.append(state)
    return rows
