"""Images read at points against scipy's interpolation, and its derivatives."""

import math

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import autograd as T
from autograd.nn.functional import grid_sample
from autograd.testing import OpCase, check_op

MODES = {"zeros": "constant", "border": "nearest"}


def reference(padding, corners, order=1):
    def of(images, grid):
        sizes = images.shape[:1:-1]  # of x, of y
        at = [
            (grid[..., k] + 1) * (size - 1) / 2 if corners else (grid[..., k] + 1) * size / 2 - 0.5
            for k, size in enumerate(sizes)
        ]
        return np.array(
            [
                [
                    # a frame of zeros, between which and the image there is interpolation too
                    map_coordinates(
                        np.pad(channel, 1, "edge" if padding == "border" else "constant"),
                        [at[1][n] + 1, at[0][n] + 1], order=order, mode=MODES[padding],
                    )
                    for channel in image
                ]
                for n, image in enumerate(images)
            ]
        )  # fmt: skip

    return of


CASES = [
    OpCase(
        f"{padding} {corners}",
        lambda x, grid, padding=padding, corners=corners: grid_sample(
            x, grid, padding_mode=padding, align_corners=corners
        ),
        [((1, 2, 3, 4), (1, 2, 3, 2)), ((2, 1, 2, 2), (2, 1, 2, 2))],
        domain=((-2.0, 2.0), (-1.3, 1.3)),
        reference=reference(padding, corners),
    )
    for padding in MODES
    for corners in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


@pytest.mark.parametrize("padding", MODES)
def test_the_nearest_element(padding):
    rng = np.random.default_rng(0)
    x, grid = rng.normal(size=(2, 3, 4, 5)), rng.uniform(-1.2, 1.2, (2, 6, 7, 2))
    found = grid_sample(T.tensor(x), T.tensor(grid), "nearest", padding)
    np.testing.assert_array_equal(found.numpy(), reference(padding, False, 0)(x, grid))


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
    for mode in ("bilinear", "nearest"):
        found = grid_sample(x, grid, mode, align_corners=True).flatten().tolist()
        assert found[1:] == [0, 0, 4] and (math.isnan(found[0]) or mode == "nearest")


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
