"""Sums, means, variances and the logical reductions."""

import math
import warnings

import numpy as np
import pytest

import autograd as T
from autograd.ops.reductions import reduce as R
from autograd.testing import UNARY_SHAPES, OpCase, check_op

DIMS = [((2, 3, 4),), ((2, 1, 3),)]
FILLED = [s for s in UNARY_SHAPES if 0 not in s[0]]

CASES = [
    OpCase("sum", R.sum, UNARY_SHAPES, reference=np.sum, complex=True),
    OpCase("sum dim", lambda x: R.sum(x, 1), DIMS, reference=lambda x: x.sum(1), complex=True),
    OpCase("sum of nothing", lambda x: R.sum(x, 0), [((0, 2),)], reference=lambda x: np.zeros(2)),
    OpCase("mean", R.mean, FILLED, reference=np.mean, complex=True),
    OpCase(
        "mean dims",
        lambda x: R.mean(x, (0, -1), keepdim=True),
        DIMS,
        reference=lambda x: x.mean((0, 2), keepdims=True),
        complex=True,
    ),
    OpCase(
        "var",
        R.var,
        [((4,),), ((2, 3),)],
        reference=lambda x: np.var(x, ddof=1),
        complex=True,
        order=3,
    ),
    OpCase(
        "var dims",
        lambda x: R.var(x, (0, 2), correction=0),
        DIMS,
        reference=lambda x: x.var((0, 2)),
        complex=True,
    ),
    OpCase(
        "std",
        R.std,
        [((4,),), ((2, 3),)],
        reference=lambda x: np.std(x, ddof=1),
        complex=True,
        order=3,
    ),
    OpCase(
        "std dim",
        lambda x: R.std(x, 2, unbiased=False, keepdim=True),
        [((2, 3, 4),)],
        reference=lambda x: x.std(2, keepdims=True),
        complex=True,
    ),
    OpCase(
        "var_mean",
        lambda x: R.var_mean(x, 1),
        [((2, 3),)],
        reference=lambda x: (x.var(1, ddof=1), x.mean(1)),
    ),
    OpCase(
        "std_mean",
        lambda x: R.std_mean(x, 1),
        [((2, 3),)],
        reference=lambda x: (x.std(1, ddof=1), x.mean(1)),
    ),
    OpCase(
        "all",
        lambda x: R.all(x > 0, 0),
        [((2, 3),), ((0, 3),)],
        reference=lambda x: (x > 0).all(0),
        order=0,
        dtypes=(),
    ),
    OpCase(
        "any",
        lambda x: R.any(x > 0, 0, keepdim=True),
        [((2, 3),), ((0, 3),)],
        reference=lambda x: (x > 0).any(0, keepdims=True),
        order=0,
        dtypes=(),
    ),
    OpCase(
        "count_nonzero",
        lambda x: R.count_nonzero(x > 0, 0),
        [((2, 3),), ((3,),)],
        reference=lambda x: (x > 0).sum(0),
        order=0,
        dtypes=(),
    ),
]


def with_nan(rng, shape):
    values = rng.uniform(-2, 2, shape)
    values[..., 1] = np.nan
    return (values,)


