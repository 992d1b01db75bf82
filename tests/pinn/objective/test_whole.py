"""Residuals of the points as a whole: never split, in every form."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.term import Term
from pinn.objective import Objective
from pinn.residuals import Interior, Residual
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)
N = 3001  # more than a chunk
WEIGHTS = {"mean": 3.0, "spread": 0.5}


def halves(s):
    """Two rows of all points: the mean in each half of the domain, by sums."""
    left = s.where(s.x < 0, 1.0, 0.0)
    return T.stack([(s.u * left).sum(), (s.u_x * (1 - left)).sum()]) / s.u.shape[0]


def make(n=N, whole=True, **options):
    problem = pinn.Problem(DOMAIN, ["u"], {"flow": "u_t + u*u_x - 0.1*u_xx"})
    texts = {"mean": lambda s: s.u.mean(), "spread": lambda s: s.u - s.u.mean(), "halves": halves}

    def residual(name, function):
        term = Term(name, function, problem.scope)
        right = Term(name, 0.25, problem.scope) if name == "mean" else None
        return Residual(name, name, term, Interior(DOMAIN), right, whole=whole)

    added = [residual(*item) for item in texts.items()]
    problem.__dict__["residuals"] = (*problem.residuals, *added)
    setup = Experiment(
        problem, pinn.MLP(width=6, depth=2), pinn.Sampling(interior=n, adaptive=None),
        weighting=WEIGHTS, seed=1,
    )
    return Objective(
        problem, setup.initial_parameters(), setup.draw_points(), WEIGHTS, dtype=T.float64,
        **options,
    )  # fmt: skip


def some_theta(objective):
    return objective.theta + 0.2 * np.random.default_rng(2).standard_normal(objective.size)


def test_they_share_a_sweep_among_themselves_alone():
    objective = make()
    assert [group.key for group in objective.groups] == [("flow",), ("mean", "spread", "halves")]
    assert [block.rows for block in objective.blocks] == [N, 1, N, 2]
    assert objective.rows == 2 * N + 3


def test_their_rows_are_those_of_all_points_at_once():
    objective = make()
    theta = some_theta(objective)
    problem = pinn.Problem(DOMAIN, ["u"], {"flow": "u", "slope": "u_x"})
    points = objective.blocks[0].points
    plain = Objective(
        problem, objective.parameters, {"flow": points, "slope": points}, dtype=T.float64
    )
    found = plain.residuals(theta)
    u, u_x, x = found["flow"], found["slope"], points.coordinates[:, 0]
    rows = objective.residuals(theta)
    np.testing.assert_allclose(rows["mean"], [u.mean() - 0.25], rtol=1e-12)
    np.testing.assert_allclose(rows["spread"], u - u.mean(), rtol=0, atol=1e-13)
    expected = [u[x < 0].sum() / N, u_x[x >= 0].sum() / N]
    np.testing.assert_allclose(rows["halves"], expected, rtol=1e-11)
    losses = objective.value_and_gradient(theta).losses
    assert losses["mean"] == pytest.approx((u.mean() - 0.25) ** 2, rel=1e-11)
    assert losses["spread"] == pytest.approx(u.var(), rel=1e-11)
    assert losses["halves"] == pytest.approx(np.mean(np.square(expected)), rel=1e-11)


def test_the_gradient_equals_finite_differences():
    objective = make()
    theta = some_theta(objective)
    gradient = objective.value_and_gradient(theta).gradient
    for k in range(0, objective.size, 7):
        step = np.zeros_like(theta)
        step[k] = 1e-3
        f = [objective.value(theta + m * step) for m in (-2, -1, 1, 2)]
        slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / 12e-3
        assert gradient[k] == pytest.approx(slope, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("engine", ["recorded", "eager"])
@pytest.mark.parametrize("derivatives", ["jets", "nested"])
def test_all_forms_agree(engine, derivatives):
    objective = make(n=40, engine=engine, derivatives=derivatives)
    objective.set_weights(WEIGHTS, {"spread": np.linspace(0, 2, 40), "mean": np.array([0.7])})
    theta = some_theta(objective)
    rows, jacobian = objective.jacobian(theta)
    r = np.random.default_rng(0)
    direction, z = r.standard_normal(objective.size), r.standard_normal(objective.rows)

    def same(a, b):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))

    found = objective.value_and_gradient(theta)
    same(found.loss, rows @ rows)
    same(found.gradient, 2 * jacobian.T @ rows)
    same(objective.weighted_rows(theta), rows)
    same(objective.jvp(theta, direction), jacobian @ direction)
    h = 1e-3
    f = [objective.jvp(theta + m * h * direction, direction) for m in (-2, -1, 1, 2)]
    bend = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
    np.testing.assert_allclose(
        objective.second_jvp(theta, direction), bend, rtol=0, atol=1e-8 * np.abs(bend).max()
    )
    same(objective.vjp(theta, z), jacobian.T @ z)
    h = 1e-5 * direction
    slope = (objective.weighted_rows(theta + h) - objective.weighted_rows(theta - h)) / 2e-5
    np.testing.assert_allclose(jacobian @ direction, slope, rtol=0, atol=1e-7)
    pieces = list(objective.jacobian_chunks(theta, rows=7))
    assert all(len(piece) <= 7 for piece, _ in pieces)
    same(np.concatenate([piece for _, piece in pieces]), jacobian)


def test_other_points_may_be_more():
    objective = make(n=40)
    theta = some_theta(objective)
    few = objective.value(theta)
    objective.set_points(dict.fromkeys(
        ("flow", "mean", "spread", "halves"), make(n=50).blocks[0].points
    ))  # fmt: skip
    assert [block.rows for block in objective.blocks] == [50, 1, 50, 2]
    other = make(n=50, engine="eager", derivatives="nested")
    assert objective.value(theta) == pytest.approx(other.value(theta), rel=1e-12) != few


def test_a_residual_of_all_points_has_to_say_so():
    with pytest.raises(ValueError, match=r"mean: expected a residual of shape .*got \(\)"):
        make(whole=False)


def test_a_number_that_is_not_finite_names_the_operation():
    problem = pinn.Problem(DOMAIN, ["u"], {"flow": "u_t"})
    term = Term("total", lambda s: (s.log(s.x) * s.u).sum(), problem.scope)
    total = Residual("total", "total", term, Interior(DOMAIN), whole=True)
    problem.__dict__["residuals"] = (total,)
    objective = Experiment(problem, pinn.MLP(width=3, depth=1)).objective()
    assert objective.not_finite(objective.theta) == (
        "the residual of block 'total' is not finite in 1 of 1 rows; the first operation to give "
        "it is 'log'"
    )
