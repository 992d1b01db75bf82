"""Windows of time as long as features follow in them: beside other integrators and closed forms."""

from __future__ import annotations

import dataclasses
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pinn
from autograd import ranks
from pinn.evaluation import Evaluation
from pinn.training.experiment import Experiment
from pinn.training.judging.trial import Budget, Trial
from pinn.training.windows import pacing, road
from pinn.training.windows.pacing import near_start, paced

FEATURES = pinn.RandomFeatures(60, (1.0, 8.0))
NO_LIMIT = Budget(None, lambda: 0.0, 0.0)


def through(problem: pinn.Problem, budget: Budget = NO_LIMIT):
    """Return what going through time in windows of FEATURES finds."""
    run = Experiment(problem, pinn.MLP(), pinn.Sampling(240))
    return paced(run, windows, budget)


def windows(breaks: list[float], until: float | None) -> pinn.Windows:
    count = None if breaks else 1
    return pinn.Windows(count, FEATURES, breaks=breaks or None, until=until)


def values(found, name: str, t: np.ndarray) -> np.ndarray:
    parameters = found.experiment.initial_parameters()
    parameters.load(found.theta)
    return Evaluation(found.experiment, parameters).evaluate({"t": t})[name]


def in_time(end: float, equations: dict[str, str], **starts: float) -> pinn.Problem:
    return pinn.Problem(
        pinn.Time("t", 0, end), list(starts), equations,
        [pinn.Initial(name, value, hard=True) for name, value in starts.items()],
    )  # fmt: skip


def test_windows_are_short_where_much_happens():
    """A layer of a thousandth, of u' = -1000 (u - cos t) from 0."""
    found = through(in_time(4, {"stiff": "u_t + 1000*(u - cos(t))"}, u=0.0))
    edges = found.experiment.model.edges(found.experiment.problem.domain)
    lengths = np.diff(edges)
    assert lengths[0] < 0.01 and lengths[-1] > 0.3 and found.left <= 1e-9
    t = np.concatenate([np.geomspace(1e-5, 1e-2, 20), np.linspace(0.1, 4, 20)])
    k = 1000.0
    right = (k * k * np.cos(t) + k * np.sin(t) - k * k * np.exp(-k * t)) / (1 + k * k)
    np.testing.assert_allclose(values(found, "u", t), right, atol=1e-8)


def test_a_pulse_in_the_midst_of_nothing_is_found():
    width, at = 0.05, 2.0
    found = through(in_time(4, {"e": f"u_t + u - 100*exp(-((t - {at})/{width})**2)"}, u=1.0))
    t = np.linspace(0, 4, 41)
    bell = [
        100 * width * math.sqrt(math.pi) / 2 * math.exp(width**2 / 4 + at - one)
        * (math.erf((one - at) / width - width / 2) - math.erf(-at / width - width / 2))
        for one in t
    ]  # fmt: skip
    np.testing.assert_allclose(values(found, "u", t), np.exp(-t) + bell, atol=1e-8)


def test_a_system_whose_sizes_differ_by_orders_is_solved():
    """a -> b -> c with rates 1 and 300: b is a thousandth of the others."""
    equations = {"a": "a_t + a", "b": "b_t - a + 300*b", "c": "c_t - 300*b"}
    found = through(in_time(3, equations, a=1.0, b=0.0, c=0.0))
    t = np.concatenate([np.geomspace(1e-4, 1e-1, 15), np.linspace(0.2, 3, 15)])
    b = (np.exp(-t) - np.exp(-300 * t)) / 299
    np.testing.assert_allclose(values(found, "b", t), b, atol=1e-10)
    np.testing.assert_allclose(values(found, "c", t), 1 - np.exp(-t) - b, atol=1e-8)


def test_what_has_come_to_rest_needs_no_digits_of_its_rest():
    """Logistic growth to 1e6: its residual there is rounding, no reason for short windows."""
    found = through(in_time(40, {"growth": "u_t - u*(1 - u/1e6)"}, u=1.0))
    assert found.experiment.model.count < 25
    t = np.linspace(0, 40, 21)
    right = 1e6 / (1 + (1e6 - 1) * np.exp(-t))
    np.testing.assert_allclose(values(found, "u", t), right, rtol=1e-7)


