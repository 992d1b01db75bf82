"""Images read at points against scipy's interpolation, and its derivatives."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.ndimage import map_coordinates

import autograd as T
from autograd.nn.functional import grid_sample
from autograd.testing import OpCase, check_op

PADDINGS = ("zeros", "border", "reflection")
FRAME = 6  # elements around, more than points are away from the ends here


def framed(channel, padding, corners):
    beyond = "reflect" if corners else "symmetric"
    how = {"zeros": "constant", "border": "edge", "reflection": beyond}[padding]
    return np.pad(channel, FRAME, how)


def linear(channel, at, order=1):
    return map_coordinates(channel, at, order=order)


def cubic(channel, at):
    """Splines down the columns, then one along the row of what they are."""

    def spline(rows, y):  # with slopes of 3/4 of the difference of both neighbours
        return CubicHermiteSpline(range(len(rows)), rows, 1.5 * np.gradient(rows, axis=0))(y)

    rows, columns = (np.ravel(a) for a in at)
    found = [spline(spline(channel, y), x) for y, x in zip(rows, columns, strict=True)]
    return np.reshape(found, at[0].shape)


def reference(padding, corners, read=linear):
    def of(images, grid):
        sizes = images.shape[:1:-1]  # of x, of y, of z
        at = [
            (grid[..., k] + 1) * (size - 1) / 2 if corners else (grid[..., k] + 1) * size / 2 - 0.5
            for k, size in enumerate(sizes)
        ]
        return np.array(
            [
                [
                    read(framed(channel, padding, corners), [a[n] + FRAME for a in at[::-1]])
                    for channel in image
                ]
                for n, image in enumerate(images)
            ]
        )

    return of


def case(mode, padding, corners, shapes, read=linear):
    return OpCase(
        f"{mode} {len(shapes[0][0]) - 2} {padding} {corners}",
        lambda x, grid: grid_sample(x, grid, mode, padding, align_corners=corners),
        shapes,
        domain=((-2.0, 2.0), (-1.3, 1.3)),
        reference=reference(padding, corners, read),
    )


CASES = [
    found
    for padding in PADDINGS
    for corners in (False, True)
    for found in (
        case(
            "bilinear", padding, corners,
            [((1, 2, 3, 4), (1, 2, 3, 2)), ((2, 1, 2, 2), (2, 1, 2, 2))],
        ),
        case("bilinear", padding, corners, [((1, 2, 2, 3, 2), (1, 2, 1, 2, 3))]),
        case("bicubic", padding, corners, [((1, 2, 3, 4), (1, 2, 3, 2))], cubic),
    )
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("sizes", [(4, 5), (2, 4, 5)])
def test_the_nearest_element(padding, sizes):
    rng, dims = np.random.default_rng(0), len(sizes)
    x, grid = rng.normal(size=(2, 3, *sizes)), rng.uniform(-1.2, 1.2, (2, *sizes, dims))
    found = grid_sample(T.tensor(x), T.tensor(grid), "nearest", padding)
    read = reference(padding, False, lambda channel, at: linear(channel, at, 0))
    np.testing.assert_array_equal(found.numpy(), read(x, grid))


@pytest.mark.parametrize("padding", PADDINGS[1:])
def test_a_point_at_an_end_has_no_slope_across_it(padding):
    x = T.arange(9.0).reshape(1, 1, 3, 3) ** 2
    grid = T.tensor([[[[-1.0, 0.0], [1.0, -1.0], [3.0, 0.0]]]], requires_grad=True)
    found = grid_sample(x, grid, padding_mode=padding, align_corners=True)
    slopes = T.grad(found.sum(), grid)[0].reshape(3, 2)
    # one step down from the middle row, where a coordinate is one step: 36 - 9, 64 - 25
    assert slopes.tolist() == [[0.0, 27.0], [0.0, 0.0], [0.0, 39.0 if padding == "border" else 27]]


def test_mirrors_of_far_points_and_of_one_element():
    x = T.tensor([[[[1.0, 2.0, 4.0]]]])
    grid = T.tensor([[[[4.5, 0.3], [-7.5, 5.0]]]])  # 5.5 and -6.5 between centres 0, 1 and 2
    for mode in ("bilinear", "bicubic"):
        found = grid_sample(x, grid, mode, "reflection", True)
        again = grid_sample(x, T.tensor([[[[0.5, 0.0], [0.5, 0.0]]]]), mode, "reflection", True)
        assert T.allclose(found, again)


def test_the_points_of_the_elements_give_the_image():
    x = T.rand(1, 2, 3, 5, dtype=T.float64)
    rows, columns = T.linspace(-1, 1, 3), T.linspace(-1, 1, 5)
    grid = T.stack(T.meshgrid(columns, rows, indexing="xy"), -1).double().unsqueeze(0)
    assert T.allclose(grid_sample(x, grid, align_corners=True), x)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, g: grid_sample(x, g, "cubic"), ValueError, "but got: 'cubic'"),
        (lambda x, g: grid_sample(x, g, padding_mode="wrap"), ValueError, "but got: 'wrap'"),
        (lambda x, g: grid_sample(x[None], g[None]), RuntimeError, r"\(n, p, q, r, 3\)"),
        (
            lambda x, g: grid_sample(x[None], T.zeros(1, 2, 2, 2, 3), "bicubic"),
            RuntimeError,
            "only supports 4D input",
        ),
        (lambda x, g: grid_sample(x[0], g), RuntimeError, r"an input \(n, c, h, w\) and a grid"),
        (lambda x, g: grid_sample(x, g.tile(2, 1, 1, 1)), RuntimeError, "same batch size"),
        (lambda x, g: grid_sample(x[:, :, :0], g), RuntimeError, "non-empty spatial dimensions"),
        (lambda x, g: grid_sample(x, g.double()), RuntimeError, "float32 != float64"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(T.ones(1, 1, 3, 3), T.zeros(1, 2, 2, 2))


def test_coordinates_that_are_no_numbers_give_none_and_far_ones_zeros():
    x = T.arange(9.0).reshape(1, 1, 3, 3)
    grid = T.tensor([[[[math.nan, 0.0], [1e30, 0.0], [0.0, -1e30], [0.0, 0.0]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        found = grid_sample(x, grid, mode, align_corners=True).flatten().tolist()
        assert found[1:] == [0, 0, 4] and (math.isnan(found[0]) or mode == "nearest")


@pytest.mark.parametrize("sizes", [(0, 2, 3), (2, 0, 3), (2, 2, 0)])
def test_no_images_channels_or_points(sizes):
    n, channels, points = sizes
    x = T.ones(n, channels, 3, 3, requires_grad=True)
    grid = T.zeros(n, points, 1, 2, requires_grad=True)
    found = grid_sample(x, grid)
    assert found.shape == (n, channels, points, 1)
    of_x, of_grid = T.grad(found.sum(), (x, grid))
    assert of_x.shape == x.shape and of_grid.shape == grid.shape


@pytest.mark.parametrize("corners", [True, False])
def test_many_points_of_many_channels(corners):
    rng = np.random.default_rng(8)
    x, grid = rng.normal(size=(2, 9, 6, 7)), rng.uniform(-1.2, 1.2, (2, 20, 30, 2))
    found = grid_sample(T.tensor(x), T.tensor(grid), align_corners=corners)
    np.testing.assert_allclose(found, reference("zeros", corners)(x, grid), atol=1e-13)
    images = T.tensor(x, requires_grad=True)
    places = T.tensor(grid, requires_grad=True)
    total = (grid_sample(images, places, align_corners=corners) ** 2).sum()
    of_images, of_places = T.grad(total, (images, places))
    step = 1e-6 * rng.normal(size=grid.shape)
    ahead, behind = (
        (grid_sample(images, T.tensor(grid + s * step), align_corners=corners) ** 2).sum().item()
        for s in (1, -1)
    )
    assert (of_places.numpy() * step).sum() == pytest.approx((ahead - behind) / 2, rel=1e-4)
    # a sum of squares of what is linear in the images
    assert (of_images * images).sum().item() == pytest.approx(2 * total.item(), rel=1e-12)
