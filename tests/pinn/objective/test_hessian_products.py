"""Products with the loss's Hessian: differences of the gradient, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.term import Term
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.optimizers import Diverged
from pinn.residuals import Interior, Residual
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1)


def burgers():
    return pinn.Problem(
        DOMAIN, ["u"], {"burgers": "u_t + u*u_x - nu*u_xx"},
        [pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)], constants={"nu": 0.05},
    )  # fmt: skip


def inverse():
    """Coefficients with one bound, with two and with none."""
    return pinn.Problem(
        DOMAIN, ["u"], {"burgers": "s*u_t + k*u*u_x - nu*u_xx + s*s"}, [pinn.Initial("u", "x*x")],
        parameters=[
            pinn.Parameter("nu", 0.1, lower=0), pinn.Parameter("s", 0.5, 0.1, 2),
            pinn.Parameter("k", 1.5),
        ],
    )  # fmt: skip


def joined():
    """Two unknowns beside a field of another network, orders mixed."""
    return pinn.Problem(
        DOMAIN, ["u", "v"],
        {"first": "u_t - a*v_xx + u*v_x", "second": "v_t + u_xx - sin(u*v)*a_x"},
        [pinn.Initial("u", "cos(pi*x)"), pinn.Dirichlet("v", "x*t")],
        fields=[pinn.Field("a", ["x"], model=pinn.MLP(width=3, depth=1))],
    )  # fmt: skip


def plate():
    x, y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
    return pinn.Problem(
        x * y, ["w"], {"plate": "laplacian(laplacian(w)) - 1 + w*w_xy"}, [pinn.Dirichlet("w", 0)]
    )


def hard():
    return pinn.Problem(
        DOMAIN, ["u"], {"wave": "u_tt - u_xx"},
        [pinn.Initial("u", "-sin(pi*x)", hard=True), pinn.Dirichlet("u", 0.0, hard=True)],
    )  # fmt: skip


def nonlocal_one():
    return pinn.Problem(
        DOMAIN, ["u"], {"r": "u_t + u*integral(u, x, -1, 1)"},
        [pinn.Integral("integral(u*u, x, -1, 1)", "t", times=4)],
    )  # fmt: skip


PROBLEMS = {f.__name__: f for f in (burgers, inverse, joined, plate, hard, nonlocal_one)}


def make(problem, interior=23, **options):
    setup = Experiment(
        # Four orders by nested derivatives, and two more, record thousands of operations a layer.
        problem, pinn.MLP(width=4, depth=1 if "w" in problem.unknowns else 2),
        pinn.Sampling(interior=interior, initial=7, boundary=9), seed=1,
    )  # fmt: skip
    weights = {residual.name: 0.5 + k for k, residual in enumerate(problem.residuals)}
    options = {"dtype": setup.dtype, **options}
    return Objective(problem, setup.initial_parameters(), setup.draw_points(), weights, **options)


def weigh_rows(objective):
    """Other weights for the rows of the first block, one of them zero."""
    block = objective.blocks[0]
    rows = np.random.default_rng(3).uniform(0, 2, block.rows)
    rows[4] = 0.0
    objective.set_weights(objective.weights, {block.name: rows})


def some_theta(objective):
    return objective.theta + 0.2 * np.random.default_rng(2).standard_normal(objective.size)


def by_differences(objective, theta, v):
    """H v by six gradients, of order six in h, with the bound of its errors.

    The rounding of a gradient is that of its largest parts; what the formula leaves out is seen
    from a step twice as long, whose error is 64 times larger.
    """

    def slope(h):
        at = (theta + m * h * v for m in (-3, -2, -1, 1, 2, 3))
        g = [objective.value_and_gradient(one).gradient for one in at]
        found = (-g[0] + 9 * g[1] - 45 * g[2] + 45 * g[3] - 9 * g[4] + g[5]) / (60 * h)
        return found, max(np.abs(one).max() for one in g)

    h = 4e-3
    (found, largest), (coarse, _) = slope(h), slope(2 * h)
    left_out = np.abs(coarse - found).max() / 63
    return found, left_out + 1e-13 * largest / h


@pytest.mark.parametrize("rows", ["even", "weighted"])
@pytest.mark.parametrize("derivatives", ["jets", "nested"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_product_is_the_slope_of_the_gradient(name, derivatives, rows):
    objective = make(PROBLEMS[name](), derivatives=derivatives)
    if rows == "weighted":
        weigh_rows(objective)
    theta = some_theta(objective)
    v = np.random.default_rng(0).standard_normal(objective.size)
    v /= np.linalg.norm(v)
    product = objective.hvp(theta, v)
    expected, bound = by_differences(objective, theta, v)
    assert bound < 1e-7 * np.abs(expected).max()  # the differences tell something
    np.testing.assert_allclose(product, expected, rtol=0, atol=10 * bound)


@pytest.mark.parametrize("name", PROBLEMS)
def test_engines_and_derivatives_agree_and_the_matrix_is_symmetric(name):
    versions = [
        make(PROBLEMS[name](), engine=engine, derivatives=derivatives)
        for engine in ("recorded", "eager") for derivatives in ("jets", "nested")
    ]  # fmt: skip
    theta = some_theta(versions[0])
    units = np.eye(versions[0].size)
    matrix = np.stack([versions[0].hvp(theta, unit) for unit in units])
    # Sums of some hundred terms: entries are rounded by a small part of the largest ones.
    close = {"rtol": 0, "atol": 1e-12 * np.abs(matrix).max() * len(units)}
    np.testing.assert_allclose(matrix, matrix.T, **close)
    v = np.random.default_rng(0).standard_normal(len(units))
    for one in versions:
        np.testing.assert_allclose(one.hvp(theta, v), matrix @ v, **close)


class Sines(T.nn.Module):
    """A sum of ten given sines with trained heights: residuals that are linear in theta."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(0)
        self.register_buffer("waves", T.tensor(2 * rng.standard_normal((10, 2))))
        self.register_buffer("phases", T.tensor(rng.standard_normal(10)))
        self.heights = T.nn.Parameter(T.tensor(rng.standard_normal((1, 10))))

    def forward(self, points):
        linear = T.nn.functional.linear
        return linear(T.sin(linear(points, self.waves, self.phases)), self.heights)


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
def test_of_linear_residuals_it_is_twice_the_gram_matrix(derivatives):
    problem = pinn.Problem(
        DOMAIN, ["u"], {"heat": "u_t - 0.1*u_xx + x*u - 1"}, [pinn.Initial("u", "cos(x)")]
    )
    parameters = FlatParameters(Sines(), (), T.float64, "cpu")
    points = Experiment(problem, sampling=pinn.Sampling(interior=40, initial=8)).draw_points()
    objective = Objective(
        problem, parameters, points, {"heat": 3.0}, dtype=T.float64, derivatives=derivatives
    )
    weigh_rows(objective)
    theta = some_theta(objective)
    _, jacobian = objective.jacobian(theta)
    v = np.random.default_rng(1).standard_normal(objective.size)
    expected = 2 * jacobian.T @ (jacobian @ v)
    scale = np.abs(jacobian).sum() * np.abs(jacobian).max() * np.abs(v).max()
    np.testing.assert_allclose(objective.hvp(theta, v), expected, rtol=0, atol=1e-15 * scale)
    # At the minimum of the quadratic one step of Newton's method arrives.
    hessian = np.stack([objective.hvp(theta, unit) for unit in np.eye(objective.size)])
    slope = objective.value_and_gradient(theta).gradient
    best = theta - np.linalg.solve(hessian, slope)
    bound = 1e-14 * np.linalg.cond(hessian) * np.abs(slope).max()
    assert np.abs(objective.value_and_gradient(best).gradient).max() < bound


