"""Functions that a solution is known to be made of, added to the layers with trained factors."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import ConfigError, load
from pinn.equations.values import coordinate_columns
from pinn.schema import DeclarationError
from pinn.training.experiment import Experiment

DOMAIN = pinn.Box(pinn.Interval("x", 0, 4), pinn.Interval("y", -1, 1))
TWO = ["log(1 + x)", "x*y"]


def build(model, unknowns=("u", "v")):
    return model.build(DOMAIN, list(unknowns), np.random.default_rng(0), T.float64)


def test_it_is_added_to_the_layers_before_scale_and_offset():
    settings = {"width": 4, "depth": 1, "scale": {"u": 3.0}, "offset": {"v": 2.0}}
    plain, module = build(pinn.MLP(**settings)), build(pinn.MLP(**settings, enrichment=TWO))
    factors = np.array([[1.0, -2.0], [0.5, 4.0]])
    with T.no_grad():
        module.enrichment.copy_(T.tensor(factors))
    points = np.random.default_rng(1).uniform((0, -1), (4, 1), (6, 2))
    x, y = points.T
    added = np.stack([np.log(1 + x), x * y], axis=1) @ factors.T * (3, 1)
    expected = plain(T.tensor(points)).detach().numpy() + added
    columns = coordinate_columns(points, T.float64, "cpu")
    for got in (module(T.tensor(points)), module.forward_columns(columns)):
        np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-13, atol=1e-13)


def test_its_factors_are_trained_and_start_at_zero():
    model = pinn.MLP(width=4, depth=1, enrichment=TWO)
    module = build(model)
    assert module.enrichment.shape == (2, 2) and not module.enrichment.detach().numpy().any()
    numbers = sum(parameter.numel() for parameter in module.parameters())
    assert model.parameter_count(DOMAIN, ["u", "v"]) == numbers


def test_a_solution_that_is_one_of_them_is_found_in_a_step(tmp_path):
    """A corner of 270 degrees: r^(2/3) cos(2 phi/3), which no smooth function is near to."""
    (tmp_path / "corner.yaml").write_text(
        """
problem:
  domain:
    polygon: {points: [[0, 0], [0, -1], [-1, -1], [-1, 1], [1, 1], [1, 0]]}
  unknowns: [u]
  constants: {angle: 2/3}
  equations: {laplace: laplacian(u)}
  conditions:
    - dirichlet: {unknown: u, value: "3*hypot(x, y)**(2/3)*cos(2/3*atan2(x + y, y - x))"}
  reference: {u: "3*hypot(x, y)**(2/3)*cos(2/3*atan2(x + y, y - x))"}
model:
  random_features:
    width: 20
    enrichment: ["hypot(x, y)**angle*cos(angle*atan2(x + y, y - x))"]
sampling: {interior: 60, boundary: 60, adaptive: null}
training: [{gauss_newton: {steps: 2}}]
"""
    )
    solution = pinn.solve(**load(tmp_path / "corner.yaml").experiment.arguments)
    assert solution.report.rel_l2["u"] < 1e-9
    assert "angle" not in solution.experiment.model.enrichment[0]
    solution.save(tmp_path / "corner.npz")
    again = pinn.load(tmp_path / "corner.npz").evaluate(x=[-0.5], y=[0.25])["u"]
    np.testing.assert_array_equal(again, solution.evaluate(x=[-0.5], y=[0.25])["u"])


def test_random_features_stay_linear_in_what_is_trained():
    problem = pinn.Problem(DOMAIN, ["u"], {"poisson": "laplacian(u) - x*y"}, [])
    objective = Experiment(
        problem, pinn.RandomFeatures(width=6, enrichment=TWO), pinn.Sampling(interior=20), threads=1
    ).objective()
    step = np.random.default_rng(0).standard_normal(objective.size)
    start, rows = objective.jacobian(objective.theta)
    np.testing.assert_allclose(
        objective.weighted_rows(objective.theta + step), start + rows @ step, rtol=1e-11, atol=1e-11
    )


def test_a_text_that_means_nothing_is_refused_with_its_key(tmp_path):
    with pytest.raises(DeclarationError, match=r"enrichment.1: unknown name"):
        build(pinn.MLP(enrichment=["x", "log(z)"]))
    (tmp_path / "wrong.yaml").write_text(
        "problem:\n  domain: {x: [0, 1]}\n  unknowns: [u]\n  equations: {one: u_x - 1}\n"
        "model: {mlp: {enrichment: [x*u]}}\n"
    )
    with pytest.raises(ConfigError, match="enrichment"):
        load(tmp_path / "wrong.yaml")
