"""Muon: against Jordan's formulas written out matrix by matrix, and on closed problems."""

import numpy as np
import pytest

import pinn
from pinn.optimizers import StopReason, minimize
from pinn.optimizers.muon import orthogonalised
from tests.pinn.optimizers.first_order_steps import (
    LAYOUT,
    LOWEST,
    SQUARE,
    START,
    by_part,
    quadratic,
    rosenbrock,
    together,
)

MATRICES = ("model.weight0", "model.weight1", "model.weight2")


def newton_schulz(g):
    x = g / np.linalg.norm(g)
    if len(x) > len(x.T):
        return newton_schulz(g.T).T
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def plainly(steps, rate, mu, b1, b2):
    """Jordan's Muon with Nesterov's momentum and Liu's lengths; Adam for the rest."""
    w = by_part(START)
    m, v = ({name: np.zeros_like(part) for name, part in w.items()} for _ in "mv")
    thetas = []
    for t in range(1, steps + 2):
        thetas.append(together(w))
        g = by_part(quadratic(thetas[-1])[1])
        for name in w:
            if name in MATRICES:
                m[name] = mu * m[name] + g[name]
                step = newton_schulz(g[name] + mu * m[name])
                w[name] = w[name] - rate * 0.2 * max(step.shape) ** 0.5 * step
                continue
            m[name] = b1 * m[name] + (1 - b1) * g[name]
            v[name] = b2 * v[name] + (1 - b2) * g[name] ** 2
            spread = np.sqrt(v[name] / (1 - b2**t)) + 1e-8
            w[name] = w[name] - rate * m[name] / (1 - b1**t) / spread
    return thetas


def test_steps_equal_the_formulas():
    stage, seen = pinn.Muon(8, learning_rate=0.05, momentum=0.9, beta1=0.8, beta2=0.95), []
    end = minimize(stage, quadratic, START, seen.append, layout=LAYOUT)
    expected = plainly(8, 0.05, 0.9, 0.8, 0.95)
    # The quintic multiplies small singular values, and rounding with them, by 3.4445 to the fifth.
    for step, theta in zip(seen, expected, strict=False):
        np.testing.assert_allclose(step.theta, theta, rtol=0, atol=1e-11)
    np.testing.assert_allclose(end.theta, expected[8], rtol=0, atol=1e-11)
    assert (end.reason, end.message) == (StopReason.STEPS, "all 8 steps done")


@pytest.mark.parametrize("shape", [(6, 6), (20, 2), (3, 9)])
def test_matrices_keep_their_singular_vectors_and_get_values_of_about_one(shape):
    stack = np.random.default_rng(2).standard_normal((4, *shape))
    found = orthogonalised(stack, 5)
    for before, after in zip(stack, found, strict=True):
        u, _, vt = np.linalg.svd(before, full_matrices=False)
        inner = u.T @ after @ vt.T
        np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-12)
        assert 0.65 < np.diag(inner).min() and np.diag(inner).max() < 1.25


def test_one_and_the_same_gradient_moves_a_matrix_as_far_as_adam_on_average():
    """The root of the mean square of Muon's step is 0.2 of Adam's, whatever the shape."""
    stage, seen = pinn.Muon(2, learning_rate=1.0), []
    minimize(stage, quadratic, START, seen.append, layout=LAYOUT)
    moved = by_part(seen[1].theta - seen[0].theta)
    for name in MATRICES[1:]:
        assert np.sqrt(np.mean(moved[name] ** 2)) == pytest.approx(0.2, rel=0.3)
    assert np.abs(moved["k"]) == pytest.approx(1.0, rel=1e-6)


def test_it_finds_minima():
    falls = pinn.CosineDecay()
    stage = pinn.Muon(800, learning_rate=0.1, schedule=falls)
    end = minimize(stage, quadratic, START, layout=LAYOUT)
    np.testing.assert_allclose(end.theta, LOWEST, rtol=0, atol=1e-3)
    start = np.array([-1.2, 1.0, -1.2, 1.0])
    stage = pinn.Muon(800, learning_rate=0.1, schedule=falls)
    end = minimize(stage, rosenbrock, start, layout=SQUARE)
    assert rosenbrock(end.theta)[0] < 1e-4 * rosenbrock(start)[0]


@pytest.mark.parametrize("stop", [1, 2, 7, 11])
def test_a_resumed_run_gives_the_same_bits(stop):
    stage = pinn.Muon(12, schedule=pinn.CosineDecay(), warmup=2, weight_decay=0.1)
    whole, rest = [], []
    end = minimize(stage, quadratic, START, whole.append, layout=LAYOUT)
    at = whole[stop - 1]
    resumed = minimize(stage, quadratic, at.theta, rest.append, at.state, layout=LAYOUT)
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        assert a.state.keys() == b.state.keys()
        assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)


def test_the_state_is_two_vectors():
    seen, stage = [], pinn.Muon(1)
    minimize(stage, quadratic, START, seen.append, layout=LAYOUT)
    assert stage.state_bytes(LAYOUT) == 2 * 8 * LAYOUT.size
    held = sum(array.nbytes for array in seen[0].state.values())
    assert held == stage.state_bytes(LAYOUT) + 2 * 8  # the step's number and share of the rate


@pytest.mark.parametrize("arguments, message", [
    ({"momentum": 1}, "muon: momentum: expected a number >= 0 and < 1"),
    ({"iterations": 0}, "muon: iterations: expected a whole number >= 1"),
    ({"nesterov": True}, "muon: nesterov: unknown argument"),
])  # fmt: skip
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pinn.Muon(**arguments)
