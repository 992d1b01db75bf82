"""Fields that the inverse problems are to find."""

from __future__ import annotations

from functools import cache

import numpy as np

from experiments.case import Reference
from experiments.peers.measurements import reaction, reaction_rate, vortices

_POINTS = 2000


@cache
def reaction_field() -> Reference:
    """u and k of 0.01 u'' - k u = sin(2 pi x)."""
    x = np.linspace(0, 1, 501)
    return Reference({"x": x}, {"u": reaction(x), "k": reaction_rate(x)}, 0.0, "collocation")


@cache
def source() -> Reference:
    """u = sin(pi x) and its second derivative."""
    x = np.linspace(-1, 1, 501)
    u = np.sin(np.pi * x)
    return Reference({"x": x}, {"u": u, "q": -np.pi**2 * u}, 0.0, "formula")


@cache
def drifting_vortices() -> Reference:
    """Decaying vortices at one time; the pressure is known up to a function of it."""
    rng = np.random.default_rng(1)
    x, y = 1 + 7 * rng.random(_POINTS), 4 * rng.random(_POINTS) - 2
    t = np.full(_POINTS, 3.5)
    return Reference({"x": x, "y": y, "t": t}, vortices(x, y, t), 0.0, "formula")


@cache
def conductivity() -> Reference:
    """u = sin(pi x) sin(pi y) and a = 1 / (1 + x^2 + y^2 + (x - 1)^2 + (y - 1)^2)."""
    x, y = np.random.default_rng(1).random((2, _POINTS))
    a = 1 / (1 + x**2 + y**2 + (x - 1) ** 2 + (y - 1) ** 2)
    values = {"u": np.sin(np.pi * x) * np.sin(np.pi * y), "a": a}
    return Reference({"x": x, "y": y}, values, 0.0, "formula")


@cache
def conductivity_in_time() -> Reference:
    """u = exp(-t) s and a = 2 + s with s = sin(pi x) sin(pi y)."""
    rng = np.random.default_rng(1)
    x, y = 2 * rng.random((2, _POINTS)) - 1
    t = rng.random(_POINTS)
    s = np.sin(np.pi * x) * np.sin(np.pi * y)
    values = {"u": np.exp(-t) * s, "a": 2 + s}
    return Reference({"x": x, "y": y, "t": t}, values, 0.0, "formula")


@cache
def nothing() -> Reference:
    """Nothing: the coefficients alone are compared."""
    return Reference({}, {}, 0.0, "coefficients")
