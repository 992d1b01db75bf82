"""The objective: against a formula in numpy, finite differences, and its own other forms."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 2) * pinn.Time("t", 0, 0.5)
WEIGHTS = {"burgers": 2.0, "initial_u": 10.0}


def make(equation="u_t + u*u_x - nu*u_xx", *, sampling=None, **changes):
    arguments = {"constants": {"nu": 0.05}, "parameters": ()}
    problem = pinn.Problem(
        DOMAIN,
        ["u"],
        {"burgers": equation},
        [pinn.Initial("u", "-sin(pi*x)"), pinn.Initial("u", "x*t", order=1),
         pinn.Dirichlet("u", "x")],
        **{**arguments, **changes},
    )  # fmt: skip
    sampling = sampling or pinn.Sampling(interior=60, initial=15, boundary=20)
    setup = Experiment(problem, pinn.MLP(width=6, depth=1), sampling, weighting=WEIGHTS, seed=3)
    return setup.objective()


def some_theta(objective, seed=0):
    return np.random.default_rng(seed).standard_normal(objective.size)


def network(theta, points):
    """One hidden layer by hand: u, u_x, u_t, u_xx at points (n, 2)."""
    scale = np.array([2 / 3, 4.0])  # of x in [-1, 2] and t in [0, 0.5]
    w0, b0 = theta[:12].reshape(6, 2).T, theta[12:18]
    w1, b1 = theta[18:24], theta[24]
    z = (points * scale + [-1 / 3, -1.0]) @ w0 + b0
    h = np.tanh(z)
    slope = 1 - h**2
    kx, kt = w0 * scale[:, None]
    return h @ w1 + b1, slope @ (kx * w1), slope @ (kt * w1), (-2 * h * slope) @ (kx**2 * w1)


def test_the_loss_equals_a_formula_in_numpy():
    objective = make()
    theta = some_theta(objective)
    points = {block.name: block.points.coordinates for block in objective.blocks}
    u, u_x, u_t, u_xx = network(theta, points["burgers"])
    residuals = {"burgers": u_t + u * u_x - 0.05 * u_xx}
    residuals["initial_u"] = network(theta, points["initial_u"])[0] + np.sin(
        np.pi * points["initial_u"][:, 0]
    )
    residuals["initial_u_t"] = network(theta, points["initial_u_t"])[2]  # t = 0, so x t = 0
    faces = points["dirichlet_u"]
    residuals["dirichlet_u"] = network(theta, faces)[0] - faces[:, 0]
    losses = {name: np.mean(r**2) for name, r in residuals.items()}
    expected = 2 * losses["burgers"] + 10 * losses["initial_u"]
    expected += losses["initial_u_t"] + losses["dirichlet_u"]

    evaluation = objective.value_and_gradient(theta)
    assert evaluation.loss == pytest.approx(expected, rel=1e-13)
    assert evaluation.losses == pytest.approx(losses, rel=1e-12)
    got = objective.residuals(theta)
    assert set(got) == set(residuals)
    for name, residual in residuals.items():
        np.testing.assert_allclose(got[name], residual, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"equation": "u_t + u*u_x - nu*u_xx",
         "constants": {}, "parameters": [pinn.Parameter("nu", 0.1, lower=0)]},
        {"equation": "u_xt + laplacian(laplacian(u)) + nu*exp(u)"},
    ],
)  # fmt: skip
def test_the_gradient_equals_finite_differences(changes):
    objective = make(**changes)
    theta = some_theta(objective)
    gradient = objective.value_and_gradient(theta).gradient
    assert gradient.shape == (objective.size,) and gradient.dtype == np.float64
    h = 1e-4
    for i in range(objective.size):
        step = np.zeros_like(theta)
        step[i] = h
        f = [objective.value_and_gradient(theta + k * step).loss for k in (-2, -1, 1, 2)]
        slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
        assert gradient[i] == pytest.approx(slope, rel=1e-7, abs=1e-7)


FORMS = [
    ("u_t + u*u_x - nu*u_xx", lambda s: s.u_t + s.u * s.u_x - s.nu * s.u_xx),
    ("u_t - nu*laplacian(u)", lambda s: s.u_t - s.nu * s.laplacian("u")),
    ("diff(u*u/2, x) + u_xt", lambda s: s.u * s.u_x + s.diff("u_x", "t")),
    ("where(x < 0, u, u_t)*sin(pi*t)", lambda s: s.where(s.x < 0, s.u, s.u_t) * s.sin(s.pi * s.t)),
    ("max(u, 0.1) + min(2, u_x)", lambda s: s.max(s.u, 0.1) + s.min(2, s.u_x)),
    ("abs(u) + cosh(u)", lambda s: s.abs(s.u) + s.cosh(s.u)),
    ("exp(nu)*u", lambda s: s.exp(s.nu) * s.u),
    ("u_t", lambda s: s.u_t.reshape(-1, 1)),
    ("u_t - div(x*nu*grad(u))", lambda s: s.u_t - s.div(s.x * s.nu * s.grad(s.u))),
    ("div(-2*grad(u) + vec(u**2))", lambda s: s.div(-2 * s.grad(s.u) + s.vec(s.u**2))),
    ("x*u_x*u + u_xt", lambda s: T.tensor(1.0) * (s.x * s.grad(s.u) @ s.vec(s.u)) + s.u_xt),
]


@pytest.mark.parametrize(("text", "function"), FORMS)
def test_a_text_and_a_function_agree(text, function):
    first, second = make(text), make(function)
    theta = some_theta(first)
    a, b = first.value_and_gradient(theta), second.value_and_gradient(theta)
    assert a.losses == pytest.approx(b.losses, rel=1e-14)
    np.testing.assert_allclose(a.gradient, b.gradient, rtol=1e-12, atol=1e-13)


def test_evaluating_twice_gives_the_same_bits():
    objective = make()
    theta = some_theta(objective)
    first = objective.value_and_gradient(theta)
    objective.value_and_gradient(some_theta(objective, 1))
    second = objective.value_and_gradient(theta)
    assert first.loss == second.loss
    np.testing.assert_array_equal(first.gradient, second.gradient)


def test_a_coefficient_that_is_not_used_has_no_gradient():
    objective = make(parameters=[pinn.Parameter("k", 1.0)])
    assert objective.value_and_gradient(some_theta(objective)).gradient[-1] == 0
    assert objective.coefficients(np.full(objective.size, 0.75)) == {"k": 0.75}


def test_a_zero_weight_takes_a_block_out_of_the_loss():
    objective = make()
    objective.blocks[0].weight = 0.0
    theta = some_theta(objective)
    evaluation = objective.value_and_gradient(theta)
    rest = 10 * evaluation.losses["initial_u"] + evaluation.losses["initial_u_t"]
    assert evaluation.loss == pytest.approx(rest + evaluation.losses["dirichlet_u"])


def test_more_points_of_one_block_leave_the_others_alone():
    few = make(sampling=pinn.Sampling(interior=10, initial=15, boundary=20))
    many = make(sampling=pinn.Sampling(interior=500, initial=15, boundary=20))
    for a, b in zip(few.blocks[1:], many.blocks[1:], strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(a.points.coordinates, b.points.coordinates)
    np.testing.assert_array_equal(few.theta, many.theta)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda s: s.u - s.x.reshape(-1, 1), ValueError, r"'burgers': .*\(3,\) or .*got \(3, 3\)"),
        (lambda s: s.u.mean(), ValueError, r"got \(\)"),
        (lambda s: s.u[:2], ValueError, r"got \(2,\)"),
        (lambda s: 0.0, TypeError, "equation 'burgers': expected a tensor .*got float"),
        (lambda s: s.u.detach(), ValueError, "equation 'burgers': .*depends on the unknowns"),
        (lambda s: s.w, ValueError, "unknown name 'w'"),
    ],
)
def test_functions_that_broadcast_or_forget_the_network_are_refused(function, error, message):
    with pytest.raises(error, match=message):
        make(function)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({"burger": 1}, ValueError, "expected a block out of .*got 'burger'; did you mean 'burg"),
        ({"burgers": -1}, ValueError, "weighting.burgers: expected a number >= 0"),
        ({"burgers": float("inf")}, ValueError, "weighting.burgers: expected a finite number"),
        ({"burgers": "1"}, TypeError, "weighting.burgers: expected a number >= 0, got '1'"),
    ],
)
def test_bad_weights_are_refused(weights, error, message):
    problem = make().problem
    with pytest.raises(error, match=message):
        Experiment(problem, weighting=weights)


def test_bad_points_are_refused_by_block():
    objective = make()
    points = {block.name: block.points for block in objective.blocks}

    def remake(changed):
        return type(objective)(objective.problem, objective.parameters, changed, dtype=T.float64)

    with pytest.raises(ValueError, match="points: none for block 'dirichlet_u'"):
        remake({k: v for k, v in points.items() if k != "dirichlet_u"})
    with pytest.raises(ValueError, match=r"block 'initial_u': expected shape \(n, 2\).*\(4, 3\)"):
        remake({**points, "initial_u": np.zeros((4, 3))})
    with pytest.raises(ValueError, match=r"got \(0, 2\)"):
        remake({**points, "initial_u": np.zeros((0, 2))})


def test_numbers_that_are_not_finite_are_traced_to_their_block_and_point():
    objective = make("u_t + log(x + 1.5)*u + 1e300*exp(100*u)")
    theta = np.zeros(objective.size)
    assert objective.not_finite(theta) is None or "overflows" in objective.not_finite(theta)
    theta[24] = 10.0  # the last bias: u = 10 everywhere, and exp(1000) overflows
    assert not np.isfinite(objective.value_and_gradient(theta).loss)
    said = objective.not_finite(theta)
    first = objective.blocks[0].points.coordinates[0]
    assert "block 'burgers' is not finite at 60 of 60 points" in said
    assert f"first at x = {first[0]:.6g}, t = {first[1]:.6g}" in said


def test_float32_models_have_float64_vectors():
    problem = make().problem
    setup = Experiment(problem, pinn.MLP(width=6, depth=1), precision="float32")
    objective = setup.objective()
    assert objective.residuals(objective.theta)["burgers"].dtype == np.float32
    evaluation = objective.value_and_gradient(objective.theta)
    assert evaluation.gradient.dtype == np.float64
    assert isinstance(evaluation.loss, float)
