"""Steps that are taken on a device before the host is told of any, against steps of the host."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pytest

import pinn
from autograd import plan
from autograd.plan.lanes.cuda import arithmetic
from autograd.strict import StrictArray, counted
from pinn.optimizers import Diverged, functions_of
from pinn.optimizers.first_order import fixed_step
from pinn.optimizers.schedules import Schedule
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx + u**2"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
    parameters=[pinn.Parameter("k", 0.1, lower=0)],
)  # fmt: skip
STAGES = {
    "adam": pinn.Adam(12, learning_rate=0.01),
    "all of it": pinn.Adam(
        12, learning_rate=0.02, schedule=pinn.CosineDecay(), warmup=3, weight_decay=0.1
    ),
    "plateaus": pinn.Adam(12, learning_rate=0.3, schedule=pinn.PlateauDecay(0.3, patience=2)),
}
OTHERS = {
    "soap": pinn.SOAP(12, learning_rate=0.01, every=3, weight_decay=0.1),
    "soap of short sides": pinn.SOAP(12, learning_rate=0.01, every=1, longest=2),
    "muon": pinn.Muon(12, learning_rate=0.01, schedule=pinn.CosineDecay(), weight_decay=0.1),
}
LAUNCHES = 5
"""For each group of blocks, at most."""

OF_A_STEP = 7
"""Its rates are taken, it moves, theta goes to the parameters, the results are joined, learnt from,
and added up, and all is told: where no graph does that."""

OF_A_BURST = 3
"""What was sent goes to its places, steps are counted from 0, and what was told is copied."""


def objective(device="cuda", burst=100, problem=PROBLEM, **options):
    sampling = pinn.Sampling(interior=12, initial=4, boundary=4)
    settings = {"model": pinn.MLP(4, 1), "sampling": sampling, **options}
    found = Experiment(problem, device=device, **settings).objective()
    found.steps_ahead = lambda: burst
    return found


def told(stage, function, theta=None, state=None):
    """The steps of a solver, and how it ends."""
    steps, found = stage.run(function, function.theta if theta is None else theta, state), []
    while True:
        try:
            found.append(next(steps))
        except StopIteration as stopped:
            return found, stopped.value


def same(found, expected):
    """Whether steps have the same bits."""
    return all(
        (a.number, a.loss, a.learning_rate, a.theta.tobytes())
        == (b.number, b.loss, b.learning_rate, b.theta.tobytes())
        and a.state.keys() == b.state.keys()
        and all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("name", STAGES)
def test_steps_are_those_of_the_host(gpu, name, precision, tolerance):
    stage = STAGES[name]
    found, end = told(stage, objective(precision=precision))
    expected, last = told(stage, objective("cpu", precision=precision))
    for a, b in zip(found, expected, strict=True):
        assert (a.number, a.learning_rate) == (b.number, b.learning_rate)
        np.testing.assert_allclose(a.loss, b.loss, rtol=tolerance)
        np.testing.assert_allclose(a.theta, b.theta, rtol=tolerance, atol=tolerance)
        assert a.state.keys() == b.state.keys()
        for array in a.state:
            np.testing.assert_allclose(a.state[array], b.state[array], rtol=0, atol=tolerance)
    np.testing.assert_allclose(end.theta, last.theta, rtol=tolerance, atol=tolerance)
    assert (end.reason, end.message) == (last.reason, last.message)


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("burst", [1, 5])
def test_the_length_of_a_burst_changes_no_bit(gpu, name, burst):
    found, end = told(STAGES[name], objective(burst=burst))
    expected, last = told(STAGES[name], objective())
    assert same(found, expected)
    assert end.theta.tobytes() == last.theta.tobytes()


def test_a_step_within_a_burst_is_one_launch_and_no_copy_no_wait_and_no_memory(stand_in):
    for count in (10, 20):
        function = objective(burst=count)
        steps = pinn.Adam(100).run(function, function.theta)
        list(itertools.islice(steps, 1 + count))  # records and captures
        with counted() as counts:
            assert next(steps).ahead == count - 1
        # What does not grow with the steps: theta and rates there, what is told of all of them back
        assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 1, 1)
        assert (counts.launches, counts.allocations) == (count + OF_A_BURST, 1)


def no_graphs(monkeypatch):
    monkeypatch.setattr(fixed_step, "captured", lambda run, xp: None)


def test_without_a_graph_there_is_no_copy_and_no_wait_within_a_burst_either(stand_in, monkeypatch):
    no_graphs(monkeypatch)
    function = objective(burst=10)
    steps = pinn.Adam(100).run(function, function.theta)
    list(itertools.islice(steps, 1 + 10))
    with counted() as counts:
        assert next(steps).ahead == 9
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 1, 1)
    assert counts.launches <= 10 * (LAUNCHES * len(function.groups) + OF_A_STEP) + OF_A_BURST
    assert counts.allocations == 1


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("name", STAGES)
def test_a_graph_changes_no_bit(gpu, monkeypatch, name, precision):
    given = {"precision": precision, "burst": 5}
    graphs = counted_captures(monkeypatch)
    found, end = told(STAGES[name], objective(**given))
    assert len(graphs) == 1
    no_graphs(monkeypatch)
    expected, last = told(STAGES[name], objective(**given))
    assert same(found, expected)
    assert end.theta.tobytes() == last.theta.tobytes()


def counted_captures(monkeypatch):
    """A list that has what each capture gave."""
    found = []

    def captured(run, xp):
        found.append(plan.captured.captured(run, xp))
        return found[-1]

    monkeypatch.setattr(fixed_step, "captured", captured)
    return found


def test_a_graph_is_captured_once_for_points_and_whatever_the_weights(gpu, monkeypatch):
    graphs, captured, thetas = counted_captures(monkeypatch), [], {}
    for device in ("cpu", "cuda"):
        function = objective(device, burst=6)
        points = {block.name: block.points for block in function.blocks}
        for step in pinn.Adam(37).run(function, function.theta):
            thetas.setdefault(device, []).append(step.theta)
            if device == "cuda" and step.ahead == 0:
                captured.append(len(graphs))
            if step.number == 13:
                function.set_weights({"heat": 5.0})
            if step.number == 19:  # other places, and as many points
                function.set_points({name: one.coordinates**2 for name, one in points.items()})
            if step.number == 25:
                function.set_points({**points, "heat": points["heat"][:7]})
            if step.number == 31:
                function.set_weights({}, {"heat": np.arange(7.0)})
    assert captured == [0, 1, 1, 1, 2, 3, 4] and None not in graphs
    np.testing.assert_allclose(thetas["cuda"], thetas["cpu"], rtol=0, atol=1e-12)


def test_for_steps_that_come_one_by_one_nothing_is_captured(gpu, monkeypatch):
    graphs = counted_captures(monkeypatch)
    told(pinn.Adam(5), objective(burst=1))
    told(pinn.Adam(6), objective(burst=2))
    assert graphs == []


def test_longer_bursts_than_before_get_places_of_their_own(gpu, monkeypatch):
    function, graphs = objective(burst=3), counted_captures(monkeypatch)
    steps = pinn.Adam(203).run(function, function.theta)
    found = list(itertools.islice(steps, 1 + 3))
    monkeypatch.setattr(function, "steps_ahead", lambda: 100)
    found += list(steps)
    assert len(graphs) == 2  # in places for 64, and for 128
    assert same(found, told(pinn.Adam(203), objective(burst=50))[0])


def test_groups_that_are_no_kernels_keep_bursts_as_they_are(stand_in, monkeypatch):
    expected, _ = told(STAGES["adam"], objective())
    monkeypatch.setattr(arithmetic, "_MOST", 0)  # what knows no point is left to cupy
    graphs, function = counted_captures(monkeypatch), objective(burst=10)
    for a, b in zip(told(STAGES["adam"], function)[0], expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-12)
    assert graphs == []
    steps = pinn.Adam(100).run(function, function.theta)
    list(itertools.islice(steps, 1 + 10))
    with counted() as counts:
        assert next(steps).ahead == 9
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 1, 1)
    assert counts.launches > 10 * LAUNCHES


def test_a_rule_that_a_graph_does_not_hold_is_taken_launch_by_launch(gpu, monkeypatch):
    graphs = counted_captures(monkeypatch)
    function = objective(burst=4)
    found, _ = told(Sums(12), function)
    assert graphs == [None]  # tried once; there is no kernel for such sums
    expected, _ = told(Sums(12), objective("cpu"))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-13)
    told(pinn.Adam(12), function)
    assert len(graphs) == 2 and graphs[1] is not None


def test_a_state_stays_there_until_it_is_read_and_then_comes_in_one_copy(stand_in):
    function = objective()
    step = next(pinn.Adam(12).run(function, function.theta))
    with counted() as counts:
        assert set(step.state) == {"number", "share", "first", "second"}
        assert (int(step.state["number"]), "damping" in step.state) == (1, False)
        assert counts.downloads == 0
        assert all(type(step.state[name]) is np.ndarray for name in step.state)
    assert counts.downloads == 1
    again = pickle.loads(pickle.dumps(step.state))
    assert type(again) is dict and again["first"].tobytes() == step.state["first"].tobytes()


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("where", ["on the device", "in a file"])
@pytest.mark.parametrize("stop", [1, 5, 12])
def test_going_on_from_any_step_of_a_burst_gives_the_same_bits(gpu, name, where, stop):
    whole, last = told(STAGES[name], objective())
    state = whole[stop - 1].state
    if where == "in a file":
        state = {name: np.array(array) for name, array in state.items()}
    rest, end = told(STAGES[name], objective(burst=4), whole[stop - 1].theta.copy(), state)
    assert same(rest, whole[stop:])
    assert end.theta.tobytes() == last.theta.tobytes()


def test_a_state_on_the_device_takes_no_copy_of_its_own(stand_in):
    function = objective(burst=2)
    step = next(pinn.Adam(12).run(function, function.theta))
    with counted() as counts:
        next(pinn.Adam(12).run(function, step.theta.copy(), step.state))
    assert (counts.uploads, counts.downloads) == (1, 1)


def test_the_state_of_another_network_is_refused(gpu):
    function = objective()
    state = {"number": np.array(1), "share": np.array(1.0), "first": np.zeros(3)}
    with pytest.raises(ValueError, match=r"first of shape \(.*, got shape \(3,\)"):
        next(pinn.Adam(12).run(function, function.theta, state))


# The condition draws u across the place where the equation has no value any more.
EDGE = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"e": "0.01*(u_t + log(1 - u))"}, [pinn.Initial("u", 2)]
)  # fmt: skip


def test_steps_before_one_whose_numbers_are_not_finite_are_told(gpu):
    stage = pinn.Adam(100, learning_rate=0.05)
    told, said = {}, {}
    for device in ("cpu", "cuda"):
        function = objective(device, problem=EDGE)
        told[device] = []
        with pytest.raises(Diverged) as raised:
            for step in stage.run(function, function.theta):
                told[device].append(step.number)
        said[device] = str(raised.value)
    assert told["cpu"] == told["cuda"] and 5 < len(told["cuda"]) < 95
    assert said["cpu"] == said["cuda"]


def test_squares_that_overflow_are_told_as_on_the_host(gpu):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "1e90*u_t"}, [pinn.Initial("u", 1)],
    )  # fmt: skip
    said = []
    for device in ("cpu", "cuda"):
        function = objective(device, problem=problem)
        with pytest.raises(Diverged, match="the squares of a gradient up to") as raised:
            next(pinn.Adam(5).run(function, function.theta))
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_what_was_taken_with_other_weights_or_points_is_dropped(gpu):
    found = []
    for burst in (1, 100):
        function = objective(burst=burst)
        steps, own = pinn.Adam(9).run(function, function.theta), []
        for step in steps:
            own.append(step)
            if step.number == 3:
                function.set_weights({"heat": 5.0})
            if step.number == 6:
                points = {block.name: block.points for block in function.blocks}
                function.set_points({**points, "heat": points["heat"][:7]})
        found.append(own)
    assert [step.number for step in found[1]] == list(range(1, 10))
    assert same(*found)
    assert len({step.loss for step in found[0]}) == 9


@pinn.declared
class Signs(pinn.FirstOrder):
    """Steps along the signs of a running mean, beside sums of the gradient's numbers."""

    name = "signs"
    recordable = True

    def begin(self, layout):
        return {"mean": np.zeros(layout.size), "sizes": np.zeros(2)}

    def learn(self, memory, gradient, number, layout):
        xp = functions_of(gradient)
        sizes = xp.stack([xp.abs(gradient).sum() / number, (gradient**2).sum()])
        return {"mean": 0.9 * memory["mean"] + 0.1 * gradient, "sizes": memory["sizes"] + sizes}

    def change(self, memory, rate, number, layout):
        return rate * 0.5**number * functions_of(memory["mean"]).sign(memory["mean"])


