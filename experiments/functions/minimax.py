"""Best polynomials in the sense of Chebyshev, with coefficients that are floating-point numbers.

The best polynomial on many points is a linear program: the least e with |error| <= e at each of
them (Muller, Elementary Functions, 3rd ed. 2016, chapter 3; unlike Remez' exchange it does not mind
a weight that is 0 inside of the interval). Double precision is enough for it, because it starts
from the least-squares polynomial, found with 60 digits, and asks for the change alone.

Coefficients are rounded one by one from the constant term on, and the rest is fitted again each
time, so that it makes up for the roundings before (Brisebarre, Muller and Tisserand 2006 treat the
problem in full).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy.optimize import linprog

_DIGITS = 60
_POINTS = 12  # an unknown coefficient


def best(
    target: Callable, weight: Callable, low: mpf, high: mpf, degree: int, known: Sequence = ()
) -> list[mpf]:
    """Return the coefficients of the best polynomial that begins with the known ones.

    target, weight: functions of an mpf; the error is `weight(z) * (target(z) - polynomial(z))`.
    """
    powers = range(len(known), degree + 1)
    count = _POINTS * (degree + 2)
    grid = [(low + high - (high - low) * mp.cos(mp.pi * (2 * k + 1) / (2 * count))) / 2
            for k in range(count)]  # fmt: skip
    weights = [weight(z) for z in grid]
    right = mpmath.matrix([
        w * (target(z) - _value(known, z))
        for z, w in zip(grid, weights, strict=True)
    ])  # fmt: skip
    half = max(abs(low), abs(high))
    columns = mpmath.matrix([
        [w * (z / half) ** k for k in powers] for z, w in zip(grid, weights, strict=True)
    ])  # fmt: skip
    found = mpmath.lu_solve(columns, right)  # in the sense of least squares
    rest = right - columns * found
    scale = max(abs(r) for r in rest)
    matrix = np.array(columns.tolist(), dtype=float)
    q, r = np.linalg.qr(matrix)  # unknowns of one size
    errors = np.array([float(r / scale) for r in rest])
    ones = np.ones((count, 1))
    size = np.abs(q).max()
    program = linprog(
        [*np.zeros(len(powers)), 1],
        A_ub=np.block([[-q / size, -ones], [q / size, -ones]]),
        b_ub=[*-errors, *errors],
        bounds=(None, None),
    )
    change = np.linalg.solve(r, program.x[:-1] / size)
    return [(c + scale * mpf(d)) / half**k
            for c, d, k in zip(found, change, powers, strict=True)]  # fmt: skip


def _value(coefficients: Sequence, z: mpf) -> mpf:
    """Return c[0] + c[1] z + ... by Horner's rule."""
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * z + mpf(c)
    return total


def rounded(value: mpf, dtype: str) -> float:
    """Return the nearest number of a dtype."""
    if dtype == "float64":
        return float(value)
    nearest = float(np.float32(float(value)))  # may be one off after two roundings: look beside
    beside = [float(np.nextafter(np.float32(nearest), np.float32(s * np.inf))) for s in (-1, 1)]
    return min([nearest, *beside], key=lambda x: abs(mpf(x) - value))


def parts(value: mpf, dtype: str, spare: Sequence[int]) -> list[float]:
    """Return numbers whose sum is the value to all their bits.

    spare: how many bits at the end of each are 0.
    """
    found: list[float] = []
    for zeros in spare:
        digits = (53 if dtype == "float64" else 24) - zeros
        fraction, exponent = mp.frexp(value)
        found.append(float(mp.ldexp(mp.nint(mp.ldexp(fraction, digits)), int(exponent) - digits)))
        value = value - mpf(found[-1])
    return found


def polynomial(
    target: Callable, weight: Callable, low: float, high: float, degree: int, dtype: str
) -> tuple[list[float], float]:
    """Return rounded coefficients from the constant term on, and the largest weighted error."""
    with mp.workdps(_DIGITS):
        low, high = mpf(low), mpf(high)
        found: list[float] = []
        for _ in range(degree + 1):
            found.append(rounded(best(target, weight, low, high, degree, found)[0], dtype))
        grid = [low + (high - low) * (k + mpf("0.5")) / 400 for k in range(400)]
        worst = max(
            abs(weight(z) * (target(z) - _value(found, z)))
            for z in grid
        )
        return found, float(worst)
