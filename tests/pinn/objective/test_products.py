"""Jacobian, products and Gram matrix: against finite differences and against each other."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.objective import Objective
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)


def burgers(equation="u_t + u*u_x - nu*u_xx", **changes):
    return pinn.Problem(
        DOMAIN, ["u"], {"burgers": equation},
        [pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
        **{"constants": {"nu": 0.05}, **changes},
    )  # fmt: skip


def inverse():
    return burgers(
        constants={},
        parameters=[pinn.Parameter("nu", 0.1, lower=0), pinn.Parameter("s", 0.5, 0.1, 2)],
        equation="s*u_t + u*u_x - nu*u_xx + s*s",
    )


def system():
    """Two unknowns, two equations, orders mixed."""
    return pinn.Problem(
        DOMAIN, ["u", "v"],
        {"first": "u_t - v_xx + u*v_x", "second": "v_t + u_xx - k*sin(u*v)"},
        [pinn.Initial("u", "cos(pi*x)"), pinn.Initial("v", "x"), pinn.Dirichlet("v", "x*t")],
        parameters=[pinn.Parameter("k", 1.5)],
    )  # fmt: skip


def plate():
    x, y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
    return pinn.Problem(
        x * y, ["w"], {"plate": "laplacian(laplacian(w)) - 1 + w*w_xy"}, [pinn.Dirichlet("w", 0)]
    )


def ode():
    """One coordinate: the condition is a single point."""
    return pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u**3"}, [pinn.Initial("u", 1.0)]
    )


PROBLEMS = {f.__name__: f for f in (burgers, inverse, system, plate, ode)}


def make(problem, model=None, sampling=None, weights=None, **options):
    setup = Experiment(
        problem, model or pinn.MLP(width=5, depth=2),
        sampling or pinn.Sampling(interior=23, initial=7, boundary=9), seed=1,
    )  # fmt: skip
    names = [residual.name for residual in problem.residuals]
    weights = weights or {name: 0.5 + k for k, name in enumerate(names)}
    return Objective(
        problem, setup.initial_parameters(), setup.draw_points(), weights,
        dtype=setup.dtype, **options,
    )  # fmt: skip


def some_theta(objective):
    return objective.theta + 0.2 * np.random.default_rng(2).standard_normal(objective.size)


@pytest.fixture(params=PROBLEMS)
def objective(request):
    return make(PROBLEMS[request.param](), threads=2)


def test_the_jacobian_equals_finite_differences(objective):
    theta = some_theta(objective)
    rows, jacobian = objective.jacobian(theta)
    assert jacobian.shape == (objective.rows, objective.size) == (len(rows), len(theta))
    h = 2e-3
    for k in range(objective.size):
        step = np.zeros_like(theta)
        step[k] = h
        f = [objective.weighted_rows(theta + m * step) for m in (-3, -2, -1, 1, 2, 3)]
        slope = (-f[0] + 9 * f[1] - 45 * f[2] + 45 * f[3] - 9 * f[4] + f[5]) / (60 * h)
        scale = max(1.0, np.abs(jacobian).max())
        np.testing.assert_allclose(jacobian[:, k], slope, rtol=0, atol=1e-7 * scale)


def second_difference(along, h):
    """The second derivative at 0, of sixth order in h."""
    f = {m: along(m * h) for m in range(-3, 4)}
    weights = {0: -490, 1: 270, 2: -27, 3: 2}
    return sum(weights[abs(m)] * f[m] for m in f) / (180 * h * h)


def test_the_second_derivative_along_a_direction_equals_finite_differences(objective):
    theta = some_theta(objective)
    rng = np.random.default_rng(3)
    for _ in range(3):
        v = rng.standard_normal(objective.size)
        v /= np.linalg.norm(v)
        found = objective.second_jvp(theta, v)

        def along(s, v=v):
            return objective.weighted_rows(theta + s * v)

        # Rounding falls with h^-2 and the rest of the series with h^6: halved, the differences
        # between the exact one and both show which, and that it falls.
        errors = [np.abs(found - second_difference(along, h)).max() for h in (8e-2, 4e-2, 2e-2)]
        scale = max(1.0, np.abs(found).max(), np.abs(along(0.0)).max())
        assert errors[-1] < 2e-9 * scale
        assert errors[1] < errors[0] / 16 or errors[1] < 1e-9 * scale
        # A quadratic form in v.
        np.testing.assert_allclose(
            objective.second_jvp(theta, -3 * v), 9 * found, rtol=0, atol=1e-12 * 9 * scale
        )


def test_rows_that_are_linear_in_what_is_trained_have_no_second_derivative():
    """A last layer alone: the equation is quadratic in it, its conditions are linear."""
    objective = make(burgers(), pinn.RandomFeatures(width=6))
    theta = some_theta(objective)
    v = np.random.default_rng(3).standard_normal(objective.size)
    found = objective.second_jvp(theta, v)
    rows = [objective.weighted_rows(theta + s * v) for s in (-1.0, 0.0, 1.0)]
    np.testing.assert_allclose(found, rows[0] - 2 * rows[1] + rows[2], rtol=0, atol=1e-10)
    assert np.any(found[:23]) and not np.any(found[23:])
    assert not np.any(make(burgers("u_t - nu*u_xx"), pinn.RandomFeatures(width=6)).second_jvp(
        theta, v
    ))  # fmt: skip


def test_the_second_derivative_along_a_direction_is_that_of_the_gradient(objective):
    """Of loss = |r|^2 it is 2 (|J v|^2 + r' r_vv)."""
    theta = some_theta(objective)
    v = np.random.default_rng(4).standard_normal(objective.size)
    v /= np.linalg.norm(v)
    rows, pushed = objective.weighted_rows(theta), objective.jvp(theta, v)
    found = 2 * (pushed @ pushed + rows @ objective.second_jvp(theta, v))

    def slope(s):
        return objective.value_and_gradient(theta + s * v).gradient @ v

    h = 1e-2
    f = [slope(m * h) for m in (-3, -2, -1, 1, 2, 3)]
    expected = (-f[0] + 9 * f[1] - 45 * f[2] + 45 * f[3] - 9 * f[4] + f[5]) / (60 * h)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_all_forms_agree(objective):
    theta = some_theta(objective)
    evaluation = objective.value_and_gradient(theta)
    rows, jacobian = objective.jacobian(theta)
    r = np.random.default_rng(0)
    v, z = r.standard_normal(objective.size), r.standard_normal(objective.rows)
    scale = np.abs(jacobian).max()

    def same(a, b):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11 * scale**2 * objective.rows)

    same(objective.weighted_rows(theta), rows)
    same(objective.value(theta), evaluation.loss)
    same(rows @ rows, evaluation.loss)
    same(2 * jacobian.T @ rows, evaluation.gradient)
    same(objective.jvp(theta, v), jacobian @ v)
    same(objective.vjp(theta, z), jacobian.T @ z)
    normal, slope = objective.gram(theta)
    same(normal, jacobian.T @ jacobian)
    same(slope, jacobian.T @ rows)
    kernel, again = objective.kernel(theta)
    same(kernel, jacobian @ jacobian.T)
    same(again, rows)
    pieces = list(objective.jacobian_chunks(theta, rows=4))
    assert all(len(piece) <= 4 for piece, _ in pieces)
    same(np.concatenate([piece for piece, _ in pieces]), rows)
    same(np.concatenate([piece for _, piece in pieces]), jacobian)


