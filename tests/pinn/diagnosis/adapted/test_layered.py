"""Layers along walls are found by balances, and seen by networks and points."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.adapted.layered import in_layers
from pinn.diagnosis.adapted.thin_layers import balances
from pinn.training.experiment import Experiment

LINE, SQUARE = pinn.Interval("x", 0, 1), pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 2)


def steady(equation, eps=1e-3, domain=LINE, **given):
    conditions = given.pop("conditions", [pinn.Dirichlet("u", 0)])
    return pinn.Problem(domain, ["u"], {"e": equation}, conditions, constants={"eps": eps}, **given)


def asked(problem, **given):
    return Experiment(problem, **{"model": pinn.AutoModel()} | given)


def found(equation, *args, **given):
    return dict(in_layers(asked(steady(equation, *args, **given)))[0].problem.layers)


@pytest.mark.parametrize("equation, eps, expected", [
    ("-eps*u_xx + u_x - 1", 1e-3, {"x": (None, 1e-3)}),
    ("-eps*u_xx - 2*u_x - 1", 1e-3, {"x": (5e-4, None)}),
    ("-eps**2*u_xx + u - 1", 1e-3, {"x": (1e-3, 1e-3)}),
    ("eps*u_xxxx - u_xx + 1", 1e-6, {"x": (1e-3, 1e-3)}),
    ("-eps*u_xx + (x - 0.5)*u_x + 1", 1e-4, {"x": (2e-4, 2e-4)}),  # it flows out at either wall
    ("-eps*u_xx - (x - 0.5)*u_x + 1", 1e-4, {}),  # at none: the layer is inside
    ("-u_xx + x**8*u/eps", 1e-6, {"x": (None, 1e-3)}),  # nothing is there at x = 0
    ("-eps*u_xx + u_x/(1 - x) - 1", 1e-3, {}),  # a power of the distance
    ("x**2*u_xx + x*u_x - 4*u", 1.0, {}),  # powers, as beside the middle of a disk
    ("-eps*u_xx + u*u_x", 1e-3, {}),  # nonlinear: it may lie inside
    ("-eps*u_xx + u_x - 1", 1e-16, {}),  # no number is that near to the wall
    ("eps*u_xx + u", 1e-6, {}),  # waves
    ("eps*u_xxx + u_x", 1e-6, {}),  # waves of order three
    ("u_xxxx + u_xx/eps", 1e-6, {}),  # a column that buckles
    ("-eps*u_xx + u_x - 1", 0.1, {}),  # no thin one
])  # fmt: skip
def test_layers_lie_where_exponents_decay(equation, eps, expected):
    layers = found(equation, eps)
    assert layers.keys() == expected.keys()
    for name, widths in expected.items():
        for width, own in zip(widths, layers[name], strict=True):
            assert own == (width if width is None else (pytest.approx(width, rel=0.3),))


def test_the_width_is_that_of_the_exponential_of_the_solution():
    """-eps u'' + u' = 1 has u = x - (exp((x - 1)/eps) - exp(-1/eps))/(1 - exp(-1/eps))."""
    assert found("-eps*u_xx + u_x - 1", 2e-3) == {"x": (None, (2e-3,))}


def test_across_a_flow_layers_are_as_thick_as_a_root():
    layers = found("-eps*laplacian(u) + u_x - 1", 1e-4, SQUARE)
    assert layers["x"] == (None, (pytest.approx(1e-4),))
    assert layers["y"] == ((pytest.approx(1e-2),), (pytest.approx(1e-2),))


def test_terms_of_other_unknowns_make_none():
    """Stokes' flow has no layer however small its viscosity is, and a mixed beam has none."""
    domain = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    flow = pinn.Problem(
        domain, ["u", "v", "p"],
        {"mx": "p_x - mu*laplacian(u)", "my": "p_y - mu*laplacian(v)", "c": "u_x + v_y"},
        [pinn.Dirichlet("u", "x*(1 - x)", on="y=1"), pinn.Dirichlet("v", 0)],
        constants={"mu": 1e-3},
    )  # fmt: skip
    assert min(one.width for one in balances(flow)) == pytest.approx(1)


def test_two_unknowns_have_two_widths():
    problem = pinn.Problem(
        LINE, ["u", "v"], {"e": "-1e-8*u_xx + u - 1", "f": "-1e-4*v_xx + v - u"},
        [pinn.Dirichlet(name, 0) for name in "uv"],
    )  # fmt: skip
    widths = (pytest.approx(1e-4), pytest.approx(1e-2))
    assert dict(in_layers(asked(problem))[0].problem.layers) == {"x": (widths, widths)}


