"""SPRING: its formulas written out, momentum on parts of the rows, batches and resumption."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import least_squares

import pinn
import pinn.config
from autograd.ranks import ALONE
from pinn.optimizers import SPRING, StopReason
from pinn.solution.storage import experiment_json, read_experiment

HERE = {"on_device": None, "ranks": ALONE}


def bent(dense, rows=12, size=20, seed=0):
    """tanh of a linear map, with a solution where all rows are zero."""
    rng = np.random.default_rng(seed)
    matrix, there = rng.standard_normal((rows, size)) / 3, rng.standard_normal(size)
    data = np.tanh(matrix @ there)
    return dense.Rows(
        lambda t: np.tanh(matrix @ t) - data,
        lambda t: matrix / np.cosh(matrix @ t)[:, None] ** 2, size,
    )  # fmt: skip


def plain(function, theta, stage):
    """The equations of the class, the phi of a step as one stacked least-squares problem."""
    phi = np.zeros_like(theta)
    for k in range(1, stage.steps + 1):
        rows, jacobian = function.jacobian(theta)
        root = math.sqrt(stage.damping + stage.relative_damping * (rows @ rows))
        stacked = np.vstack([jacobian, root * np.eye(len(theta))])
        phi = np.linalg.lstsq(stacked, np.concatenate([rows, root * stage.momentum * phi]))[0]
        unbiased = phi / math.sqrt(1 - stage.momentum ** (2 * k))
        rate = stage.schedule.rate(stage.learning_rate, k, stage.steps, {})
        theta = theta - min(rate, math.sqrt(stage.norm) / np.linalg.norm(unbiased)) * unbiased
        yield theta


@pytest.mark.parametrize("shape", [(12, 20), (20, 12)])
@pytest.mark.parametrize(
    "settings",
    [
        {}, {"momentum": 0.0}, {"norm": 1e6, "momentum": 0.5}, {"relative_damping": 0.0},
        {"norm": 1e-2, "schedule": pinn.ExponentialDecay(1e-2)},
    ],
)
def test_its_steps_are_those_of_the_formulas(dense, shape, settings):
    function = bent(dense, *shape)
    stage = SPRING(9, damping=0.1, **settings)
    steps, end = dense.follow(stage, function, np.zeros(shape[1]))
    for step, theta in zip(steps, plain(function, np.zeros(shape[1]), stage), strict=True):
        np.testing.assert_allclose(step.theta, theta, rtol=0, atol=1e-11)
        assert step.loss == function.value(step.theta)
    assert (end.reason, end.message) == (StopReason.STEPS, "all 9 steps done")
    assert function.calls["jacobian"] == 9 + 9  # those of the formulas among them


def test_a_full_step_without_momentum_solves_a_linear_problem(dense):
    rng = np.random.default_rng(1)
    matrix, right = rng.standard_normal((20, 6)), rng.standard_normal(20)
    function = dense.Rows(lambda t: matrix @ t - right, lambda t: matrix, 6)
    stage = SPRING(1, learning_rate=1, damping=1e-10, relative_damping=0, norm=1e9)
    # Bias correction divides the first step by sqrt(1 - mu^2), so mu is 0.
    steps, _ = dense.follow(SPRING(**{**vars(stage), "momentum": 0.0}), function, np.zeros(6))
    np.testing.assert_allclose(steps[0].theta, np.linalg.lstsq(matrix, right)[0], rtol=1e-8)


def test_momentum_solves_a_linear_problem_from_parts_of_its_rows(dense):
    rng = np.random.default_rng(2)
    matrix, there = rng.standard_normal((40, 12)), rng.standard_normal(12)
    right = matrix @ there

    def trained(momentum):
        """Each step sees four rows, by a stage that is closed and taken up again."""
        theta, state = np.zeros(12), None
        stage = SPRING(300, learning_rate=0.5, damping=1e-2, norm=1e9, momentum=momentum)
        for number in range(300):
            seen = np.random.default_rng(number).permutation(40)[:4]
            function = dense.Rows(
                lambda t, seen=seen: matrix[seen] @ t - right[seen],
                lambda t, seen=seen: matrix[seen], 12,
            )  # fmt: skip
            step = next(stage.run(function, theta, state))
            theta, state = step.theta, step.state
        assert step.number == 300
        return np.linalg.norm(theta - there)

    assert trained(0.5) < trained(0.0)
    assert trained(0.5) < 1e-8


def test_a_nonlinear_problem_ends_where_scipys_does(dense):
    function = bent(dense, 30, 5, seed=4)
    theirs = least_squares(
        lambda t: function.jacobian(t)[0], np.zeros(5), lambda t: function.jacobian(t)[1],
        method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    _, end = dense.follow(SPRING(400, damping=1e-6), function, np.zeros(5))
    np.testing.assert_allclose(end.theta, theirs.x, rtol=1e-8)


def test_no_step_is_longer_than_the_norm_allows(dense):
    steps, _ = dense.follow(SPRING(20, norm=1e-4, damping=1e-8), bent(dense), np.zeros(20))
    thetas = [np.zeros(20), *(step.theta for step in steps)]
    lengths = [np.linalg.norm(b - a) for a, b in zip(thetas, thetas[1:], strict=False)]
    assert max(lengths) <= 1e-2 * (1 + 1e-12)
    assert lengths[0] == pytest.approx(1e-2)


def test_resumed_at_any_step_it_takes_the_same_bits(dense):
    stage = SPRING(15, schedule=pinn.PlateauDecay(patience=2))
    whole, end = dense.follow(stage, bent(dense), np.zeros(20))
    for stop in (1, 6, 14):
        at = whole[stop - 1]
        rest, again = dense.follow(stage, bent(dense), at.theta, at.state)
        assert again.theta.tobytes() == end.theta.tobytes()
        assert [step.number for step in rest] == list(range(stop + 1, 16))
        for name, array in whole[-1].state.items():
            assert array.tobytes() == rest[-1].state[name].tobytes()


def test_after_numbers_that_are_not_finite_steps_are_half_as_long(dense):
    stage, function = SPRING(9), bent(dense)
    whole, _ = dense.follow(stage, function, np.zeros(20))
    at = whole[3]
    (usual, *_), _ = dense.follow(stage, function, at.theta, at.state)
    (short, *_), _ = dense.follow(stage, function, at.theta, stage.slower(4, at.state, 2))
    np.testing.assert_allclose(short.theta - at.theta, (usual.theta - at.theta) / 4, rtol=1e-9)


PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
MODEL = pinn.MLP(width=8, depth=1)


def test_it_trains_a_network_on_batches():
    records = []
    solution = pinn.solve(
        PROBLEM, MODEL, pinn.Sampling(interior=200, adaptive=None, batch=20),
        [SPRING(200, damping=1e-5)], callbacks=[records.append],
    )  # fmt: skip
    assert solution.report.rel_l2["u"] < 1e-4
    assert {len(record.points["decay"]) for record in records} == {200}
    assert solution.report.stages[0].steps == 200


def test_float32_is_doubted_and_a_jacobian_beyond_the_memory_is_refused():
    # Fewer rows than numbers are what batches are for.
    few = SimpleNamespace(**HERE, dtype=np.dtype(np.float64), size=100, rows=50)
    assert SPRING().check(few) == []
    poor = SimpleNamespace(**HERE, dtype=np.dtype(np.float32), size=100, rows=1000)
    (precision,) = SPRING().check(poor)
    assert "spring: in float32" in precision
    large = SimpleNamespace(**HERE, dtype=np.dtype(np.float64), size=1000, rows=10**6)
    with pytest.raises(ValueError, match="spring: a Jacobian of 1000000 rows .* takes 20.6 GiB"):
        SPRING().check(large)


def test_it_is_declared_in_python_yaml_and_json(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem: {domain: {t: {time: [0, 1]}}, unknowns: [u], equations: {decay: u_t + u}}\n"
        "training: [spring: {steps: 7, damping: 1e-5, momentum: 0.95,\n"
        "  schedule: {cosine: {final_rate: 1e-3}}}]\n"
    )
    experiment = pinn.config.load(path).experiment
    assert tuple(experiment.training) == (
        SPRING(7, damping=1e-5, momentum=0.95, schedule=pinn.CosineDecay(1e-3)),
    )
    again = read_experiment(experiment_json(experiment), "file")
    assert again.training == experiment.training
    for wrong in ({"momentum": 1.0}, {"momentum": -0.1}, {"norm": 0}, {"learning_rate": 0}):
        with pytest.raises(ValueError, match=f"spring: {next(iter(wrong))}: expected"):
            SPRING(**wrong)
