"""Convolutions and their transposes against sums written out, and their derivatives."""

from itertools import product

import numpy as np
import pytest

import autograd as T
from autograd import plan
from autograd.nn import functional as F
from autograd.plan.program import flops
from autograd.testing import OpCase, check_op


def summed(x, w, stride=1, padding=0, dilation=1, groups=1):
    """Every output as the sum that it is, one number for all dimensions."""
    dims = x.ndim - 2
    widths = padding if isinstance(padding, list) else [(padding, padding)] * dims
    x = np.pad(x, [(0, 0), (0, 0), *widths])
    extents = [dilation * (k - 1) + 1 for k in w.shape[2:]]
    sizes = [(n - e) // stride + 1 for n, e in zip(x.shape[2:], extents, strict=True)]
    y = np.zeros((len(x), len(w), *sizes), np.result_type(x, w))
    per_group, inputs = len(w) // groups, w.shape[1]
    for o, place in product(range(len(w)), product(*map(range, sizes))):
        first = o // per_group * inputs
        key = tuple(
            slice(p * stride, p * stride + e, dilation)
            for p, e in zip(place, extents, strict=True)
        )
        window = x[(slice(None), slice(first, first + inputs), *key)]
        y[(slice(None), o, *place)] = (window * w[o]).reshape(len(x), -1).sum(-1)
    return y


def transposed(x, w, stride=1, padding=0, dilation=1, groups=1, output_padding=0):
    """The transpose as a matrix, column by column of the forward map."""
    sizes = [
        (n - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1
        for n, k in zip(x.shape[2:], w.shape[2:], strict=True)
    ]
    shape = (len(x), w.shape[1] * groups, *sizes)
    y = np.zeros(shape, np.result_type(x, w))
    for place in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[place] = 1
        moved = summed(unit, w, stride, padding, dilation, groups)
        moved = moved[tuple(map(slice, x.shape))]  # what output_padding adds has no window
        y[place] = (moved * x).sum()
    return y


def conv(name, shapes, complex=False, **how):
    function = getattr(F, name)
    return OpCase(
        f"{name} {how}",
        lambda x, w: function(x, w, **how),
        [shapes],
        reference=lambda x, w: (transposed if "transpose" in name else summed)(x, w, **how),
        complex=complex,
    )


SIGNAL, KERNEL = (2, 4, 7), (4, 2, 3)
CASES = [
    conv("conv1d", ((2, 2, 6), (3, 2, 3)), True),
    conv("conv1d", ((2, 2, 6), (3, 2, 1))),
    conv("conv1d", ((1, 2, 7), (3, 2, 2)), stride=3, padding=1),
    conv("conv1d", (SIGNAL, KERNEL), True, stride=2, padding=2, dilation=2, groups=2),
    conv("conv2d", ((1, 2, 4, 5), (2, 2, 3, 2)), padding=1),
    conv("conv2d", ((1, 2, 5, 4), (2, 1, 2, 2)), stride=2, padding=1, groups=2),
    conv("conv1d", ((2, 3, 6), (3, 1, 2)), True, dilation=2, padding=1, groups=3),
    conv("conv2d", ((1, 2, 4, 3), (2, 1, 2, 1)), stride=2, groups=2),
    conv("conv_transpose1d", ((1, 2, 3), (2, 1, 2)), True, stride=2, groups=2),
    conv("conv3d", ((1, 1, 3, 2, 3), (2, 1, 2, 1, 2))),
    conv("conv_transpose1d", ((2, 2, 3), (2, 1, 3)), True),
    conv("conv_transpose1d", ((1, 4, 3), KERNEL), stride=2, padding=1, output_padding=1, groups=2),
    conv("conv_transpose1d", ((1, 2, 3), (2, 1, 2)), dilation=3, output_padding=2),
    conv("conv_transpose2d", ((1, 2, 2, 3), (2, 1, 2, 3)), stride=2, padding=1),
    conv("conv_transpose3d", ((1, 1, 2, 1, 2), (1, 2, 2, 1, 2))),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_a_bias_is_added_to_each_channel_and_a_batch_may_be_missing():
    x, w, b = T.rand(2, 3, 8), T.rand(4, 3, 3), T.rand(4)
    plain = F.conv1d(x, w)
    assert T.equal(F.conv1d(x, w, b), plain + b.reshape(4, 1))
    assert F.conv1d(x[0], w, b).shape == (4, 6)
    assert T.allclose(F.conv1d(x[0], w, b), F.conv1d(x, w, b)[0])
    assert F.conv_transpose1d(x[0], w.transpose(0, 1)[:3], b[:3].tile(2)[:4]).shape == (4, 10)
    assert F.conv2d(x[:0, None], w[:, None, :1]).shape == (0, 4, 3, 6)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_keeps_the_size_with_the_odd_zero_at_the_far_end(k, dilation):
    x, w = np.arange(1.0, 9.0).reshape(1, 1, 8), np.arange(1.0, k + 1).reshape(1, 1, k)
    total = dilation * (k - 1)
    found = F.conv1d(T.tensor(x), T.tensor(w), padding="same", dilation=dilation)
    expected = summed(x, w, padding=[(total // 2, total - total // 2)], dilation=dilation)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)
    assert found.shape == x.shape
    valid = F.conv1d(T.tensor(x), T.tensor(w), padding="valid", dilation=dilation)
    assert valid.shape == (1, 1, 8 - total)


def test_every_dimension_may_have_its_own_numbers():
    x, w = T.rand(1, 2, 9, 7, dtype=T.float64), T.rand(3, 2, 2, 3, dtype=T.float64)
    found = F.conv2d(x, w, stride=(2, 1), padding=(0, 2), dilation=(3, 1))
    rows = F.conv2d(F.pad(x, (2, 2)), w, dilation=(3, 1))
    assert T.allclose(found, rows[:, :, ::2])


def test_inside_compile_without_points_and_its_work():
    w = T.rand(4, 3, 3, dtype=T.float64, requires_grad=True)

    def loss(x):
        return (F.conv1d(x, w, padding=1).tanh() ** 2).sum()

    x = T.rand(2, 3, 8, dtype=T.float64)
    compiled = T.compile(loss)
    for _ in range(2):
        assert compiled(x).item() == pytest.approx(loss(x).item(), rel=1e-13)
    program, _ = plan.trace(lambda x: [F.conv1d(x, w)], [x])
    assert [flops(i) for i in program.instructions] == [2 * (2 * 4 * 6) * (3 * 3)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w: F.conv1d(x[0, 0], w), r"2D \(unbatched\) or 3D .* got input of size: \[9\]"),
        (lambda x, w: F.conv1d(x, w[0]), r"weight of 3 dimensions, got shape \[4, 3\]"),
        (lambda x, w: F.conv1d(x[:, :3], w), r"expected input\[2, 3, 9\] to have 4 channels"),
        (lambda x, w: F.conv1d(x[:, :, :2], w), "input size per channel: .2.. Kernel size: .3."),
        (lambda x, w: F.conv1d(x, w, T.ones(4)), "1-dimensional with 6 elements"),
        (lambda x, w: F.conv1d(x, w, stride=0), "non-positive stride is not supported"),
        (lambda x, w: F.conv1d(x, w, dilation=0), "non-positive dilation is not supported"),
        (lambda x, w: F.conv1d(x, w, padding=-1), "negative padding is not supported"),
        (lambda x, w: F.conv1d(x, w, stride=(1, 2)), "list of 1 values to match"),
        (lambda x, w: F.conv1d(x, w, stride=2, padding="same"), "not supported for strided"),
        (lambda x, w: F.conv1d(x, w, padding="full"), "Invalid padding string: 'full'"),
        (lambda x, w: F.conv1d(x, w, groups=4), "divisible by 4 at dimension 0"),
        (lambda x, w: F.conv1d(x, w, groups=0), "non-positive groups is not supported"),
        (lambda x, w: F.conv1d(x, w.double()), "float32 != float64"),
        (lambda x, w: F.conv_transpose1d(x, w), "transposed=1, .* to have 6 channels"),
        (lambda x, w: F.conv_transpose1d(x, w[:4], output_padding=1), "output padding must be"),
        (lambda x, w: F.conv_transpose1d(x, w[:4], padding=6), r"sizes \[-1\], .* less padding"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(T.ones(2, 4, 9), T.ones(6, 4, 3))
