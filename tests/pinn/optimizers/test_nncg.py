"""NNCG: Newton's steps written out with dense matrices, scipy's newton-cg, stalled networks."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipys
from scipy.optimize import rosen, rosen_der, rosen_hess

import pinn
from pinn.optimizers import NNCG, Diverged, StopReason, minimize
from pinn.training.experiment import Experiment
from pinn.training.loop import train

START = np.array([-1.2, 1.0, 0.5, -0.7, 0.3, 0.2])


def rosenbrock(theta):
    return float(rosen(theta)), rosen_der(theta)


def rosenbrock_hvp(theta, v):
    return rosen_hess(theta) @ v


def bowl(size=20, condition=1e3):
    """A convex function that is no quadratic: the sum of log cosh of rows, and a small square."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2 * size, size)) * np.geomspace(1, condition**-0.5, size)
    b = rng.standard_normal(2 * size)

    def function(t):
        r = A @ t - b
        value = np.logaddexp(r, -r).sum() - 2 * size * np.log(2) + 0.005 * t @ t
        return float(value), A.T @ np.tanh(r) + 0.01 * t

    def hessian(t):
        return A.T @ (A / np.cosh(A @ t - b)[:, None] ** 2) + 0.01 * np.eye(size)

    return function, hessian


def run(function, hvp, start, **settings):
    seen, products = [], []

    def counted(theta, v):
        products.append(1)
        return hvp(theta, v)

    end = minimize(NNCG(**settings), function, start.copy(), seen.append, hvp=counted)
    assert not seen or seen[-1].state["products"] <= len(products)
    return end, seen, len(products)


def test_steps_are_newtons_with_the_damping_of_the_rule():
    function, hessian = bowl()
    theta = np.full(20, 0.5)
    settings = {"rank": 20, "products": 200, "tolerance": 1e-13, "damping": 1e-3, "steps": 6}
    end, seen, _ = run(function, lambda t, v: hessian(t) @ v, theta, **settings)
    mu = 1e-3 * np.linalg.eigvalsh(hessian(theta))[-1]
    grow = 2.0
    for step in seen:
        (loss, g), H = function(theta), hessian(theta)
        d = np.linalg.solve(H + mu * np.eye(20), g)
        length = 1.0
        while function(theta - length * d)[0] > loss - 0.1 * length * (g @ d):
            length /= 2
        lower = function(theta - length * d)[0]
        if length == 1:
            gain = (loss - lower) / (g @ d - d @ H @ d / 2)
            mu, grow = mu * max(1 / 3, 1 - (2 * min(gain, 1) - 1) ** 3), 2.0
        else:
            mu, grow = mu * grow, 2 * grow
        theta = theta - length * d
        np.testing.assert_allclose(step.theta, theta, rtol=0, atol=1e-8)
        assert step.loss == pytest.approx(lower, rel=1e-12)
    assert (end.reason, end.message, len(seen)) == (StopReason.STEPS, "all 6 steps done", 6)


CLOSED = {
    "bowl": (bowl()[0], lambda t, v: bowl()[1](t) @ v, np.full(20, 0.5)),
    "rosenbrock": (rosenbrock, rosenbrock_hvp, START),
}


@pytest.mark.parametrize("name", CLOSED)
def test_the_minimum_is_that_of_scipys_newton_cg(name):
    function, hvp, start = CLOSED[name]
    theirs = scipys(
        function, start, jac=True, hessp=hvp, method="Newton-CG", options={"xtol": 1e-12}
    )
    # below that a step lowers Rosenbrock's loss of 4 by less than its rounding: g^2 / 2000
    enough = 2e-6
    end, seen, _ = run(
        function, hvp, start, rank=6, gradient_tolerance=enough, damping=1e-3, tolerance=1e-3
    )
    assert end.reason == StopReason.CONVERGED
    hessian = np.stack([hvp(end.theta, unit) for unit in np.eye(start.size)])
    bound = 2 * enough * np.sqrt(start.size) / np.linalg.eigvalsh(hessian)[0]
    np.testing.assert_allclose(end.theta, theirs.x, rtol=0, atol=bound)
    assert len(seen) <= theirs.nit + 5
    assert all(a.loss > b.loss for a, b in zip(seen, seen[1:], strict=False))
    assert [step.number for step in seen] == list(range(1, len(seen) + 1))


