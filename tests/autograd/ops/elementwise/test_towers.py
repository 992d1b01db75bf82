"""Towers of derivatives: coefficients of known polynomials, and evaluation of any polynomial."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd.ops.elementwise.towers import Tower, _nested, _run, times

TANH = Tower(
    ({(0, 1): 1}, {(1, 1): -2}), {(0, 1): 1}, square={(0, 1): -1, (0, 0): 1}
)  # t' = w, w' = -2 t w, t*t = 1 - w


def test_tanh_coefficients():
    assert TANH.polynomial(1) == {(0, 1): 1}
    assert TANH.polynomial(2) == {(1, 1): -2}
    assert TANH.polynomial(3) == {(0, 1): 4, (0, 2): -6}
    assert TANH.polynomial(4) == {(1, 1): -8, (1, 2): 24}


def test_hermite_polynomials_come_out_of_the_normal_density():
    density = Tower(({(0, 0): 1}, {(1, 1): -1}), {(0, 1): 1}, start=0)
    for order in range(8):
        coefficients = np.polynomial.hermite_e.herme2poly([0] * order + [1])
        expected = {(k, 1): (-1) ** order * c for k, c in enumerate(coefficients) if c}
        assert density.polynomial(order) == expected


def test_exact_coefficients_stay_exact():
    half = Fraction(1, 2)
    rsqrt = Tower(({(3,): -half},), {(3,): -half})
    assert rsqrt.polynomial(3) == {(7,): Fraction(-15, 8)}


def test_order_n_has_about_n_steps():
    for order in range(2, 12):
        factors, _, coefficients = TANH.plan(order)
        assert len(factors) + 2 * len(coefficients) <= order + 4


polynomials = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)),
    st.integers(-5, 5).filter(bool),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(polynomials)
def test_nested_evaluation_equals_the_sum_of_terms(poly):
    rng = np.random.default_rng(1)
    variables = tuple(rng.uniform(-1.5, 1.5, (3, 4)))
    before = [v.copy() for v in variables]
    expected = np.zeros(4)
    for exponents, c in poly.items():
        expected += c * np.prod([v**e for v, e in zip(variables, exponents, strict=True)], axis=0)
    out = np.full(4, np.nan)
    assert _run(np, _nested(poly), variables, out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)
    for v, original in zip(variables, before, strict=True):
        assert np.array_equal(v, original)


def test_product_of_polynomials():
    a, b = {(1, 0): 2, (0, 1): 1}, {(1, 0): 1, (0, 1): -2}
    assert times(a, b) == {(2, 0): 2, (1, 1): -3, (0, 2): -2}


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_evaluation_keeps_shape_and_dtype(shape):
    t = np.full(shape, 0.5, np.float32)
    found = TANH.evaluate(np, 4, (t, 1 - t * t))
    assert isinstance(found, np.ndarray)
    assert found.shape == shape and found.dtype == np.float32
    np.testing.assert_allclose(found, np.full(shape, 0.75 * 0.5 * (24 * 0.75 - 8)), rtol=1e-6)
