"""Sums of products against exact ones, over any dimensions."""

import math

import numpy as np
import pytest

from autograd.ops.reductions.products import sum_of_products, sum_of_squares

RNG = np.random.default_rng(3)


def exactly(x, y, axes):
    """The sums of float64 products, each summed without rounding."""
    kept = [k for k in range(x.ndim) if k not in axes]
    lines = [a.transpose(*kept, *axes).reshape(-1, math.prod(x.shape[k] for k in axes))
             for a in (x, y)]  # fmt: skip
    sums = [math.fsum(a.astype(np.float64) * b) for a, b in zip(*lines, strict=True)]
    return np.reshape(sums, [x.shape[k] for k in kept])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("shape", "axes"), [
    ((700, 3), (1,)), ((700, 3), (0,)), ((100, 40), (1,)), ((100, 40), (0,)), ((130, 33), (0, 1)),
    ((2, 5000), (1,)), ((7, 6, 40), (0, 2)), ((7, 6, 40), (1,)), ((7, 6, 40), (1, 2)),
    ((4, 5), (0,)), ((3000,), (0,)),
])  # fmt: skip
def test_sums_are_exact_to_rounding(shape, axes, dtype):
    x, y = (RNG.standard_normal(shape).astype(dtype) for _ in range(2))
    for keepdims in (False, True):
        found = sum_of_products(np, x, y, axes, keepdims)
        expected = exactly(x, y, axes)
        size = exactly(np.abs(x), np.abs(y), axes)
        if keepdims:
            expected, size = np.expand_dims(expected, axes), np.expand_dims(size, axes)
        assert found.dtype == dtype and found.shape == expected.shape
        assert (np.abs(found - expected) <= 40 * np.finfo(dtype).eps * size).all()


def test_other_layouts_and_dtypes():
    x = RNG.standard_normal((60, 50))
    np.testing.assert_allclose(sum_of_squares(np, x.T, (1,)), (x * x).sum(0), rtol=1e-14)
    z = x + 1j * x[::-1]
    np.testing.assert_allclose(sum_of_squares(np, z, (1,)), (np.abs(z) ** 2).sum(1), rtol=1e-14)
    half = np.full((3, 2000), 200, np.float16)  # squares that half precision cannot hold
    assert (sum_of_squares(np, half, (1,)) == 8e7).all()
