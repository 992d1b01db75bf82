"""Functions that tiles hold: values, and derivatives of first and second order, of a residual."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.ops.special.bspline import bspline
from autograd.plan.chunks import Chunked

_F = T.nn.functional
_ANY, _ABOVE, _INSIDE, _BEYOND = (-2.2, 2.2), (0.3, 3.0), (-0.93, 0.93), (1.1, 4.0)

FUNCTIONS = {
    "tan": (T.tan, (-1.4, 1.4)), "asin": (T.asin, _INSIDE), "acos": (T.acos, _INSIDE),
    "atan": (T.atan, _ANY), "sinh": (T.sinh, _ANY), "cosh": (T.cosh, _ANY),
    "asinh": (T.asinh, _ANY), "acosh": (T.acosh, _BEYOND), "atanh": (T.atanh, _INSIDE),
    "exp2": (T.exp2, _ANY), "log2": (T.log2, _ABOVE), "log10": (T.log10, _ABOVE),
    "log1p": (T.log1p, _INSIDE), "expm1": (T.expm1, _ANY), "erf": (T.erf, _ANY),
    "erfc": (T.erfc, _ANY), "rsqrt": (T.rsqrt, _ABOVE),
    "power": (lambda x: x**2.7, _ABOVE), "small power": (lambda x: x**-1.5, _ABOVE),
    "large power": (lambda x: x**20, _INSIDE),
    "power of a number": (lambda x: 1.7**x, _ANY),
    "powers of powers": (lambda x: x ** (x + 1), _ABOVE),
    "angle": (lambda x: T.atan2(x, 0.5 - x), _ANY), "size": (lambda x: T.hypot(x, 1 + x), _ANY),
    "quotient": (lambda x: x.sin() / (2 + x.cos()), _ANY),
    "clamp": (lambda x: x.clamp(-1.0, 0.5) * x, _ANY), "abs": (lambda x: x.abs() * x, _ANY),
    "where": (lambda x: T.where((x > -1) & (x < 0.5), x**3, T.exp(x)), _ANY),
    "filled": (lambda x: (x * x).masked_fill(x > 0.5, 2.0) * x, _ANY),
    "sigmoid": (T.sigmoid, _ANY), "softplus": (_F.softplus, _ANY), "silu": (_F.silu, _ANY),
    "mish": (_F.mish, _ANY), "gelu": (_F.gelu, _ANY),
    "gelu, tanh": (lambda x: _F.gelu(x, approximate="tanh"), _ANY),
    "relu": (lambda x: _F.relu(x) * x, _ANY), "leaky": (lambda x: _F.leaky_relu(x) * x, _ANY),
    "elu": (lambda x: _F.elu(x) * x, _ANY), "spline": (lambda x: bspline(x, 4), (-2.2, 1.7)),
    "round": (lambda x: T.round(x) * x, _ANY),
    "finite": (lambda x: T.where(T.isfinite(x) & ~T.isnan(x), x**3, 0.0), _ANY),
    "gelu of gelu": (lambda x: _F.gelu(_F.gelu(x)), _ANY),
}  # fmt: skip


def _residual(f, parameters):
    def fn(rows):
        x = rows[0].requires_grad_()
        y = f(x * parameters[0] + parameters[1])
        (first,) = T.grad(y.sum(), [x], create_graph=True)
        (second,) = T.grad(first.sum(), [x], create_graph=True)
        total = (second * 0.1 + first - y).square().sum()
        slopes = T.grad(total, parameters)
        return [total.detach(), *slopes, *(one.detach() for one in (y, first, second))]

    return fn


_KINDS = ["sum", "sum", "sum", "rows", "rows", "rows"]


@pytest.mark.parametrize("dtype, tolerance", [("float64", 2e-13), ("float32", 3e-5)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_through_a_residual_are_those_of_the_eager_run(name, dtype, tolerance):
    f, ends = FUNCTIONS[name]
    low, high = ends
    rows = [np.linspace(low, high, 75, dtype=dtype).reshape(-1, 1)]
    parameters = [T.tensor(np.array([value], dtype), requires_grad=True) for value in (0.98, 0.011)]
    fn = _residual(f, parameters)
    step = Chunked(fn, parameters, _KINDS, executor="llvm")
    found = step(rows)
    assert list(step._tiles.values()) != [None]
    expected = fn([T.tensor(rows[0])])
    for one, other in zip(found, expected, strict=True):
        other = other.numpy()
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())
