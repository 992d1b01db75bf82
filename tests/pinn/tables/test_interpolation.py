"""Interpolants: against scipy's, finite differences, and themselves on other routes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import interpolate

import autograd as T
from autograd.ops.pointwise import pointwise
from autograd.plan.chunks import Chunked
from pinn.tables import Table
from pinn.tables.splines import GridFunction

RNG = np.random.default_rng(0)
AXES = [np.array([0.0, 0.3, 0.5, 1.1, 1.4, 2.0]), np.array([-1.0, -0.2, 0.1, 0.4, 1.0]),
        np.array([0.0, 1.0, 1.5, 4.0])]  # fmt: skip


def values_on(axes):
    return RNG.standard_normal(tuple(map(len, axes)))


def places(axes, n=40):
    return tuple(RNG.uniform(axis[0], axis[-1], n) for axis in axes)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("method", ["linear", "spline"])
def test_values_on_grids_equal_scipys(d, method):
    axes = AXES[:d]
    table = values_on(axes)
    at = places(axes)
    got = GridFunction(axes, table, method).values(np, at, (0,) * d)
    expected = interpolate.interpn(axes, table, np.stack(at, 1))
    if method == "spline":  # one coordinate after the other, point by point
        expected = [table] * len(got)
        for axis, x in zip(axes, at, strict=True):
            expected = [interpolate.CubicSpline(axis, v)(x[i]) for i, v in enumerate(expected)]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_the_nearest_value_is_taken():
    table = values_on(AXES[:2])
    at = places(AXES[:2])
    got = GridFunction(AXES[:2], table, "nearest").values(np, at, (0, 0))
    near = [np.abs(axis[:, None] - x).argmin(axis=0) for axis, x in zip(AXES, at, strict=False)]
    np.testing.assert_array_equal(got, table[tuple(near)])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_a_spline_are_scipys(order):
    (axis,), y = AXES[:1], values_on(AXES[:1])
    x = np.linspace(0, 2, 31)[1:-1]
    got = GridFunction([axis], y, "spline").values(np, (x,), (order,))
    expected = interpolate.CubicSpline(axis, y)(x, order)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
    assert not GridFunction([axis], y, "spline").values(np, (x,), (4,)).any()


def test_mixed_derivatives_of_a_spline_are_scipys():
    table = values_on(AXES[:2])
    x, y = places(AXES[:2])
    got = GridFunction(AXES[:2], table, "spline").values(np, (x, y), (1, 2))
    along = interpolate.CubicSpline(AXES[1], table, axis=1)(y, 2)  # (6, n)
    expected = [interpolate.CubicSpline(AXES[0], along[:, i])(x[i], 1) for i in range(len(x))]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_the_slope_of_linear_pieces_is_that_of_the_piece_above_a_node():
    function = GridFunction([np.array([0.0, 1.0, 3.0])], np.array([0.0, 2.0, 0.0]), "linear")
    x = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(function.values(np, (x,), (1,)), [2, 2, -1, -1, -1])
    assert not function.values(np, (x,), (2,)).any()


POINTS = RNG.uniform(-1, 1, (60, 2))
SCATTERED = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1] ** 2
INSIDE = RNG.uniform(-0.6, 0.6, (25, 2))


def scattered(method, **more):
    data = {"x": POINTS[:, 0], "y": POINTS[:, 1], "a": SCATTERED}
    return Table("a", data, method=method, **more)


def test_scattered_values_equal_scipys():
    x, y = INSIDE.T
    expected = {
        "linear": interpolate.LinearNDInterpolator(POINTS, SCATTERED)(INSIDE),
        "nearest": interpolate.NearestNDInterpolator(POINTS, SCATTERED)(INSIDE),
        "spline": interpolate.RBFInterpolator(POINTS, SCATTERED, kernel="cubic")(INSIDE),
    }
    for method, values in expected.items():
        got = scattered(method).at(x, y)
        np.testing.assert_allclose(got, values, rtol=0, atol=1e-11)


def test_a_spline_through_scattered_numbers_on_a_line_is_the_natural_one():
    x = np.sort(RNG.uniform(0, 1, 9))
    y = np.cos(5 * x)
    from pinn.tables.scattered import SplineFunction

    at = np.linspace(x[0], x[-1], 20)
    natural = interpolate.CubicSpline(x, y, bc_type="natural")
    for order in (0, 1, 2):
        got = SplineFunction(x[:, None], y).at(at[:, None], (order,))
        np.testing.assert_allclose(got, natural(at, order), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("orders", [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])
def test_derivatives_of_a_scattered_spline_are_differences(orders):
    table = scattered("spline")
    k = 0 if orders[0] else 1
    lower = tuple(o - (i == k) for i, o in enumerate(orders))
    h = 1e-5 * np.eye(2)[k][:, None]
    x = INSIDE.T
    rate = (table.at(*(x + h), orders=lower) - table.at(*(x - h), orders=lower)) / 2e-5
    np.testing.assert_allclose(table.at(*x, orders=orders), rate, rtol=1e-6, atol=1e-6)


# ---- as an operation


@pytest.mark.parametrize("method", ["linear", "spline"])
def test_the_operation_differentiates_as_the_function_does(method):
    table = Table("a", {"x": AXES[0], "y": AXES[1], "a": values_on(AXES[:2])}, method=method)
    x, y = (T.tensor(one, requires_grad=True) for one in places(AXES[:2]))
    total = pointwise(table, x * 1.0, y)
    (slope,) = T.grad(total.sum(), x, create_graph=True)
    on_host = [one.detach().numpy() for one in (x, y)]
    np.testing.assert_allclose(slope.detach(), table.at(*on_host, orders=(1, 0)), rtol=1e-13)
    if method == "spline":
        (mixed,) = T.grad(slope.sum(), y)
        np.testing.assert_allclose(mixed, table.at(*on_host, orders=(1, 1)), rtol=1e-12, atol=1e-12)
        inputs = [T.tensor(one[:3], requires_grad=True) for one in on_host]
        assert T.gradcheck(lambda a, b: pointwise(table, a, b), inputs)


def test_taylor_mode_gives_the_derivatives_along_a_path():
    from autograd.jets import partials

    table = Table("a", {"x": AXES[0], "a": np.sin(AXES[0])}, method="spline")
    x = T.tensor(np.linspace(0.1, 1.3, 7)[:, None])
    found = partials(lambda c: pointwise(table, c * c), [x], [(0,), (0, 0)])
    at = x.numpy()[:, 0]
    first, second = (table.at(at**2, orders=(k,)) for k in (1, 2))
    np.testing.assert_allclose(found[(0,)][:, 0], 2 * at * first, rtol=1e-12)
    np.testing.assert_allclose(found[(0, 0)][:, 0], 4 * at**2 * second + 2 * first, rtol=1e-11)


def test_a_recorded_program_replays_a_table_row_by_row():
    table = Table("a", {"x": AXES[0], "a": np.sin(AXES[0])}, method="spline")
    w = T.tensor(0.7, dtype=T.float64, requires_grad=True)

    def fn(rows):
        value = pointwise(table, rows[0].reshape(-1)) * w
        (slope,) = T.grad(value.sum(), w)
        return [value.detach(), slope.reshape(1)]

    x = np.linspace(0, 2, 50)[:, None]
    rows, each = Chunked(fn, [w], ["rows", "per_row"], chunk=10)([x])
    np.testing.assert_allclose(rows, 0.7 * table.at(x[:, 0]), rtol=1e-14)
    np.testing.assert_allclose(each[:, 0], table.at(x[:, 0]), rtol=1e-14)


def test_single_precision_stays_single():
    table = Table("a", {"x": AXES[0], "a": np.sin(AXES[0])}, method="spline")
    x = T.tensor(np.linspace(0, 2, 9), dtype=T.float32)
    got = pointwise(table, x)
    assert got.dtype == T.float32
    np.testing.assert_allclose(got, table.at(np.linspace(0, 2, 9)), atol=1e-5)
