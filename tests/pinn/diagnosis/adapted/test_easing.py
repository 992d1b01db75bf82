"""Thin layers are gone through from thicker ones, where nothing else was said."""

import numpy as np
import pytest

import pinn
from pinn.diagnosis.adapted.easing import eased
from pinn.training import choosing
from pinn.training.experiment import Experiment


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A trial of a size that suits tests."""
    for name, value in {"_FEW": 60, "_LEAST_FEW": 60, "_MANY": 120, "_ON_A_LINE": 1.0}.items():
        monkeypatch.setattr(choosing, name, value)


def experiment(equation="-eps*u_xx + u_x - 1", eps=1e-4, **given):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": equation}, [pinn.Dirichlet("u", 0)],
        constants={"eps": eps}, parameters=given.pop("parameters", ()),
    )  # fmt: skip
    return Experiment(problem, **{"model": pinn.MLP()} | given)


def test_the_layer_of_each_value_is_a_root_of_ten_thinner_than_the_one_before():
    found, (decision,) = eased(experiment())
    values = np.array(found.continuation["eps"])
    np.testing.assert_allclose(values, [0.1, 0.0316, 0.01, 0.00316, 0.001, 0.000316], rtol=1e-2)
    assert decision.what == "continuation: eps = 0.1, 0.0316, 0.01, 0.00316, 0.001, 0.000316 first"
    assert "layers of about 0.0001 of the domain" in decision.why


def test_a_width_that_goes_like_a_root_takes_steps_of_ten():
    found, _ = eased(experiment("-eps*u_xx + u - 1", 1e-7))
    np.testing.assert_allclose(found.continuation["eps"], [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])


@pytest.mark.parametrize("asked", [
    experiment(eps=0.01),
    experiment(continuation={"eps": [0.5]}),
    experiment("-eps*a*u_xx + u_x - 1", parameters=[pinn.Parameter("a", 1.0)]),
])  # fmt: skip
def test_nothing_is_gone_through(asked):
    assert eased(asked) == (asked, ())


def test_what_is_chosen_says_so():
    asked = experiment("-eps*u_xx + u*u_x - 1", model=pinn.AutoModel())
    found = pinn.check(asked.problem, pinn.AutoModel())
    assert found.continuation["eps"][0] == pytest.approx(0.1, rel=0.1)
    assert [said.split(":")[0] for said in found.decided][-2:] == ["model", "continuation"]


@pytest.mark.parametrize("given", [
    {"model": pinn.RandomFeatures(50)},
    {"model": pinn.MLP(), "training": [pinn.Adam(steps=5)]},
])  # fmt: skip
def test_what_is_given_is_left_as_it_is(given):
    assert eased(experiment(**given))[1] == ()


def test_what_features_resolve_needs_none():
    thick = experiment("-eps*u_xx + u - 1", 1.0, model=pinn.AutoModel())
    assert not pinn.check(thick.problem, pinn.AutoModel()).continuation


def test_layers_along_walls_that_a_network_sees_need_none():
    asked = experiment(model=pinn.AutoModel())
    found = pinn.check(asked.problem, pinn.AutoModel())
    assert found.decided[0].startswith("layers: exp(-d/0.0001) at x = 1")
    assert not found.continuation


def test_there_are_eight_values_at_most():
    found, _ = eased(experiment(eps=1e-12))
    values = np.array(found.continuation["eps"])
    assert values.size == 8
    np.testing.assert_allclose(values[1:] / values[:-1], 10 ** (-11 / 8), rtol=1e-2)
