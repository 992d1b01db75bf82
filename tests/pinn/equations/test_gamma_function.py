"""The Gamma function in texts: constants, coordinates, trainable orders; gamma as a name."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import pinn
from pinn import expressions
from pinn.solution import Solution
from pinn.training.experiment import Experiment

XS = np.array([0.3, 1.0, 1.7, 3.6, 6.2, -0.4, -1.5, -2.2])
FORMULAS = {
    "gamma(x)": mpmath.gamma,
    "lgamma(x)": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "digamma(x)": mpmath.digamma,
    "polygamma(2, x)": lambda x: mpmath.polygamma(2, x),
    "x**(1.5 - x)/gamma(x + 1)": lambda x: abs(x) ** (1.5 - x) / mpmath.gamma(x + 1),
}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("text", FORMULAS)
def test_texts_agree_with_mpmath(text, order):
    xs = XS[XS > 0] if "**" in text else XS
    with mpmath.workdps(40):
        expected = [float(mpmath.diff(FORMULAS[text], x, order)) for x in xs]
    written = f"diff({text}, x, {order})" if order else text
    problem = pinn.Problem(
        pinn.Interval("x", -3, 7), ["u"], {"e": "u"}, [pinn.Dirichlet("u", 0)],
        reference={"u": written},
    )  # fmt: skip
    experiment = Experiment(problem, model=pinn.MLP(width=2, depth=1))
    solution = Solution(experiment, experiment.initial_parameters().theta, None)
    by_numpy, by_tensor = problem.exact({"x": xs})["u"], solution.derivative(written, x=xs)
    for found in (by_numpy, by_tensor):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    if not order:
        tree = expressions.parse(text)
        by_float = [expressions.evaluate(tree, {"x": float(x)}) for x in xs]
        np.testing.assert_allclose(by_float, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
def test_an_equation_with_a_trainable_order(derivatives):
    """x**a / gamma(a + 1) has the slope x**(a - 1) / gamma(a); its residual's slope in a too."""
    problem = pinn.Problem(
        pinn.Interval("x", 1, 2), ["u"],
        {"e": "u*0 + diff(x**a/gamma(a + 1), x) - x**(a - 1)/gamma(a) + gamma(x)*a"},
        [pinn.Data("u", {"x": [1.5], "u": [1.0]})], parameters={"a": 1.3},
    )  # fmt: skip
    made = Experiment(problem, model=pinn.MLP(width=3, depth=1), derivatives=derivatives,
                      sampling=pinn.Sampling(interior=12))  # fmt: skip
    objective = made.objective()
    points = made.draw_points()["e"].coordinates[:, 0]
    found = objective.residuals(objective.theta)["e"]
    np.testing.assert_allclose(found, [math.gamma(x) * 1.3 for x in points], rtol=1e-12)
    h, theta = 1e-6, objective.theta
    step = np.zeros(len(theta))
    step[-1] = h
    slope = (objective.value(theta + step) - objective.value(theta - step)) / (2 * h)
    gradient = objective.value_and_gradient(theta).gradient[-1]
    assert gradient == pytest.approx(slope, rel=1e-7)


def test_functions_of_the_namespace_and_constants():
    problem = pinn.Problem(
        pinn.Interval("x", 1, 2), ["u"], {"e": lambda s: s.u - s.c * s.gamma(s.x)},
        [pinn.Dirichlet("u", 0)], constants={"c": "2/gamma(2.5)"},
        reference={"u": "gamma(x) + lgamma(x)"},
    )  # fmt: skip
    assert problem.constants["c"] == 2 / math.gamma(2.5)
    x = np.array([1.25, 1.5])
    expected = [math.gamma(v) + math.lgamma(v) for v in x]
    np.testing.assert_allclose(problem.exact({"x": x})["u"], expected, rtol=1e-14)


def test_gamma_may_name_a_constant():
    """It is what everybody calls a damping, or a ratio of heat capacities."""
    settings = dict(
        domain=pinn.Interval("x", 1, 2), unknowns=["u"], conditions=[pinn.Dirichlet("u", 0)],
        constants={"gamma": 1.4, "c": "gamma*gamma(3)"},
    )  # fmt: skip
    texts = {"e": "u - gamma*gamma(x)"}
    for equations in (texts, {"e": lambda s: s.u - s.gamma * s("gamma(x)")}):
        problem = pinn.Problem(**settings, equations=equations)
        assert problem.constants["c"] == 2.8
        made = Experiment(problem, model=pinn.MLP(width=3, depth=1))
        objective = made.objective()
        x = made.draw_points()["e"].coordinates[:, 0]
        values = Solution(made, objective.theta, None).evaluate(x=x)["u"]
        found = objective.residuals(objective.theta)["e"]
        expected = values - 1.4 * np.array([math.gamma(v) for v in x])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    with pytest.raises(ValueError, match="'gamma' cannot name a table"):
        pinn.Problem(**settings | {"constants": {}}, equations={"e": "u"},
                     tables={"gamma": {"table": {"x": [1, 2], "gamma": [0, 1]}}})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamma(0)", r"gamma\(0\) has no real value"),
        ("gamma(200)", r"gamma\(200\) is beyond the largest float64"),
        ("polygamma(0.5, 1)", r"polygamma\(0.5, 1\) has no real value"),
        ("gamma", "unknown name 'gamma'"),
        ("gammaln(2)", "did you mean 'lgamma'"),
        ("gamma(1, 2)", "gamma takes 1 argument"),
    ],
)
def test_what_has_no_value_is_told(text, message):
    with pytest.raises(expressions.ExpressionError, match=message):
        expressions.evaluate(expressions.parse(text), {})
