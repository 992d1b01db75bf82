"""Conditions: where their points lie, and that an exact solution satisfies them."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import stream

X, TIME = pinn.Interval("x", -1, 2), pinn.Time("t", 0.5, 1)


class Decay(T.nn.Module):
    """u = scale * exp(-t) sin(x), which solves u_t = u_xx for scale = 1."""

    def __init__(self):
        super().__init__()
        self.scale = T.nn.Parameter(T.tensor(1.0, dtype=T.float64))

    def forward(self, points):
        return self.scale * T.exp(-points[:, 1:2]) * T.sin(points[:, 0:1])


def residuals(*conditions, scale=1.0, constants=None):
    problem = pinn.Problem(
        X * TIME, ["u"], {"heat": "u_t - u_xx"}, conditions, constants=constants
    )
    parameters = FlatParameters(Decay(), (), T.float64, "cpu")
    sampling = pinn.Sampling(interior=30, initial=20, boundary=25)
    points = {
        r.name: r.source.draw(sampling, stream(0, r.name)).coordinates for r in problem.residuals
    }
    objective = Objective(problem, parameters, points, dtype=T.float64)
    return objective.residuals(np.array([scale])), points


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        (pinn.Initial("u", "exp(-0.5)*sin(x)"), "initial_u"),
        (pinn.Initial("u", "exp(-t)*sin(x)"), "initial_u"),
        (pinn.Initial("u", lambda s: s.exp(-0.5) * s.sin(s.x)), "initial_u"),
        (pinn.Initial("u", "-exp(-t)*sin(x)", order=1), "initial_u_t"),
        (pinn.Dirichlet("u", "exp(-t)*sin(x)"), "dirichlet_u"),
        (pinn.Dirichlet("u", lambda s: s.exp(-s.t) * s.sin(s.x)), "dirichlet_u"),
        (pinn.Dirichlet("u", "exp(-t)*sin(2)", on="x=2"), "dirichlet_u_x_high"),
        (pinn.Dirichlet("u", lambda s: (-s.exp(-s.t) * s.sin(1.0)), on="x=-1"),
         "dirichlet_u_x_low"),
    ],
)  # fmt: skip
def test_an_exact_solution_leaves_no_residual(condition, name):
    values, _ = residuals(condition)
    assert set(values) == {"heat", name}
    for residual in values.values():
        np.testing.assert_allclose(residual, 0, atol=1e-14)


def test_a_wrong_solution_leaves_its_error():
    values, points = residuals(pinn.Initial("u", 0.25), scale=2.0)
    x = points["initial_u"][:, 0]
    expected = 2 * np.exp(-0.5) * np.sin(x) - 0.25
    np.testing.assert_allclose(values["initial_u"], expected, rtol=1e-14)


def test_points_lie_where_the_condition_holds():
    conditions = [
        pinn.Initial("u", 0),
        pinn.Initial("u", 0, order=1),
        pinn.Dirichlet("u", 0),
        pinn.Dirichlet("u", 0, on="x=2"),
    ]
    _, points = residuals(*conditions)
    for name in ("initial_u", "initial_u_t"):
        assert (points[name][:, 1] == 0.5).all() and len(points[name]) == 20
    assert np.unique(points["dirichlet_u"][:, 0]).tolist() == [-1, 2]
    assert len(points["dirichlet_u"]) == 25
    assert (points["dirichlet_u_x_high"][:, 0] == 2).all()


def test_values_may_use_constants():
    values, _ = residuals(pinn.Initial("u", "a*exp(-t)*sin(x)"), constants={"a": "2/2"})
    np.testing.assert_allclose(values["initial_u"], 0, atol=1e-14)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (pinn.Initial("v", 0), "conditions.0.unknown: expected one of the unknowns u, got 'v'"),
        (pinn.Initial("u_t", 0), r"'u_t'; of a derivative: at the start of time it is initial: "
         r"\{unknown: u, value: ..., order: 1\}, Initial\('u', ..., order=1\) in Python"),
        (pinn.Dirichlet("u_xt", 0), r"'u_xt'; of a derivative: operator: \{expression: u_xt - "
         r"""\(...\), on: ...\}, Operator\("u_xt = ...", on="""),
        (pinn.Initial("u", "sin(y)"), r"conditions.0.value: unknown name 'y'[^$]*\^"),
        (pinn.Initial("u", "u + 1"), "conditions.0.value: unknown name 'u'"),
        (pinn.Initial("u", "sin("), "conditions.0.value: "),
        (pinn.Dirichlet("u", 0, on="x=0"), "conditions.0.on: no face 'x=0'"),
        (pinn.Dirichlet("u", 0, on="t=0.5"), "faces: x=-1, x=2; use an initial condition at t=0.5"),
        (pinn.Dirichlet("u", 0, on="t=1/2"), "faces: x=-1, x=2; use an initial condition at t=1/2"),
        (pinn.Dirichlet("u", 0, on=["x=2", "t=1"]), "x=2; use a terminal condition at t=1"),
        (pinn.Dirichlet("u", 0, on="t=0.7"), "faces: x=-1, x=2$"),
    ],
)
def test_conditions_that_do_not_fit_are_refused_by_name(condition, message):
    with pytest.raises(ValueError, match=message):
        residuals(condition)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (lambda s: s.x[:2], ValueError, r"condition 'initial_u': .*shape \(3,\) or .*got \(2,\)"),
        (lambda s: T.stack([s.x, s.x]), ValueError, r"got \(2, 3\)"),
        (lambda s: None, TypeError, "condition 'initial_u': .*got NoneType"),
        (lambda s: s.y, ValueError, "unknown name 'y'"),
    ],
)
def test_a_function_of_the_wrong_kind_is_refused_by_name(value, error, message):
    with pytest.raises(error, match=message):
        residuals(pinn.Initial("u", value))


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(
    "value",
    [lambda x: np.sin(np.pi * x), lambda x: np.sin(x), lambda x: T.sin(x), lambda x: x[:, 0],
     lambda x: -x, lambda x: x],
)  # fmt: skip
def test_a_function_that_takes_the_namespace_for_a_coordinate_is_told_of_it(value, hard):
    with pytest.raises(TypeError, match="condition 'initial_u': .* one namespace `s`.* s.x, s.t"):
        residuals(pinn.Initial("u", value, hard=hard))


def test_a_value_in_a_column_is_no_matrix():
    values, _ = residuals(pinn.Initial("u", lambda s: s.exp(-0.5) * s.sin(s.x).reshape(-1, 1)))
    np.testing.assert_allclose(values["initial_u"], 0, atol=1e-14)


def test_an_initial_condition_needs_time_and_a_dirichlet_condition_space():
    with pytest.raises(ValueError, match="needs a time coordinate, and this domain has only x"):
        pinn.Problem(X, ["u"], {"e": "u_xx"}, [pinn.Initial("u", 0)])
    with pytest.raises(ValueError, match="needs a space coordinate, and this domain has only t"):
        pinn.Problem(TIME, ["u"], {"e": "u_t"}, [pinn.Dirichlet("u", 0)])


@pytest.mark.parametrize("order", [2, -1, True, "1"])
def test_other_orders_are_refused(order):
    with pytest.raises(ValueError, match="order: expected"):
        pinn.Initial("u", 0, order=order)


def test_the_same_condition_twice_is_refused():
    with pytest.raises(ValueError, match="two equations or conditions are called 'initial_u'"):
        residuals(pinn.Initial("u", 0), pinn.Initial("u", 1))
