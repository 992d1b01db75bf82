"""Comparisons, logic and bits: values, dtypes, operators, refusals; never a gradient."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.ops.elementwise import compare
from autograd.strict import strict_cuda
from autograd.testing import BINARY_SHAPES, OpCase, check_op

COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_of_every_shape_and_device(name):
    reference = getattr(operator, name)
    check_op(
        OpCase(
            name,
            getattr(compare, name),
            BINARY_SHAPES,
            reference=reference,
            order=0,
            make=lambda rng, *shapes: [rng.integers(0, 3, s).astype(float) for s in shapes],
        )
    )
    x = Tensor(np.array([1.0, 2.0, 3.0]), requires_grad=True)
    y = reference(x, 2)
    assert y.dtype == np.bool_ and not y.requires_grad
    assert y.numpy().tolist() == [bool(reference(v, 2)) for v in (1.0, 2.0, 3.0)]
    assert reference(2, x).numpy().tolist() == [bool(reference(2, v)) for v in (1.0, 2.0, 3.0)]


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_every_shape_and_device(name):
    check_op(
        OpCase(
            name,
            getattr(compare, name),
            BINARY_SHAPES,
            reference=getattr(np, name),
            order=0,
            make=lambda rng, *shapes: [rng.integers(0, 2, s).astype(float) for s in shapes],
        )
    )


@pytest.mark.parametrize("name", ["logical_not", "isnan", "isinf", "isfinite"])
def test_tests_of_single_values(name):
    values = np.array([0.0, 1.0, np.nan, np.inf, -np.inf])
    found = getattr(compare, name)(Tensor(values))
    assert found.numpy().tolist() == getattr(np, name)(values).tolist()
    assert getattr(Tensor(np.array([0, 1])), name)().dtype == np.bool_


def test_signed_infinities():
    x = Tensor(np.array([np.inf, -np.inf, 0.0]))
    assert compare.isposinf(x).numpy().tolist() == [True, False, False]
    assert compare.isneginf(x).numpy().tolist() == [False, True, False]


def test_bits_of_bools_and_integers():
    a, b = Tensor(np.array([True, True, False])), Tensor(np.array([True, False, False]))
    assert (a & b).numpy().tolist() == [True, False, False]
    assert (a | b).numpy().tolist() == [True, True, False]
    assert (a ^ b).numpy().tolist() == [False, True, False]
    assert (~a).numpy().tolist() == [False, False, True]
    assert (True & a).numpy().tolist() == [True, True, False]
    x = Tensor(np.array([6, 3]))
    assert (x & 3).numpy().tolist() == [2, 3]
    assert (8 | x).numpy().tolist() == [14, 11]
    assert (~x).numpy().tolist() == [-7, -4]
    for operation in (lambda: Tensor(np.ones(1)) & Tensor(np.ones(1)), lambda: ~Tensor(np.ones(1))):
        with pytest.raises(TypeError, match="integer and Boolean-type tensors"):
            operation()


def test_mixed_dtypes_compare_by_value():
    integers, floats = Tensor(np.array([1, 2])), Tensor(np.array([1.0, 2.5], np.float32))
    assert (integers == floats).numpy().tolist() == [True, False]
    assert (integers < 1.5).numpy().tolist() == [True, False]


def test_complex_numbers_are_equal_or_not_but_have_no_order():
    z = Tensor(np.array([1 + 2j, 1j]))
    assert (z == 1j).numpy().tolist() == [False, True]
    for name in ("lt", "le", "gt", "ge"):
        with pytest.raises(RuntimeError, match="no order"):
            getattr(compare, name)(z, z)


def test_strangers_compare_as_objects_do():
    x = Tensor(np.array([1.0]))
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    with pytest.raises(TypeError):
        _ = x < "text"
    assert hash(x) != hash(Tensor(np.array([1.0])))
    assert {x: 1}[x] == 1


def test_closeness():
    a = Tensor(np.array([1.0, np.inf, np.nan, 1.0]))
    b = Tensor(np.array([1.0 + 1e-7, np.inf, np.nan, -np.inf]))
    assert compare.isclose(a, b).numpy().tolist() == [True, True, False, False]
    assert compare.isclose(a, b, equal_nan=True).numpy().tolist() == [True, True, True, False]
    assert compare.isclose(a, b, rtol=0, atol=1e-9).numpy().tolist()[0] is False
    assert compare.allclose(a[:2], b[:2]) is True
    assert compare.allclose(a, b) is False
    integers = Tensor(np.array([1, 2]))
    assert compare.isclose(integers, integers).numpy().tolist() == [True, True]
    with pytest.raises(RuntimeError, match="one dtype, got int64 and float64"):
        compare.isclose(integers, Tensor(np.ones(2)))


def test_equal():
    assert compare.equal(Tensor(np.ones(2)), Tensor(np.ones(2, np.float32))) is True
    assert compare.equal(Tensor(np.ones(2)), Tensor(np.ones((1, 2)))) is False
    assert compare.equal(Tensor(np.array([np.nan])), Tensor(np.array([np.nan]))) is False


def test_on_a_device_results_stay_there():
    with strict_cuda():
        x = Tensor(np.array([1.0, np.nan])).to(device="cuda")
        for y in (x == 1, x > x, ~(x < 2), compare.isnan(x), compare.isclose(x, x)):
            assert y.is_cuda and y.dtype == np.bool_
        assert compare.allclose(x, x, equal_nan=True) is True


def test_isclose_refuses_negative_tolerances():
    for name in ("rtol", "atol"):
        with pytest.raises(RuntimeError, match=f"{name} must be greater than or equal to zero"):
            autograd.isclose(autograd.ones(2), autograd.ones(2), **{name: -0.4})
