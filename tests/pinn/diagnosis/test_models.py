"""Networks of every kind before training: what they keep by themselves, and what they lack."""

import pytest

import pinn
from pinn.diagnosis import preflight
from pinn.models import MODELS
from pinn.training.experiment import Experiment

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
START, EDGES = pinn.Initial("u", "cos(pi*x)"), pinn.Dirichlet("u", -1)
POINTS = pinn.Sampling(interior=40, initial=20, boundary=20)


def heat(*conditions):
    return pinn.Problem(X * TIME, ["u"], {"heat": "u_t - u_xx"}, conditions)


def said(problem, model):
    return preflight(Experiment(problem, model, POINTS).objective())


# auto stands for one of the others, and a DeepONet takes families
SPECIAL = (pinn.AutoModel, pinn.DeepONet)
BUILT = {name: cls() for name, cls in MODELS.items() if cls not in SPECIAL}


@pytest.mark.parametrize("model", BUILT.values(), ids=BUILT)
def test_a_problem_that_is_well_posed_is_left_in_peace(model):
    assert said(heat(START, EDGES), model) == []


@pytest.mark.parametrize("model", BUILT.values(), ids=BUILT)
def test_missing_conditions_are_told_with_every_model(model):
    (sentence,) = said(heat(START), model)
    assert "'u'" in sentence and "x" in sentence


@pytest.mark.parametrize("model", [
    pinn.MLP(embedding=pinn.PeriodicEmbedding("x")),
    pinn.PirateNet(width=8, depth=1, embedding=pinn.PeriodicEmbedding("x", harmonics=2)),
    pinn.MLP(features=["sin(pi*x)", "cos(pi*x)", "t"]),
    pinn.PerUnknown(pinn.Siren(embedding=pinn.PeriodicEmbedding("x"))),
], ids=["waves", "pirate", "features", "each"])  # fmt: skip
def test_a_network_that_is_periodic_needs_no_conditions_at_the_edges(model):
    assert said(heat(START), model) == []


def test_a_period_that_is_not_the_domains_is_no_condition_there():
    (sentence,) = said(heat(START), pinn.MLP(embedding=pinn.PeriodicEmbedding("x", period=3)))
    assert "'u'" in sentence


def test_a_field_with_features_that_make_no_sense_is_told_of_at_its_key():
    problem = pinn.Problem(
        X * TIME, ["u"], {"heat": "u_t - a*u_xx"}, [START, EDGES],
        fields=[pinn.Field("a", ["x"], model=pinn.MLP(features=["x*t"]))],
    )  # fmt: skip
    with pytest.raises(ValueError, match="problem.fields.a.model.features.0: "):
        Experiment(problem, pinn.MLP(), POINTS)