@pytest.mark.parametrize("name", PROBLEMS)
def test_engines_and_derivatives_agree(name):
    versions = {
        (engine, derivatives): make(PROBLEMS[name](), engine=engine, derivatives=derivatives)
        for engine in ("recorded", "eager") for derivatives in ("jets", "nested")
    }  # fmt: skip
    one = versions["recorded", "jets"]
    theta = some_theta(one)
    first, (rows, jacobian) = one.value_and_gradient(theta), one.jacobian(theta)
    scale = max(1.0, np.abs(first.gradient).max())
    v = np.random.default_rng(0).standard_normal(one.size)
    for other in versions.values():
        found = other.value_and_gradient(theta)
        assert found.loss == pytest.approx(first.loss, rel=1e-12)
        assert found.losses == pytest.approx(first.losses, rel=1e-12)
        np.testing.assert_allclose(found.gradient, first.gradient, rtol=0, atol=1e-12 * scale)
        again, other_jacobian = other.jacobian(theta)
        size = max(1.0, np.abs(jacobian).max())
        np.testing.assert_allclose(again, rows, rtol=0, atol=1e-12 * max(1, np.abs(rows).max()))
        np.testing.assert_allclose(other_jacobian, jacobian, rtol=0, atol=1e-12 * size)
        np.testing.assert_allclose(other.jvp(theta, v), jacobian @ v, rtol=0, atol=1e-11 * size)
        bent = one.second_jvp(theta, v)
        np.testing.assert_allclose(
            other.second_jvp(theta, v), bent, rtol=0, atol=1e-11 * max(1, np.abs(bent).max())
        )


