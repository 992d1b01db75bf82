"""Gauss-Newton: one step for linear rows, known minima, least norm, shorter steps, text."""

from unittest import mock

import numpy as np
import pytest

import pinn
import pinn.config
from autograd.strict import counted
from pinn.optimizers import GaussNewton, StopReason, gauss_newton
from pinn.optimizers.least_squares import reduced
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment


def test_rows_that_are_linear_take_one_step(dense):
    rng = np.random.default_rng(0)
    matrix, b = rng.standard_normal((50, 8)), rng.standard_normal(50)
    function = dense.Rows(lambda t: matrix @ t - b, lambda t: matrix, 8)
    steps, end = dense.follow(GaussNewton(steps=1), function, np.zeros(8))
    expected = np.linalg.lstsq(matrix, b)[0]
    np.testing.assert_allclose(end.theta, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    assert len(steps) == 1 and end.reason is StopReason.STEPS


def test_of_equal_minima_the_nearest_is_taken(dense):
    matrix = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    function = dense.Rows(lambda t: matrix @ t - np.array([5.0, 10.0]), lambda t: matrix, 3)
    start = np.array([1.0, 0.0, 7.0])
    cutoff = 1e-6
    _, end = dense.follow(GaussNewton(steps=1, cutoff=cutoff), function, start)
    # Along (1, 2, 0): from 1 to 5, but for a share of cutoff^2. Where rounding makes a singular
    # value of what is none, a step along it is at most its share of the rows over twice the cutoff.
    rows, largest = np.linalg.norm(function.weighted_rows(start)), 5.0
    bound = 4 * cutoff**2 + 10 * np.finfo(float).eps * rows / (2 * cutoff * largest)
    np.testing.assert_allclose(end.theta, start + 4 / 5 * np.array([1, 2, 0]), rtol=0, atol=bound)


@pytest.mark.parametrize("name", ["rosenbrock", "brown_badly_scaled", "bard", "osborne"])
def test_closed_problems_end_at_known_minima(closed, dense, name):
    least = {
        "rosenbrock": 0.0, "brown_badly_scaled": 0.0, "bard": 8.21487730657896e-3,
        "osborne": 5.46489469748e-5,
    }[name]  # fmt: skip
    function, start = closed[name]()
    steps, end = dense.follow(GaussNewton(), function, start)
    assert function.value(end.theta) == pytest.approx(least, rel=1e-10, abs=1e-16)
    assert end.reason in (StopReason.CONVERGED, StopReason.NO_DECREASE)
    losses = [step.loss for step in steps]
    assert all(a > b for a, b in zip(losses, losses[1:], strict=False))


def test_what_one_cutoff_takes_is_gone_before_the_next(dense, most_bytes):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((300, 600))

    def rows(t):
        return np.arctan(matrix @ t) - 3.0  # beyond what is reached: no cutoff keeps its promise

    def jacobian(t):
        return matrix / (1 + (matrix @ t) ** 2)[:, None]

    function, tried = dense.Rows(rows, jacobian, 600), []
    damped = reduced._Wide.damped

    def work():
        dense.follow(GaussNewton(steps=1), function, np.full(600, 0.01))

    with mock.patch.object(
        reduced._Wide, "damped", lambda *a: (tried.append(None), damped(*a))[1]
    ):
        work()
    assert len(tried) >= 3
    assert most_bytes(work) < 1.05 * reduced.reduced_bytes(function)


def test_a_tried_step_is_halved_until_the_next_is_no_better(dense):
    # r = arctan(t): the full step from 1.5 goes beyond, to where the loss is higher.
    function = dense.Rows(np.arctan, lambda t: np.diag(1 / (1 + t**2)), 1)
    start = np.array([1.5])
    cutoff = 0.02  # so that no larger one is tried
    whole = start - np.arctan(start) * (1 + start**2) / (1 + cutoff**2)
    assert abs(whole[0]) > 1.5
    steps, _ = dense.follow(GaussNewton(steps=1, cutoff=cutoff), function, start)
    tried = [start + 0.5**k * (whole - start) for k in range(6)]
    losses = [float(np.arctan(t) @ np.arctan(t)) for t in tried]
    first = next(k for k in range(5) if losses[k] <= losses[k + 1] and losses[k] < losses[0])
    np.testing.assert_allclose(steps[0].theta, tried[first], rtol=1e-14)


def test_going_on_from_a_step_and_shorter_steps(closed, dense):
    function, start = closed["osborne"]()
    whole, _ = dense.follow(GaussNewton(steps=6), function, start)
    rest, _ = dense.follow(GaussNewton(steps=6), function, whole[2].theta, whole[2].state)
    assert [s.theta.tobytes() for s in rest] == [s.theta.tobytes() for s in whole[3:]]
    shorter = GaussNewton(steps=1).slower(0, {}, 2)
    (step,), _ = dense.follow(GaussNewton(steps=1), function, start, shorter)
    full = np.linalg.lstsq(function.jacobian(start)[1], -function.weighted_rows(start))[0]
    share = np.linalg.norm(step.theta - start) / np.linalg.norm(full)
    assert share <= 0.01 * (1 + 1e-6)


DECAY = pinn.Problem(pinn.Time("t", 0, 2), ["u"], {"d": "u_t + u"}, [pinn.Initial("u", 1)])


def test_it_is_declared_as_text_and_trains(tmp_path):
    file = tmp_path / "decay.yaml"
    file.write_text(
        "problem: {domain: {t: {time: [0, 2]}}, unknowns: [u], equations: {d: u_t + u}, "
        "conditions: [{initial: {unknown: u, value: 1}}]}\n"
        "training: [gauss_newton: {steps: 7, cutoff: 1.0e-9, redraw: null}]\n"
    )
    stage = pinn.GaussNewton(7, 1e-9, redraw=None)
    assert tuple(pinn.config.load(file).experiment.training) == (stage,)
    experiment = Experiment(DECAY, training=(stage,))
    assert tuple(read_experiment(experiment_json(experiment), "file").training) == (stage,)
    solution = pinn.solve(
        DECAY, pinn.MLP(width=6, depth=1), pinn.Sampling(interior=40), training=[stage]
    )
    assert solution.report.loss < 1e-2
    with pytest.raises(ValueError, match="gauss_newton: cutoff"):
        GaussNewton(cutoff=1.5)


def test_it_ends_where_the_linear_rows_promise_little(dense):
    # after one step what is left of the rows is not in the range of J
    a = np.random.default_rng(0).standard_normal((9, 3))
    function = dense.Rows(lambda x: a @ x - 1, lambda x: a, 3)
    steps, end = dense.follow(GaussNewton(least_fall=0.5), function, np.zeros(3))
    assert (len(steps), end.reason) == (1, StopReason.MINIMUM)
    expected = np.linalg.lstsq(a, np.ones(9), rcond=None)[0]
    np.testing.assert_allclose(end.theta, expected, rtol=1e-12)


def test_where_linear_rows_tell_the_truth_nothing_but_the_whole_step_is_tried(dense):
    rng = np.random.default_rng(0)
    matrix, b = rng.standard_normal((50, 8)), rng.standard_normal(50)
    function = dense.Rows(lambda t: matrix @ t - b, lambda t: matrix, 8)
    dense.follow(GaussNewton(steps=1), function, np.zeros(8))
    # where it begins, and at the end of the step, though the loss is far from zero there
    assert function.calls["value"] == 2


BURGERS = pinn.Problem(
    pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), ["u"], {"e": "u_t + u*u_x - 0.01*u_xx"},
    [pinn.Initial("u", "-sin(pi*x)")],
)  # fmt: skip


