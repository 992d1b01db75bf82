"""What corrections are made of: waves, extended networks, and the least squares that finds them."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.estimates.corrected import Corrected
from pinn.estimates.extension import Extension
from pinn.estimates.linearised import Linearised
from pinn.estimates.waves import Waves
from pinn.objective import Objective
from pinn.sampling import stream
from pinn.training.experiment import Experiment

X, LINE = pinn.Interval("x", 0, 3), pinn.Time("t", 0, 1)
TINY = pinn.MLP(width=3, depth=1)
POINTS = np.random.default_rng(0).random((7, 2)) * [3, 1]


def problem(**more):
    return pinn.Problem(
        X * LINE, ["u", "v"], {"a": "u_t - k*u_xx - v", "b": "v_x + u*v"},
        [pinn.Initial("u", "cos(x)", hard=True), pinn.Dirichlet("v", "t", on="x=0")],
        parameters=[pinn.Parameter("k", 0.7, lower=0)], **more,
    )  # fmt: skip


def extension_of(model=TINY, waves=5):
    experiment = Experiment(problem(), model, pinn.Sampling(interior=40, adaptive=None))
    theta = experiment.initial_parameters().theta
    theta = theta + 0.1 * np.random.default_rng(1).standard_normal(len(theta))
    return experiment, theta, Extension(experiment, theta, waves)


def outputs(parameters, points=POINTS):
    with T.no_grad():
        return parameters.module(T.tensor(points)).numpy()


@pytest.mark.parametrize("model", [TINY, pinn.PerUnknown(TINY)], ids=["one", "per unknown"])
def test_an_extension_starts_as_the_trained_network(model):
    experiment, theta, extension = extension_of(model)
    plain = experiment.initial_parameters()
    plain.load(theta)
    np.testing.assert_array_equal(outputs(extension.parameters), outputs(plain))
    expected = {name: c.item() for name, c in plain.coefficients().items()}
    assert {n: c.item() for n, c in extension.parameters.coefficients().items()} == expected
    assert extension.parameters.size == plain.size + 2 * 5


@pytest.mark.parametrize("model", [TINY, pinn.PerUnknown(TINY)], ids=["one", "per unknown"])
def test_a_correction_is_linear_along_its_direction(model):
    _, _, extension = extension_of(model)
    direction = np.random.default_rng(2).standard_normal(extension.parameters.size)
    corrected = Corrected(extension)
    corrected.move(direction)
    moved = outputs(corrected.parameters)
    # the same by the slopes of each output in every number
    parameters = extension.parameters
    expected = outputs(parameters)
    for i, point in enumerate(POINTS):
        for j in range(2):
            value = parameters.module(T.tensor(point[None]))[0, j]
            slopes = T.grad(value, parameters.tensors, materialize_grads=True)
            expected[i, j] += np.concatenate([s.numpy().ravel() for s in slopes]) @ direction
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-8)
    # and a condition that is hard holds on
    start = np.column_stack([POINTS[:, 0], np.zeros(7)])
    np.testing.assert_allclose(outputs(corrected.parameters, start)[:, 0], np.cos(start[:, 0]))


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_a_direction_beyond_all_numbers_is_no_correction():
    """A ridge that is too small for rounding may find one: it is not told, and stops nothing."""
    _, _, extension = extension_of()
    corrected = Corrected(extension)
    corrected.move(np.full(extension.parameters.size, 1e200))
    with np.errstate(all="ignore"):
        assert not np.isfinite(outputs(corrected.parameters)).any()


def test_the_least_squares_are_those_of_the_rows_that_are_not_held_back():
    experiment, _, extension = extension_of()
    objective = Objective(
        experiment.problem, extension.parameters, experiment.draw_points(), dtype=T.float64
    )
    rows, jacobian = objective.jacobian(extension.theta)
    columns = np.arange(2, objective.size)
    found = Linearised(objective, columns)
    held = np.zeros(objective.rows, dtype=bool)
    held[4:40:5] = held[44:80:5] = held[84:objective.rows:5] = True
    np.testing.assert_array_equal(found.held, held)
    sizes = [np.linalg.norm(part * scale) for part, scale in zip(
        np.split(rows, [40, 80]), np.split(found.scale, [40, 80]), strict=True)]  # fmt: skip
    np.testing.assert_allclose(sizes, 1)
    scaled = found.scale[:, None] * jacobian[:, columns]
    norms = np.linalg.norm(scaled, axis=0)
    for solver in found.solvers():
        stacked = np.concatenate([scaled[~held], np.sqrt(solver.ridge) * np.diag(norms)])
        right = np.concatenate([-found.rows[~held], np.zeros(len(columns))])
        expected, *_ = np.linalg.lstsq(stacked, right, rcond=None)
        direction = solver(found.rows)
        assert not direction[:2].any()
        close = 1e-15 / solver.ridge  # the normal equations square what is small
        np.testing.assert_allclose(
            direction[2:] * norms, expected * norms, rtol=0,
            atol=max(close, 1e-9) * np.abs(expected * norms).max(),
        )  # fmt: skip


def test_some_columns_alone_are_solved_for_and_the_others_stay():
    found, fitted, rows = linearised()
    among = np.arange(1, fitted.shape[1], 2)
    solver = found.solver(1e-3, among)
    direction = found.moved(solver(found.rows))
    stacked = np.concatenate([fitted[:, among], np.sqrt(1e-3) * np.eye(len(among))])
    right = np.concatenate([-rows, np.zeros(len(among))])
    expected, *_ = np.linalg.lstsq(stacked, right, rcond=None)
    np.testing.assert_allclose(direction[among], expected, rtol=1e-8)
    assert not direction[::2].any()


def test_what_chance_moves_is_what_rows_drawn_again_and_again_do():
    found, fitted, rows = linearised()
    rng, solver = np.random.default_rng(3), found.solver(1e-3, np.arange(fitted.shape[1]))
    slopes = rng.standard_normal((4, fitted.shape[1]))
    noise, whole = rng.standard_normal((2000, len(rows))), np.zeros(len(found.rows))
    # by the normal equations: the values at the least squares of each draw
    values = slopes @ np.linalg.solve(fitted.T @ fitted + 1e-3 * np.eye(len(slopes.T)), fitted.T)
    expected = np.sqrt((values @ noise.T).var(axis=1).sum())
    told = []
    for one in noise[:200]:
        whole[~found.held] = one
        whole[~found.held] += fitted @ found.moved(solver(whole))
        told.append(solver.scatter([slopes], whole)[0] ** 2)
    assert np.sqrt(np.mean(told)) == pytest.approx(expected, rel=0.1)


def linearised():
    """A problem, and the slopes and rows that it fits: of numbers, scaled as it scales them."""
    experiment, _, extension = extension_of()
    objective = Objective(
        experiment.problem, extension.parameters, experiment.draw_points(), dtype=T.float64
    )
    _, jacobian = objective.jacobian(extension.theta)
    found = Linearised(objective, np.arange(objective.size))
    scaled = found.scale[:, None] * jacobian
    scaled /= np.linalg.norm(scaled, axis=0)
    return found, scaled[~found.held], found.rows[~found.held]


def waves_of(module, count=40):
    return Waves(module, X * LINE, 2, count, stream(0, "waves"), T.float64, "cpu")


class Around(T.nn.Module):
    """A module of one's own that repeats in x with period 3, and has nothing of inputs to show."""

    def __init__(self):
        super().__init__()
        self.weights = T.nn.Parameter(T.tensor([[1.0, -2.0]], dtype=T.float64))

    def forward(self, points):
        angle = points[:, :1] * (2 * np.pi / 3)
        return T.nn.functional.linear(T.cat([T.sin(angle), points[:, 1:]], dim=1), self.weights)


