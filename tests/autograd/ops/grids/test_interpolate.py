"""Resampling against numpy's interpolation, and its derivatives."""

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicHermiteSpline

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


def bump(slope):
    """The cubic pieces through 0, 0, 1, 0, 0 with this slope where they come down to 0."""
    ends = range(-2, 3)
    pieces = CubicHermiteSpline(ends, [0, 0, 1, 0, 0], [0, -slope, 0, slope, 0], extrapolate=False)
    return lambda x: np.nan_to_num(pieces(x))


FILTERS = {
    "bilinear": lambda x: np.nan_to_num(BSpline.basis_element([-1, 0, 1], extrapolate=False)(x)),
    "bicubic": bump(-0.5),
    "lanczos": lambda x: np.sinc(x) * np.sinc(x / 3) * (np.abs(x) < 3),
}


def cubic(old, new, corners):
    """The matrix of cubic convolution on a line that goes on as it ends."""
    places = np.linspace(0, old - 1, new) if corners else (np.arange(new) + 0.5) * old / new - 0.5
    elements = np.arange(-4, old + 4)
    weights = bump(-0.75)(places[:, None] - elements)
    matrix = np.zeros((new, old))
    np.add.at(matrix.T, np.clip(elements, 0, old - 1), weights.T)
    return matrix


def filtered(mode):
    def matrix(old, new, corners):
        step = (old - 1) / max(new - 1, 1) if corners else old / new
        centres = (np.arange(new) + 0.5) * step
        weights = FILTERS[mode]((np.arange(old) + 0.5 - centres[:, None]) / max(step, 1))
        return weights / weights.sum(1, keepdims=True)

    return matrix


def covered(old, new, corners):
    starts, ends = np.arange(new) * old / new, np.arange(1, new + 1) * old / new
    inside = (np.arange(old) + 1 > starts[:, None]) & (np.arange(old) < ends[:, None])
    return inside / inside.sum(1, keepdims=True)


def by_matrices(matrix, sizes, corners=False):
    def reference(x):
        for axis, size in enumerate(sizes, 2):
            product = np.tensordot(x, matrix(x.shape[axis], size, corners), (axis, 1))
            x = np.moveaxis(product, -1, axis)
        return x

    return reference


SUMS = [
    *(
        OpCase(
            f"bicubic {sizes} {corners}",
            lambda x, sizes=sizes, corners=corners: interpolate(
                x, sizes, mode="bicubic", align_corners=corners
            ),
            [((2, 1, 3, 4),)],
            reference=by_matrices(cubic, sizes, corners),
        )
        for sizes in ((3, 4), (5, 2), (1, 7))
        for corners in (False, True)
    ),
    *(
        OpCase(
            f"{mode} without aliases {sizes} {corners}",
            lambda x, sizes=sizes, corners=corners, mode=mode: interpolate(
                x, sizes, mode=mode, align_corners=corners, antialias=True
            ),
            [((1, 2, 7, 3),)],
            reference=by_matrices(filtered(mode), sizes, corners),
        )
        for mode in FILTERS
        for sizes in ((3, 2), (2, 5))
        for corners in ((False,) if mode == "lanczos" else (False, True))
    ),
    *(
        OpCase(
            f"area {sizes}",
            lambda x, sizes=sizes: interpolate(x, sizes, mode="area"),
            [(shape,)],
            reference=by_matrices(covered, sizes),
        )
        for shape, sizes in (
            ((2, 1, 7), (3,)),
            ((2, 1, 2), (5,)),
            ((1, 2, 4, 5), (2, 3)),
            ((1, 1, 2, 3, 3), (1, 2, 4)),
        )
    ),
]


@pytest.mark.parametrize("case", SUMS, ids=str)
def test_weighted_sums_of_neighbours(case):
    check_op(case)


def test_parabolas_are_kept_by_the_filter_that_only_adds_elements():
    # between elements that are far from the ends; the slope of the sharp one is another
    x = T.arange(9.0, dtype=T.float64).reshape(1, 1, 1, 9).tile(1, 1, 3, 1) ** 2
    places = (np.arange(27) + 0.5) / 3 - 0.5
    found = interpolate(x, (3, 27), mode="bicubic", antialias=True)[0, 0, 1].numpy()
    np.testing.assert_allclose(found[6:-6], places[6:-6] ** 2, rtol=1e-13)
    sharp = interpolate(x, (3, 27), mode="bicubic")[0, 0, 1].numpy()
    assert np.abs(sharp[6:-6] - places[6:-6] ** 2).max() > 0.05


@pytest.mark.parametrize("how", [{"mode": "area"}, {"mode": "bilinear", "antialias": True}])
def test_an_infinite_element_is_in_the_sums_that_it_has_a_weight_in(how):
    row = [1.0, 2.0, 4.0, 8.0, np.inf]
    found = interpolate(T.tensor(row).reshape(1, 1, 1, 5), (1, 3), **how).flatten()
    assert found.isfinite().tolist() == [True, True, False] and not found.isnan().any()


def test_empty_batches_have_sizes():
    for how in ({"mode": "bicubic"}, {"mode": "area"}, {"mode": "bicubic", "antialias": True}):
        x = T.ones(0, 2, 4, 4, requires_grad=True)
        found = interpolate(x, (3, 5), **how)
        assert found.shape == (0, 2, 3, 5) and T.grad(found.sum(), x)[0].shape == x.shape


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


@pytest.mark.parametrize("mode", ["linear", "area"])
def test_inside_compile_without_points(mode):
    compiled = T.compile(lambda x: (interpolate(x, 7, mode=mode) ** 2).sum())
    for k in (1.0, 2.0):
        x = T.rand(1, 2, 4, dtype=T.float64) * k
        expected = (interpolate(x, 7, mode=mode) ** 2).sum().item()
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
        (lambda x: interpolate(x, 3, mode="area", align_corners=False), ValueError, "got 'area'"),
        (lambda x: interpolate(x, 3, mode="bicubic"), NotImplementedError, "needs 4D input"),
        (lambda x: interpolate(x, 3, mode="linear", antialias=True), ValueError, "Anti-alias"),
        (lambda x: interpolate(x[None], 3, mode="lanczos"), ValueError, "requires antialias=True"),
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
