"""The problems in time that have no formula, and formulas that the language cannot write."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.fft import dctn, dstn, idctn, idstn
from scipy.integrate import solve_ivp
from scipy.stats import norm

from experiments.case import Reference, disagreement
from experiments.marching import etdrk4, marched, split_step
from experiments.newcomer_references import allen_cahn as allen_cahn_field

# Of the periodic problems: so many places of a period at so many times after the start.
_SHOWN, _KEPT = 256, 100


@cache
def allen_cahn() -> Reference:
    """u_t = 0.001 u_xx + 5 (u - u^3) on [-1, 1] x [0, 1], u = -1 at the ends."""
    x, t = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(0, 1, 101), indexing="ij")
    coarse, fine = ({"u": allen_cahn_field(*s)(x, t).ravel()} for s in ((511, 1000), (1023, 2000)))
    points = {"x": x.ravel(), "t": t.ravel()}
    return Reference(points, fine, disagreement(coarse, fine), "sine series, ETDRK4")


@cache
def lotka_volterra() -> Reference:
    """r' = 40 r - 160 r p, p' = 80 r p - 21.2 p."""
    t = np.linspace(0, 1, 1001)

    def orbit(rtol: float) -> dict[str, np.ndarray]:
        found = solve_ivp(
            lambda _, s: (40 * s[0] - 160 * s[0] * s[1], 80 * s[0] * s[1] - 21.2 * s[1]),
            (0, 1), (0.5, 0.075), "DOP853", t, rtol=rtol, atol=rtol / 10,
        )
        return {"r": found.y[0], "p": found.y[1]}

    coarse, fine = orbit(1e-10), orbit(1e-13)
    return Reference({"t": t}, fine, disagreement(coarse, fine), "DOP853")


@cache
def schroedinger() -> Reference:
    """i h_t + h_xx / 2 + |h|^2 h = 0, periodic on [-5, 5], h = 2 sech x at the start."""
    coarse, fine = schroedinger_table(512, 4000), schroedinger_table(1024, 8000)
    x, t = periodic_grid(-5, 5, np.pi / 2)
    values = [{"u": h.real.ravel(), "v": h.imag.ravel()} for h in (coarse, fine)]
    points = {"x": x.ravel(), "t": t.ravel()}
    method = "Fourier series, split steps of order 4"
    return Reference(points, values[1], disagreement(*values), method)


def schroedinger_table(modes: int, steps: int) -> np.ndarray:
    """Return h of that problem on `periodic_grid`, (256, 101)."""
    x = -5 + 10 / modes * np.arange(modes)
    advance = split_step(10, modes, np.pi / 2 / steps)
    rows = marched(2 / np.cosh(x) + 0j, lambda h, _: advance(h), steps, _KEPT)
    return np.array(rows)[:, :: modes // _SHOWN].T


def periodic_grid(low: float, high: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return x and t of 256 places of a period, the second end left out, at 101 times."""
    x = low + (high - low) / _SHOWN * np.arange(_SHOWN)
    return np.meshgrid(x, np.linspace(0, end, _KEPT + 1), indexing="ij")


@cache
def american_put() -> Reference:
    """The value a year before, r = 0.05, sigma = 0.2, K = 1 (Cox, Ross and Rubinstein, 1979)."""
    spots = np.linspace(0.5, 1.5, 51)

    def tree(steps: int) -> np.ndarray:
        rate, spread, h = 0.05, 0.2, 1 / steps
        up = np.exp(spread * np.sqrt(h))
        q = (np.exp(rate * h) - 1 / up) / (up - 1 / up)
        powers = up ** np.arange(-steps, steps + 1)
        values = np.maximum(1 - spots[:, None] * powers[::2], 0)
        for n in range(steps - 1, -1, -1):
            values = np.exp(-rate * h) * (q * values[:, 1:] + (1 - q) * values[:, :-1])
            nodes = spots[:, None] * powers[steps - n : steps + n + 1 : 2]
            values = np.maximum(values, 1 - nodes)
        return values[:, 0]

    # Even and odd trees lie on two sides of the limit.
    coarse, fine = ({"V": (tree(n) + tree(n + 1)) / 2} for n in (1000, 2000))
    points = {"S": spots, "t": np.ones_like(spots)}
    return Reference(points, fine, disagreement(coarse, fine), "binomial trees")


@cache
def black_scholes_call() -> Reference:
    """The formula of Black and Scholes, K = 50, r = 0.05, sigma = 0.2."""
    s, t = np.meshgrid(np.linspace(1, 150, 150), np.linspace(0, 0.98, 50), indexing="ij")
    left = 1 - t  # until the call is due
    first = (np.log(s / 50) + 0.07 * left) / (0.2 * np.sqrt(left))
    value = s * norm.cdf(first) - 50 * np.exp(-0.05 * left) * norm.cdf(first - 0.2 * np.sqrt(left))
    points = {"S": s.ravel(), "t": t.ravel()}
    return Reference(points, {"V": value.ravel()}, 0.0, "formula")


@cache
def kuramoto_sivashinsky() -> Reference:
    """u_t + 100/16 u u_x + 100/16^2 u_xx + 100/16^4 u_xxxx = 0, periodic on [0, 2 pi]."""
    tables = kuramoto_sivashinsky_table(512, 4000), kuramoto_sivashinsky_table(1024, 8000)
    x, t = periodic_grid(0, 2 * np.pi, 1.0)
    values = [{"u": found.ravel()} for found in tables]
    points = {"x": x.ravel(), "t": t.ravel()}
    return Reference(points, values[1], disagreement(*values), "Fourier series, ETDRK4")


