"""A choice between arrays: the bits that numpy's `where` gives."""

import numpy as np
import pytest

import autograd as T
from autograd.ops.elementwise.select import chosen

RNG = np.random.default_rng(0)


def arrays(shape, dtype):
    found = [RNG.standard_normal(shape).astype(dtype) for _ in range(2)]
    for array in found:
        array.flat[:4] = [np.nan, np.inf, -0.0, 0.0]
    return found


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex128, np.int32])
@pytest.mark.parametrize("shape", [(7,), (5000,), (70, 80)])
def test_the_bits_are_those_of_where(shape, dtype):
    condition = RNG.random(shape) > 0.5
    x, y = arrays(shape, np.float64) if dtype == np.int32 else arrays(shape, dtype)
    if dtype == np.int32:
        x, y = np.arange(x.size).astype(dtype).reshape(shape), np.full(shape, -1, dtype)
    for first, second in [
        (x, y), (x, 0), (0, y), (x, 2), (x[..., :1], y), (x, np.broadcast_to(y[..., 0:1], shape)),
    ]:  # fmt: skip
        expected = np.where(condition, first, second)
        for out in (None, np.empty_like(expected)):
            found = chosen(np, condition, first, second, out)
            assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()
            assert out is None or np.shares_memory(out, found)
    for inner in (0, 1):
        given = [x.copy(), y.copy()]
        chosen(np, condition, *given, given[inner])
        np.testing.assert_array_equal(given[inner], np.where(condition, x, y))


def test_a_negative_zero_and_other_dtypes_are_left_to_where():
    condition, x = np.zeros(5000, bool), np.ones(5000, np.float32)
    assert np.signbit(chosen(np, condition, x, -0.0)).all()
    assert chosen(np, condition, x, np.ones(5000)).dtype == np.float64
    assert chosen(np, condition, x, 1j).dtype == np.complex64
    out = np.empty(5000)
    assert chosen(np, condition, x, 0.5, out) is out and (out == 0.5).all()


# Of exponentials many are vector code, within a unit in the last place of numpy's.
@pytest.mark.parametrize("name, rounding", [
    ("relu", 0.0), ("leaky_relu", 0.0), ("hardtanh", 0.0),
    ("elu", 1e-15), ("selu", 1e-15), ("celu", 1e-15),
])  # fmt: skip
def test_many_numbers_are_activated_as_few_are(name, rounding):
    function = getattr(T.nn.functional, name)
    values = np.concatenate([RNG.standard_normal(5000) * 3, [0.0, np.inf, -np.inf, -1e-9, 60.0]])
    x = T.tensor(values, requires_grad=True)
    (slope,) = T.grad(function(x).sum(), x)
    few = [T.tensor(values[k : k + 100], requires_grad=True) for k in range(0, 5005, 100)]
    expected = np.concatenate([function(part).detach().numpy() for part in few])
    np.testing.assert_allclose(function(x).detach().numpy(), expected, rtol=rounding)
    slopes = [T.grad(function(part).sum(), part)[0].numpy() for part in few]
    np.testing.assert_allclose(slope.numpy(), np.concatenate(slopes), rtol=rounding)


def test_elu_is_accurate_for_small_and_large_numbers():
    x = -np.logspace(-12, 2.5, 500)
    found = T.nn.functional.elu(T.tensor(x)).numpy()
    np.testing.assert_allclose(found, np.expm1(x), rtol=1e-15)
    single = T.nn.functional.elu(T.tensor(x.astype(np.float32))).numpy()
    np.testing.assert_allclose(single, np.expm1(x.astype(np.float32)), rtol=5e-7)
