"""Blocks at equal points: one sweep for all of them, and the numbers of each on its own."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import Points
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Interval("y", 0, 1) * pinn.Time("t", 0, 1)
UNKNOWNS = ["u", "v", "p"]
EQUATIONS = {
    "momentum_x": "u_t + u*u_x + v*u_y + p_x - laplacian(u)/Re",
    "momentum_y": "v_t + u*v_x + v*v_y + p_y - laplacian(v)/Re",
    "mass": "u_x + v_y",
}
ALONE = {
    "momentum_x": lambda s: s.u_t + s.u * s.u_x + s.v * s.u_y + s.p_x - (s.u_xx + s.u_yy) / s.Re,
    "momentum_y": lambda s: s.v_t + s.u * s.v_x + s.v * s.v_y + s.p_y - (s.v_xx + s.v_yy) / s.Re,
    "mass": lambda s: s.u_x + s.v_y,
}
CONDITIONS = [pinn.Initial("u", "sin(pi*x)"), pinn.Initial("v", "y")]
WEIGHTS = {"momentum_x": 0.5, "momentum_y": 2.0, "mass": 7.0, "initial_u": 3.0}
SAMPLING = pinn.Sampling(interior=31, initial=9)


def make(equations=EQUATIONS, conditions=CONDITIONS, weights=WEIGHTS, sampling=SAMPLING, **options):
    problem = pinn.Problem(DOMAIN, UNKNOWNS, equations, conditions, constants={"Re": 20.0})
    setup = Experiment(problem, pinn.MLP(width=5, depth=2), sampling, seed=1)
    names = [residual.name for residual in problem.residuals]
    return Objective(
        problem, setup.initial_parameters(), setup.draw_points(),
        {name: weights[name] for name in names if name in weights}, dtype=T.float64, **options,
    )  # fmt: skip


def some_theta(objective):
    return objective.theta + 0.2 * np.random.default_rng(2).standard_normal(objective.size)


def alone(objective):
    """An objective for each block by itself, as it is written, in reverse mode."""
    problem = objective.problem
    found = []
    for block in objective.blocks:
        one = pinn.Problem(DOMAIN, UNKNOWNS, ALONE, CONDITIONS, constants={"Re": 20.0})
        one.__dict__["residuals"] = tuple(r for r in one.residuals if r.name == block.name)
        setup = Experiment(problem, pinn.MLP(width=5, depth=2), SAMPLING, seed=1)
        found.append(
            Objective(one, setup.initial_parameters(), {block.name: block.points},
                      {block.name: block.weight}, dtype=T.float64, engine="eager",
                      derivatives="nested")
        )  # fmt: skip
    return found


def keys(objective):
    return [group.key for group in objective.groups]


def test_blocks_with_equal_sources_are_evaluated_together():
    assert keys(make()) == [("momentum_x", "momentum_y", "mass"), ("initial_u", "initial_v")]


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
@pytest.mark.parametrize("engine", ["recorded", "eager"])
def test_every_form_is_that_of_each_block_on_its_own(engine, derivatives):
    together = make(engine=engine, derivatives=derivatives)
    theta = some_theta(together)
    apart = alone(together)
    rows = np.concatenate([one.weighted_rows(theta) for one in apart])
    jacobian = np.concatenate([one.jacobian(theta)[1] for one in apart])
    r = np.random.default_rng(0)
    direction, z = r.standard_normal(together.size), r.standard_normal(together.rows)

    def same(a, b):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * max(1, np.abs(b).max()) * len(rows))

    found = together.value_and_gradient(theta)
    each = [one.value_and_gradient(theta) for one in apart]
    assert list(found.losses) == [block.name for block in together.blocks]
    for one in each:
        for name, loss in one.losses.items():
            assert found.losses[name] == pytest.approx(loss, rel=1e-12)
    assert found.loss == pytest.approx(sum(one.loss for one in each), rel=1e-12)
    same(found.gradient, sum(one.gradient for one in each))
    assert together.value(theta) == pytest.approx(found.loss, rel=1e-13)
    slopes = together.gradients(theta)
    for block, one in zip(together.blocks, each, strict=True):
        same(block.weight * slopes[block.name], one.gradient)
    same(together.weighted_rows(theta), rows)
    for a, b in zip(together.jacobian(theta), (rows, jacobian), strict=True):
        same(a, b)
    pieces = list(together.jacobian_chunks(theta, rows=8))
    assert all(len(piece) <= 8 for piece, _ in pieces)
    same(np.concatenate([piece for piece, _ in pieces]), rows)
    same(np.concatenate([piece for _, piece in pieces]), jacobian)
    same(together.gram(theta)[0], jacobian.T @ jacobian)
    same(together.gram(theta)[1], jacobian.T @ rows)
    same(together.kernel(theta)[0], jacobian @ jacobian.T)
    same(together.jvp(theta, direction), jacobian @ direction)
    same(together.vjp(theta, z), jacobian.T @ z)
    residuals = together.residuals(theta)
    for one in apart:
        for name, residual in one.residuals(theta).items():
            same(residuals[name], residual)
    diagonals = together.kernel_diagonals(theta)
    for one in apart:
        (block,) = one.blocks
        unweighted = one.jacobian(theta)[1] * np.sqrt(block.rows / block.weight)
        same(diagonals[block.name], (unweighted**2).sum(1))


class Counting(T.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module, self.calls = module, 0

    def forward(self, points):
        self.calls += 1
        return self.module(points)


def test_a_group_takes_one_sweep():
    problem = make().problem
    setup = Experiment(problem, pinn.MLP(width=5, depth=2), SAMPLING, seed=1)
    module = Counting(setup.initial_parameters().module)
    objective = Objective(
        problem, FlatParameters(module, (), T.float64, "cpu"), setup.draw_points(),
        dtype=T.float64, engine="eager",
    )  # fmt: skip
    theta = objective.theta
    candidates = np.random.default_rng(0).uniform(0, 1, (12, 3))
    elsewhere = dict.fromkeys(EQUATIONS, candidates)
    for evaluate, sweeps in [
        (objective.value_and_gradient, 2), (objective.value, 2), (objective.gradients, 2),
        (objective.residuals, 2), (lambda at: objective.jvp(at, at), 2),
        (lambda at: objective.vjp(at, np.ones(objective.rows)), 2),
        (lambda at: objective.residuals(at, elsewhere), 1),
    ]:  # fmt: skip
        module.calls = 0
        evaluate(theta)
        assert module.calls == sweeps


def test_a_group_carries_the_fewest_channels_for_all_of_its_blocks():
    (interior, start) = make().groups
    # the value, x, y, and u_t - laplacian(u)/Re, which is the same sum for u and for v
    assert interior.plan.channels.count == 4
    assert start.plan.channels.count == 1
    many = {f"r{k}": f"u_t - {k}*u_xx + v_x + p" for k in range(2, 6)}
    (group,) = make(many, conditions=[]).groups
    # one sum a block would be four; u_t and u_xx serve them all
    assert group.plan.channels.count == 4


def test_other_points_regroup_the_blocks():
    objective, r = make(), np.random.default_rng(5)
    theta = some_theta(objective)
    before = objective.value_and_gradient(theta)
    shared = {block.name: block.points for block in objective.blocks}
    apart = {name: points.coordinates + 0.01 * r.uniform(size=points.coordinates.shape)
             for name, points in shared.items()}  # fmt: skip
    objective.set_points(apart)
    assert keys(objective) == [(name,) for name in shared]
    fresh = Objective(
        objective.problem, objective.parameters, apart, objective.weights, dtype=T.float64,
        engine="eager", derivatives="nested",
    )  # fmt: skip
    np.testing.assert_allclose(
        objective.value_and_gradient(theta).gradient, fresh.value_and_gradient(theta).gradient,
        rtol=0, atol=1e-11,
    )  # fmt: skip
    objective.set_points({name: points.coordinates.copy() for name, points in shared.items()})
    assert len(objective.groups) == 2
    again = objective.value_and_gradient(theta)
    assert again.loss == before.loss
    np.testing.assert_array_equal(again.gradient, before.gradient)


def test_points_with_other_columns_are_other_points():
    objective = make()
    points = {block.name: block.points for block in objective.blocks}
    attached = Points(points["mass"].coordinates, {"sigma": np.ones(31)})
    objective.set_points({**points, "mass": attached})
    assert keys(objective)[:2] == [("momentum_x", "momentum_y"), ("mass",)]


@pytest.mark.parametrize("threads", [2, 3])
def test_the_bits_of_a_group_do_not_depend_on_the_number_of_threads(threads):
    sampling = pinn.Sampling(interior=2500, initial=100)
    one, many = (make(sampling=sampling, threads=k) for k in (1, threads))
    theta = some_theta(one)
    a, b = one.value_and_gradient(theta), many.value_and_gradient(theta)
    assert (a.loss, a.losses) == (b.loss, b.losses)
    np.testing.assert_array_equal(a.gradient, b.gradient)


def test_another_weight_records_nothing_anew(monkeypatch):
    from autograd.plan import chunks

    recorded = []

    def counting(*arguments):
        recorded.append(1)
        return trace(*arguments)

    trace = chunks.trace
    monkeypatch.setattr(chunks, "trace", counting)
    objective = make()
    theta = some_theta(objective)
    objective.value_and_gradient(theta)
    before = len(recorded)
    weights = {"momentum_y": 11.0, "mass": 0.0}
    objective.set_weights(weights)
    found = objective.value_and_gradient(theta)
    assert len(recorded) == before > 0
    assert objective.weights == {**dict.fromkeys(objective.weights, 1.0), **weights}
    slopes = objective.gradients(theta)
    expected = sum(objective.weights[name] * slope for name, slope in slopes.items())
    np.testing.assert_allclose(found.gradient, expected, rtol=0, atol=1e-12)


def test_a_single_precision_group_has_the_gradient_of_double_precision():
    problem = make().problem
    found = []
    for precision in ("float32", "float64"):
        setup = Experiment(
            problem, pinn.MLP(width=5, depth=2), SAMPLING, seed=1, precision=precision,
            weighting=WEIGHTS,
        )  # fmt: skip
        objective = setup.objective()
        theta = np.float64(np.float32(some_theta(objective)))
        found.append(objective.value_and_gradient(theta).gradient)
    np.testing.assert_allclose(*found, rtol=0, atol=2e-5 * np.abs(found[1]).max())
