"""Elementwise operations as vector code: within a unit in the last place of the exact result."""

from __future__ import annotations

import ctypes
import math
from functools import cache

import mpmath
import numpy as np
import pytest

import autograd as T
from autograd.plan.lanes import functions, native
from experiments.functions import coefficients

_EXACT = {
    "exp": mpmath.exp, "expm1": mpmath.expm1, "tanh": mpmath.tanh, "log": mpmath.log,
    "log1p": mpmath.log1p, "sin": mpmath.sin, "cos": mpmath.cos, "sqrt": mpmath.sqrt,
    "reciprocal": lambda x: 1 / x, "square": lambda x: x * x,
    "div": lambda x, y: x / y, "hypot": mpmath.hypot, "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tan": mpmath.tan,
    "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh, "asin": mpmath.asin,
    "acos": mpmath.acos, "atan": mpmath.atan, "atan2": mpmath.atan2, "pow": mpmath.power,
    "exp2": lambda x: mpmath.power(2, x), "erf": mpmath.erf, "erfc": mpmath.erfc,
}  # fmt: skip
_DOMAINS = {
    "log": (0, math.inf), "log2": (0, math.inf), "log10": (0, math.inf), "sqrt": (0, math.inf),
    "log1p": (-1, math.inf), "acosh": (1, math.inf), "atanh": (-1, 1), "asin": (-1, 1),
    "acos": (-1, 1),
}  # fmt: skip
_SATURATED = {
    "exp": (0, math.inf), "expm1": (-1, math.inf), "exp2": (0, math.inf),
    "sinh": (-math.inf, math.inf), "cosh": (math.inf, math.inf), "erfc": (2, 0),
}  # fmt: skip
_OF_TWO = ("div", "hypot", "atan2", "pow")
_DIGITS = 350  # of a double's largest sine's argument, and more


@cache
def _compiled(op, dtype, lanes):
    """Return the operation on arrays of a multiple of `lanes` numbers."""
    real = {"float64": "double", "float32": "float"}[dtype]
    vector, size = f"<{lanes} x {real}>", np.dtype(dtype).itemsize
    text = functions.function_text(op, dtype, lanes)
    names = ["x", "y", "z"][: _arity(op)]
    loads = "\n".join(
        f"  %p{n} = getelementptr {real}, ptr %{n}, i64 %i\n"
        f"  %v{n} = load {vector}, ptr %p{n}, align {size}"
        for n in names
    )
    module = "\n".join([
        *sorted(functions.declarations(dtype, lanes)), text,
        f"define void @go(i64 %n, {', '.join(f'ptr %{n}' for n in names)}, ptr %out) {{",
        "entry:", "  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%next, %loop]", loads,
        f"  %r = call {vector} @{functions.name(op, dtype, lanes)}"
        f"({', '.join(f'{vector} %v{n}' for n in names)})",
        f"  %q = getelementptr {real}, ptr %out, i64 %i",
        f"  store {vector} %r, ptr %q, align {size}",
        f"  %next = add i64 %i, {lanes}", "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %done", "done:", "  ret void", "}", "",
    ])  # fmt: skip
    pointers = [ctypes.c_void_p] * (len(names) + 1)
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, *pointers)(native.address(module, "go"))


def _arity(op):
    text = functions.function_text(op, "float64", 8)
    return text.split(f"@{functions.name(op, 'float64', 8)}(")[1].split(")")[0].count("%")


