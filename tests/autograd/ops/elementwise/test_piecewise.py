"""Kinks and steps: values, gradients at ties and limits, refusals, dtypes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special

import autograd
from autograd import Tensor
from autograd.ops.elementwise import piecewise
from autograd.testing import BINARY_SHAPES, OpCase, check_op


def leaf(values, dtype=np.float64) -> Tensor:
    return Tensor(np.array(values, dtype), requires_grad=True)


def gradients(y: Tensor, *inputs: Tensor) -> list[list[float]]:
    return [g.numpy().tolist() for g in autograd.grad(y.sum(), inputs)]


def away_from_zero(rng, shape):
    return [rng.uniform(0.2, 2.0, shape) * rng.choice([-1.0, 1.0], shape)]


def apart(rng, *shapes):
    """Values whose fractional parts keep inputs away from each other."""
    return [k * 0.3 + 0.1 + rng.integers(-2, 2, shape) for k, shape in enumerate(shapes)]


TERNARY = [((), (), ()), ((2, 3), (3,), ()), ((2, 1), (1, 3), (2, 3)), ((0, 3), (3,), (1,))]


@pytest.mark.parametrize(
    "case",
    [
        OpCase("abs", piecewise.abs, make=away_from_zero, reference=np.abs, complex=True),
        OpCase("sign", piecewise.sign, make=away_from_zero, reference=np.sign),
        OpCase(
            "sgn",
            piecewise.sgn,
            make=away_from_zero,
            complex=True,
            reference=lambda x: x / np.abs(x),
            order=3,
        ),
        OpCase("nan_to_num", piecewise.nan_to_num, reference=np.nan_to_num, complex=True, order=3),
        OpCase("floor", piecewise.floor, make=apart, reference=np.floor),
        OpCase("ceil", piecewise.ceil, make=apart, reference=np.ceil),
        OpCase("trunc", piecewise.trunc, make=apart, reference=np.trunc),
        OpCase("round", piecewise.round, make=apart, reference=np.round),
        OpCase(
            "round decimals",
            lambda x: piecewise.round(x, decimals=1),
            domain=(0.11, 0.14),
            reference=lambda x: np.round(x, 1),
        ),
        OpCase("maximum", piecewise.maximum, BINARY_SHAPES, make=apart, reference=np.maximum),
        OpCase("minimum", piecewise.minimum, BINARY_SHAPES, make=apart, reference=np.minimum),
        OpCase(
            "maximum number",
            lambda x: piecewise.maximum(x, 0.0),
            make=away_from_zero,
            reference=lambda x: np.maximum(x, 0),
        ),
        OpCase(
            "clamp",
            lambda x: piecewise.clamp(x, -0.1, 0.5),
            make=away_from_zero,
            reference=lambda x: np.clip(x, -0.1, 0.5),
        ),
        OpCase(
            "clamp tensors",
            piecewise.clamp,
            TERNARY,
            make=apart,
            reference=lambda x, low, high: np.minimum(np.maximum(x, low), high),
        ),
        OpCase(
            "where",
            lambda x, y: piecewise.where(x > y, x * x, y * y * y),
            BINARY_SHAPES,
            make=apart,
            reference=lambda x, y: np.where(x > y, x * x, y**3),
        ),
        OpCase(
            "where number",
            lambda x: piecewise.where(x > 0, x * x, 1),
            make=away_from_zero,
            reference=lambda x: np.where(x > 0, x * x, 1),
        ),
        OpCase(
            "hypot", piecewise.hypot, BINARY_SHAPES, domain=(0.3, 2), reference=np.hypot, order=4
        ),
        OpCase("lerp", piecewise.lerp, TERNARY, reference=lambda a, b, w: a + w * (b - a)),
        OpCase(
            "lerp number",
            lambda a, b: piecewise.lerp(a, b, 0.75),
            BINARY_SHAPES,
            reference=lambda a, b: a + 0.75 * (b - a),
        ),
    ],
    ids=str,
)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_sub_gradients_at_kinks():
    assert gradients(piecewise.abs(x := leaf([0.0, -0.0])), x) == [[0.0, 0.0]]
    x, y = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    assert gradients(piecewise.maximum(x, y), x, y) == [[0.5, 1.0], [0.5, 0.0]]
    assert gradients(piecewise.minimum(x, y), x, y) == [[0.5, 0.0], [0.5, 1.0]]
    x = leaf([0.0, 1.0, 2.0])
    assert gradients(piecewise.clamp(x, 0.0, 1.0), x) == [[1.0, 1.0, 0.0]]
    z = Tensor(np.zeros(1, np.complex128), requires_grad=True)
    assert autograd.grad(piecewise.abs(z).sum(), z)[0].numpy().tolist() == [0]


def test_a_tie_shared_thrice():
    x = leaf([2.0])
    assert gradients(piecewise.maximum(x, x), x) == [[1.0]]


def test_stopped_infinite_gradients_are_zero():
    weights = Tensor(np.array([np.inf]))
    x, y = leaf([1.0]), leaf([2.0])
    for result in (
        piecewise.maximum(x, y),
        piecewise.where(x > y, x, y),
        piecewise.clamp(y - x, 5.0, 6.0),
    ):
        g = autograd.grad(result, x, weights, allow_unused=True)[0]
        assert g.item() == 0.0
    # the well-known trap: 0 * inf in the branch that was not chosen stays out with a safe input
    x = leaf([0.0, 4.0])
    safe = piecewise.where(x > 0, x, 1)
    y = piecewise.where(x > 0, safe.sqrt(), 0)
    assert gradients(y, x) == [[0.0, 0.25]]


def test_nan_passes_through():
    x = leaf([np.nan])
    for function in (
        lambda v: piecewise.maximum(v, 1.0),
        lambda v: piecewise.minimum(v, 1.0),
        lambda v: piecewise.clamp(v, 0, 1),
        piecewise.abs,
    ):
        assert math.isnan(function(x).item())
    nan = Tensor(np.array([np.nan]))
    assert math.isnan(piecewise.clamp(leaf([3.0]), nan, None).item())


def test_hypot_at_zero_and_at_extremes():
    x, y = leaf([0.0, 3e200, 1e-200]), leaf([0.0, 4e200, 0.0])
    h = piecewise.hypot(x, y)
    np.testing.assert_allclose(h.detach().numpy(), [0.0, 5e200, 1e-200], rtol=1e-15)
    gx, gy = autograd.grad(h.sum(), (x, y), create_graph=True)
    np.testing.assert_allclose(gx.detach().numpy(), [0.0, 0.6, 1.0], rtol=1e-15)
    np.testing.assert_allclose(gy.detach().numpy(), [0.0, 0.8, 0.0], rtol=1e-15)
    (second,) = autograd.grad(gx.sum(), x)
    assert np.isfinite(second.numpy()[0])


def test_clamp_with_limits_crossed_or_missing():
    x = Tensor(np.array([-3.0, 0.0, 3.0]))
    assert piecewise.clamp(x, 2, -1).numpy().tolist() == [-1.0, -1.0, -1.0]
    assert piecewise.clamp(x, min=0).numpy().tolist() == [0.0, 0.0, 3.0]
    assert piecewise.clamp_max(x, 0).numpy().tolist() == [-3.0, 0.0, 0.0]
    assert piecewise.clamp_min(x, 0).numpy().tolist() == [0.0, 0.0, 3.0]
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        piecewise.clamp(x)
    integers = Tensor(np.array([0, 1, 3]))
    assert piecewise.clamp(integers, 1, 2).dtype == np.int64
    assert piecewise.clamp(integers, 0.5, 2.5).numpy().tolist() == [0.5, 1.0, 2.5]


def test_where_promotes_as_pytorch_does():
    condition = Tensor(np.array([True, False]))
    single = Tensor(np.ones(2, np.float32))
    assert piecewise.where(condition, single, 0.5).dtype == np.float32
    assert piecewise.where(condition, single, Tensor(np.array(0.5))).dtype == np.float32
    assert piecewise.where(condition, Tensor(np.ones(2)), single).dtype == np.float64
    assert piecewise.where(condition, 2.5, Tensor(np.array([1, 2]))).dtype == np.float32
    assert piecewise.where(condition, True, Tensor(np.array([4, 5]))).numpy().tolist() == [1, 5]
    assert piecewise.where(condition, 1.0, 2.0).dtype == np.float32
    assert [i.numpy().tolist() for i in piecewise.where(condition)] == [[0]]
    assert single.where(condition, 0.0).numpy().tolist() == [1.0, 0.0]
    with pytest.raises(RuntimeError, match="expected condition to be a boolean tensor"):
        piecewise.where(single, single, single)
    with pytest.raises(TypeError, match="both x and y"):
        piecewise.where(condition, single)


def test_steps_keep_integers_and_refuse_complex():
    integers = Tensor(np.array([-2, 3]))
    for function in (piecewise.floor, piecewise.ceil, piecewise.trunc, piecewise.round):
        assert function(integers).dtype == np.int64
        assert function(integers).numpy().tolist() == [-2, 3]
    assert piecewise.sign(Tensor(np.array([True, False]))).dtype == np.bool_
    z = Tensor(np.array([1 + 2j]))
    for function in (piecewise.floor, piecewise.sign, lambda v: piecewise.maximum(v, v)):
        with pytest.raises(RuntimeError, match="complex"):
            function(z)
    assert piecewise.round(Tensor(np.array([0.5, 1.5, 2.5]))).numpy().tolist() == [0.0, 2.0, 2.0]


def test_lerp_is_exact_at_its_ends():
    a, b = Tensor(np.array([0.1, 1e16])), Tensor(np.array([0.7, 1.0]))
    for weight in (0, 0.0, Tensor(np.array(0.0))):
        assert piecewise.lerp(a, b, weight).numpy().tolist() == [0.1, 1e16]
    for weight in (1, 1.0, Tensor(np.array(1.0))):
        assert piecewise.lerp(a, b, weight).numpy().tolist() == [0.7, 1.0]


def test_python_operators():
    x = Tensor(np.array([-1.5, 2.25]))
    assert abs(x).numpy().tolist() == [1.5, 2.25]
    assert round(x, 1).numpy().tolist() == [-1.5, 2.2]
    assert x.absolute().numpy().tolist() == x.abs().numpy().tolist()
    assert x.clip(0, 1).numpy().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("dtype", [autograd.float32, autograd.float64])
def test_the_sign_of_nan_is_zero(dtype):
    x = autograd.tensor([math.nan, -0.0, -3.0, math.inf], dtype=dtype)
    assert autograd.sign(x).tolist() == autograd.sgn(x).tolist() == [0.0, 0.0, -1.0, 1.0]


def test_lerp_with_complex_weights():
    start, end = Tensor(np.array([1.0 + 1j, 2.0])), Tensor(np.array([3.0 - 1j, 0.5j]))
    weight = Tensor(np.array([0.1 + 0.2j, 0.9 - 0.3j]))
    expected = start.numpy() + weight.numpy() * (end.numpy() - start.numpy())
    np.testing.assert_allclose(autograd.lerp(start, end, weight).numpy(), expected)
    leaves = tuple(t.requires_grad_() for t in (start, end, weight))
    assert autograd.gradcheck(autograd.lerp, leaves)


# ---- nan_to_num


BAD = [math.nan, math.inf, -math.inf, 1.5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize(
    "options", [{}, {"nan": 2.0}, {"posinf": 3.0, "neginf": -1.0}, {"nan": math.inf}]
)
def test_nan_to_num_replaces_what_is_not_finite(dtype, options):
    found = autograd.nan_to_num(Tensor(np.array(BAD, dtype)), **options)
    expected = np.nan_to_num(np.array(BAD, dtype), **options)
    assert found.dtype == dtype and found.numpy().tolist() == expected.tolist()


def test_nan_to_num_lets_the_gradient_through_finite_elements_alone():
    x = leaf(BAD)
    y = autograd.nan_to_num(x, posinf=4.0, neginf=-3.0)
    assert y.tolist() == [0.0, 4.0, -3.0, 1.5]
    (slope,) = autograd.grad((y**3).sum(), x, create_graph=True)
    assert slope.tolist() == [0.0, 0.0, 0.0, 6.75]
    (bend,) = autograd.grad(slope.sum(), x)
    assert bend.tolist() == [0.0, 0.0, 0.0, 9.0]


def test_nan_to_num_of_other_dtypes_and_in_place():
    whole = autograd.tensor([1, 2])
    same = autograd.nan_to_num(whole)
    assert same.tolist() == [1, 2] and same.data_ptr() != whole.data_ptr()
    parts = Tensor(np.array([complex(math.nan, 1.0), complex(2.0, math.inf)]))
    assert parts.nan_to_num(posinf=9.0).tolist() == [1j, 2 + 9j]
    x = Tensor(np.array(BAD))
    assert x.nan_to_num_(posinf=1.0, neginf=-1.0) is x and x.tolist() == [0.0, 1.0, -1.0, 1.5]


XLOGY = OpCase(
    "xlogy",
    piecewise.xlogy,
    BINARY_SHAPES,
    domain=((-2.0, 2.0), (0.5, 2.0)),
    reference=scipy.special.xlogy,
)


def test_xlogy_in_every_shape_dtype_layout_and_device():
    check_op(XLOGY)


@pytest.mark.parametrize("function", [autograd.xlogy, autograd.special.xlog1py])
@pytest.mark.parametrize("other", [[1, 2], 2.0, [True, True]])
def test_what_is_of_no_larger_kind_does_not_widen_x_log_y(function, other):
    x = autograd.tensor([1.0, 2.0], dtype=autograd.float32)
    try:
        autograd.set_default_dtype(autograd.float64)
        y = autograd.tensor(other)
        assert function(x, y).dtype == function(y, x).dtype == autograd.float32
    finally:
        autograd.set_default_dtype(autograd.float32)


def test_xlogy_where_x_is_zero():
    y = leaf([0.0, -1.0, math.inf, 2.0, math.nan])
    x = leaf(np.zeros(5))
    assert autograd.xlogy(x, y).tolist()[:4] == [0] * 4
    assert math.isnan(autograd.xlogy(x, y)[4].item())
    (first,) = autograd.grad(autograd.xlogy(x, y)[:4].sum(), y, create_graph=True)
    (second,) = autograd.grad(first.sum(), y)
    assert first.tolist()[:4] == second.tolist()[:4] == [0] * 4
    assert autograd.xlogy(0, y).tolist()[:4] == [0] * 4
    assert autograd.xlogy(leaf([1.0, 2.0]), 3.0).tolist() == [math.log(3), 2 * math.log(3)]
    assert autograd.xlogy(autograd.tensor([0, 2]), autograd.tensor([0, 2])).tolist() == (
        pytest.approx([0, 2 * math.log(2)])
    )
    with pytest.raises(TypeError, match="at least one argument must be Tensor"):
        autograd.xlogy(1.0, 2.0)


@pytest.mark.parametrize(
    ("function", "shift"), [(autograd.xlogy, 0.0), (autograd.special.xlog1py, 1.0)]
)
def test_the_slope_of_x_log_y_where_x_is_zero_is_the_logarithm(function, shift):
    y = leaf(np.array([0.5, 2.0, 1e-300, 0.0, -1.0, math.inf]) - shift)
    x = leaf(np.zeros(6))
    (slope,) = autograd.grad(function(x, y).sum(), x, create_graph=True)
    (mixed,) = autograd.grad(slope[:2].sum(), y)
    numbers = y.detach().numpy() + shift
    expected = [*np.log(numbers[:2]), math.log(numbers[2]) if numbers[2] > 0 else 0.0, 0, 0, 0]
    np.testing.assert_allclose(slope.detach().numpy(), expected, rtol=1e-15)
    assert mixed.tolist() == [2.0, 0.5, 0.0, 0.0, 0.0, 0.0]


def test_heaviside_takes_the_value_at_zero_from_its_second_argument():
    x, values = leaf([-1.0, -0.0, 0.0, 2.0, math.nan, math.inf]), leaf(0.25)
    result = autograd.heaviside(x, values)
    assert result.tolist() == [0, 0.25, 0.25, 1, 0, 1]
    assert gradients(result, values) == [2.0]
    assert autograd.heaviside(autograd.tensor([-1, 0, 1]), autograd.tensor(7)).tolist() == [0, 7, 1]
    with pytest.raises(RuntimeError, match="same dtype"):
        autograd.heaviside(x, values.float())
