"""Solutions to compare with, computed by methods that have nothing to do with networks.

Each is a function of a resolution, so that two of them can be compared, and returns a function of
numpy arrays of the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.fft import dst, idst
from scipy.integrate import solve_ivp
from scipy.interpolate import RectBivariateSpline

from experiments.marching import etdrk4, split_step

Field = Callable[..., np.ndarray]
"""(x, t) or (t) -> values of the broadcast shape."""

# A spline of this degree between the points of a table is finer than the tables' own errors.
_DEGREE = 5


@lru_cache
def lotka_volterra(rtol: float = 1e-13) -> Callable[[np.ndarray], np.ndarray]:
    """Return t -> (prey, predators), (2, n), of x' = 2/3 x - 4/3 x y, y' = x y - y, both 1 at 0."""
    return _orbit(lambda t, s: (2 / 3 * s[0] - 4 / 3 * s[0] * s[1], s[0] * s[1] - s[1]), 1.0, rtol)


@lru_cache
def van_der_pol(
    rtol: float = 1e-13, mu: float = 1.0, end: float = 10.0
) -> Callable[[np.ndarray], np.ndarray]:
    """Return t -> (u, u'), (2, n), of u'' = mu (1 - u^2) u' - u with u(0) = 2, u'(0) = 0."""
    return _orbit(lambda t, s: (s[1], mu * (1 - s[0] ** 2) * s[1] - s[0]), (2.0, 0.0), rtol, end)


def _orbit(
    rate: Callable, start: float | tuple[float, float], rtol: float, end: float = 10.0
) -> Callable[[np.ndarray], np.ndarray]:
    """Integrate on [0, end] with an explicit Runge-Kutta method of order 8."""
    found = solve_ivp(
        rate, (0.0, end), np.broadcast_to(start, 2).astype(float), method="DOP853",
        rtol=rtol, atol=rtol / 10, dense_output=True,
    )
    if not found.success:
        raise RuntimeError(f"scipy's DOP853: {found.message}")
    return lambda t: found.sol(np.ravel(t)).reshape(2, *np.shape(t))


@lru_cache
def allen_cahn(modes: int = 1023, steps: int = 2000) -> Field:
    """Return (x, t) -> u of u_t = 0.001 u_xx + 5 u - 5 u^3 on [-1, 1] x [0, 1].

    u = x^2 cos(pi x) at t = 0, u = -1 at both ends. u + 1 is a sine series of `modes` terms; its
    time steps are ETDRK4.
    """
    x = np.linspace(-1, 1, modes + 2)
    inside = x[1:-1]
    linear = -1e-3 * (np.pi / 2 * np.arange(1, modes + 1)) ** 2
    advance = etdrk4(linear, lambda a: dst(_reaction(idst(a, 1) - 1), 1), 1 / steps)
    a = dst(inside**2 * np.cos(np.pi * inside) + 1, 1)
    table = np.full((modes + 2, steps + 1), -1.0)
    for k in range(steps + 1):
        table[1:-1, k] = idst(a, 1) - 1
        a = advance(a)
    return _between(x, np.linspace(0, 1, steps + 1), table)


def _reaction(u: np.ndarray) -> np.ndarray:
    return 5 * u - 5 * u**3


@lru_cache
def schroedinger(modes: int = 2048, steps: int = 2000) -> Field:
    """Return (x, t) -> complex h of i h_t + h_xx / 2 + |h|^2 h = 0, |x| <= 5, 0 <= t <= pi/2.

    h = 2 sech x at t = 0. Fourier series on |x| < 25, where h at the ends is below 1e-9, and the
    split steps of `split_step`.
    """
    length, end = 50.0, np.pi / 2
    x = -length / 2 + length / modes * np.arange(modes)
    advance = split_step(length, modes, end / steps)
    h = 2 / np.cosh(x) + 0j
    kept = np.abs(x) <= 5.5
    table = np.empty((int(kept.sum()), steps + 1), complex)
    for n in range(steps + 1):
        table[:, n] = h[kept]
        h = advance(h)
    times = np.linspace(0, end, steps + 1)
    real, imaginary = (_between(x[kept], times, part) for part in (table.real, table.imag))
    return lambda x, t: real(x, t) + 1j * imaginary(x, t)


def _between(x: np.ndarray, t: np.ndarray, table: np.ndarray) -> Field:
    spline = RectBivariateSpline(x, t, table, kx=_DEGREE, ky=_DEGREE)

    def field(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        x, t = np.broadcast_arrays(x, t)
        return spline.ev(x, t)

    return field
