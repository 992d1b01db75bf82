"""Ordinary equations, by scipy's integrators at their finest tolerance."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from scipy.integrate import solve_ivp

from experiments import newcomer_references as orbits
from experiments.case import Reference, disagreement

START, END = np.log(1e-5), np.log(1e5)
_COARSE, _FINE = 1e-10, 1e-13


@cache
def lotka_volterra() -> Reference:
    """x' = 2/3 x - 4/3 x y, y' = x y - y, both 1 at t = 0, up to t = 10."""
    t = np.linspace(0, 10, 1001)
    return _reference("t", t, "xy", (orbits.lotka_volterra(tol)(t) for tol in (_COARSE, _FINE)))


@cache
def van_der_pol() -> Reference:
    """u'' = 5 (1 - u^2) u' - u, u = 2 and u' = 0 at t = 0, up to t = 12."""
    t = np.linspace(0, 12, 1201)
    tables = (orbits.van_der_pol(tol, 5.0, 12.0)(t)[:1] for tol in (_COARSE, _FINE))
    return _reference("t", t, "u", tables)


@cache
def robertson() -> Reference:
    """Robertson's reactions over log t, as `robertson_orbit` has them."""
    s = np.linspace(START, END, 1001)
    tables = (robertson_orbit(tol)(s) for tol in (_COARSE, _FINE))
    return _reference("s", s, "abc", tables, "Radau")


def _reference(time, t, names, tables, method="DOP853") -> Reference:
    coarse, fine = (dict(zip(names, table, strict=True)) for table in tables)
    return Reference({time: t}, fine, disagreement(coarse, fine), method)


@lru_cache
def robertson_orbit(rtol: float = 1e-13) -> Callable[[np.ndarray], np.ndarray]:
    """Return log t -> (a, b, c), (3, n), from (1, 0, 0) at t = 1e-5 to t = 1e5.

    a' = -0.04 a + b c, b' = 400 a - 1e4 b c - 3000 b^2, c' = 0.3 b^2, where b is 1e4 times the
    intermediate substance (Robertson, Numerical Analysis: An Introduction (1966) 178). By an
    implicit Runge-Kutta method of order 5.
    """
    found = solve_ivp(
        rate, (START, END), (1.0, 0.0, 0.0), method="Radau", jac=_slopes, rtol=rtol,
        atol=rtol / 10, dense_output=True,
    )  # fmt: skip
    if not found.success:
        raise RuntimeError(f"scipy's Radau: {found.message}")
    return lambda s: found.sol(np.ravel(s)).reshape(3, *np.shape(s))


def rate(s: float, state: np.ndarray) -> np.ndarray:
    """Return the derivatives of a, b and c in s = log t."""
    a, b, c = state
    return np.exp(s) * np.array(
        [-0.04 * a + b * c, 400 * a - 1e4 * b * c - 3000 * b**2, 0.3 * b**2]
    )


def _slopes(s: float, state: np.ndarray) -> np.ndarray:
    _, b, c = state
    return np.exp(s) * np.array(
        [[-0.04, c, b], [400, -1e4 * c - 6000 * b, -1e4 * b], [0, 0.6 * b, 0]]
    )
