"""Conditions at the end of time and at single points."""

import numpy as np
import pytest

import pinn

X, TIME = pinn.Interval("x", 0, 2), pinn.Time("t", 0, 1)
SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=40)}


def test_an_equation_that_runs_backwards():
    problem = pinn.Problem(
        TIME, ["u"], {"growth": "u_t - u"}, [pinn.Terminal("u", "e")], reference={"u": "exp(t)"}
    )
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(150)])
    assert solution.report.rel_l2["u"] < 1e-4
    points = solution.experiment.draw_points()["terminal_u"]
    np.testing.assert_array_equal(points.coordinates, [[1.0]])


def test_a_value_at_a_point_fixes_the_constant():
    problem = pinn.Problem(
        X, ["p"], {"slope": "p_x - 2*x"}, [pinn.PointValue("p", 3.0, x=0.5)],
        reference={"p": "x**2 + 2.75"},
    )  # fmt: skip
    assert [r.name for r in problem.residuals] == ["slope", "value_p_x_0.5"]
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(150)])
    assert solution.report.rel_l2["p"] < 1e-4


def test_a_point_may_be_given_as_keywords_or_as_a_mapping():
    assert pinn.PointValue("p", 0, x=1) == pinn.PointValue("p", 0, at={"x": 1.0})


def test_a_config_has_them_too(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem:\n"
        "  domain: {x: [0, 2], t: {time: [0, 1]}}\n"
        "  unknowns: u\n"
        "  equations: {e: u_t + u_xx}\n"
        "  conditions:\n"
        "    - terminal: {unknown: u, value: x}\n"
        "    - point_value: {unknown: u, value: 0, at: {x: 1, t: 1/2}}\n"
    )
    from pinn.config import load

    config = load(path)
    assert config.experiment.problem.conditions == (
        pinn.Terminal("u", "x"), pinn.PointValue("u", 0.0, x=1, t=0.5)
    )  # fmt: skip
    path.write_text(config.text())
    assert load(path).data == config.data


@pytest.mark.parametrize(
    ("domain", "condition", "message"),
    [
        (X, pinn.Terminal("u", 0), "conditions.0: a terminal condition needs a time coordinate"),
        (X * TIME, pinn.Terminal("u", "u"), "conditions.0.value: unknown name 'u'"),
        (X * TIME, pinn.PointValue("u", 0, x=1), "conditions.0.at: expected a number for each"),
        (X, pinn.PointValue("u", 0, x=3), "conditions.0.at: expected a point of the domain"),
        (X, pinn.PointValue("v", 0, x=1), "conditions.0.unknown: expected one of the unknowns"),
        (X, pinn.Terminal("u", 0, hard=True), "a terminal condition needs a time coordinate"),
    ],
)
def test_conditions_that_do_not_fit_are_refused(domain, condition, message):
    with pytest.raises(ValueError, match=message):
        pinn.Problem(domain, ["u"], {"e": "u_x"}, [condition])


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="pointvalue: at.x: expected a number, got '1'"):
        pinn.PointValue("u", 0, x="1")
    with pytest.raises(TypeError, match="terminal: hard: expected True or False"):
        pinn.Terminal("u", 0, hard="yes")