def test_an_ill_conditioned_quadratic_takes_a_fifth_of_the_products_of_plain_cg():
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.standard_normal((200, 200)))
    values = np.maximum(10.0 ** -np.linspace(0, 14, 200), 1e-7)
    matrix, centre = (q * values) @ q.T, rng.standard_normal(200)

    def function(t):
        d = t - centre
        return 0.5 * float(d @ matrix @ d), matrix @ d

    settings = {"gradient_tolerance": 1e-13, "tolerance": 1e-4, "products": 10_000}
    end, _, sketched = run(function, lambda t, v: matrix @ v, np.zeros(200), rank=110, **settings)
    plain = scipys(
        function, np.zeros(200), jac=True, hessp=lambda t, v: matrix @ v, method="Newton-CG",
        options={"xtol": 1e-13, "maxiter": 2000},
    )  # fmt: skip
    assert end.reason == StopReason.CONVERGED
    np.testing.assert_allclose(end.theta, centre, atol=1e-5)
    assert sketched < plain.nhev / 5


def test_negative_curvature_is_left_behind():
    """(x^2 - 1)^2 + y^2 begins where it is curved downwards, beside a saddle."""

    def function(t):
        x, y = t
        return (x * x - 1) ** 2 + y * y, np.array([4 * x * (x * x - 1), 2 * y])

    def hvp(t, v):
        return np.array([12 * t[0] ** 2 - 4, 2.0]) * v

    end, seen, _ = run(function, hvp, np.array([0.01, 0.5]), gradient_tolerance=1e-10)
    np.testing.assert_allclose(np.abs(end.theta), [1, 0], atol=1e-10)
    assert all(a.loss > b.loss for a, b in zip(seen, seen[1:], strict=False))


def test_the_scale_of_the_loss_changes_nothing():
    scale = 2.0**-40
    settings = {"steps": 8, "rank": 3, "tolerance": 1e-3}
    _, plain, _ = run(rosenbrock, rosenbrock_hvp, START, **settings)
    _, small, _ = run(
        lambda t: (scale * rosenbrock(t)[0], scale * rosenbrock(t)[1]),
        lambda t, v: scale * rosenbrock_hvp(t, v), START, **settings,
    )
    for a, b in zip(plain, small, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stop", [1, 4, 5, 6, 13])
def test_a_resumed_run_gives_the_same_bits_sketches_included(stop):
    settings = {"steps": 17, "rank": 3, "refresh": 5, "tolerance": 0.1, "seed": 4}
    end, whole, _ = run(rosenbrock, rosenbrock_hvp, START, **settings)
    state = {name: np.array(array) for name, array in whole[stop - 1].state.items()}
    rest = []
    resumed = minimize(
        NNCG(**settings), rosenbrock, whole[stop - 1].theta.copy(), rest.append, state,
        hvp=rosenbrock_hvp,
    )
    assert resumed.theta.tobytes() == end.theta.tobytes()
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)


def test_sketches_are_made_anew_and_depend_on_the_seed():
    _, seen, _ = run(rosenbrock, rosenbrock_hvp, START, steps=7, rank=2, refresh=3)
    sketches = [step.state["vectors"].tobytes() for step in seen]
    assert [sketches.index(one) for one in sketches] == [0, 0, 0, 3, 3, 3, 6]
    _, other, _ = run(rosenbrock, rosenbrock_hvp, START, steps=1, rank=2, seed=1)
    assert other[0].state["vectors"].tobytes() != sketches[0]


