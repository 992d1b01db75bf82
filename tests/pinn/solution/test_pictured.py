"""Pictures of an unknown: where it belongs, and where it was measured."""

import numpy as np
import pytest

import pinn
from pinn.figures import plot_field

pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

X, Y = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 1)
PLACES = {"x": np.array([-0.5, -0.25]), "y": np.array([0.25, 0.75]), "a": np.array([1.0, 2.0])}


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        X * Y, ["a", "b"],
        {"left": pinn.Equation("laplacian(a) + 1", on="x < 0"),
         "right": pinn.Equation("laplacian(b) + 1", on=pinn.Disk((0.5, 0.5), 0.4)),
         "both": pinn.Equation("b - 1", on="x > 0.9")},
        [pinn.Dirichlet("a", 0, on="x=-1"), pinn.Data("a", PLACES)],
    )  # fmt: skip
    return pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)], seed=0)


def test_an_unknown_is_drawn_where_its_equations_hold(solution):
    data = solution.field_data("a")
    x, y = np.meshgrid(*data.coordinates.values(), indexing="ij")
    np.testing.assert_array_equal(data.inside, x < 0)
    assert np.isnan(data.values[x >= 0]).all() and np.isfinite(data.values[x < 0]).all()
    data = solution.field_data("b")
    disk = np.hypot(x - 0.5, y - 0.5) < 0.4
    np.testing.assert_array_equal(data.inside, disk | (x > 0.9))
    assert data.contains(np.array([[0.5, 0.5], [0.0, 0.5]])).tolist() == [True, False]


def test_where_it_was_measured_is_drawn_on_the_map(solution):
    data = solution.field_data("a")
    np.testing.assert_array_equal(data.measured, np.stack([PLACES["x"], PLACES["y"]], axis=1))
    assert solution.field_data("b").measured is None
    (rings,) = [c for c in plot_field(data).axes[0].collections if c.get_label() == "data"]
    np.testing.assert_array_equal(rings.get_offsets(), data.measured)


def test_an_unknown_of_an_equation_everywhere_is_drawn_everywhere():
    many = {"x": np.linspace(-1, 1, 501), "y": np.linspace(0, 1, 501), "a": np.zeros(501)}
    problem = pinn.Problem(
        X * Y, ["a"], {"e": "laplacian(a)", "f": pinn.Equation("a_x", on="x < 0")},
        [pinn.Data("a", many)],
    )  # fmt: skip
    data = pinn.solve(problem, pinn.MLP(4, 1), training=[pinn.Adam(2)]).field_data("a")
    assert data.inside.all() and data.measured is None