def test_states_have_the_size_that_conditions_state():
    """Burgers' equation of u = 1e-6 with nu = 1e-6 has the Reynolds number one."""
    ends = [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("u", 1e-6, on="x=1")]
    (slow,) = balances(steady("u*u_x - eps*u_xx", 1e-6, conditions=ends))
    assert slow.width > 0.05
    ends = [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("u", 1, on="x=1")]
    (fast,) = balances(steady("u*u_x - eps*u_xx", 1e-6, conditions=ends))
    assert fast.width < 1e-5
    assert not fast.linear


IN_TIME = LINE * pinn.Time("t", 0, 1)


@pytest.mark.parametrize("equation, eps, expected", [
    ("u_t + u_x - eps*u_xx - 1", 1e-3, {"x": (None, (pytest.approx(1e-3),))}),
    ("u_t - eps*u_xx", 1e-6, {"x": ((pytest.approx(1e-3),), (pytest.approx(1e-3),))}),
    ("u_t + u_x - eps*u_xx - 1", 1e-2, {}),  # which networks find on their way
    ("u_t + u*u_x - eps*u_xx", 1e-3, {}),  # a front, wherever it goes
])  # fmt: skip
def test_in_time_those_of_linear_equations_are_found(equation, eps, expected):
    conditions = [pinn.Initial("u", 0), pinn.Dirichlet("u", 0)]
    assert found(equation, eps, IN_TIME, conditions=conditions) == expected


def test_a_run_that_is_gone_on_from_keeps_the_layers_of_its_network():
    first = steady("-eps*u_xx + u_x - 1", layers={"x": [None, 1e-3]})
    other = steady("-eps*u_xx + u_x - 1", 5e-4)
    model = pinn.MLP(features=["x", "exp(-(1 - x)/0.001)"])
    found, _ = in_layers(asked(other, model=model), started=first)
    assert found.problem.layers == first.layers
    assert found.model == model


def test_a_network_that_sees_an_angle_by_its_cosine_sees_it_so_beside_a_layer():
    domain = pinn.Interval("r", 0, 1) * pinn.Interval("q", 0, 2 * np.pi)
    conditions = [pinn.Periodic("u", "q", hard=True), pinn.Dirichlet("u", "cos(q)", on="r=1")]
    problem = steady("-eps*(u_rr + u_qq) + u_r", 1e-3, domain, conditions=conditions)
    chosen, _ = in_layers(asked(problem))
    assert chosen.model.features == ("r", "q_cos", "q_sin", "exp(-(1.0 - r)/0.001)")


def test_where_all_repeats_there_is_no_wall():
    conditions = [pinn.Periodic("u", "x"), pinn.Initial("u", 0)]
    assert found("u_t + u_x - eps*u_xx - 1", 1e-3, IN_TIME, conditions=conditions) == {}


def test_networks_see_the_layers_beside_the_coordinates():
    chosen, (decision,) = in_layers(asked(steady("-eps*u_xx + u_x - 1")))
    assert chosen.model.features == ("x", "exp(-(1.0 - x)/0.001)")
    assert decision.what == "layers: exp(-d/0.001) at x = 1"


@pytest.mark.parametrize("given", [
    {"model": pinn.MLP()},
    {"model": pinn.AutoModel(features=["x"])},
    {"continuation": {"eps": [0.1]}},
    {"sampling": pinn.Sampling(density="1 + x")},
])  # fmt: skip
def test_what_is_given_is_left_as_it_is(given):
    experiment = asked(steady("-eps*u_xx + u_x - 1"), **given)
    assert in_layers(experiment) == (experiment, ())


def test_nothing_is_found_where_coefficients_are_to_be_found_or_no_faces_are():
    parameter = [pinn.Parameter("a", 1.0)]
    assert found("-eps*u_xx + a*u_x - 1", parameters=parameter) == {}
    assert found("-eps*laplacian(u) + u_x - 1", domain=pinn.Disk((0, 0), 1)) == {}


def test_layers_that_are_stated_are_seen_by_a_network_that_is_given():
    stated = steady("-eps*u_xx + u_x - 1", layers={"x": [None, 0.01]})
    chosen, decisions = in_layers(asked(stated, model=pinn.MLP(width=5, depth=1)))
    assert chosen.model.features == ("x", "exp(-(1.0 - x)/0.01)")
    assert decisions == ()


def test_a_layer_that_is_a_hundred_thousandth_of_the_domain_is_solved_to_rounding():
    problem = steady("-eps*u_xx + u_x - 1", 1e-5)
    solution = pinn.solve(problem, sampling=pinn.Sampling(interior=600), error_bars=False)
    distance = np.concatenate([np.linspace(0, 1, 101), np.linspace(0, 20e-5, 101)])
    exact = 1 - distance - np.exp(-distance / 1e-5)
    np.testing.assert_allclose(solution.evaluate(x=1 - distance)["u"], exact, atol=1e-9)
