"""Resampling against numpy's interpolation, and its derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd.nn.functional import interpolate
from autograd.testing import OpCase, check_op


def along(x, axis, size, step, corners):
    """Linear interpolation of one dimension; beyond the outermost centres their values."""
    last = x.shape[axis] - 1
    places = (
        np.linspace(0, last, size) if corners else (np.arange(size) + 0.5) * step - 0.5
    )  # np.linspace(0, last, 1) is [0]
    return np.apply_along_axis(lambda row: np.interp(places, range(last + 1), row), axis, x)


def linear(sizes, corners):
    def reference(x):
        for axis, size in enumerate(sizes, 2):
            x = along(x, axis, size, x.shape[axis] / size, corners)
        return x

    return reference


CASES = [
    OpCase(
        f"{mode} {sizes} {corners}",
        lambda x, sizes=sizes, mode=mode, corners=corners: interpolate(
            x, sizes, mode=mode, align_corners=corners
        ),
        [(shape,)],
        reference=linear(sizes, corners),
        order=2,
    )
    for mode, shape, sizes in (
        ("linear", (2, 1, 3), (5,)),
        ("linear", (1, 2, 4), (2,)),
        ("linear", (1, 2, 4), (1,)),
        ("bilinear", (1, 2, 3, 2), (2, 5)),
        ("trilinear", (1, 1, 2, 3, 2), (3, 2, 3)),
    )
    for corners in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_the_nearest_element(mode):
    shift = 0.0 if mode == "nearest" else 0.5
    for size in (1, 2, 3, 5, 6, 7):
        places = np.floor((np.arange(size) + shift) * (3 / size)).astype(int)
        check_op(
            OpCase(
                f"{mode} {size}",
                lambda x, size=size: interpolate(x, size, mode=mode),
                [((2, 1, 3),)],
                reference=lambda x, places=places: x[:, :, places],
                order=1,
            )
        )
    x = T.arange(6.0).reshape(1, 1, 2, 3)
    assert interpolate(x, scale_factor=(1, 2)).tolist() == x.repeat_interleave(2, 3).tolist()


def test_a_factor_says_how_far_apart_the_points_are_unless_sizes_do():
    x = T.arange(5.0, dtype=T.float64).reshape(1, 1, 5)
    found = interpolate(x, scale_factor=1.5, mode="linear")
    again = interpolate(x, scale_factor=1.5, mode="linear", recompute_scale_factor=True)
    assert found.shape == again.shape == (1, 1, 7)
    np.testing.assert_allclose(found.numpy(), along(x.numpy(), 2, 7, 1 / 1.5, False), atol=1e-15)
    np.testing.assert_allclose(again.numpy(), along(x.numpy(), 2, 7, 5 / 7, False), atol=1e-15)
    same = interpolate(x, 5, mode="linear")
    assert T.equal(same, x) and same is not x


def test_inside_compile_without_points():
    compiled = T.compile(lambda x: (interpolate(x, 7, mode="linear") ** 2).sum())
    for k in (1.0, 2.0):
        x = T.rand(1, 2, 4, dtype=T.float64) * k
        expected = (interpolate(x, 7, mode="linear") ** 2).sum().item()
        assert compiled(x).item() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: interpolate(x), ValueError, "either size or scale_factor"),
        (lambda x: interpolate(x, 3, 2.0), ValueError, "only one of size or scale_factor"),
        (lambda x: interpolate(x, (3, 3)), ValueError, r"dimensions of \[4\] and output size of"),
        (lambda x: interpolate(x, 0), RuntimeError, "greater than 0, but got input"),
        (lambda x: interpolate(x, 3, align_corners=True), ValueError, "align_corners option"),
        (lambda x: interpolate(x, 3, mode="cubic"), NotImplementedError, "got 'cubic'"),
        (lambda x: interpolate(x[0], 3), NotImplementedError, r"got 2D"),
        (lambda x: interpolate(x, 3, mode="bilinear"), NotImplementedError, "needs 4D input"),
        (lambda x: interpolate(x.long(), 3), NotImplementedError, "not implemented for int64"),
        (
            lambda x: interpolate(x, 3, recompute_scale_factor=True),
            ValueError,
            "not meaningful with an explicit size",
        ),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(T.ones(1, 2, 4))