def test_rows_of_points_taken_together_have_it():
    problem = pinn.Problem(DOMAIN, ["u"], {"flow": "u_t + u*u_x - 0.1*u_xx"})
    term = Term("spread", lambda s: s.u - s.u.mean(), problem.scope)
    added = Residual("spread", "spread", term, Interior(DOMAIN), None, whole=True)
    problem.__dict__["residuals"] = (*problem.residuals, added)
    objective = make(problem)
    theta = some_theta(objective)
    v = np.random.default_rng(0).standard_normal(objective.size)
    v /= np.linalg.norm(v)
    expected, bound = by_differences(objective, theta, v)
    np.testing.assert_allclose(objective.hvp(theta, v), expected, rtol=0, atol=10 * bound)


@pytest.mark.parametrize("threads", [2, 7])
def test_the_bits_do_not_depend_on_threads_or_on_what_was_asked_before(threads):
    one, many = (make(burgers(), interior=2000, threads=k) for k in (1, threads))
    theta = some_theta(one)
    v = np.random.default_rng(0).standard_normal(one.size)
    many.jvp(theta + 1, v + 1)
    many.hvp(theta + 1, v + 1)
    many.value_and_gradient(theta - 1)
    assert one.hvp(theta, v).tobytes() == many.hvp(theta, v).tobytes()


def test_a_model_in_float32_gives_a_float64_vector():
    setup = Experiment(burgers(), pinn.MLP(width=4, depth=1), precision="float32")
    objective = setup.objective()
    assert objective.hvp(objective.theta, np.ones(objective.size)).dtype == np.float64


def test_vectors_of_the_wrong_length_are_refused():
    objective = make(burgers())
    with pytest.raises(ValueError, match=r"expected a vector of shape \(.*\), got \(3,\)"):
        objective.hvp(objective.theta, np.zeros(3))


def test_a_second_derivative_that_is_not_finite_is_told():
    """At u = 0 the residual |u|^1.5 and its slope have values, and the second slope has none."""
    problem = pinn.Problem(DOMAIN, ["u"], {"r": "u_t + abs(u*(x - 0.25))**1.5 - 1"})
    objective = make(problem)
    points = np.array(objective.blocks[0].points.coordinates)
    points[0, 0] = 0.25
    objective.set_points({"r": points})
    theta = some_theta(objective)
    watched = Watched(objective)
    assert np.isfinite(watched.value_and_gradient(theta).gradient).all()
    with pytest.raises(Diverged, match="a second derivative of the loss is not finite"):
        watched.hvp(theta, np.ones(objective.size))
