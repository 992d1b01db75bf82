"""Points lie closer in layers, and equations are as large there as elsewhere."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from pinn.expressions import evaluate, parse
from pinn.sampling import Layers, Points

BOUNDS = {"x": (-1.0, 3.0), "y": (0.0, 1.0)}


def layers_of(widths, bounds=BOUNDS):
    sides = {
        name: [None if w is None else w if isinstance(w, list) else [w] for w in both]
        for name, both in widths.items()
    }
    return Layers.of(sides, bounds)


def spread(widths, n=4000, coordinates=("x",), held=()):
    rng = np.random.default_rng(0)
    columns = [rng.uniform(*BOUNDS[name], n) for name in coordinates]
    layers = layers_of(widths)
    return layers.spread(Points(np.stack(columns, axis=1)), coordinates, held).coordinates


def test_a_quarter_of_the_points_is_exponential_in_a_layer_and_the_rest_is_even():
    width = 1e-3
    distance = (spread({"x": (width, None)})[:, 0] + 1) / 4
    scale = 2 * width / 4

    def cumulative(d):
        return 0.75 * d + 0.25 * -np.expm1(-d / scale)

    assert kstest(distance, cumulative).pvalue > 0.01


def test_layers_at_both_bounds_mirror_each_other():
    low, high = (spread({"x": w})[:, 0] for w in ((1e-2, None), (None, 1e-2)))
    even = spread({})[:, 0]
    mirrored = layers_of({"x": (1e-2, None)}).spread(Points(2 - even[:, None]), ["x"], ())
    np.testing.assert_allclose(2 - mirrored.coordinates[:, 0], high, atol=1e-12)
    assert np.mean(low < -1 + 0.04) > 0.2


def test_points_keep_their_order_and_stay_inside():
    even = np.linspace(-1, 3, 1001)[:, None]
    moved = layers_of({"x": (1e-6, 0.3)}).spread(Points(even), ["x"], ()).coordinates[:, 0]
    assert (np.diff(moved) > 0).all()
    assert (moved[0], moved[-1]) == (-1, 3)


def test_what_lies_on_a_bound_stays_there_and_columns_go_along():
    points = Points(np.array([[-1.0, 0.3], [3.0, 0.5], [0.0, 1.0]]), {"normal_x": [1.0, 2.0, 3.0]})
    moved = layers_of({"x": (0.01, 0.01), "y": (None, 0.01)}).spread(points, ["x", "y"], ())
    assert moved.coordinates[:2, 0].tolist() == [-1, 3]
    assert moved.coordinates[2, 1] == 1
    assert moved.columns["normal_x"].tolist() == [1, 2, 3]


def test_a_coordinate_that_is_held_stays_as_it_is():
    np.testing.assert_array_equal(
        spread({"x": (1e-3, None)}, coordinates=("x", "y"), held=("x",)),
        spread({}, coordinates=("x", "y")),
    )


def test_layers_of_two_widths_share_the_points():
    distance = (spread({"x": ([1e-4, 1e-2], None)}, n=8000)[:, 0] + 1) / 4
    thin, wide = 2e-4 / 4, 2e-2 / 4

    def cumulative(d):
        return 0.5 * d - 0.25 * np.expm1(-d / thin) - 0.25 * np.expm1(-d / wide)

    assert kstest(distance, cumulative).pvalue > 0.01


def factor(widths, orders, x):
    text = layers_of(widths).factor(orders)
    return evaluate(parse(text), {"x": x}, {"exp": np.exp})


def test_an_equation_counts_by_the_length_over_which_things_change():
    x = np.linspace(-1, 3, 100001)
    share = 1e-3 / 4
    found = factor({"x": (1e-3, None)}, {"x": 1}, x)
    np.testing.assert_allclose([found[0], found[-1]], [8 * share, 1], rtol=1e-12)
    np.testing.assert_allclose(factor({"x": (1e-3, None)}, {"x": 2}, -1.0), (8 * share) ** 2)


def test_a_transport_residual_counts_in_a_layer_as_it_moves_the_solution():
    """The mean square of what is spread is about that of a residual of size one elsewhere."""
    width = 1e-3

    def square(x):  # u_x of exp(-(x + 1)/width), times the factor
        return (np.exp(-(x + 1) / width) / width * factor({"x": (width, None)}, {"x": 1}, x)) ** 2

    scale = 2 * width
    density = lambda x: 0.75 / 4 + 0.25 * np.exp(-(x + 1) / scale) / scale  # noqa: E731
    mean, _ = quad(lambda x: square(x) * density(x), -1, -1 + 60 * width, limit=200)
    assert 0.1 < mean < 10


@pytest.mark.parametrize("widths, orders", [
    ({}, {"x": 1}),
    ({"x": (1e-3, None)}, {"x": 0}),
    ({"x": (1e-3, None)}, {"y": 1}),
    ({"x": (2.0, None)}, {"x": 1}),  # no layer
])  # fmt: skip
def test_no_factor_where_nothing_is_larger_in_layers(widths, orders):
    assert layers_of(widths).factor(orders) is None


def test_profiles_are_one_at_their_wall():
    for one in layers_of({"x": (0.1, 0.2), "y": (0.3, None)}):
        wall = one.low if one.at_low else one.high
        inside = wall + (0.1 if one.at_low else -0.1)
        values = [
            evaluate(parse(one.profile), {one.coordinate: place}, {"exp": np.exp})
            for place in (wall, inside)
        ]
        np.testing.assert_allclose(values, [1, np.exp(-0.1 / one.width)], rtol=1e-12)
