"""Where an equation has no value at zero the network begins at what conditions give."""

import math

import numpy as np
import pytest

import pinn
from pinn.diagnosis import in_natural_units
from pinn.diagnosis.posed.poles import beginnings
from pinn.diagnosis.posed.statement import Statement
from pinn.training.experiment import Experiment

X, T1 = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 1)
BC, IC, P = pinn.Dirichlet, pinn.Initial, pinn.Problem
POLE = {"pole": "u_xx - 1/u**3"}


def at(*values):
    return [BC("u", value, on=f"x={k}") for k, value in enumerate(values)]


@pytest.mark.parametrize("problem, value", [
    (P(X, ["u"], POLE, [*at(1), pinn.Neumann("u", 0, on="x=0")]), 1.0),
    (P(X, ["u"], POLE, at(-1, -2)), -1.5),
    (P(T1, ["u"], {"log": "u_t - u*log(u)"}, [IC("u", 2)]), 2.0),
    (P(T1, ["u"], {"root": "u_t + sqrt(u)"}, [IC("u", 3)]), 3.0),
])  # fmt: skip
def test_a_pole_or_a_root_at_zero_is_kept_away_from(problem, value):
    (found,) = beginnings(Statement(problem)).values()
    assert found.value == pytest.approx(value)
    experiment, (decision,) = in_natural_units(Experiment(problem))
    assert experiment.model.offset == {"u": pytest.approx(value)}
    assert f"offset of outputs: u {value:g}" in str(decision) and "has no value" in str(decision)


def test_of_several_unknowns_that_at_the_pole_begins_elsewhere():
    problem = P(T1, ["u", "v"], {"a": "u_t - v/u", "b": "v_t + u"}, [IC("u", 2), IC("v", 5)])
    assert list(beginnings(Statement(problem))) == ["u"]


@pytest.mark.parametrize("problem", [
    P(X, ["u"], {"e": "u_xx - u**3"}, at(1)),
    P(X, ["u"], POLE, at(1, -1)),  # through the pole
    P(X, ["u"], POLE, [BC("u", 1, on="x=0", hard=True)]),  # begins there by itself
    P(X, ["u"], {"e": "u_xx - 1/(u - 1)"}, at(1)),
    P(X, ["u"], {"e": "u_xx - 1/u_x"}, at(1)),
    P(X, ["u"], POLE, [pinn.Neumann("u", 1)]),
])  # fmt: skip
def test_without_a_pole_or_a_value_to_begin_at_nothing_changes(problem):
    assert beginnings(Statement(problem)) == {}


def test_what_a_model_says_stays():
    problem = P(X, ["u"], POLE, at(1, 2))
    model = pinn.MLP(4, 1, offset={"u": 3})
    assert in_natural_units(Experiment(problem, model=model))[0].model == model
    each = pinn.PerUnknown(each=pinn.MLP(4, 1))
    experiment, _ = in_natural_units(Experiment(problem, model=each))
    assert experiment.model.networks["u"].offset == {"u": 1.5}


def test_an_equation_with_a_pole_is_solved_from_there():
    """u_xx = 1/u^3 with u(0) = 1 and u_x(0) = 0 has the solution sqrt(1 + x^2)."""
    problem = P(X, ["u"], POLE, [*at(1), pinn.Neumann("u", 0, on="x=0")])
    solution = pinn.solve(
        problem, pinn.MLP(8, 1), pinn.Sampling(interior=40), [pinn.LevenbergMarquardt(40)],
        error_bars=False,
    )  # fmt: skip
    xs = np.linspace(0, 1, 21)
    np.testing.assert_allclose(solution.evaluate(x=xs)["u"], np.sqrt(1 + xs**2), atol=1e-5)


def test_beside_a_loss_without_a_value_none_is_told_on_other_points():
    """At u = 0, where random features begin, the root has no slope, and u = 0 no residual."""
    problem = P(T1, ["u"], {"root": "u_t - 2*sqrt(abs(u))"}, [IC("u", 0)])
    with pytest.warns(pinn.UnsolvedWarning, match="diverged"):
        solution = pinn.solve(
            problem, pinn.RandomFeatures(9), pinn.Sampling(interior=20), error_bars=False
        )
    assert math.isnan(solution.report.loss) and math.isnan(solution.report.fresh_loss)
    assert "fresh" not in str(solution.report) + solution.report.summary()
    assert any("u = 0 solves" in one for one in solution.report.error_estimate.remarks)
