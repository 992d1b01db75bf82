"""Layers that a problem states: checked, seen by its points and counted by its equations."""

import numpy as np
import pytest

import pinn
from pinn.evaluation.test_grid import test_points as points_of
from pinn.problem.layers import balancing_orders
from pinn.sampling import Layers, Sampling

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)


def problem(equation="-0.001*laplacian(u) + u_x - 1", domain=SQUARE, **given):
    return pinn.Problem(
        domain, ["u"], {"e": equation},
        **{"conditions": [pinn.Dirichlet("u", 0)], "layers": {"x": [None, 1e-3]}} | given,
    )  # fmt: skip


def test_points_of_equations_and_of_walls_lie_closer():
    equation, wall = problem().residuals
    sampling, rng = Sampling(interior=2000, boundary=2000, method="uniform"), np.random.default_rng
    for residual, share in ((equation, 0.25), (wall, 0.25 / 2)):
        x = residual.source.draw(sampling, rng(0)).coordinates[:, 0]
        assert np.mean((x > 1 - 1e-2) & (x < 1)) == pytest.approx(share, rel=0.15)


def test_an_equation_counts_less_in_its_layer():
    equation, wall = problem().residuals
    assert wall.scale is None
    expected = Layers.of({"x": (None, (1e-3,))}, SQUARE.bounds).factor({"x": 1})
    assert equation.scale.source == expected
    assert problem("-1e-6*laplacian(u) + u - 1").residuals[0].scale is None


@pytest.mark.parametrize("equation, expected", [
    ("laplacian(u) + u_x", {"x": 1, "y": 0}),
    ("u_xxxx - u_xx + u", {"x": 2, "y": 0}),
    ("u_xx + u_xy + u_y", {"x": 1, "y": 0}),
    ("u_x + u_y", {"x": 0, "y": 0}),
])  # fmt: skip
def test_the_order_next_to_the_highest_balances_it(equation, expected):
    (residual, _) = problem(equation, layers={}).residuals
    assert balancing_orders(residual, ("x", "y")) == expected


@pytest.mark.parametrize("layers, message", [
    ({"z": [None, 0.1]}, r"layers\.z: expected some of the coordinates of space, x, y, got 'z'"),
    ({"x": [0.1]}, r"layers\.x: expected the widths of layers at both bounds"),
    ({"x": [None, 5e-324]}, r"layers\.x: expected widths from 1e-15, .* to below 1, .*got 4.9"),
    ({"x": [2, None]}, r"to below 1, the length of x, got 2"),
    ({"x": [[0.1, 0.1], None]}, r"expected different widths at one bound, got \[0.1, 0.1\]"),
    ({"x": [None, -1]}, r"layers\.x\.1\.0: expected a number > 0"),
])  # fmt: skip
def test_what_is_no_layer_is_refused(layers, message):
    with pytest.raises(ValueError, match=message):
        problem(layers=layers)


def test_a_disk_has_no_faces():
    with pytest.raises(ValueError, match="expected a coordinate with two faces"):
        problem(domain=pinn.Disk((0, 0), 1))


def test_what_repeats_has_no_walls():
    with pytest.raises(ValueError, match="and no period; 'x' is none"):
        problem(conditions=[pinn.Periodic("u", "x"), pinn.Dirichlet("u", 0, on="y=0")])


def test_points_in_time_lie_closer_too():
    domain = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1)
    made = pinn.Problem(
        domain, ["u"], {"e": "u_t - 1e-3*u_xx + u_x"},
        [pinn.Initial("u", 0), pinn.Dirichlet("u", 0, on="x=1")], layers={"x": [None, 1e-3]},
    )  # fmt: skip
    start = made.residuals[1].source.draw(Sampling(initial=2000), np.random.default_rng(0))
    x, t = start.coordinates.T
    assert np.mean(x > 1 - 1e-2) == pytest.approx(0.25, rel=0.15)
    assert not t.any()


def test_constants_keep_what_they_were_computed_from():
    made = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "-d*u_xx + u_x"}, [pinn.Dirichlet("u", 0)],
        constants={"eps": 1e-3, "d": "eps/2"},
    )  # fmt: skip
    found = made.with_layers({"x": (None, [5e-4, 1e-2])})
    assert found.computed_from == made.computed_from
    assert dict(found.layers) == {"x": (None, (5e-4, 1e-2))}


def test_a_hard_value_is_left_within_the_width_of_the_layer():
    """B rises to one in the layer: u = x - exp((x - 1)/w) then is B times a network of size one."""
    hard = [pinn.Dirichlet("u", 0, hard=True)]
    made = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "-1e-3*u_xx + u_x - 1"}, hard,
        layers={"x": [None, 1e-3]},
    )  # fmt: skip
    assert str(made.ansatz.formulas["u"]) == "x*(1 - exp(-((1 - x)/0.001)))*N"


def test_a_hard_value_without_a_layer_vanishes_as_before():
    conditions = [pinn.Dirichlet("u", 0, hard=True)]
    made = pinn.Problem(
        SQUARE, ["u"], {"e": "-1e-3*laplacian(u) + u_x - 1"}, conditions,
        layers={"x": [[0.1, 1e-3], 1e-2]},
    )  # fmt: skip
    text = str(made.ansatz.formulas["u"])
    assert text == "4*(1 - exp(-(x/0.001)))*(1 - exp(-((1 - x)/0.01)))*y*(1 - y)*N"


def test_errors_are_measured_in_layers_too():
    even = points_of(SQUARE)
    closer = points_of(SQUARE, problem().walls)
    assert closer.shape == even.shape
    in_layer = [np.mean((x > 1 - 5e-3) & (x < 1)) for x in (even[:, 0], closer[:, 0])]
    assert in_layer[0] == 0
    assert in_layer[1] > 0.2