@pinn.declared
class Sums(Signs):
    """Has an operation that no kernel does."""

    name = "sums"

    def change(self, memory, rate, number, _):
        return rate * functions_of(memory["mean"]).cumsum(memory["mean"], 0)


def test_a_rule_of_ones_own_is_recorded_as_well(gpu):
    stage = Signs(7, learning_rate=0.5, warmup=2)
    found, end = told(stage, objective())
    expected, last = told(stage, objective("cpu"))
    assert [step.ahead for step in found] == [2, 1, 0, 3, 2, 1, 0]  # three before the first loss
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-13)
        np.testing.assert_allclose(a.state["sizes"], b.state["sizes"], rtol=1e-12)
    np.testing.assert_allclose(end.theta, last.theta, rtol=1e-13)
    assert same(told(stage, objective(burst=2))[0], found)


@pinn.declared
class Ufuncs(Signs):
    """Has a function of numpy alone."""

    name = "ufuncs"

    def change(self, memory, rate, number, _):
        return rate * np.sign(memory["mean"])


@pinn.declared
class Turns(Signs):
    """Does something else in every second step."""

    name = "turns"

    def learn(self, memory, gradient, number, _):
        return memory if number % 2 else {**memory, "mean": gradient}


@pytest.mark.parametrize("stage", [Ufuncs(3), Turns(3)])
def test_a_rule_that_cannot_be_recorded_is_told_what_to_say(gpu, stage):
    message = f"solver '{stage.name}' says recordable = True, .* with recordable = False"
    with pytest.raises(TypeError, match=message):
        told(stage, objective())


