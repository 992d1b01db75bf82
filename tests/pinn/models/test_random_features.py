"""A layer that stays as it was drawn, and factors that are trained."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.schema import DeclarationError
from pinn.training.experiment import Experiment

DOMAIN = pinn.Box(pinn.Interval("x", 0, 4), pinn.Interval("y", -1, 1))


def build(model, seed=0):
    return model.build(DOMAIN, ["u", "v"], np.random.default_rng(seed), T.float64)


def arrays(module):
    found = dict(module.named_buffers()) | dict(module.named_parameters())
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def test_it_is_a_sum_of_ridge_functions_of_the_scaled_coordinates():
    module = build(pinn.RandomFeatures(width=7, activation="sin"))
    rng = np.random.default_rng(1)
    with T.no_grad():
        module.weight.copy_(T.tensor(rng.standard_normal((2, 7))))
        module.bias.copy_(T.tensor([0.3, -0.2]))
    x = rng.uniform((0, -1), (4, 1), (5, 2))
    a = arrays(module)
    hidden = np.sin((x - (2, 0)) / (2, 1) @ a["features_weight"].T + a["features_bias"])
    expected = hidden @ a["weight"].T + a["bias"]
    got = module(T.tensor(x)).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def test_only_the_last_layer_is_trained_and_it_starts_at_zero():
    model = pinn.RandomFeatures(width=7)
    module = build(model)
    assert {name for name, _ in module.named_parameters()} == {"weight", "bias"}
    assert model.parameter_count(DOMAIN, ["u", "v"]) == 2 * 8
    assert not np.any(module(T.tensor([[1.0, 0.5]])).detach().numpy())


def test_features_pass_through_the_box_as_steeply_as_was_asked_for():
    a = arrays(build(pinn.RandomFeatures(width=4000, steepness=(2, 8))))
    weight, bias = a["features_weight"], a["features_bias"]
    steepness = np.abs(weight).max(axis=1)  # of two uniform numbers in [-s, s]
    assert steepness.max() <= 8
    # log-uniform s: its logarithm has the mean of the two ends; the larger of two uniform numbers
    # in [0, 1] has a logarithm of mean -1/2.
    assert np.log(steepness).mean() == pytest.approx(np.log(4) - 0.5, abs=0.05)
    # a.c within sum |a|, as the centres are in the box
    assert np.all(np.abs(bias) <= np.abs(weight).sum(axis=1) + 1e-12)


def test_the_rows_of_a_linear_problem_are_linear_in_what_is_trained():
    problem = pinn.Problem(
        DOMAIN, ["u"], {"poisson": "laplacian(u) - x*y"}, [pinn.Dirichlet("u", "x")]
    )
    objective = Experiment(
        problem, pinn.RandomFeatures(width=12), pinn.Sampling(interior=30, boundary=10), threads=1
    ).objective()
    step = np.random.default_rng(0).standard_normal(objective.size)
    start, rows = objective.jacobian(objective.theta)
    np.testing.assert_allclose(
        objective.weighted_rows(objective.theta + step), start + rows @ step, rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize("given", [(3, 1), (0, 1), (1, 2, 3), (1,)])
def test_a_range_that_is_none_is_refused(given):
    with pytest.raises(DeclarationError, match="steepness"):
        pinn.RandomFeatures(steepness=given)


def test_a_factorised_last_layer_would_not_be_linear():
    with pytest.raises(DeclarationError, match="factorization"):
        build(pinn.RandomFeatures(factorization=pinn.Factorization()))
