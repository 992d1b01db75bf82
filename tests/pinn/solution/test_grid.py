"""The grid that a solution is written down on."""

import numpy as np
import pytest

import pinn
from pinn.solution.grid import Grid

X, Y, Z = (pinn.Interval(name, 0, 2) for name in "xyz")
T, NU = pinn.Time("t", 0, 1), pinn.Family("nu", 0.01, 1, spacing="log")


def sizes(domain, grid=None, **held):
    found = Grid.of(domain, grid or {}, held)
    return {name: len(axis) for name, axis in found.axes.items()}, found.held


def test_space_and_time_have_a_grid_and_families_are_held():
    assert sizes(X * T * NU) == ({"x": 257, "t": 51}, {"nu": pytest.approx(0.1)})
    assert sizes(T * pinn.Family("k", 1, 3)) == ({"t": 1001}, {"k": 2.0})


def test_cells_are_to_scale():
    long = pinn.Interval("x", 0, 8)
    found, _ = sizes(long * Y)
    assert found == {"x": 258, "y": 64}
    assert sizes(X * Y * Z)[0] == {"x": 41, "y": 41, "z": 41}


def test_of_many_coordinates_three_have_a_grid():
    many = pinn.Box(*(pinn.Interval(f"x{k}", 0, 1) for k in range(5)))
    found, held = sizes(many, x4=0.25)
    assert found == {"x0": 41, "x1": 41, "x2": 41}
    assert held == {"x3": 0.5, "x4": 0.25}
    assert sizes(many, {"x4": 3})[0] == {"x0": 41, "x1": 41, "x4": 3}


def test_what_is_asked_for_is_there():
    found = Grid.of(X * T * NU, {"x": 3, "t": [0, 0.5, 0.6], "nu": 2}, {})
    np.testing.assert_array_equal(found.axes["x"], [0, 1, 2])
    np.testing.assert_array_equal(found.axes["t"], [0, 0.5, 0.6])
    np.testing.assert_array_equal(found.axes["nu"], [0.01, 1])
    assert found.shape == (3, 3, 2)
    columns = found.at("nu", 0.5).columns()
    assert columns["x"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert columns["nu"].tolist() == [0.5] * 9


@pytest.mark.parametrize(
    ("grid", "held", "said"),
    [
        ({"xx": 3}, {}, "expected coordinates out of x, t, got 'xx'; did you mean 'x'"),
        ({}, {"s": 3}, "expected coordinates out of x, t, got 's'"),
        ({"x": 3}, {"x": 1.0}, "x is held at a value"),
        ({}, {"x": 1.0, "t": 0.0}, "every coordinate is held"),
        ({"x": 1}, {}, "grid of x: expected 2 points or more, got 1"),
        ({"x": [1, 0]}, {}, "two points or more that increase"),
        ({"x": "many"}, {}, "two points or more that increase, got 'many'"),
        ({"x": 10**5, "t": 10**4}, {}, "100000 x x 10000 t = 1.00e[+]09"),
        ({}, {"x": float("nan")}, "x is held: expected a number, got nan"),
        ({}, {"x": "left"}, "x is held: expected a number, got 'left'"),
    ],
)
def test_other_grids_are_refused_with_the_coordinate(grid, held, said):
    with pytest.raises(ValueError, match=said):
        Grid.of(X * T, grid, held)