def test_waves_repeat_where_the_network_does():
    periodic = pinn.MLP(embedding=pinn.PeriodicEmbedding("x"))
    built = periodic.build(X * LINE, ["u"], stream(0, "a"), T.float64)
    for module in (built, Around()):
        waves = waves_of(module)
        columns = [T.tensor(column[:, None]) for column in POINTS.T]
        further = [columns[0] + 3.0, columns[1]]
        np.testing.assert_allclose(waves(columns).numpy(), waves(further).numpy(), atol=1e-9)
        later = waves([columns[0], columns[1] + 0.3]).numpy()
        assert np.abs(waves(columns).numpy() - later).max() > 0.1


def test_waves_of_a_plain_network_do_not_repeat_and_are_as_short_as_their_number():
    plain = TINY.build(X * LINE, ["u"], stream(0, "a"), T.float64)
    columns = [T.tensor(column[:, None]) for column in POINTS.T]
    few, many = (waves_of(plain, count) for count in (25, 400))
    assert few(columns).shape == (7, 25)
    moved = few([columns[0] + 3.0, columns[1]]).numpy()
    assert np.abs(moved - few(columns).numpy()).max() > 0.1

    def steepest(waves):
        a, b = (waves([columns[0] + h, columns[1]]).numpy() for h in (-1e-5, 1e-5))
        return np.abs(b - a).max() / 2e-5

    # four times as short of sixteen times as many, in the plane
    assert steepest(many) / steepest(few) == pytest.approx(4, rel=0.3)