def test_text_and_function_agree_in_every_form():
    text = make(burgers())
    function = make(burgers(lambda s: s.u_t + s.u * s.u_x - s.nu * s.u_xx))
    theta = some_theta(text)
    a, b = text.value_and_gradient(theta), function.value_and_gradient(theta)
    assert a.loss == pytest.approx(b.loss, rel=1e-12)
    np.testing.assert_allclose(a.gradient, b.gradient, rtol=1e-10, atol=1e-12)
    for x, y in zip(text.jacobian(theta), function.jacobian(theta), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


def test_a_text_travels_in_fewer_channels_than_its_terms():
    objective = make(burgers())
    assert objective.groups[0].plan.channels.count == 3
    assert objective.groups[1].plan.channels.count == 1
    assert "3 channels, order 2" in str(objective.groups[0].plan)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_bits_do_not_depend_on_the_number_of_threads(threads):
    sampling = pinn.Sampling(interior=3000, initial=100, boundary=100)
    one, many = (make(burgers(), sampling=sampling, threads=k) for k in (1, threads))
    theta = some_theta(one)
    a, b = one.value_and_gradient(theta), many.value_and_gradient(theta)
    assert a.loss == b.loss
    np.testing.assert_array_equal(a.gradient, b.gradient)
    for x, y in zip(one.gram(theta), many.gram(theta), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("engine", ["recorded", "eager"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_jacobian_is_written_into_memory_that_is_given(engine, dtype):
    setup = Experiment(
        system(), pinn.MLP(width=5, depth=1), pinn.Sampling(interior=13, initial=7, boundary=9),
        precision=dtype, engine=engine,
    )  # fmt: skip
    objective = setup.objective()
    theta = objective.theta
    rows, new = objective.jacobian(theta)
    memory = np.full((objective.rows, objective.size), np.nan)
    again, given = objective.jacobian(theta, memory)
    assert given is memory and rows.dtype == new.dtype == np.float64
    assert (rows.tobytes(), new.tobytes()) == (again.tobytes(), given.tobytes())


def test_other_points_are_used_once_they_are_set():
    objective = make(burgers())
    theta = some_theta(objective)
    objective.value_and_gradient(theta)
    points = {
        b.name: 0.9 * b.points[: len(b.points) // 2].coordinates for b in objective.blocks
    }
    elsewhere = objective.residuals(theta, {"burgers": points["burgers"]})
    assert set(elsewhere) == {"burgers"}
    objective.set_points(points)
    fresh = Objective(
        objective.problem, objective.parameters, points,
        {b.name: b.weight for b in objective.blocks}, dtype=T.float64, engine="eager",
    )  # fmt: skip
    np.testing.assert_allclose(
        elsewhere["burgers"], fresh.residuals(theta)["burgers"], rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(
        objective.value_and_gradient(theta).gradient, fresh.value_and_gradient(theta).gradient,
        rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(
        objective.jacobian(theta)[1], fresh.jacobian(theta)[1], rtol=1e-11, atol=1e-12
    )


class Switching(T.nn.Module):
    """Behaves otherwise in training, and keeps a buffer that can change."""

    def __init__(self):
        super().__init__()
        self.layer = T.nn.Linear(2, 1, dtype=T.float64)
        self.register_buffer("scale", T.tensor([2.0], dtype=T.float64))

    def forward(self, p):
        y = T.tanh(self.layer(p)) * self.scale
        return y if self.training else 3 * y


def test_the_training_flag_and_buffers_are_guarded():
    from pinn.objective.flat_parameters import FlatParameters

    problem = pinn.Problem(DOMAIN, ["u"], {"r": "u_x + u"})
    points = {"r": np.random.default_rng(0).uniform(0, 1, (12, 2))}
    module = Switching()
    parameters = FlatParameters(module, (), T.float64, "cpu")
    objective = Objective(problem, parameters, points, dtype=T.float64)
    theta = objective.theta
    first = objective.residuals(theta)["r"]
    module.eval()
    np.testing.assert_allclose(objective.residuals(theta)["r"], 3 * first, rtol=1e-13)
    module.train()
    np.testing.assert_array_equal(objective.residuals(theta)["r"], first)
    module.scale.mul_(5)
    np.testing.assert_allclose(objective.residuals(theta)["r"], 5 * first, rtol=1e-13)


class Odd(T.nn.Module):
    """Reads its weights in a way whose rows a recorded sweep cannot tell apart."""

    def __init__(self):
        super().__init__()
        self.w = T.nn.Parameter(T.tensor(np.linspace(-1, 1, 8).reshape(2, 4)))
        self.v = T.nn.Parameter(T.tensor(np.linspace(0.5, 1, 4)))

    def forward(self, p):
        return (T.tanh(p @ T.cumsum(self.w, dim=1)) * T.flip(self.v, [0])).sum(1, keepdim=True)


def test_unusual_weights_have_jacobians_too():
    from pinn.objective.flat_parameters import FlatParameters

    problem = pinn.Problem(DOMAIN, ["u"], {"r": "u_x + u*u_t"})
    points = {"r": np.random.default_rng(0).uniform(0, 1, (6, 2))}
    made = [
        Objective(problem, FlatParameters(Odd(), (), T.float64, "cpu"), points,
                  dtype=T.float64, engine=engine)
        for engine in ("recorded", "eager")
    ]  # fmt: skip
    theta = made[0].theta
    with pytest.warns(RuntimeWarning, match="rows of the Jacobian of .*'r'.* one by one"):
        made[0].jacobian(theta)
    for a, b in zip(*(o.jacobian(theta) for o in made), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    evaluation = made[0].value_and_gradient(theta)
    rows, jacobian = made[0].jacobian(theta)
    np.testing.assert_allclose(evaluation.gradient, 2 * jacobian.T @ rows, rtol=1e-11, atol=1e-12)


class Single(T.nn.Module):
    """u = a exp(-b x) + c x^2 with parameters of shape (1,) and ()."""

    def __init__(self):
        super().__init__()
        self.a = T.nn.Parameter(T.ones(1, dtype=T.float64))
        self.b = T.nn.Parameter(T.ones(1, dtype=T.float64))
        self.c = T.nn.Parameter(T.ones((), dtype=T.float64))

    def forward(self, x):
        return self.a * T.exp(-self.b * x) + self.c * x * x


@pytest.mark.parametrize("executor", ["numpy", "numba"])
def test_single_numbers_beside_data_have_jacobians(executor, monkeypatch):
    if executor == "numba":
        pytest.importorskip("numba")
    monkeypatch.setenv("AUTOGRAD_EXECUTOR", executor)
    xs = np.linspace(0.05, 1, 7)
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_x + k*u"},
        [pinn.Dirichlet("u", 1, on="x=0"), pinn.Data("u", {"x": xs, "u": np.exp(-xs)}, sigma=0.1)],
        parameters=[pinn.Parameter("k", 1.0)],
    )  # fmt: skip
    objective = Experiment(problem, Single(), pinn.Sampling(interior=9)).objective()
    theta = objective.theta
    _, jacobian = objective.jacobian(theta)
    for k, step in enumerate(1e-6 * np.eye(len(theta))):
        high, low = (objective.weighted_rows(theta + s) for s in (step, -step))
        # central differences of step 1e-6: rounding of 1e-10
        np.testing.assert_allclose(jacobian[:, k], (high - low) / 2e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["jvp", "second_jvp", "vjp", "hvp"])
def test_a_vector_may_be_a_list_of_numbers(name):
    objective = make(burgers())
    vector = np.linspace(-1, 1, objective.rows if name == "vjp" else objective.size)
    product, theta = getattr(objective, name), objective.theta
    found = product(theta, vector.tolist())
    assert type(found) is np.ndarray and found.tobytes() == product(theta, vector).tobytes()


def test_vectors_of_the_wrong_length_are_refused():
    objective = make(burgers())
    with pytest.raises(ValueError, match=r"expected a vector of shape \(.*\), got \(3,\)"):
        objective.jvp(objective.theta, np.zeros(3))
    with pytest.raises(ValueError, match=rf"shape \({objective.rows},\), got \(3,\)"):
        objective.vjp(objective.theta, np.zeros(3))


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="expected 'recorded' or 'eager', got 'fast'"):
        make(burgers(), engine="fast")


# ---- what is not finite


@pytest.mark.parametrize("engine", ["recorded", "eager"])
@pytest.mark.parametrize("derivatives", ["jets", "nested"])
def test_a_number_that_is_not_finite_is_traced_to_block_operation_and_point(engine, derivatives):
    objective = make(burgers("u_t + log(x)*u_x"), engine=engine, derivatives=derivatives)
    said = objective.not_finite(objective.theta)
    points = objective.blocks[0].points.coordinates
    first = points[np.flatnonzero(points[:, 0] < 0)[0]]
    assert said.startswith(
        f"the residual of block 'burgers' is not finite at {np.sum(points[:, 0] < 0)} of 23 points"
    )
    assert f"first at x = {first[0]:.6g}, t = {first[1]:.6g}" in said
    assert said.endswith("the first operation to give it is 'log'")


def test_a_gradient_that_is_not_finite_is_named():
    objective = make(burgers("u_t + sqrt(abs(u*0))"))
    said = objective.not_finite(objective.theta)
    first = objective.blocks[0].points.coordinates[0]
    assert said == (
        f"the gradient of block 'burgers' is not finite at x = {first[0]:.6g}, t = {first[1]:.6g}, "
        "where the residual is; the first operation to give it is 'sqrt_slope'"
    )


def test_the_point_of_a_gradient_that_is_not_finite_is_found():
    """At one point of all the root has no slope: u changes it, and it is 0 there."""
    objective = make(burgers("u_t + sqrt(abs(u*(x - 0.25)))"))
    points = {b.name: np.array(b.points.coordinates) for b in objective.blocks}
    points["burgers"][17] = 0.25, 0.5
    objective.set_points(points)
    said = objective.not_finite(objective.theta)
    assert "'burgers' is not finite at x = 0.25, t = 0.5, where the residual is; " in said
    objective.set_weights({}, {"burgers": np.ones(len(points["burgers"]))})
    assert objective.not_finite(objective.theta) == said


PARTS = [
    ("u_t + log(u - 5)", "log(u - 5) is nan there for u - 5 = -"),
    ("u_t + u_xx/(x - x)", "u_xx/(x - x) is "),
    ("u_t + at(u, t=log(x - 2))", "log(x - 2) is nan there for x - 2 = -"),
]


@pytest.mark.parametrize("equation, said", PARTS)
def test_the_part_of_an_equation_that_is_not_finite_is_shown(equation, said):
    objective = make(burgers(equation))
    told = objective.not_finite(objective.theta)
    assert f"t = {objective.blocks[0].points.coordinates[0, 1]:.6g}: {said}" in told
    assert told.endswith("'log'" if "log" in equation else "'div'")


def test_the_derivative_that_is_not_finite_is_named():
    """With a weight of 1e160 the slope is a float64, and the second derivative is not."""
    objective = make(burgers("u_t + u_xx"))
    theta = objective.parameters.theta
    named = objective.parameters.named(theta)
    named["model.weight0"][...] = 0.0
    named["model.weight0"][0, 0], named["model.bias0"][0] = 1e160, 0.3
    points = {b.name: np.array(b.points.coordinates) for b in objective.blocks}
    points["burgers"][0] = 0.0, 0.25  # in the middle of the step of the tanh
    objective.set_points(points)
    assert "first at x = 0, t = 0.25: u_xx is " in objective.not_finite(theta)


def test_finite_numbers_give_no_message():
    objective = make(burgers())
    assert objective.not_finite(some_theta(objective)) is None


# ---- trajectories


@pytest.mark.parametrize("name", ["burgers", "inverse"])
@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")  # nu is free
def test_both_engines_train_along_the_same_path(name):
    found = {}
    for engine in ("recorded", "eager"):
        solution = pinn.solve(
            PROBLEMS[name](), pinn.MLP(width=6, depth=2),
            pinn.Sampling(interior=40, initial=10, boundary=10),
            [pinn.Adam(steps=20), pinn.LBFGS(steps=4)], engine=engine,
        )  # fmt: skip
        found[engine] = solution.report.loss
    assert found["recorded"] == pytest.approx(found["eager"], rel=1e-8)