def test_a_device_is_waited_for_once_for_several_trials_which_lead_where_single_ones_do(stand_in):
    """Far from a minimum each of the cutoffs' steps is halved a dozen times."""
    sampling = pinn.Sampling(interior=150, initial=20)

    def run(together):
        objective = Experiment(BURGERS, pinn.MLP(6, 2), sampling, device="cuda").objective()
        given, values = [], objective.values
        objective.values = lambda thetas: (given.append(len(thetas)), values(thetas))[1]
        steps = GaussNewton(4).run(objective, objective.theta)
        with mock.patch.object(gauss_newton, "_TOGETHER", together):
            first = next(steps)
            given.clear()
            with counted() as counts:
                found = [first, *(next(steps) for _ in range(2))]
        return [(s.loss, s.theta.tobytes()) for s in found], given, counts.synchronisations

    (found, together, waits), (expected, single, before) = run(4), run(1)
    assert found == expected
    assert set(single) == {1} and max(together) == 4
    searches = waits - len(together) - 2 * 2  # a wait each; a step has two: gradient, cutoff
    assert 8 <= searches == before - len(single) - 2 * 2
    assert sum(together) <= len(single) + 3 * searches  # the others were in vain
    assert waits < 0.5 * before and waits / 2 <= 60


@pytest.mark.parametrize("linear", [True, False])
def test_the_jacobian_of_linear_rows_is_reduced_once(dense, linear):
    rng = np.random.default_rng(0)
    matrix, b = rng.standard_normal((50, 8)), rng.standard_normal(50)
    function = dense.Rows(lambda t: matrix @ t - b, lambda t: matrix, 8)
    function.is_linear = linear
    with mock.patch.object(gauss_newton, "reduced", wraps=gauss_newton.reduced) as made:
        with mock.patch.object(
            gauss_newton, "reduced_by_few", wraps=gauss_newton.reduced_by_few
        ) as tried:
            steps, end = dense.follow(GaussNewton(steps=5), function, np.zeros(8))
    expected = np.linalg.lstsq(matrix, b)[0]
    np.testing.assert_allclose(end.theta, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    count = made.call_count + tried.call_count
    assert count == 1 if linear else count > 1
