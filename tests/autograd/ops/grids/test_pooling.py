"""Maxima and means of windows against windows taken one by one, and their derivatives."""

import math
from itertools import product

import numpy as np
import pytest

import autograd as T
from autograd.nn import functional as F
from autograd.testing import OpCase, check_op


def windowed(x, reduce, kernel, stride, padding=0, dilation=1, ceil_mode=False):
    """Reduce each window, of which only the elements inside the input are given."""
    extent, counts = dilation * (kernel - 1) + 1, []
    for size in x.shape[2:]:
        room = size + 2 * padding - extent
        n = (math.ceil if ceil_mode else math.floor)(room / stride) + 1
        counts.append(n - (ceil_mode and (n - 1) * stride >= size + padding))
    y = np.zeros((*x.shape[:2], *counts))
    for place in product(*map(range, counts)):
        chosen = [
            [i for i in range(p * stride - padding, p * stride - padding + extent, dilation)
             if 0 <= i < size]
            for p, size in zip(place, x.shape[2:], strict=True)
        ]  # fmt: skip
        key = np.ix_(range(len(x)), range(x.shape[1]), *chosen)
        y[(..., *place)] = reduce(x[key].reshape(*x.shape[:2], -1))
    return y


def pool(name, shape, kernel, stride=None, **how):
    reduce = (lambda x: x.max(-1)) if "max" in name else (lambda x: x.mean(-1))
    more = {} if "max" in name else {"count_include_pad": False}
    return OpCase(
        f"{name} {kernel} {stride} {how}",
        lambda x: getattr(F, name)(x, kernel, stride, **how, **more),
        [(shape,)],
        reference=lambda x: windowed(x, reduce, kernel, stride or kernel, **how),
    )


CASES = [
    *(
        pool(f"{kind}_pool{dims}d", (2, 2, 5, 4, 3)[: dims + 2], 2)
        for kind in ("max", "avg") for dims in (1, 2, 3)
    ),
    *(
        pool(f"{kind}_pool1d", (1, 2, 8), 3, stride, padding=1, ceil_mode=ceil_mode)
        for kind in ("max", "avg") for stride in (1, 2) for ceil_mode in (False, True)
    ),
    pool("avg_pool2d", (1, 2, 5, 4), 3, 2, padding=1, ceil_mode=True),
    pool("max_pool2d", (1, 2, 7, 6), 3, 2, padding=1, dilation=2, ceil_mode=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_the_first_of_the_largest_gets_the_gradient_and_nan_is_the_largest():
    x = T.tensor([[[1.0, 2.0, 2.0, 0.0]]], requires_grad=True)
    y, places = F.max_pool1d(x, 4, return_indices=True)
    assert T.grad(y.sum(), x)[0].tolist() == [[[0.0, 1.0, 0.0, 0.0]]]
    assert places.tolist() == [[[1]]] and places.dtype == T.int64
    odd = T.tensor([[[-math.inf, -math.inf, math.nan, 1.0]]])
    y, places = F.max_pool1d(odd, 3, 1, 1, return_indices=True)
    assert str(y.tolist()) == "[[[-inf, nan, nan, nan]]]"
    assert places.tolist() == [[[0, 2, 2, 2]]]


def test_positions_are_numbers_in_the_image():
    x = np.random.default_rng(0).permutation(30).reshape(1, 1, 5, 6)
    y, places = F.max_pool2d(T.tensor(x), (2, 3), (1, 2), (1, 1), return_indices=True)
    assert x.reshape(-1)[places.numpy()].tolist() == y.tolist()
    assert F.max_pool2d(T.tensor(x[0]), 2).shape == (1, 2, 3)


def test_zeros_of_the_padding_count_unless_told_otherwise():
    x = T.ones(1, 1, 4)
    assert F.avg_pool1d(x, 3, 2, 1).tolist() == [[[pytest.approx(2 / 3), 1.0]]]
    assert F.avg_pool1d(x, 3, 2, 1, False, False).tolist() == [[[1.0, 1.0]]]
    # the last window reaches one beyond the padding, which is no element
    assert F.avg_pool1d(x, 3, 2, 1, True).tolist() == [[[pytest.approx(2 / 3), 1.0, 0.5]]]
    assert F.avg_pool2d(T.ones(1, 1, 2, 2), 2, divisor_override=8).tolist() == [[[[0.5]]]]
    numbers = T.tensor([[[-7, 0, 7, 4]]])
    assert F.avg_pool1d(numbers, 2).tolist() == [[[-3, 5]]]


def test_inside_compile_without_points():
    x = T.rand(2, 3, 8, 8, dtype=T.float64)
    for pooled in (F.max_pool2d, F.avg_pool2d):
        compiled = T.compile(lambda x, pooled=pooled: (pooled(x, 3, 2, 1) ** 2).sum())
        for scale in (1.0, -2.0):
            expected = (pooled(x * scale, 3, 2, 1) ** 2).sum().item()
            assert compiled(x * scale).item() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: F.max_pool1d(x, 11), r"computed output size \[0\].*too small"),
        (lambda x: F.max_pool1d(x, 2, padding=2), "at most half of effective kernel size"),
        (lambda x: F.max_pool1d(x, 0), "non-positive kernel_size"),
        (lambda x: F.max_pool1d(x, 2, stride=0), "non-positive stride"),
        (lambda x: F.max_pool1d(x, 2, dilation=0), "non-positive dilation"),
        (lambda x: F.max_pool1d(x, 2, padding=-1), "negative padding"),
        (lambda x: F.max_pool1d(x[0, 0], 2), r"input to max_pool1d, but got .* \[9\]"),
        (lambda x: F.max_pool2d(x, (2, 2, 2)), "list of 2 values"),
        (lambda x: F.avg_pool2d(x, 2, divisor_override=0), "divisor must be not zero"),
        (lambda x: F.max_pool1d(x[0, :0], 1), r"positive length, .* \[0, 9\]"),
        (lambda x: F.max_pool3d(x[None, :, :, :0], 1), "positive length"),
        (lambda x: F.avg_pool2d(x[:, :0], 1), "only a batch in front of 3 dimensions may be empty"),
        (lambda x: F.avg_pool1d(x + 0j, 2), "not implemented for complex64"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(T.ones(2, 4, 9))
