"""ENGD: its formulas written out, closed problems beside scipy, training and exact resumption."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import least_squares

import pinn
import pinn.config
from autograd.ranks import ALONE
from pinn.optimizers import ENGD, Diverged, StopReason
from pinn.optimizers.engd import grid_search
from pinn.solution.storage import experiment_json, read_experiment

HERE = {"on_device": None, "ranks": ALONE}


def linear(dense, rows=30, size=8, seed=0):
    rng = np.random.default_rng(seed)
    matrix, right = rng.standard_normal((rows, size)), rng.standard_normal(rows)
    return dense.Rows(lambda t: matrix @ t - right, lambda t: matrix, size), matrix, right


def decay(dense):
    """Three parameters of a sum of exponentials, from data without noise."""
    t = np.linspace(0, 2, 25)
    data = 2 * np.exp(-1.5 * t) + 0.3

    def rows(p):
        return (p[0] * np.exp(-p[1] * t) + p[2] - data) / 5

    def jacobian(p):
        e = np.exp(-p[1] * t)
        return np.stack([e, -p[0] * t * e, np.ones_like(t)], axis=1) / 5

    return dense.Rows(rows, jacobian, 3)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_a_linear_problem_is_solved_by_the_first_step(dense, shape):
    function, matrix, right = linear(dense, *shape)
    stage = ENGD(1, damping=1e-10, relative_damping=0)
    steps, _ = dense.follow(stage, function, np.zeros(shape[1]))
    expected = np.linalg.lstsq(matrix, right)[0]
    # Damping moves the solution by its share of the least square of a singular value.
    least = np.linalg.svd(matrix)[1][-1] ** 2
    bound = (1e-10 / least + 1e-11) * np.linalg.norm(expected)
    np.testing.assert_allclose(steps[0].theta, expected, rtol=0, atol=bound)
    assert steps[0].rate == 1


def plain(function, theta, stage):
    """Energy natural gradient as its paper has it, by dense inverses in parameter form."""
    for _ in range(stage.steps):
        rows, jacobian = function.jacobian(theta)
        damping = stage.damping + stage.relative_damping * (rows @ rows)
        gram = jacobian.T @ jacobian + damping * np.eye(len(theta))
        direction = np.linalg.solve(gram, jacobian.T @ rows)
        etas = 2.0 ** -np.arange(31)
        losses = [function.value(theta - eta * direction) for eta in etas]
        theta = theta - etas[np.argmin(losses)] * direction
        yield theta


@pytest.mark.parametrize("relative", [0.0, 0.1])
def test_its_steps_are_those_of_the_formulas(dense, relative):
    function, start = decay(dense), np.array([1.0, 0.2, 0.0])
    stage = ENGD(5, damping=1e-4, relative_damping=relative)
    steps, _ = dense.follow(stage, function, start)
    for step, theta in zip(steps, plain(function, start, stage), strict=True):
        np.testing.assert_allclose(step.theta, theta, rtol=1e-9)
        assert step.loss == function.value(step.theta)


def test_parameter_and_kernel_form_take_the_same_steps(dense):
    # Rows of zero change no loss, but make the matrix of the parameters the smaller one.
    rng = np.random.default_rng(3)
    matrix, right = rng.standard_normal((6, 9)), rng.standard_normal(6)
    above = np.zeros((9, 9))
    few = dense.Rows(
        lambda t: np.tanh(matrix @ t) - right / 3,
        lambda t: matrix / np.cosh(matrix @ t)[:, None] ** 2, 9,
    )  # fmt: skip
    many = dense.Rows(
        lambda t: np.concatenate([few.jacobian(t)[0], np.zeros(9)]),
        lambda t: np.concatenate([few.jacobian(t)[1], above]), 9,
    )  # fmt: skip
    stage = ENGD(6, damping=1e-3)
    for a, b in zip(
        dense.follow(stage, few, np.full(9, 0.1))[0],
        dense.follow(stage, many, np.full(9, 0.1))[0], strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-8)


def test_a_nonlinear_problem_ends_where_scipys_does(dense):
    function, start = decay(dense), np.array([1.0, 0.2, 0.0])
    theirs = least_squares(
        lambda p: function.jacobian(p)[0], start, lambda p: function.jacobian(p)[1],
        method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    steps, _ = dense.follow(ENGD(40), function, start)
    np.testing.assert_allclose(theirs.x, [2, 1.5, 0.3], rtol=1e-9)
    np.testing.assert_allclose(steps[-1].theta, theirs.x, rtol=1e-9)
    losses = [step.loss for step in steps]
    assert losses == sorted(losses, reverse=True)


def test_the_search_takes_the_best_of_the_grid(dense):
    function = dense.Rows(lambda t: t - 1, lambda t: np.eye(1), 1)
    # |theta - 1|^2 from 0 along -3.2: eta 1/4 is nearest to 1/3.2, of all powers of 1/2.
    assert grid_search(function, np.zeros(1), np.array([-3.2]), 1.0) == (0.25, pytest.approx(0.04))
    assert function.calls["value"] == 4
    assert grid_search(function, np.zeros(1), np.array([1.0]), 1.0) == (0.0, 1.0)
    assert grid_search(function, np.zeros(1), np.array([-3.2]), 1.0, 0.1)[0] == 0.1


def test_losses_that_are_not_finite_are_no_better(dense):
    function = dense.Rows(lambda t: np.log(t), lambda t: np.diag(1 / t), 1)
    eta, loss = grid_search(function, np.array([4.0]), np.array([8.0]), np.log(4) ** 2)
    assert (eta, loss) == (0.25, np.log(2) ** 2)


def test_where_no_step_helps_the_damping_is_raised_and_then_it_ends(dense):
    function, matrix, right = linear(dense)
    best = np.linalg.lstsq(matrix, right)[0]
    steps, end = dense.follow(ENGD(400), function, best)
    assert end.reason == StopReason.NO_DECREASE
    assert "lowers the loss" in end.message
    np.testing.assert_allclose(end.theta, best, rtol=1e-9)


def test_resumed_at_any_step_it_takes_the_same_bits(dense):
    stage = ENGD(12, damping=1e-5)
    whole, end = dense.follow(stage, decay(dense), [1.0, 0.2, 0.0])
    for stop in (1, 4, 9):
        at = whole[stop - 1]
        rest, again = dense.follow(stage, decay(dense), at.theta, at.state)
        assert again.theta.tobytes() == end.theta.tobytes()
        for a, b in zip(whole[stop:], rest, strict=True):
            assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())


def test_after_numbers_that_are_not_finite_steps_are_shorter_and_grow_again(dense):
    stage, function = ENGD(30), decay(dense)
    whole, _ = dense.follow(stage, function, [1.0, 0.2, 0.0])
    state = stage.slower(2, whole[1].state, 2)
    rest, _ = dense.follow(stage, function, whole[1].theta, state)
    assert rest[0].number == 3 and rest[0].rate < 0.0101
    assert max(step.rate for step in rest) == 1
    np.testing.assert_allclose(rest[-1].theta, [2, 1.5, 0.3], rtol=1e-6)


def test_rows_that_are_not_finite_are_told(dense):
    function = dense.Rows(lambda t: np.full(2, np.nan), lambda t: np.eye(2), 2)
    with pytest.raises(Diverged):
        dense.follow(ENGD(), function, np.ones(2))


PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
SMALL = {
    "model": pinn.MLP(width=8, depth=1),
    "sampling": pinn.Sampling(interior=40, redraw=100, adaptive=None),
}


def test_it_trains_a_network_on_points_that_move():
    records, stage = [], ENGD(60, redraw=10)
    solution = pinn.solve(PROBLEM, **SMALL, training=[stage], callbacks=[records.append])
    assert solution.report.rel_l2["u"] < 1e-5
    # Steps are few and long: the stage draws anew sooner than the 100 steps of the sampling.
    assert records[-1].draw == (records[-1].stage_step - 1) // 10 >= 3


def test_float32_and_few_rows_are_doubted_and_a_jacobian_beyond_the_memory_is_refused():
    stage = ENGD()
    fine = SimpleNamespace(**HERE, dtype=np.dtype(np.float64), size=100, rows=1000)
    assert stage.check(fine) == []
    poor = SimpleNamespace(**HERE, dtype=np.dtype(np.float32), size=100, rows=50)
    rows, precision = stage.check(poor)
    assert "engd: 50 rows for 100 trainable numbers" in rows and "engd: in float32" in precision
    large = SimpleNamespace(**HERE, dtype=np.dtype(np.float64), size=1000, rows=10**6)
    with pytest.raises(ValueError, match="engd: a Jacobian of 1000000 rows .* takes 20.6 GiB"):
        stage.check(large)


def test_it_is_declared_in_python_yaml_and_json(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem: {domain: {t: {time: [0, 1]}}, unknowns: [u], equations: {decay: u_t + u}}\n"
        "training: [engd: {steps: 7, damping: 1e-5}]\n"
    )
    experiment = pinn.config.load(path).experiment
    assert tuple(experiment.training) == (ENGD(7, 1e-5),)
    again = read_experiment(experiment_json(experiment), "file")
    assert again.training == experiment.training
    for wrong in ({"steps": 0}, {"damping": 0.0}, {"damping": float("nan")}, {"seconds": -1}):
        with pytest.raises(ValueError, match=f"engd: {next(iter(wrong))}: expected"):
            ENGD(**wrong)