def kuramoto_sivashinsky_table(
    modes: int, steps: int, end: float = 1.0, change: float = 0.0
) -> np.ndarray:
    """Return u of that problem on `periodic_grid`, (256, 101), the start times 1 + change."""
    x = 2 * np.pi / modes * np.arange(modes)
    k = np.fft.fftfreq(modes, 1 / modes)
    linear = 100 / 16**2 * k**2 - 100 / 16**4 * k**4
    slope = np.where(np.abs(k) < modes / 3, 1j * k, 0)

    def other(a: np.ndarray) -> np.ndarray:
        return -100 / 32 * slope * np.fft.fft(np.fft.ifft(a).real ** 2)

    advance = etdrk4(linear, other, end / steps)
    start = np.fft.fft((1 + change) * np.cos(x) * (1 + np.sin(x)))
    rows = marched(start, lambda a, _: advance(a), steps, _KEPT)
    return np.array([np.fft.ifft(a).real for a in rows])[:, :: modes // _SHOWN].T


@cache
def gray_scott() -> Reference:
    """The reaction of P18 on [-1, 1]^2 up to t = 200 with no flux through the sides."""

    def table(modes: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
        x = -1 + 2 * (np.arange(modes) + 0.5) / modes
        x, y = np.meshgrid(x, x, indexing="ij")
        u = 1 - np.exp(-80 * ((x + 0.05) ** 2 + (y + 0.02) ** 2))
        v = np.exp(-80 * ((x - 0.05) ** 2 + (y - 0.02) ** 2))
        k2 = (np.pi / 2 * np.arange(modes)) ** 2
        k2 = k2[:, None] + k2
        h = 200 / steps
        halves = [np.exp(-d * k2 * h / 2) for d in (1e-5, 5e-6)]

        def rate(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return 0.04 * (1 - u) - u * v**2, -0.1 * v + u * v**2

        def step(state: np.ndarray, _: int) -> np.ndarray:
            # Strang's splitting; the reaction by the classical method of Runge.
            u, v = (idctn(half * dctn(a)) for half, a in zip(halves, state, strict=True))
            a = rate(u, v)
            b = rate(u + h / 2 * a[0], v + h / 2 * a[1])
            c = rate(u + h / 2 * b[0], v + h / 2 * b[1])
            d = rate(u + h * c[0], v + h * c[1])
            u, v = (
                w + h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i, w in enumerate((u, v))
            )
            return np.array([
                idctn(half * dctn(w)) for half, w in zip(halves, (u, v), strict=True)
            ])  # fmt: skip

        return np.array(marched(np.array([u, v]), step, steps, 20))

    def thinned(found: np.ndarray) -> dict[str, np.ndarray]:
        # Of an odd number of cells in each of 64, the middle one has its center.
        cells = found.shape[2] // 64
        found = found[:, :, cells // 2 :: cells, cells // 2 :: cells]
        return {"u": found[:, 0].ravel(), "v": found[:, 1].ravel()}

    coarse, fine = thinned(table(192, 1000)), thinned(table(320, 2000))
    x = -1 + 2 * (np.arange(64) + 0.5) / 64
    t, x, y = np.meshgrid(np.linspace(0, 200, 21), x, x, indexing="ij")
    points = {"x": x.ravel(), "y": y.ravel(), "t": t.ravel()}
    return Reference(points, fine, disagreement(coarse, fine), "cosine series, Strang's splitting")


@cache
def heat_long_time() -> Reference:
    """P10: u_t = 0.001 lap u + 5 sin(u^2) (1 + 2 sin(pi t / 4)) sin(4 pi x) sin(2 pi y)."""

    def table(modes: int, steps: int) -> np.ndarray:
        x = np.arange(1, modes + 1) / (modes + 1)
        x, y = np.meshgrid(x, x, indexing="ij")
        k2 = (np.pi * np.arange(1, modes + 1)) ** 2
        h = 100 / steps
        half = np.exp(-0.001 * (k2[:, None] + k2) * h / 2)
        shape = 5 * np.sin(4 * np.pi * x) * np.sin(2 * np.pi * y)

        def rate(u: np.ndarray, t: float) -> np.ndarray:
            return np.sin(u**2) * (1 + 2 * np.sin(np.pi * t / 4)) * shape

        def step(u: np.ndarray, n: int) -> np.ndarray:
            t = (n - 1) * h
            u = idstn(half * dstn(u, 1), 1)
            a = rate(u, t)
            b = rate(u + h / 2 * a, t + h / 2)
            c = rate(u + h / 2 * b, t + h / 2)
            d = rate(u + h * c, t + h)
            return idstn(half * dstn(u + h / 6 * (a + 2 * b + 2 * c + d), 1), 1)

        rows = marched(np.sin(4 * np.pi * x) * np.sin(3 * np.pi * y), step, steps, 50)
        stride = (modes + 1) // 32
        return np.array(rows)[:, stride - 1 :: stride, stride - 1 :: stride][:, :31, :31]

    coarse, fine = ({"u": table(*s).ravel()} for s in ((127, 8000), (255, 16000)))
    x = np.arange(1, 32) / 32
    t, x, y = np.meshgrid(np.linspace(0, 100, 51), x, x, indexing="ij")
    points = {"x": x.ravel(), "y": y.ravel(), "t": t.ravel()}
    return Reference(points, fine, disagreement(coarse, fine), "sine series, Strang's splitting")