def test_an_equation_of_second_order_hands_on_its_slope():
    problem = pinn.Problem(
        pinn.Time("t", 0, 10), ["u"], {"pendulum": "u_tt + sin(u)"},
        [pinn.Initial("u", 2.5, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
    )  # fmt: skip
    t = np.linspace(0, 10, 21)
    right = solve_ivp(
        lambda _, y: [y[1], -np.sin(y[0])], (0, 10), [2.5, 0.0], t_eval=t, method="DOP853",
        rtol=1e-13, atol=1e-14,
    ).y[0]  # fmt: skip
    np.testing.assert_allclose(values(through(problem), "u", t), right, atol=1e-8)


@pytest.mark.parametrize(("equation", "end", "exact"), [
    ("u_t - u**2", 1.0, lambda t: 1 / (1 - t)), ("u_t + 1/u", 0.5, lambda t: np.sqrt(1 - 2 * t)),
])  # fmt: skip
def test_where_a_solution_ends_is_told_and_what_is_before_is_kept(
    equation, end, exact, monkeypatch
):
    monkeypatch.setattr(pacing, "_NEAREST", 1e-6)
    monkeypatch.setattr(road, "_GAP", 1e-3)
    problem = pinn.Problem(pinn.Time("t", 0, 1.5), ["u"], {"e": equation}, [pinn.Initial("u", 1)])
    found = through(problem)
    assert f"the solution seems to end at t = {end:#.4g}" in found.rest.why
    assert found.experiment.model.until == pytest.approx(end, abs=1e-4)
    t = np.linspace(0, 0.9 * end, 19)
    np.testing.assert_allclose(values(found, "u", t), exact(t), rtol=1e-7)


def test_a_layer_that_is_left_behind_is_no_end_of_a_solution():
    """u' = -1e4 (u - sin(t)): slopes of 1e4 in windows of a ten-thousandth, and then the rest."""
    found = through(in_time(1, {"stiff": "u_t + 1e4*(u - sin(t))"}, u=1.0))
    assert found.rest is None and found.experiment.model.until is None


def test_windows_that_are_solved_are_kept_where_time_is_up(monkeypatch):
    """A limit that does for some windows of an oscillation: the rest is told, and not believed."""
    now = [0.0]

    def clock() -> float:
        now[0] += 0.1
        return now[0]

    monkeypatch.setattr(ranks, "time", SimpleNamespace(perf_counter=clock))
    problem = in_time(60, {"x": "x_t - y", "y": "y_t + x"}, x=0.0, y=1.0)
    found = through(problem, Budget(20.0, clock, 0.0))
    until = found.experiment.model.until
    assert 1 < until < 60 and found.experiment.model.trained < found.experiment.model.count
    t = np.linspace(0, until, 31)
    np.testing.assert_allclose(values(found, "x", t), np.sin(t), atol=1e-7)
    assert found.rest.what.startswith(f"solved up to t = {until:.6g} of 60, in ")
    assert re.search(r"(about|\d+ to) \d+ s would do for all of it", found.rest.why)


def test_what_balances_changes_by_as_much_as_each_of_its_terms():
    """Soft conditions take no more windows than hard ones: b is in balance with a.

    Where all goes on as before b has hardly a residual, and each of its digits was counted.
    """
    counts = []
    for hard in (True, False):
        problem = in_time(5, {"a": "a_t + a", "b": "b_t + 300*(b - a)"}, a=1.0, b=0.0)
        conditions = [dataclasses.replace(one, hard=hard) for one in problem.conditions]
        found = through(dataclasses.replace(problem, conditions=conditions))
        counts.append(found.experiment.model.count)
        t = np.linspace(0, 5, 51)
        right = 300 / 299 * (np.exp(-t) - np.exp(-300 * t))
        np.testing.assert_allclose(values(found, "b", t), right, atol=1e-8)
    assert counts[1] <= counts[0]


def test_a_pulse_of_a_ten_thousandth_is_seen():
    """u' = -u/2 and a pulse of 1e-3 at t = 3 of 10, which hundreds of points miss."""
    found = through(in_time(10, {"e": "u_t + u/2 - 500*exp(-((t - 3)/1e-3)**2)"}, u=1.0))
    t = np.array([1.0, 2.9, 3.1, 5.0, 10.0])
    pulse = 0.5 * math.sqrt(math.pi) * np.exp(-(t - 3) / 2) * (t > 3)
    np.testing.assert_allclose(values(found, "u", t), np.exp(-t / 2) + pulse, rtol=1e-6)


@pytest.mark.parametrize(("before", "after"), [
    (1.0, 1.0), (np.inf, 1e-3), (np.nan, 1e-30), (1.0, np.nan)
])  # fmt: skip
def test_a_fit_that_finds_nothing_is_no_window_in_which_nothing_changes(before, after, monkeypatch):
    def idle(objective, points, start, *_):
        return Trial({"decay": before}, {"decay": after}, 1.0, {}, True, start + 1.0)

    monkeypatch.setattr(pacing, "fitted", idle)
    assert through(in_time(2, {"decay": "u_t + u"}, u=1.0)) is None


def test_what_would_take_too_much_of_a_limit_is_given_up():
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    problem = in_time(1, {"decay": "u_t + u"}, u=1.0)
    assert through(problem, Budget(3.0, clock, 0.0)) is None  # before any window is solved
    assert through(problem, Budget(1e6, clock, 0.0)) is not None


def test_equal_arguments_give_equal_bits():
    problem = in_time(2, {"decay": "u_t + u"}, u=1.0)
    one, other = through(problem), through(problem)
    assert one.experiment.model == other.experiment.model
    np.testing.assert_array_equal(one.theta, other.theta)


def test_an_equation_is_judged_near_its_start_as_well():
    problem = pinn.Problem(
        pinn.Time("t", 0, 8), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 1.0)]
    )  # fmt: skip
    run = Experiment(problem, pinn.MLP(), pinn.Sampling(10))
    points = run.collocation.fresh("judging")
    found = near_start(problem, points, (2.0, 4.0))
    further = found["e"].coordinates[len(points["e"]) :, 0]
    assert further[:3].tolist() == [3.0, 2.5, 2.25] and 2 < further[-1] < 2.00001
    assert found["initial_u"] is points["initial_u"]


