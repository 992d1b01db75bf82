"""Quasi-Newton solvers whose vectors lie on a device, against those of the host; and counted."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from autograd.devices import as_device
from autograd.strict import StrictArray, counted
from pinn.optimizers import Diverged, StopReason
from pinn.optimizers.quasi_newton.vectors import evaluated, evaluated_along, inner
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx + u**2"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
    parameters=[pinn.Parameter("k", 0.1, lower=0)],
)  # fmt: skip
# Linear in the weights of the last layer, which alone are trained: the loss is a quadratic.
QUADRATIC = {
    "problem": pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"line": "u_xx + u - x"}, [pinn.Dirichlet("u", 0.0)]
    ),
    "model": pinn.RandomFeatures(8),
}
STAGES = {
    "ssbroyden": pinn.SSBroyden(12),
    "ssbfgs": pinn.SSBFGS(12, transform="sqrt"),
    "bfgs": pinn.BFGS(12, transform="value"),
    "lbfgs": pinn.LBFGS(12),
    "of three": pinn.LBFGS(12, memory=3, transform="log"),
}
LAUNCHES = 5
"""For each group of blocks, at most."""

OF_AN_EVALUATION = 7
"""Theta moves (2), goes to the parameters, results are joined and added up, the largest (2), ..."""

OF_A_SLOPE = 1
"""... and the slope."""


def objective(device="cuda", problem=PROBLEM, **options):
    sampling = pinn.Sampling(interior=12, initial=4, boundary=4)
    settings = {"model": pinn.MLP(4, 1), "sampling": sampling, **options}
    return Experiment(problem, device=device, **settings).objective()


def told(stage, function, theta=None, state=None):
    """The steps of a solver with copies of their states, and how it ends."""
    steps, found = stage.run(function, function.theta if theta is None else theta, state), []
    while True:
        try:
            step = next(steps)
        except StopIteration as stopped:
            return found, stopped.value
        found.append(SimpleNamespace(
            number=step.number, loss=step.loss, theta=step.theta,
            state={name: np.array(array) for name, array in step.state.items()},
        ))  # fmt: skip


def same(found, expected):
    """Whether steps have the same bits."""
    return all(
        (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        and a.state.keys() == b.state.keys()
        and all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)
        for a, b in zip(found, expected, strict=True)
    )


def close(found, expected, tolerance):
    for a, b in zip(found, expected, strict=True):
        # on the host alone the next direction comes with the pair
        assert a.state.keys() - {"direction"} == b.state.keys() - {"direction"}
        assert a.number == b.number
        for name in ("fresh", "evaluations", "restarts"):
            assert a.state[name] == b.state[name], name
        np.testing.assert_allclose(a.loss, b.loss, rtol=tolerance)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=tolerance)


# ---- the steps of the host


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("given", [{}, QUADRATIC], ids=["network", "quadratic"])
def test_steps_are_those_of_the_host(gpu, name, given):
    # Sums are added up in another order there: one step differs by some 1e-16, and the next one
    # takes it on, magnified by how much the gradient changes (1e2 here) where a search goes far.
    found, end = told(STAGES[name], objective(**given))
    expected, last = told(STAGES[name], objective("cpu", **given))
    close(found[:4], expected[:4], 1e-13)
    close(found, expected, 1e-10)
    assert (end.reason, end.message) == (last.reason, last.message)


def test_it_is_float32_there_and_vectors_are_float64(gpu):
    found, _ = told(pinn.SSBroyden(4), objective(precision="float32"))
    expected, _ = told(pinn.SSBroyden(4), objective("cpu", precision="float32"))
    close(found, expected, 1e-5)
    assert found[0].theta.dtype == found[0].state["packed"].dtype == np.float64


def test_a_gradient_below_tolerance_ends_it_with_the_same_sentence(gpu):
    stage = pinn.BFGS(500, transform="value", gradient_tolerance=1e-4)
    ends = [told(stage, objective(device, **QUADRATIC))[1] for device in ("cuda", "cpu")]
    assert ends[0].reason == ends[1].reason == StopReason.CONVERGED
    assert "is not above the tolerance 1.0e-04" in ends[0].message
    assert type(ends[0].theta) is np.ndarray


@pytest.mark.parametrize("stage", [
    pinn.SSBroyden(10, line_search=2, transform="value"), pinn.BFGS(10, line_search=2),
])  # fmt: skip
def test_a_search_that_fails_is_a_restart_as_on_the_host(gpu, stage):
    (found, _), (expected, _) = (told(stage, objective(device)) for device in ("cuda", "cpu"))
    close(found, expected, 1e-9)
    assert found[-1].state["restarts"] == 1 and not found[-1].state["fresh"]


@pytest.mark.parametrize("stage", [
    pinn.SSBroyden(60, line_search=2), pinn.LBFGS(60, line_search=1),
])  # fmt: skip
def test_a_search_that_fails_along_the_gradient_ends_it_with_the_same_sentence(gpu, stage):
    (found, end), (expected, last) = (told(stage, objective(device)) for device in ("cuda", "cpu"))
    assert len(found) == len(expected) < 60
    assert (end.reason, end.message) == (last.reason, last.message)
    assert end.reason == StopReason.LINE_SEARCH and type(end.theta) is np.ndarray


# ---- numbers that are not finite

# The condition draws u across the place where the equation has no value any more.
EDGE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "0.01*(u_t + log(1 - u))"}, [pinn.Initial("u", 2)]
)  # fmt: skip


@pytest.mark.parametrize("stage", [pinn.SSBroyden(25), pinn.LBFGS(25)])
def test_a_trial_without_a_value_is_gone_back_from(gpu, stage):
    seen = {}
    for device in ("cpu", "cuda"):
        objective_there = objective(device, problem=EDGE)
        watched, tried = Watched(objective_there), []
        evaluate = watched.value_and_gradient

        def value_and_gradient(theta, evaluate=evaluate, tried=tried):
            tried.append(theta)
            return evaluate(theta)

        watched.value_and_gradient = value_and_gradient
        found, end = told(stage, watched, objective_there.theta)
        seen[device] = found, end, len(tried)
    (expected, last, _), (found, end, on_the_hosts_path) = seen["cpu"], seen["cuda"]
    assert on_the_hosts_path == 0
    evaluations = int(expected[-1].state["evaluations"])
    assert evaluations > len(expected) + 1
    close(found[:5], expected[:5], 1e-9)
    assert end.reason == last.reason


def test_a_trial_without_a_value_is_diverged_and_not_noted(stand_in):
    function = objective(problem=EDGE)
    watched = Watched(function)
    start = evaluated(watched, function.theta)
    assert watched.find(function.theta).loss == start.loss
    known = len(watched._tried)
    with pytest.raises(Diverged):
        evaluated_along(watched, start.at, 1.0, StrictArray(np.full(function.size, 50.0)))
    assert len(watched._tried) == known


@pytest.mark.parametrize("stage", [pinn.SSBroyden(5), pinn.LBFGS(5)])
def test_a_start_without_a_value_says_what_the_host_says(gpu, stage):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t + log(-1 - u*u)"}, [pinn.Initial("u", 2)]
    )
    said = []
    for device in ("cpu", "cuda"):
        function = objective(device, problem=problem)
        with pytest.raises(Diverged) as raised:
            next(stage.run(Watched(function), function.theta))
        said.append(str(raised.value))
    assert said[0] == said[1] and "log(-1 - u*u)" in said[0]


@pytest.mark.parametrize("name", ["ssbroyden", "lbfgs"])
def test_a_shorter_first_step_is_taken_there_too(gpu, name):
    stage = STAGES[name]
    state = stage.slower(3, {}, 2)
    found, expected = (
        told(stage, objective(device), None, state)[0] for device in ("cuda", "cpu")
    )
    close(found[:4], expected[:4], 1e-13)
    assert found[0].number == 4


# ---- going on


@pytest.mark.parametrize("name", STAGES)
def test_going_on_from_a_file_gives_the_same_bits(gpu, name):
    function = objective()
    whole, last = told(STAGES[name], function)
    for stop in (1, 4, 9):
        at = whole[stop - 1]
        rest, end = told(STAGES[name], function, at.theta.copy(), at.state)
        assert same(rest, whole[stop:]) and end.theta.tobytes() == last.theta.tobytes()


@pytest.mark.parametrize("name", STAGES)
def test_going_on_in_memory_gives_the_same_bits_and_copies_theta_alone(stand_in, name):
    stage, function = STAGES[name], objective()
    theta = function.theta
    whole, _ = told(stage, function)
    steps = stage.run(function, theta)
    for _ in range(5):
        step = next(steps)
    with counted() as counts:
        again = stage.run(function, step.theta.copy(), step.state)
        sixth = next(again)
    assert sixth.theta.tobytes() == whole[5].theta.tobytes()
    trials = int(whole[5].state["evaluations"] - whole[4].state["evaluations"])
    # Theta; for L-BFGS the weights of its rows. Back: the start, both gradients to compare, the
    # direction, the trials and the pair.
    assert counts.uploads == 1 + isinstance(stage, pinn.LBFGS)
    assert counts.downloads == counts.synchronisations == 5 + trials
    # The first run has an H of its own.
    assert next(steps).theta.tobytes() == whole[5].theta.tobytes()


@pytest.mark.parametrize("name", STAGES)
def test_a_run_of_the_host_goes_on_there_and_the_other_way(gpu, name):
    # Rounding makes it another loss there, as new points do: H stays, the first trial is a whole
    # step. So does a loss on the host that is told to be another one.
    stage, functions = STAGES[name], (objective("cpu"), objective())
    for first, second in (functions, functions[::-1]):
        begun, _ = told(stage, first)
        theta, state = begun[4].theta, begun[4].state
        rest, _ = told(stage, second, theta.copy(), state)
        as_other = {**state, "loss": state["loss"] * (1 + 1e-6)}
        expected, _ = told(stage, functions[0], theta.copy(), as_other)
        close(rest[:3], expected[:3], 1e-11)
        assert rest[0].state["restarts"] == state["restarts"]


@pytest.mark.parametrize("name", ["ssbroyden", "lbfgs"])
def test_other_points_keep_what_was_learned(gpu, name):
    stage, found = STAGES[name], {}
    for device in ("cpu", "cuda"):
        function = objective(device)
        before, _ = told(stage, function)
        points = {block.name: block.points for block in function.blocks}
        function.set_points({**points, "heat": points["heat"][:7]})
        found[device], _ = told(stage, function, before[4].theta.copy(), before[4].state)
        assert found[device][-1].state["restarts"] == before[-1].state["restarts"]
    close(found["cuda"][:3], found["cpu"][:3], 1e-11)


@pytest.mark.parametrize("name", ["ssbroyden", "lbfgs"])
def test_other_points_cost_their_copy_and_a_look_at_h(stand_in, name):
    stage, function = STAGES[name], objective()
    steps = stage.run(function, function.theta)
    for _ in range(4):
        step = next(steps)
    steps.close()
    points = {block.name: block.points for block in function.blocks}
    before = int(step.state["evaluations"])
    with counted() as counts:
        function.set_points({**points, "heat": points["heat"][:7]})
        fifth = next(stage.run(function, step.theta.copy(), step.state))
    trials = int(fifth.state["evaluations"]) - before - 1
    # There: the points and their numbers, theta; for L-BFGS the weights of its rows. Back: the
    # start, whether H is positive definite, the direction, the trials and the pair.
    pairs = isinstance(stage, pinn.LBFGS)
    assert counts.uploads == 3 + pairs
    assert counts.downloads == counts.synchronisations == 3 + (not pairs) + trials


def test_an_h_that_is_not_positive_definite_is_a_restart_on_other_points(gpu):
    stage, found = pinn.SSBroyden(8), {}
    for device in ("cpu", "cuda"):
        function = objective(device)
        before, _ = told(stage, function)
        state = copy.deepcopy(before[3].state)
        state["packed"][0] = -1.0
        function.set_weights({"heat": 3.0})
        found[device], _ = told(stage, function, before[3].theta.copy(), state)
        assert found[device][0].state["restarts"] == before[3].state["restarts"] + 1
    close(found["cuda"], found["cpu"], 1e-9)


def test_the_state_of_another_network_or_memory_is_refused(gpu):
    function = objective()
    broyden, _ = told(pinn.SSBroyden(2), function)
    other = {**broyden[-1].state, "packed": np.ones(10)}
    with pytest.raises(ValueError, match="inverse Hessian: expected .* numbers, .* shape .10,"):
        next(pinn.SSBroyden(4).run(function, function.theta, other))
    pairs, _ = told(pinn.LBFGS(2, memory=5), function)
    with pytest.raises(ValueError, match="lbfgs: expected pair_steps of shape .6, .*, got .5, "):
        next(pinn.LBFGS(4, memory=6).run(function, function.theta, pairs[-1].state))


def test_a_state_stays_there_until_it_is_read_and_is_gone_after_the_next_step(stand_in):
    function = objective()
    steps = pinn.SSBroyden(9).run(function, function.theta)
    step = next(steps)
    with counted() as counts:
        assert {"packed", "number"} < set(step.state) and int(step.state["number"]) == 1
        assert (counts.launches, counts.downloads) == (0, 0)
        assert type(step.state["gradient"]) is type(step.state["packed"]) is np.ndarray
    assert (counts.launches, counts.downloads) == (1, 2)
    next(steps)
    with pytest.raises(KeyError, match="the inverse Hessian of this step is gone"):
        step.state["packed"]


# ---- copies and waits


@pytest.mark.parametrize("name", STAGES)
def test_copies_and_waits_of_a_step(stand_in, name):
    stage, function = STAGES[name], objective()
    each = LAUNCHES * len(function.groups) + OF_AN_EVALUATION + OF_A_SLOPE
    steps, several = stage.run(function, function.theta), set()
    before = int(next(steps).state["evaluations"])
    for _ in range(11):
        with counted() as counts:
            step = next(steps)
            trials = int(step.state["evaluations"]) - before
        before += trials
        several.add(trials)
        # The direction, each trial and the pair; theta comes with its trial.
        assert counts.synchronisations == counts.downloads == 1 + trials + 1
        # The transform's gradient at each trial.
        own = counts.launches - (each + (stage.transform != "value")) * trials
        if isinstance(stage, pinn.LBFGS):
            assert counts.uploads == 1
            # The direction: the gradient's row, two products. The pair: s, y, three inner products,
            # two rows.
            assert own <= 3 + 7
        else:
            assert counts.uploads == 0
            # The direction: product, sign, slope. The pair: s, y, the product, four inner products,
            # the change of the matrix.
            assert own <= 3 + 8
    assert 1 in several


def test_inner_products_come_home_in_one_copy(stand_in):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((3, 50))
    pairs = [(vectors[0], vectors[1]), (vectors[1], vectors[2]), (vectors[2], vectors[2])]
    there = [tuple(stand_in.from_host(one, 0) for one in pair) for pair in pairs]
    with counted() as counts:
        found = inner(*there)
    assert (counts.launches, counts.downloads, counts.synchronisations) == (3, 1, 1)
    assert found == pytest.approx(inner(*pairs), rel=1e-14)
    assert inner(*pairs) == [float(a @ b) for a, b in pairs]  # the bits of the host


def test_on_the_host_an_evaluation_is_that_of_the_objective(gpu):
    function = objective("cpu")
    theta = function.theta
    start = evaluated(function, theta)
    direction = -start.gradient
    found = evaluated_along(function, start.at, 0.3, direction)
    expected = function.value_and_gradient(theta + 0.3 * direction)
    assert start.at is start.theta is theta and found.slope is None
    assert found.loss == expected.loss
    assert found.gradient.tobytes() == expected.gradient.tobytes()
    assert found.theta.tobytes() == (theta + 0.3 * direction).tobytes()


def test_an_evaluation_there_is_that_of_the_host(gpu):
    there, here = objective(), objective("cpu")
    theta, rng = here.theta, np.random.default_rng(0)
    direction = rng.standard_normal(theta.size)
    start = evaluated(there, theta)
    found = evaluated_along(there, start.at, 0.3, gpu.from_host(direction, 0))
    expected = here.value_and_gradient(theta + 0.3 * direction)
    assert found.loss == pytest.approx(expected.loss, rel=1e-13)
    assert found.slope == pytest.approx(float(expected.gradient @ direction), rel=1e-12)
    assert found.largest == pytest.approx(np.abs(expected.gradient).max(), rel=1e-12)
    np.testing.assert_allclose(gpu.to_host(found.gradient), expected.gradient, rtol=1e-11)
    np.testing.assert_array_equal(gpu.to_host(found.at), found.theta)
    np.testing.assert_allclose(found.theta, theta + 0.3 * direction, rtol=1e-15)


@pytest.mark.parametrize("solver", [pinn.BFGS, pinn.SSBFGS, pinn.SSBroyden])
def test_a_matrix_too_large_for_the_device_is_refused_before_training(solver):
    def there(size):
        return SimpleNamespace(size=size, on_device=SimpleNamespace(device=as_device("cpu")))

    message = f"{solver.name}: its inverse Hessian of 45901 .* 15.7 GiB on cpu.*at most 4 GiB"
    with pytest.raises(ValueError, match=message):
        solver(steps=1).check(there(45_901))
    assert solver(steps=1).check(there(13_000)) == []
