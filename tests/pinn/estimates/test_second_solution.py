"""The error of what is solved for in windows of time alone, beside the true one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pinn
from pinn.estimates import error_estimate
from pinn.estimates import second_solution as module
from pinn.training.judging.trial import Budget, fitted

DECAY = pinn.Problem(
    pinn.Time("t", 0, 4), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 1, hard=True)],
    reference={"u": "exp(-t)"},
)  # fmt: skip


def solved(width: int, **given) -> pinn.Solution:
    model = pinn.Windows(model=pinn.RandomFeatures(width, (0.3, 2.0)), breaks=[0.5, 2])
    return pinn.solve(
        given.pop("problem", DECAY), model, pinn.Sampling(4 * width), error_bars=False, threads=1
    )


@pytest.mark.parametrize("width", [5, 7, 9])
def test_it_is_of_the_size_of_the_true_error(width):
    solution = solved(width)
    estimate, true = solution.error_estimate(), solution.report.rel_l2["u"]
    assert estimate.trusted and true > 1e-12
    assert 0.5 * true < estimate.relative_l2["u"] < 2 * true
    t = np.linspace(0, 4, 33)
    error = np.exp(-t) - solution.evaluate(t=t)["u"].ravel()
    largest = np.abs(error).max()
    np.testing.assert_allclose(estimate.evaluate(t=t)["u"].ravel(), error, atol=0.5 * largest)


def test_derivatives_have_errors_too():
    """Of u' + u = r the error of u' is that of u, the other way round, but for the residual."""
    solution = solved(6)
    estimate, t = solution.error_estimate(), np.linspace(0, 4, 17)
    e, slope = estimate.evaluate(t=t)["u"].ravel(), estimate.derivative("u_t", t=t).ravel()
    residual = solution.derivative("u_t + u", t=t).ravel()
    np.testing.assert_allclose(slope, -e - residual, atol=0.1 * np.abs(slope).max())


def test_nothing_is_changed_and_equal_calls_give_equal_bits():
    solution = solved(6)
    theta = solution.theta.copy()
    # as text, in which a number that is none equals itself
    one, other = (
        repr(dataclasses.replace(solution.error_estimate(), seconds=0.0)) for _ in range(2)
    )
    assert one == other and "relative_l2={'u'" in one
    np.testing.assert_array_equal(solution.theta, theta)


def test_an_unknown_that_is_none_casts_doubt_on_the_others():
    """Four features follow a decay, and not the ten waves of v."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 4), ["u", "v"], {"e": "u_t + u", "f": "v_t - 8*cos(8*t)"},
        [pinn.Initial("u", 1, hard=True), pinn.Initial("v", 0, hard=True)],
    )  # fmt: skip
    apart = module.differences(
        problem, np.linspace(0, 4, 5)[:, None],
        {"u": np.ones(5), "v": np.ones(5)}, {"u": np.full(5, 1 + 1e-6), "v": -np.ones(5)}, {},
    )  # fmt: skip
    assert apart.relative == {"u": pytest.approx(1e-6, rel=1e-5), "v": 2.0}
    (doubt,) = module.partly_of_no_solution(apart.relative)
    assert doubt.startswith("v has one of half the size or more")
    assert module.partly_of_no_solution({"v": 2.0}) == []


@pytest.mark.parametrize("model", [
    pinn.Windows(2, pinn.MLP(width=4, depth=1)), pinn.RandomFeatures(20, (0.3, 2.0)),
])  # fmt: skip
def test_other_models_have_a_correction_instead(model, monkeypatch):
    monkeypatch.setattr(module, "_solved", None)  # would fail if it were called
    stages = [pinn.LevenbergMarquardt(steps=3)] if isinstance(model, pinn.Windows) else pinn.Auto()
    solution = pinn.solve(
        DECAY, model, pinn.Sampling(40), stages, error_bars=False, threads=1
    )  # fmt: skip
    assert module._SAID not in solution.error_estimate().remarks


def test_where_the_second_solution_is_not_found_there_is_a_correction(monkeypatch):
    monkeypatch.setattr(module, "_solved", lambda run, budget: None)
    estimate = solved(6).error_estimate()
    assert estimate.relative_l2 and module._SAID not in estimate.remarks


def test_where_there_is_no_time_for_all_windows_a_doubt_says_how_long_they_take(monkeypatch):
    monkeypatch.setattr(module, "_TELLING", 1)
    solution = solved(6)
    run = solution.experiment
    found = error_estimate(run, run.objective(), solution.theta, None, 1e-6)
    assert not found.relative_l2 and "it takes about" in found.doubts[0]


def test_a_window_that_takes_all_of_the_time_is_the_last_one(monkeypatch):
    begun = []

    def counted(*given):
        begun.append(given)
        return fitted(*given)

    monkeypatch.setattr(module, "fitted", counted)
    solution = solved(6)
    run = solution.experiment
    found = error_estimate(run, run.objective(), solution.theta, None, 1e-6)
    assert len(begun) == 1
    assert not found.relative_l2 and "it takes about" in found.doubts[0]


class Worked:
    """A clock that fits alone move on: those that record by some seconds, the others by one."""

    # later than any other clock, so that no fit is cut short
    BEGAN = 2.0**40

    def __init__(self, recording: float):
        self.seconds, self.begun, self.recording = 0.0, 0, recording

    def __call__(self) -> float:
        return self.BEGAN + self.seconds

    def fitted(self, *given):
        # of each window two: one that finds it, one that goes as low as it gets
        self.seconds += self.recording if self.begun < 4 else 1.0
        self.begun += 1
        return fitted(*given)


def second_of_twelve_windows(monkeypatch, recording, limit):
    """Of two windows that record and ten that do not."""
    model = pinn.Windows(12, pinn.RandomFeatures(6, (0.3, 2.0)))
    solution = pinn.solve(DECAY, model, pinn.Sampling(24), error_bars=False, threads=1)
    clock = Worked(recording)
    monkeypatch.setattr(module, "fitted", clock.fitted)
    run, budget = solution.experiment, Budget(limit, clock, Worked.BEGAN)
    found = module.second_solution(run, run.objective(), solution.theta, budget, {})
    return solution, found, clock.seconds


def test_what_the_first_windows_record_is_not_foreseen_of_the_others(monkeypatch):
    _, found, seconds = second_of_twelve_windows(monkeypatch, 10.0, 61.0)
    assert seconds == 4 * 10 + 20 and found.trusted
    assert module._NOT_LOWEST not in found.remarks


def test_where_time_is_short_the_last_steps_of_windows_are_left_out(monkeypatch):
    solution, found, seconds = second_of_twelve_windows(monkeypatch, 1.0, 20.0)
    assert seconds == 4 * 2 + 8 and found.trusted
    assert module._NOT_LOWEST in found.remarks
    true = solution.report.rel_l2["u"]
    assert 0.5 * true < found.relative_l2["u"] < 2 * true


def test_where_that_does_not_do_either_a_doubt_says_how_long_all_windows_take(monkeypatch):
    _, found, seconds = second_of_twelve_windows(monkeypatch, 1.0, 10.0)
    assert seconds == 4 * 2 and not found.relative_l2
    assert found.doubts[0].startswith("it takes about 16 s or more")