def test_a_trial_without_a_finite_loss_is_halved():
    def walled(t):
        r = float(t @ t)
        if r > 1.1:
            raise Diverged("out of bounds")
        return 5 - np.sqrt(1.1 - r) + 1e-3 * t[0], t / np.sqrt(1.1 - r) + np.array([1e-3, 0])

    def hvp(t, v):
        root = np.sqrt(1.1 - t @ t)
        return v / root + t * (t @ v) / root**3

    end, _, _ = run(walled, hvp, np.array([1.0, 0.2]), gradient_tolerance=1e-6)
    assert end.reason == StopReason.CONVERGED


def test_at_the_limit_of_rounding_it_stops():
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((30, 5)), rng.standard_normal(30)

    def function(t):
        r = A @ t - b
        return float(r @ r), 2 * A.T @ r

    end, _, _ = run(function, lambda t, v: 2 * A.T @ (A @ v), np.zeros(5))
    assert end.reason == StopReason.NO_DECREASE and "at the limit of rounding" in end.message
    np.testing.assert_allclose(end.theta, np.linalg.lstsq(A, b)[0], atol=1e-6)


def test_a_function_without_products_is_refused():
    with pytest.raises(TypeError, match="products with the Hessian; give minimize hvp="):
        minimize(NNCG(), rosenbrock, START)


def test_shorter_steps_are_more_damping():
    _, seen, _ = run(rosenbrock, rosenbrock_hvp, START, steps=3)
    once = NNCG().slower(3, seen[-1].state, 1)
    twice = NNCG().slower(3, once, 2)
    damping = seen[-1].state["damping"]
    assert (once["damping"], twice["damping"]) == pytest.approx((1e2 * damping, 1e4 * damping))
    assert twice.keys() == seen[-1].state.keys()


def test_at_its_least_the_damping_still_leads_along_directions_of_no_curvature():
    """x^2 / 2 + c y: Newton's step along y is -c / mu, for any mu that curvature can be told by."""
    c, ones = 1e-6, np.array([1.0, 1.0, 1.0, 0.0])

    def function(t):
        return 0.5 * float(t[:3] @ t[:3]) + c * t[3], np.append(t[:3], c)

    def hvp(t, v):
        return ones * v

    start, few = np.array([1.0, -2.0, 3.0, 0.0]), {"rank": 1, "tolerance": 1e-12}
    _, seen, _ = run(function, hvp, start, steps=60, **few)
    least, before = (float(step.state["damping"]) for step in (seen[-1], seen[-2]))
    assert least == before < 1e-12  # the model tells the truth: it falls as far as it may
    # from where x is met first, and with it how large curvature is
    taken = []
    minimize(NNCG(61, **few), function, start, taken.append, seen[-1].state, hvp=hvp)
    np.testing.assert_allclose(taken[0].theta, [0, 0, 0, -c / least], rtol=0.1, atol=1e-6)


CONVECTION = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"c": "u_t + 3*u_x"},
    [pinn.Initial("u", "sin(2*pi*x)"), pinn.Dirichlet("u", "-sin(6*pi*t)", on="x=0")],
)  # fmt: skip


def test_it_goes_on_where_lbfgs_hardly_moves():
    """Forty steps take as long as some twelve hundred of L-BFGS with five pairs."""
    sampling = pinn.Sampling(interior=100, initial=20, boundary=20, redraw=None, adaptive=None)
    setup = Experiment(CONVECTION, pinn.MLP(width=10, depth=2), sampling, threads=1)
    objective, few = setup.objective(), {"memory": 5}
    before = train(objective, [pinn.Adam(200, 1e-2), pinn.LBFGS(1000, **few)])
    newton = train(objective, [NNCG(40)])
    objective.parameters.load(before.theta)
    longer = train(objective, [pinn.LBFGS(1200, **few)])
    assert newton.loss < longer.loss / 3 and longer.loss < before.loss
