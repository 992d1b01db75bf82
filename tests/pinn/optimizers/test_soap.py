"""SOAP: against the paper's algorithm written out matrix by matrix, and on closed problems."""

import numpy as np
import pytest

import pinn
from pinn.objective import Layout
from pinn.optimizers import StopReason, minimize
from tests.pinn.optimizers.first_order_steps import (
    LAYOUT,
    LOWEST,
    SQUARE,
    SQUARES,
    START,
    by_part,
    quadratic,
    rosenbrock,
    together,
)


class OneMatrix:
    """Algorithm 3 of Vyas et al. for one matrix, with the first step left out as they do."""

    def __init__(self, w, b1, b2, eps, every, longest=10**9):
        self.b1, self.b2, self.eps, self.every = b1, b2, eps, every
        m, n = w.shape
        self.left, self.right = m <= longest, n <= longest
        self.a, self.b = np.zeros((m, m)), np.zeros((n, n))
        self.m, self.v, self.t = np.zeros_like(w), np.zeros_like(w), 0

    def step(self, w, g, rate):
        if self.t == 0:
            self._square(g)
            self.qa = np.linalg.eigh(self.a)[1] if self.left else np.eye(len(self.a))
            self.qb = np.linalg.eigh(self.b)[1] if self.right else np.eye(len(self.b))
            self.t = 1
            return w
        turned = self.qa.T @ g @ self.qb
        self.m = self.b1 * self.m + (1 - self.b1) * g
        self.v = self.b2 * self.v + (1 - self.b2) * turned**2
        mean = self.qa.T @ self.m @ self.qb / (1 - self.b1**self.t)
        spread = np.sqrt(self.v / (1 - self.b2**self.t)) + self.eps
        w = w - rate * self.qa @ (mean / spread) @ self.qb.T
        self._square(g)
        if self.t % self.every == 0:
            self._follow()
        self.t += 1
        return w

    def _square(self, g):
        self.a = self.b2 * self.a + (1 - self.b2) * g @ g.T
        self.b = self.b2 * self.b + (1 - self.b2) * g.T @ g

    def _follow(self):
        if self.left:
            order = np.argsort(-np.diag(self.qa.T @ self.a @ self.qa), kind="stable")
            self.v = self.v[order]
            self.qa = np.linalg.qr(self.a @ self.qa[:, order])[0]
        if self.right:
            order = np.argsort(-np.diag(self.qb.T @ self.b @ self.qb), kind="stable")
            self.v = self.v[:, order]
            self.qb = np.linalg.qr(self.b @ self.qb[:, order])[0]


def plainly(layout, steps, rate, b1, b2, eps, every, longest=10**9):
    """The thetas of the steps: the algorithm a matrix, Adam for the rest."""
    w = by_part(START[: layout.size], layout)
    one = {
        part.name: OneMatrix(w[part.name], b1, b2, eps, every, longest)
        for part in layout.matrices
    }
    m, v = ({name: np.zeros_like(part) for name, part in w.items()} for _ in "mv")
    thetas = []
    for t in range(steps + 1):
        thetas.append(together(w))
        g = by_part(quadratic(thetas[-1])[1], layout)
        for name in w:
            if name in one:
                w[name] = one[name].step(w[name], g[name], rate)
            elif t > 0:
                m[name] = b1 * m[name] + (1 - b1) * g[name]
                v[name] = b2 * v[name] + (1 - b2) * g[name] ** 2
                spread = np.sqrt(v[name] / (1 - b2**t)) + eps
                w[name] = w[name] - rate * m[name] / (1 - b1**t) / spread
    return thetas


# The gradient of the first step is diagonal in its own vectors but for rounding, 1e-16, which
# epsilon has to keep from being divided by itself.
SETTINGS = {"learning_rate": 0.05, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}


@pytest.mark.parametrize("every", [1, 2, 3])
def test_steps_equal_the_algorithm(every):
    stage, seen = pinn.SOAP(9, **SETTINGS, every=every), []
    start = START[: SQUARES.size]
    end = minimize(stage, quadratic, start, seen.append, layout=SQUARES)
    expected = plainly(SQUARES, 9, *SETTINGS.values(), every)
    for step, theta in zip(seen, expected, strict=False):
        np.testing.assert_allclose(step.theta, theta, rtol=0, atol=1e-10)
    np.testing.assert_allclose(end.theta, expected[9], rtol=0, atol=1e-10)
    assert np.abs(end.theta - start).min() > 1e-3
    assert (end.reason, end.message) == (StopReason.STEPS, "all 9 steps done")


def test_sides_that_are_too_long_keep_their_basis():
    stage = pinn.SOAP(6, **SETTINGS, every=1, longest=2)
    end = minimize(stage, quadratic, START, layout=LAYOUT)
    expected = plainly(LAYOUT, 6, *SETTINGS.values(), 1, longest=2)[6]
    np.testing.assert_allclose(end.theta, expected, rtol=0, atol=1e-10)
    assert stage.begin(LAYOUT)["bases"].shape == (4,)


