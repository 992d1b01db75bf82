"""Solutions asked for outside of where they were trained."""

import warnings

import numpy as np
import pytest

import pinn

X, TIME, NU = pinn.Interval("x", 0, 2), pinn.Time("t", 0, 1), pinn.Family("nu", 0.01, 0.1)


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        X * TIME * NU, ["u"], {"heat": "u_t - nu*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    return pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], seed=0)


def told(call, **at):
    with pytest.warns(pinn.ExtrapolationWarning) as caught:
        found = call(**at)
    assert len(caught) == 1 and caught[0].filename == __file__
    return str(caught[0].message), found


def test_what_lies_outside_is_told_once_with_its_range(solution):
    message, found = told(solution.evaluate, x=np.array([1.0, 5.0, -1.0]), t=0.5, nu=2.0)
    assert message == (
        "3 of 3 points lie outside of what was trained: x = -1 to 5 is not in 0 <= x <= 2, "
        "nu = 2 is not in 0.01 <= nu <= 0.1; the values there are extrapolated"
    )
    assert found["u"].shape == (3,)
    assert "1 of 2 points lie outside" in told(solution.evaluate, x=[1, 3], t=0, nu=0.1)[0]


def test_derivatives_tell_it_too(solution):
    at = {"x": 1.0, "t": 3.0, "nu": 0.05}
    assert told(lambda **at: solution.derivative("u_x", **at), **at)[0].startswith(
        "the point lies outside of what was trained: t = 3 is not in 0 <= t <= 1;"
    )
    told(lambda **at: solution.derivatives(["u_x"], **at), **at)


def test_rounding_at_the_ends_is_not_outside(solution):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution.evaluate(x=2 + 1e-6, t=-1e-7, nu=0.1 * (1 + 1e-7))
        solution.field_data("u", t=1.0)
        solution.evaluate_anywhere(x=5.0, t=0.5, nu=0.05)


@pytest.fixture(scope="module")
def pierced():
    square = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    problem = pinn.Problem(
        square - pinn.Disk((0, 0), 0.5), ["u"], {"e": "laplacian(u) + u"},
        [pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    return pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], seed=0)


def test_a_point_in_a_hole_is_told_with_its_place(pierced):
    assert told(pierced.evaluate, x=0.1, y=0.0)[0] == (
        "the point x = 0.1, y = 0 lies in a hole or beside the domain, where nothing was trained; "
        "the values there are extrapolated"
    )
    at = {"x": [0.9, 0.2, 0.1], "y": 0.0}
    message, _ = told(lambda **at: pierced.derivative("u_x", **at), **at)
    assert message.startswith("2 of 3 points, the first at x = 0.2, y = 0, lie in a hole")


def test_the_edge_of_a_hole_is_no_hole(pierced):
    angle = np.linspace(0, 2 * np.pi, 500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pierced.evaluate(x=0.5 * np.cos(angle), y=0.5 * np.sin(angle))


def test_of_many_points_some_thousands_are_looked_for_in_holes(pierced, monkeypatch):
    asked, contains = [], pinn.Disk.contains

    def counting(disk, points, *tolerance):
        asked.append(len(points))
        return contains(disk, points, *tolerance)

    monkeypatch.setattr(pinn.Disk, "contains", counting)
    x, y = np.meshgrid(np.linspace(-1, 1, 300), np.linspace(-1, 1, 300))
    assert "points, the first at" in told(pierced.evaluate, x=x, y=y)[0]
    assert max(asked) <= 4096


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.nan, "x: expected numbers, got nan"),
        ([0, 1, np.nan], "x: expected numbers, got nan at index 2"),
        ([[0, np.nan], [np.nan, 1]], r"got nan at index 0, 1 \(2 of 4 are nan"),
    ],
)
def test_nan_is_refused_with_its_place(solution, x, message):
    with pytest.raises(ValueError, match=message):
        solution.evaluate(x=x, t=0, nu=0.05)