@pytest.mark.parametrize("soft", [True, False])
def test_initial_conditions_may_be_soft(soft):
    problem = pinn.Problem(
        pinn.Time("t", 0, 3), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 2.0, hard=not soft)]
    )  # fmt: skip
    t = np.linspace(0, 3, 7)
    np.testing.assert_allclose(values(through(problem), "u", t), 2 * np.exp(-t), atol=1e-8)


@pytest.mark.parametrize(("equation", "exact"), [
    ("u_t + u*log(u)", lambda t: 0.1 ** np.exp(-t)), ("u_t - 1/u", lambda t: np.sqrt(0.01 + 2 * t)),
])  # fmt: skip
def test_soft_conditions_begin_with_their_values(equation, exact):
    """Of a network of zero the residual would be infinite."""
    problem = pinn.Problem(pinn.Time("t", 0, 2), ["u"], {"e": equation}, [pinn.Initial("u", 0.1)])
    t = np.linspace(0, 2, 21)
    np.testing.assert_allclose(values(through(problem), "u", t), exact(t), atol=1e-8)


def test_what_is_at_rest_may_jump():
    """The size of an unknown that is zero so far is told by windows that its jump is in."""
    problem = in_time(4, {"e": "u_t + u - where(t > 1.7, 5, 0)"}, u=0.0)
    t = np.linspace(0, 4, 21)
    right = np.where(t > 1.7, 5 * (1 - np.exp(1.7 - t)), 0.0)
    np.testing.assert_allclose(values(through(problem), "u", t), right, atol=1e-7)