def test_it_is_adam_a_step_later_where_there_are_no_matrices():
    settings = {"learning_rate": 0.05, "beta1": 0.9, "beta2": 0.99}
    soap, adam = [], []
    minimize(pinn.SOAP(8, **settings), quadratic, START, soap.append)
    minimize(pinn.Adam(7, **settings), quadratic, START, adam.append)
    assert soap[0].theta.tobytes() == START.tobytes()
    for later, step in zip(soap[1:], adam, strict=True):
        assert later.theta.tobytes() == step.theta.tobytes()


def test_the_bases_do_not_depend_on_how_a_matrix_is_turned():
    """Only the matrix, and turned by orthogonal factors, the steps turn with it."""
    rng = np.random.default_rng(1)
    layout = Layout.of([("model.weight0", (4, 3), False)])
    hessian = np.diag(np.linspace(0.5, 3, 12))
    p, q = (np.linalg.qr(rng.standard_normal((n, n))).Q for n in (4, 3))
    turn = np.kron(p, q)  # row after row: p W q'
    start = rng.standard_normal(12)

    def bowl(theta):
        return 0.5 * float(theta @ hessian @ theta), hessian @ theta

    def turned(theta):
        loss, gradient = bowl(turn.T @ theta)
        return loss, turn @ gradient

    stage = pinn.SOAP(8, learning_rate=0.1, every=1)
    plain = minimize(stage, bowl, start, layout=layout).theta
    other = minimize(stage, turned, turn @ start, layout=layout).theta
    # Along what has no gradient, its rounding is divided by Adam's epsilon of 1e-8, at each step.
    bound = 8 * 0.1 * 1e-15 / 1e-8
    np.testing.assert_allclose(other, turn @ plain, rtol=0, atol=bound)
    adam = pinn.Adam(8, learning_rate=0.1)
    plain, other = minimize(adam, bowl, start).theta, minimize(adam, turned, turn @ start).theta
    assert np.abs(other - turn @ plain).max() > 1e-2


def test_it_finds_minima():
    falls = pinn.CosineDecay()
    stage = pinn.SOAP(800, learning_rate=0.1, schedule=falls)
    end = minimize(stage, quadratic, START, layout=LAYOUT)
    np.testing.assert_allclose(end.theta, LOWEST, rtol=0, atol=1e-3)
    start = np.array([-1.2, 1.0, -1.2, 1.0])
    stage = pinn.SOAP(1500, learning_rate=0.1, schedule=falls, every=5)
    end = minimize(stage, rosenbrock, start, layout=SQUARE)
    assert rosenbrock(end.theta)[0] < 1e-4 * rosenbrock(start)[0]


@pytest.mark.parametrize("stop", [1, 2, 3, 4, 5, 11])
def test_a_resumed_run_gives_the_same_bits(stop):
    settings = {"schedule": pinn.PlateauDecay(patience=2), "weight_decay": 0.1, "every": 3}
    stage = pinn.SOAP(12, learning_rate=0.05, **settings)
    whole, rest = [], []
    end = minimize(stage, quadratic, START, whole.append, layout=LAYOUT)
    at = whole[stop - 1]
    resumed = minimize(stage, quadratic, at.theta, rest.append, at.state, layout=LAYOUT)
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        assert a.state.keys() == b.state.keys()
        assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)


def test_the_state_is_as_large_as_it_says():
    seen, stage = [], pinn.SOAP(1)
    minimize(stage, quadratic, START, seen.append, layout=LAYOUT)
    bases = 2 * ((25 + 4) + 2 * (25 + 25) + 25)
    assert stage.state_bytes(LAYOUT) == 8 * (2 * LAYOUT.size + bases)
    held = sum(array.nbytes for array in seen[0].state.values())
    assert held == stage.state_bytes(LAYOUT) + 2 * 8  # the step's number and share of the rate


def test_a_gradient_of_zeros_moves_nothing():
    def flat(theta):
        return 1.0, np.zeros_like(theta)

    for stage in (pinn.SOAP(6), pinn.Muon(6), pinn.Adam(6)):
        assert minimize(stage, flat, START, layout=LAYOUT).theta.tobytes() == START.tobytes()


def test_a_state_of_another_network_or_solver_is_refused():
    seen, adam = [], []
    minimize(pinn.SOAP(2), quadratic, START, seen.append, layout=LAYOUT)
    minimize(pinn.Adam(2), quadratic, START, adam.append, layout=LAYOUT)
    with pytest.raises(ValueError, match=r"soap: expected first of shape \(68,\), got shape \(82,"):
        minimize(pinn.SOAP(2), quadratic, START[:68], state=seen[0].state, layout=SQUARES)
    with pytest.raises(ValueError, match="soap: expected squares of shape .* got none: the state"):
        minimize(pinn.SOAP(2), quadratic, START, state=adam[0].state, layout=LAYOUT)


@pytest.mark.parametrize("arguments, message", [
    ({"every": 0}, "soap: every: expected a whole number >= 1"),
    ({"longest": 0}, "soap: longest"),
    ({"beta2": 1}, "soap: beta2: expected a number >= 0 and < 1"),
    ({"steps": 5, "warmup": 5}, "soap: warmup: expected fewer than the 5 steps"),
    ({"precondition_frequency": 3}, "soap: precondition_frequency: .* did you mean 'every'"),
])  # fmt: skip
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pinn.SOAP(**arguments)