@pinn.declared
class Whole(Signs):
    """Has a name of its own for what it needs nothing of."""

    name = "whole"

    def learn(self, memory, gradient, number, _):
        return {**memory, "mean": gradient}


def test_a_rule_may_name_its_arguments_as_it_likes(gpu):
    (found, _), (expected, _) = told(Whole(3), objective()), told(Whole(3), objective("cpu"))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-13)


@pinn.declared
class Strict(Schedule):
    """Asks for the loss of the first step, which it goes by."""

    name = "strict"

    def remember(self, loss, memory):
        return memory or {"first": np.array(loss)}

    def rate(self, learning_rate, step, steps, memory):
        return learning_rate * float(memory["first"]) / step**0.5


@pytest.mark.parametrize("warmup", [0, 3])
def test_a_schedule_is_asked_for_no_rate_before_it_has_met_a_loss(gpu, warmup):
    stage = pinn.Adam(8, learning_rate=0.1, schedule=Strict(), warmup=warmup)
    found, end = told(stage, objective())
    expected, last = told(stage, objective("cpu"))
    assert [a.learning_rate for a in found] == pytest.approx([b.learning_rate for b in expected])
    assert max(step.ahead for step in found) == 8 - (warmup + 1) - 1
    np.testing.assert_allclose(end.theta, last.theta, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", OTHERS)
def test_steps_of_matrices_are_those_of_the_host(gpu, name):
    # In the first step SOAP meets directions that no gradient has: of several in one matrix, any
    # basis will do, so there is one at most; and epsilon has to keep what is rounding there from
    # being divided by itself.
    stage, model = dataclasses.replace(OTHERS[name], epsilon=1e-3), pinn.MLP(2, 2)
    found, end = told(stage, objective(model=model))
    expected, last = told(stage, objective("cpu", model=model))
    for a, b in zip(found, expected, strict=True):
        assert (a.number, a.learning_rate) == (b.number, b.learning_rate)
        np.testing.assert_allclose(a.loss, b.loss, rtol=1e-11)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-11)
        assert a.state.keys() == b.state.keys()
        assert all(a.state[name].shape == b.state[name].shape for name in a.state)
        np.testing.assert_allclose(a.state["first"], b.state["first"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(end.theta, last.theta, rtol=0, atol=1e-11)
    assert (end.reason, end.message) == (last.reason, last.message)
    assert [step.ahead for step in found] == [0, *range(10, -1, -1)]


def test_a_step_of_muon_is_one_launch_and_that_of_the_host_as_far_as_rounding_goes(stand_in):
    stage, model = OTHERS["muon"], pinn.MLP(6, 3)
    function = objective(burst=10, model=model)
    found, _ = told(stage, function)
    expected, _ = told(stage, objective("cpu", model=model))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-13)
    steps = dataclasses.replace(stage, steps=40).run(function, function.theta)
    list(itertools.islice(steps, 1 + 10))  # records and captures
    with counted() as counts:
        assert next(steps).ahead == 9
    assert (counts.launches, counts.allocations) == (10 + OF_A_BURST, 1)


@pytest.mark.parametrize("name", OTHERS)
def test_for_steps_of_matrices_nothing_is_copied_or_waited_for_within_a_burst(stand_in, name):
    function = objective(burst=6, model=pinn.MLP(4, 2))
    steps = OTHERS[name].run(function, function.theta)
    list(itertools.islice(steps, 1))
    for first in (True, False):
        with counted() as counts:
            list(itertools.islice(steps, 5 if not first else 6))
        # Places of matrices go there once.
        assert counts.uploads == 1 or first
        assert (counts.downloads, counts.synchronisations) == (1, 1)


@pytest.mark.parametrize("name", OTHERS)
def test_bursts_and_states_of_matrices_change_no_bit(gpu, name):
    def own(burst):
        return objective(burst=burst, model=pinn.MLP(4, 2))

    whole, last = told(OTHERS[name], own(100))
    for burst in (1, 5):
        found, end = told(OTHERS[name], own(burst))
        assert same(found, whole) and end.theta.tobytes() == last.theta.tobytes()
    for stop in (1, 2, 5):
        state = {name: np.array(array) for name, array in whole[stop - 1].state.items()}
        rest, end = told(OTHERS[name], own(4), whole[stop - 1].theta.copy(), state)
        assert same(rest, whole[stop:]) and end.theta.tobytes() == last.theta.tobytes()


@pinn.declared
class Mean(Signs):
    """Says nothing of devices."""

    name = "mean"
    recordable = False


def test_solvers_that_say_nothing_of_devices_work_on_the_host(gpu):
    found, _ = told(Mean(3), objective())
    expected, _ = told(Mean(3), objective("cpu"))
    assert [step.ahead for step in found] == [0, 0, 0]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=1e-12)


def test_on_the_host_and_where_nothing_is_recorded_there_is_no_device(gpu):
    assert objective("cpu").on_device is None
    assert objective(engine="eager").on_device is None
    function = objective()
    assert function.on_device is function.on_device is not None
    there = function.on_device
    function.set_weights({})
    assert function.on_device is not there


def test_results_on_the_device_are_those_of_the_host(stand_in):
    function = objective()
    there, theta = function.on_device, function.theta + 0.1
    results = StrictArray(np.empty(there.blocks + there.groups * there.size))
    there.evaluate(StrictArray(theta.copy()), results)
    expected = objective("cpu").value_and_gradient(theta)
    totals = results._host[: there.blocks]
    assert there.losses(totals) == pytest.approx(expected.losses, rel=1e-13)
    assert list(there.losses(totals)) == list(expected.losses)
    assert function.told(theta, totals) == pytest.approx(expected.loss, rel=1e-13)
