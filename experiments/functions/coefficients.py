"""Write autograd/plan/lanes/functions/coefficients.py: python -m experiments.functions.coefficients

Each set belongs to a function that is smooth on a short interval, given here with the weight that
turns the polynomial's error into the relative error of the function that it serves. Degrees are
the lowest for which that error is a small part of half a unit in the last place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mpmath import mp, mpf

from experiments.functions import minimax

TARGET = Path(__file__).parents[2] / "autograd" / "plan" / "lanes" / "functions" / "coefficients.py"
_ALMOST_ZERO = mpf("1e-24")  # below it a series' first term is all there is


@dataclass(frozen=True)
class Fit:
    """A polynomial to be found.

    meaning  what it is, for the reader.
    target   the function of the polynomial's variable.
    weight   what its error is multiplied with.
    ends     `() -> (low, high)` of the variable.
    degrees  for float64 and float32.
    doubles  the coefficients for float32 are doubles, as its function computes with them.
    """

    meaning: str
    target: Callable
    weight: Callable
    ends: Callable
    degrees: tuple[int, int]
    doubles: bool = False


def _in_square(function: Callable, first: float) -> Callable:
    """Return z -> (f(x)/x - 1)/z at z = x*x, for an odd function with f(x) = x + first x**3."""

    def target(z: mpf) -> mpf:
        if abs(z) < _ALMOST_ZERO:
            return mpf(first)
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z

    return target


def _second_in_square(function: Callable, first: mpf, second: mpf) -> Callable:
    """Return z -> ((f(x)/x - 1)/z - first)/z at z = x*x."""
    inner = _in_square(function, first)

    def target(z: mpf) -> mpf:
        if abs(z) < _ALMOST_ZERO:
            return second
        return (inner(z) - first) / z

    return target


def _scaled_erfc(x: mpf) -> mpf:
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _of_root(function: Callable) -> Callable:
    """Return z -> |z| x/f(x) at z = x*x: it makes the error above that of f, relative."""
    return lambda z: z * mp.sqrt(z) / function(mp.sqrt(z)) if z else mpf(0)


FITS: dict[str, Fit] = {
    "TANH": Fit(
        "tanh(r) = r + r**3 * p(r*r) for |r| <= log(2)/4",
        _in_square(mp.tanh, -1 / 3), _of_root(mp.tanh),
        lambda: (0, (mp.log(2) / 4) ** 2 * mpf("1.0001")), (5, 2),
    ),
    "EXP": Fit(
        "exp(r) = 1 + r + r*r * p(r) for |r| <= log(2)/2",
        lambda r: (mp.expm1(r) - r) / r**2 if r else mpf(0.5), lambda r: r**2 * mp.exp(-r),
        lambda: (-mp.log(2) / 2 * mpf("1.0001"), mp.log(2) / 2 * mpf("1.0001")), (9, 4),
    ),
    "EXP_IN_DOUBLES": Fit(
        "exp(r) as EXP, but for the number type of what it is a part of",
        lambda r: (mp.expm1(r) - r) / r**2 if r else mpf(0.5), lambda r: r**2 * mp.exp(-r),
        lambda: (-mp.log(2) / 2 * mpf("1.0001"), mp.log(2) / 2 * mpf("1.0001")), (9, 4), True,
    ),
    "EXPM1": Fit(
        "exp(r) = 1 + r + r*r/2 + r**3 * p(r) for |r| <= log(2)/2",
        lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3 if r else mpf(1) / 6,
        lambda r: abs(r) ** 3 * mp.exp(-r),
        lambda: (-mp.log(2) / 2 * mpf("1.0001"), mp.log(2) / 2 * mpf("1.0001")), (8, 4),
    ),
    "SIN": Fit(
        "sin(r) = r + r**3 * p(r*r) for |r| <= pi/4",
        _in_square(mp.sin, -1 / 6), _of_root(mp.sin),
        lambda: (0, (mp.pi / 4) ** 2 * mpf("1.01")), (5, 2),
    ),
    "COS": Fit(
        "cos(r) = 1 - r*r/2 + r**4 * p(r*r) for |r| <= pi/4",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        lambda: (0, (mp.pi / 4) ** 2 * mpf("1.01")), (5, 2),
    ),
    "LOG": Fit(
        "log((1 + s)/(1 - s)) = 2 s + s**3 * p(s*s) for |s| <= (sqrt(2) - 1)/(sqrt(2) + 1)",
        lambda z: 2 * _in_square(mp.atanh, 1 / 3)(z), lambda z: _of_root(mp.atanh)(z) / 2,
        lambda: (0, ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")), (6, 2),
    ),
    "LOG_LONG": Fit(
        "log((1 + s)/(1 - s)) = 2 s + s**3 * (2/3 + s*s * p(s*s)), for s as LOG",
        lambda z: 2 * _second_in_square(mp.atanh, mpf(1) / 3, mpf(1) / 5)(z),
        lambda z: z * _of_root(mp.atanh)(z) / 2,
        lambda: (0, ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")), (7, 3), True,
    ),
    "EXP2": Fit(
        "2**r = 1 + r * p(r) for |r| <= 1/2",
        lambda r: mp.expm1(r * mp.log(2)) / r if r else mp.log(2), lambda r: abs(r) * 2**-r,
        lambda: (mpf("-0.5"), mpf("0.5")), (10, 5),
    ),
    "SINH": Fit(
        "sinh(r) = r + r**3 * p(r*r) for |r| <= log(2)/2",
        _in_square(mp.sinh, 1 / 6), _of_root(mp.sinh),
        lambda: (0, (mp.log(2) / 2) ** 2 * mpf("1.0001")), (5, 2), True,
    ),
    "COSH": Fit(
        "cosh(r) = 1 + r*r/2 + r**4 * p(r*r) for |r| <= log(2)/2",
        lambda z: (mp.cosh(mp.sqrt(z)) - 1 - z / 2) / z**2,
        lambda z: z**2 / mp.cosh(mp.sqrt(z)),
        lambda: (0, (mp.log(2) / 2) ** 2 * mpf("1.0001")), (3, 1), True,
    ),
    "ASIN": Fit(
        "asin(r) = r + r**3 * p(r*r) for |r| <= 1/2",
        _in_square(mp.asin, 1 / 6), _of_root(mp.asin), lambda: (0, mpf("0.25")), (12, 5), True,
    ),
    "ATAN": Fit(
        "atan(r) = r + r**3 * p(r*r) for |r| <= tan(pi/8)",
        _in_square(mp.atan, -1 / 3), _of_root(mp.atan),
        lambda: (0, mp.tan(mp.pi / 8) ** 2 * mpf("1.0001")), (11, 5), True,
    ),
    "ERF": Fit(
        "erf(x) = x + x * p(x*x) for |x| <= 7/8",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z else 2 / mp.sqrt(mp.pi) - 1,
        lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z else mp.sqrt(mp.pi) / 2,
        lambda: (0, mpf(49) / 64), (12, 6), True,
    ),
    "ERF_FAR": Fit(
        "1 - erf(7/8 + t) = exp(-(q + t * p(t))) for t <= 5.125, q as in ERF_FAR_FIRST",
        lambda t: (-mp.log(mp.erfc(mpf(7) / 8 + t)) + mp.log(mp.erfc(mpf(7) / 8))) / t if t
        else 2 / mp.sqrt(mp.pi) * mp.exp(-mpf(49) / 64) / mp.erfc(mpf(7) / 8),
        lambda t: t * mp.erfc(mpf(7) / 8 + t) / mp.erf(mpf(7) / 8 + t),
        lambda: (0, mpf("5.125")), (18, 8), True,
    ),
    "ERFC": Fit(
        "1 - erf(x) = exp(-x*x)/(1 + 2 x) * p((x - 7/2)/(x + 7/2)) for x from 1/2 to 28",
        lambda q: _scaled_erfc(mpf(7) / 2 * (1 + q) / (1 - q)),
        lambda q: 1 / _scaled_erfc(mpf(7) / 2 * (1 + q) / (1 - q)),
        lambda: (mpf(-3) / 4, mpf(7) / 9), (24, 11), True,
    ),
}  # fmt: skip

PARTS: dict[str, tuple[str, Callable, tuple[int, ...], tuple[int, ...]]] = {
    "LN2": ("log(2)", lambda: mp.log(2), (0, 0), (0, 0)),
    "LN2_SHORT": (
        "log(2), the first part short enough for its product with an exponent to be exact",
        lambda: mp.log(2), (11, 0), (8, 0),
    ),
    "TWO_THIRDS": ("2/3", lambda: mpf(2) / 3, (0, 0), (0, 0)),
    "LOG2_E": ("1/log(2)", lambda: 1 / mp.log(2), (0, 0), (0, 0)),
    "LOG10_E": ("1/log(10)", lambda: 1 / mp.log(10), (0, 0), (0, 0)),
    "QUARTER_PI": ("pi/4", lambda: mp.pi / 4, (0, 0), (0, 0)),
    "ERF_FAR_FIRST": ("-log(1 - erf(7/8))", lambda: -mp.log(mp.erfc(mpf(7) / 8)), (0, 0), (0, 0)),
    "HALF_LN2": ("log(2)/2", lambda: mp.log(2) / 2, (0, 0), (0, 0)),
    "HALF_PI": (
        "pi/2, the parts between short enough for their products with a multiple to be exact",
        lambda: mp.pi / 2, (0, 21, 0), (0, 15, 15, 0),
    ),
}  # fmt: skip
"""Constants as sums: the meaning, the value, and how many bits of each part are 0 at its end."""

DTYPES = ("float64", "float32")


def fitted(name: str, dtype: str) -> tuple[list[float], float]:
    """Return the coefficients of one of FITS, and the largest weighted error."""
    fit = FITS[name]
    with mp.workdps(60):
        low, high = fit.ends()
        degree = fit.degrees[DTYPES.index(dtype)]
        rounded = "float64" if fit.doubles else dtype
        return minimax.polynomial(fit.target, fit.weight, low, high, degree, rounded)


def split(name: str, dtype: str) -> list[float]:
    """Return the numbers of one of PARTS."""
    _, value, *spare = PARTS[name]
    with mp.workdps(60):
        return minimax.parts(value(), dtype, spare[DTYPES.index(dtype)])


def words_of_two_over_pi(count: int) -> list[int]:
    """Return 2/pi to 64 `count` - 1 bits behind the point, which stands behind the first bit."""
    with mp.workprec(64 * count + 64):
        bits = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * count - 1)))
    return [bits >> 64 * (count - 1 - k) & (2**64 - 1) for k in range(count)]


def source() -> str:
    """Return the text of the module."""
    lines = [
        '"""Coefficients and constants of the functions, written by',
        "`python -m experiments.functions.coefficients`: change them there.",
        '"""',
        "",
    ]
    for name, fit in FITS.items():
        rows, notes = [], []
        for dtype in DTYPES:
            found, error = fitted(name, dtype)
            rows += [f'    "{dtype}": (', *(f"        {c!r}," for c in found), "    ),"]
            notes.append(f"2**{float(mp.log(error, 2)):.1f}")
        lines += [f"{name} = {{", *rows, "}"]
        lines += [f'"""{fit.meaning};', f'relative error {" and ".join(notes)}."""', ""]
    for name, (meaning, *_) in PARTS.items():
        rows = []
        for dtype in DTYPES:
            found = split(name, dtype)
            rows += [f'    "{dtype}": (', *(f"        {c!r}," for c in found), "    ),"]
        lines += [f"{name} = {{", *rows, "}", f'"""{meaning}."""', ""]
    words = ", ".join(f"0x{word:016X}" for word in words_of_two_over_pi(20))
    lines += ["TWO_OVER_PI = (", *(f"    {w.strip()}," for w in words.split(", ")), ")"]
    lines += ['"""2/pi in words of 64 bits; the first bit has weight 1."""', ""]
    return "\n".join(lines)


def main() -> int:
    """Write the module; returns 0."""
    TARGET.write_text(source(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