def _applied(op, dtype, lanes, *arrays):
    count = -(-len(arrays[0]) // lanes) * lanes
    given = [np.resize(np.asarray(a, dtype), count) for a in arrays]
    out = np.empty(count, dtype)
    _compiled(op, dtype, lanes)(count, *(a.ctypes.data for a in given), out.ctypes.data)
    return out[: len(arrays[0])]


def _ulps(found, exact, dtype):
    """Return how many units in the last place of the exact result a result is off."""
    digits = {"float64": 53, "float32": 24}[dtype]
    least = {"float64": -1074, "float32": -149}[dtype]
    if exact == 0:
        return 0.0 if found == 0 else math.inf
    exponent = max(int(mpmath.frexp(exact)[1]) - digits, least)
    return float(abs(mpmath.mpf(float(found)) - exact) / mpmath.ldexp(1, exponent))


def _inputs(op, dtype, count):
    """Return numbers of all sizes, and many where the function has something to show."""
    rng = np.random.default_rng([count, len(op)])
    low, high = {"float64": (-1074, 1024), "float32": (-149, 128)}[dtype]
    sizes = np.ldexp(rng.uniform(0.5, 1, count), rng.integers(low, high, count))
    near = rng.uniform(-3, 3, count)
    turns = np.pi / 2 * rng.integers(-60, 60, count) * (1 + rng.uniform(-1e-9, 1e-9, count))
    far = np.pi / 2 * rng.integers(-(2**20), 2**20, count) * (1 + rng.uniform(-1e-9, 1e-9, count))
    many = rng.uniform(-(2.0**16), 2.0**16, count)  # turns, near multiples of pi/2 and anywhere
    steps = rng.uniform(-750 if dtype == "float64" else -104, 89, count)
    around = 1 + np.ldexp(rng.uniform(-1, 1, count), -rng.integers(1, 50, count))
    worst = [0.39257637, -29305.535, 31685.287]  # of single precision, once
    x = np.concatenate([worst, sizes, -sizes, near, turns, far, many, steps, around, around - 1])
    return x.astype(dtype)


def _powers(x):
    """Return bases and exponents for powers of all sizes, with their signs where they have one."""
    rng = np.random.default_rng(7)
    largest = 745 if x.dtype == np.float64 else 104
    base = np.abs(x[x != 0]).astype(np.float64)
    with np.errstate(divide="ignore"):
        y = rng.uniform(-largest, largest, base.size) / np.log(base)
    y = np.clip(y, -1e30, 1e30)
    near = rng.uniform(-3, 3, base.size)
    whole = rng.integers(-9, 9, base.size) * 1.0
    negative = -rng.uniform(0.01, 30, base.size)
    pairs = (base, y), (base, near), (negative, whole), (negative, np.round(whole * 5))
    return [np.concatenate(one).astype(x.dtype) for one in zip(*pairs, strict=True)]


def _check(op, dtype, lanes, count, ulps=1.0):
    x = _inputs(op, dtype, count)
    low, high = _DOMAINS.get(op, (-math.inf, math.inf))
    x = x[(x > low) & (x < high)]
    arrays = [x]
    if op == "pow":
        arrays = _powers(x)
    elif op in _OF_TWO:
        arrays.append(np.random.default_rng(5).permutation(x))
    with np.errstate(all="ignore"):
        found = _applied(op, dtype, lanes, *arrays)
    largest = float(np.finfo(dtype).max)
    worst = 0.0
    with mpmath.workdps(_DIGITS if op in ("sin", "cos", "tan") else 60):
        for values, one in zip(zip(*arrays, strict=True), found, strict=True):
            if op in ("div", "reciprocal") and values[-1] == 0:
                continue
            if op in _SATURATED and abs(values[0]) > 1e6:
                assert one == _SATURATED[op][int(values[0] > 0)]
                continue
            exact = _EXACT[op](*(mpmath.mpf(float(v)) for v in values))
            if abs(exact) > largest:
                assert np.isinf(one) or abs(one) == largest, (op, values, one)
            else:
                off = _ulps(one, exact, dtype)
                assert off <= ulps, (op, dtype, values, one, off)
                worst = max(worst, off)
    return worst


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", sorted(set(_EXACT) & functions.HELD))
def test_results_are_within_a_unit_in_the_last_place(op, dtype):
    _check(op, dtype, 8, 200)


@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize("op", sorted(set(_EXACT) & functions.HELD))
def test_any_number_of_lanes_gives_the_same_bits(op, lanes):
    for dtype in ("float64", "float32"):
        x = _inputs(op, dtype, 16)
        arrays = [x, x[::-1]] if op in _OF_TWO else [x]
        expected = _applied(op, dtype, 8, *arrays)
        np.testing.assert_array_equal(_applied(op, dtype, lanes, *arrays), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("op", sorted(functions.HELD))
def test_special_values_are_those_of_numpy(op, dtype):
    """Zeros with their signs, infinities, NaN, numbers that are not normal, the largest."""
    from autograd.ops.registry import REGISTRY

    tiny, info = np.nextafter(np.zeros(1, dtype), np.ones(1, dtype))[0], np.finfo(dtype)
    some = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, info.max, info.min, info.tiny, 1, -1]
    some = np.array(some, dtype)
    arrays = [a.reshape(-1) for a in np.meshgrid(*[some] * _arity(op))]
    forward = REGISTRY[op].forward
    with np.errstate(all="ignore"):
        if op == "where":  # of yes and no
            arrays[0] = (arrays[0] > 0).astype(dtype)
        first = [arrays[0] != 0, *arrays[1:]] if op == "where" else arrays
        expected = np.asarray(forward(np, *first)).astype(dtype)
        found = _applied(op, dtype, 8, *arrays)
        close = np.abs(found - expected) <= 2 * np.spacing(np.abs(expected))
    same = found == expected
    if op not in ("maximum", "minimum"):  # numpy gives either zero
        same &= np.signbit(found) == np.signbit(expected)
    same |= np.isnan(found) & np.isnan(expected)
    wrong = ~(same | (close & (expected != 0)))
    assert not wrong.any(), [one[wrong][0] for one in (*arrays, found, expected)]


def test_what_is_not_held_is_refused_by_name():
    with pytest.raises(ValueError, match="no vector code for 'bessel'; there is for .*tanh"):
        functions.function_text("bessel", "float64", 8)
    with pytest.raises(ValueError, match="expected float64 or float32, got 'float16'"):
        functions.function_text("tanh", "float16", 8)
    with pytest.raises(ValueError, match="expected 1, 2, 4, ..., 64 lanes, got 3"):
        functions.declarations("float64", 3)


def test_coefficients_are_those_that_the_program_finds():
    from autograd.plan.lanes.functions import coefficients as kept

    for dtype in ("float64", "float32"):
        found, error = coefficients.fitted("TANH", dtype)
        assert tuple(found) == kept.TANH[dtype]
        assert error < 2.0 ** (-57 if dtype == "float64" else -27)
        assert tuple(coefficients.split("HALF_PI", dtype)) == kept.HALF_PI[dtype]


def test_what_is_called_often_is_written_once_with_the_same_bits(monkeypatch):
    many = functions.function_text("sin", "float64", 4, calls=100)
    assert "noinline" in many and "alwaysinline" in functions.function_text("sin", "float64", 4)
    assert "alwaysinline" in functions.function_text("mul", "float64", 4, calls=500)
    x = T.linspace(0, 9, 500, dtype=T.float64).reshape(-1, 1).requires_grad_()
    found = []
    for lines in (1, 10**6):
        monkeypatch.setattr(functions, "_MOST_LINES", lines)
        waves = T.compile(
            lambda x: sum(T.sin(k * x) / k for k in range(1, 6)).square().mean(),
            points="x", executor="llvm",
        )  # fmt: skip
        value = waves(x)
        found.append([value.item(), *T.grad(value, x)[0].flatten().tolist()])
    assert found[0] == found[1]
