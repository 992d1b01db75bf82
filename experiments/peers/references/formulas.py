"""Formulas that are compared up to a constant."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference


@cache
def beltrami() -> Reference:
    """Beltrami's flow at Re = 1 (Ethier and Steinman, Int. J. Numer. Methods Fluids 19, 1994)."""
    x, y, z = 2 * np.random.default_rng(0).random((3, 5000)) - 1
    # At one time: the pressure is known up to a function of it.
    t = np.full_like(x, 0.5)
    fall = np.exp(-t)

    def component(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return -(np.exp(a) * np.sin(b + c) + np.exp(c) * np.cos(a + b)) * fall

    p = -(fall**2) / 2 * (
        np.exp(2 * x) + np.exp(2 * y) + np.exp(2 * z)
        + 2 * np.sin(x + y) * np.cos(z + x) * np.exp(y + z)
        + 2 * np.sin(y + z) * np.cos(x + y) * np.exp(z + x)
        + 2 * np.sin(z + x) * np.cos(y + z) * np.exp(x + y)
    )  # fmt: skip
    values = {"u": component(x, y, z), "v": component(y, z, x), "w": component(z, x, y), "p": p}
    return Reference({"x": x, "y": y, "z": z, "t": t}, values, 0.0, "formula")