def test_sums_and_means_of_what_is_not_nan():
    (values,) = with_nan(np.random.default_rng(0), (3, 4))
    x = T.tensor(values, requires_grad=True)
    for dim in (None, 0, 1, (0, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's, of the mean of nothing
            mean = np.nanmean(values, dim)
        np.testing.assert_allclose(R.nanmean(x, dim).detach().numpy(), mean, rtol=1e-14)
        total = np.nansum(values, dim)
        np.testing.assert_allclose(R.nansum(x, dim).detach().numpy(), total, rtol=1e-14)
    assert R.nanmean(x, 1, keepdim=True).shape == (3, 1)
    (g,) = T.grad((R.nanmean(x, 1) ** 2).sum(), x)
    expected = np.where(np.isnan(values), 0, 2 / 3 * np.nanmean(values, 1, keepdims=True))
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-13)
    assert R.nansum(T.tensor([1, 2])).item() == 3
    with pytest.raises(RuntimeError, match="nanmean.*convert with .float"):
        R.nanmean(T.tensor([1, 2]))
    check_op(OpCase("nanmean", lambda x: R.nanmean(x, 0), DIMS, reference=lambda x: x.mean(0)))
    check_op(OpCase("nansum", R.nansum, UNARY_SHAPES, reference=np.sum, complex=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_integers_sum_to_int64_and_have_no_mean():
    x = T.tensor(np.array([1, 2, 4], np.int32))
    assert x.sum().dtype == T.int64
    assert T.tensor([True, True]).sum().item() == 2
    assert x.mean(dtype=T.float64).item() == pytest.approx(7 / 3, rel=1e-15)
    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        x.mean()
    with pytest.raises(RuntimeError, match="only support floating point"):
        x.var()


def test_half_precision_is_summed_in_single():
    x = T.tensor(np.full(4000, 20.0, np.float16))
    assert x.mean().item() == 20.0
    assert x.mean().dtype == T.float16
    ones = T.tensor(np.ones(3001, np.float16))
    assert ones.sum().item() == float(np.float16(3001))


def test_the_mean_of_nothing_is_nan_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(T.zeros(0).mean().item())
        assert math.isnan(T.zeros(0).var().item())
        assert math.isnan(T.ones(1).var().item())


def test_variance_does_not_cancel():
    x = T.tensor(1e8 + np.array([0.0, 1.0, 2.0]))
    assert x.var().item() == 1.0


def test_positional_forms_of_var():
    x = np.array([[1.0, 2.0, 4.0]])
    assert T.tensor(x).var(False).item() == pytest.approx(x.var(), rel=1e-15)
    assert T.tensor(x).std(1, False).item() == pytest.approx(x.std(), rel=1e-15)
    assert T.tensor(x).var(1, correction=2).item() == pytest.approx(3 * x.var(), rel=1e-15)


def test_the_gradient_of_std_at_equal_values_is_zero_and_its_derivative_finite():
    x = T.tensor(np.full(3, 2.0), requires_grad=True)
    (g,) = T.grad(x.std(), x, create_graph=True)
    (h,) = T.grad((g * T.tensor(np.array([1.0, 2.0, 3.0]))).sum(), x)
    assert g.tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(h.numpy()).all()


def test_dimensions_are_checked():
    with pytest.raises(IndexError, match="Dimension out of range"):
        T.zeros(2, 3).sum(2)
    with pytest.raises(RuntimeError, match="more than once"):
        T.zeros(2, 3).sum((0, -2))
    assert T.tensor(3.0).sum(0).item() == T.tensor(3.0).mean(-1).item() == 3.0


def test_sum_and_mean_keep_nothing_alive():
    x = T.zeros(3).requires_grad_()
    assert not x.sum().grad_fn.saved
    assert not x.mean().grad_fn.saved


def test_results_may_be_written_into_given_arrays():
    x = np.random.default_rng(0).normal(size=(3, 4))
    for op, expected in [
        (R.sum_op, x.sum(1)),
        (R.mean_op, x.mean(1)),
    ]:
        out = np.empty(3)
        assert op.forward(np, x, out=out, axes=(1,), keepdims=False) is out
        np.testing.assert_allclose(out, expected, rtol=1e-15)
    for op, expected in [(R.var_op, x.var(1)), (R.std_op, x.std(1))]:
        out = np.empty(3)
        assert op.forward(np, x, out=out, axes=(1,), correction=0.0, keepdims=False) is out
        np.testing.assert_allclose(out, expected, rtol=1e-14)
    out = np.empty(())
    assert R.mean_op.forward(np, x, out=out, axes=(0, 1), keepdims=False) is out
    assert out == pytest.approx(x.mean(), rel=1e-15)


def test_a_correction_of_none_is_one():
    x = T.tensor([1.0, 2.0, 4.0])
    for name in ("var", "std"):
        function = getattr(T, name)
        assert function(x, correction=None).item() == function(x).item()
        assert getattr(T, f"{name}_mean")(x, correction=None)[0].item() == function(x).item()


@pytest.mark.parametrize("rows", [0, 1, 511, 1024, 1025, 3001])
@pytest.mark.parametrize("width", [1, 3, 64, 300])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_over_the_rows_of_narrow_matrices(rows, width, keepdim):
    x = np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32)
    summed = T.tensor(x).sum(0, keepdim).numpy()
    exact = x.astype(np.float64).sum(axis=0, keepdims=keepdim)
    assert summed.dtype == np.float32 and summed.shape == exact.shape
    np.testing.assert_allclose(summed, exact, rtol=1e-6, atol=1e-6 * max(rows, 1))


def test_the_gradient_of_a_bias_is_the_sum_over_the_rows():
    g = np.random.default_rng(0).standard_normal((3001, 20))
    bias = T.zeros(20, dtype=T.float64, requires_grad=True)
    (slope,) = T.grad(T.zeros(3001, 20, dtype=T.float64) + bias, bias, T.tensor(g))
    np.testing.assert_allclose(slope.numpy(), g.sum(axis=0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(300, 3), (20, 40, 8), (500, 1), (500, 2), (129, 9)])
def test_sums_over_short_lines(shape, dtype):
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    for keepdim in (False, True):
        found = T.tensor(x).sum(-1, keepdim)
        expected = x.astype(np.clongdouble).sum(-1, keepdims=keepdim)
        assert found.dtype == dtype and found.shape == expected.shape
        size = np.abs(x).sum(-1, keepdims=keepdim)
        assert (np.abs(found.numpy() - expected) <= 4 * np.finfo(dtype).eps * size).all()
    out = T.empty(shape[:-1], dtype=T.tensor(x).dtype)
    assert T.sum(T.tensor(x), -1, out=out) is out
    np.testing.assert_array_equal(out, T.tensor(x).sum(-1))
