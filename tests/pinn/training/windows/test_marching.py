"""Training window by window: one solution, told of, saved and loaded as any other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pinn
from pinn.config import load
from pinn.optimizers import StopReason
from pinn.schema.errors import DeclarationError
from pinn.training.choosing import with_model
from pinn.training.course import Decision
from pinn.training.experiment import Experiment
from pinn.training.judging.fresh import FreshLoss, fresh_points
from pinn.training.windows.marching import March

SMALL = pinn.MLP(width=8, depth=1)
POINTS = pinn.Sampling(60, redraw=None, adaptive=None)
STAGES = [pinn.LevenbergMarquardt(steps=25)]


def decay(**changes) -> pinn.Problem:
    """u = exp(-t) on [0, 2]."""
    return pinn.Problem(**{
        "domain": pinn.Time("t", 0, 2), "unknowns": ["u"], "equations": {"decay": "u_t + u"},
        "conditions": [pinn.Initial("u", 1, hard=True)], "reference": {"u": "exp(-t)"}, **changes,
    })  # fmt: skip


def solve(problem: pinn.Problem, model=None, **given) -> pinn.Solution:
    model = model or pinn.Windows(2, SMALL)
    return pinn.solve(problem, model, POINTS, STAGES, error_bars=False, threads=1, **given)


@pytest.fixture(scope="module")
def decayed() -> pinn.Solution:
    return solve(decay())


def test_the_windows_together_are_the_solution(decayed):
    assert decayed.report.rel_l2["u"] < 1e-7
    t = np.linspace(0, 2, 41)
    np.testing.assert_allclose(decayed.evaluate(t=t)["u"], np.exp(-t), atol=1e-7)
    np.testing.assert_allclose(decayed.derivative("u_t", t=t), -np.exp(-t), atol=1e-5)


def test_value_and_slope_go_over_for_an_equation_of_second_order():
    solution = solve(decay(
        equations={"oscillator": "u_tt + u"}, reference={"u": "cos(t)"},
        conditions=[pinn.Initial("u", 1, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
    ))  # fmt: skip
    assert solution.experiment.model.order == 2
    assert solution.report.rel_l2["u"] < 1e-4
    before, after = np.nextafter(1.0, 0.0), 1.0
    slope = solution.derivative("u_t", t=np.array([before, after]))
    assert slope[0] == pytest.approx(slope[1], abs=1e-12)


def test_windows_of_random_features_are_solved_for():
    model = pinn.Windows(2, pinn.RandomFeatures(40, (0.3, 2.0)))
    solution = pinn.solve(decay(), model, pinn.Sampling(160), error_bars=False, threads=1)
    assert {stage.name for stage in solution.report.stages} == {"gauss_newton"}
    assert solution.report.rel_l2["u"] < 1e-10


def test_random_features_take_over_a_slope():
    """Each window is trained as far as the next one asks it, where features would be anything."""
    pendulum = decay(
        domain=pinn.Time("t", 0, 6), equations={"pendulum": "u_tt + sin(u)"}, reference=None,
        conditions=[pinn.Initial("u", 2.5, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
    )  # fmt: skip
    t = np.linspace(0, 6, 25)
    right = solve_ivp(
        lambda _, y: [y[1], -np.sin(y[0])], (0, 6), [2.5, 0.0], t_eval=t, rtol=1e-11, atol=1e-12
    ).y[0]
    model = pinn.Windows(3, pinn.RandomFeatures(50, (1.0, 8.0)))
    solution = pinn.solve(pendulum, model, pinn.Sampling(200), error_bars=False, threads=1)
    np.testing.assert_allclose(solution.evaluate(t=t)["u"].ravel(), right, atol=1e-6)


def test_a_limit_that_is_over_at_once_is_told_as_one():
    with pytest.warns(pinn.UnsolvedWarning):
        report = solve(decay(), seconds=1e-9).report
    assert (report.stop_reason, report.steps) == ("time limit", 0)
    assert report.message.startswith("window 1 of 2: time limit of 0 s for this window reached")
    assert "choosing the model" not in report.message
    assert np.isfinite(report.loss)


def test_saved_and_loaded_it_has_the_same_values(decayed, tmp_path):
    decayed.save(tmp_path / "decay.npz")
    loaded = pinn.load(tmp_path / "decay.npz")
    t = np.linspace(0, 2, 7)
    np.testing.assert_array_equal(loaded.evaluate(t=t)["u"], decayed.evaluate(t=t)["u"])
    assert loaded.report.steps == decayed.report.steps


def test_equal_arguments_give_equal_bits(decayed):
    np.testing.assert_array_equal(solve(decay()).theta, decayed.theta)


def test_an_older_solution_is_gone_on_from_in_every_window(decayed):
    solution = pinn.solve(
        decay(), pinn.Windows(2, SMALL), POINTS, [pinn.LevenbergMarquardt(steps=1)],
        start=decayed, error_bars=False, threads=1,
    )
    assert solution.report.rel_l2["u"] < 1e-7


def test_soft_initial_conditions_are_of_the_first_window():
    solution = solve(decay(conditions=[pinn.Initial("u", 1)]), weighting={"initial_u": 10})
    assert set(solution.report.losses) == {"decay", "initial_u"}
    assert solution.report.rel_l2["u"] < 1e-5


def test_a_function_of_x_goes_over_exactly():
    """u = exp(-t) sin(pi x) of the heat equation with walls built in."""
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"heat": "u_t - u_xx/pi**2"},
        conditions=[
            pinn.Initial("u", "sin(pi*x)", hard=True), pinn.Dirichlet("u", 0, hard=True),
        ],
        reference={"u": "exp(-t)*sin(pi*x)"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.Windows(2, SMALL), pinn.Sampling(100, redraw=None, adaptive=None),
        [pinn.LevenbergMarquardt(steps=15)], error_bars=False, threads=1,
    )
    assert solution.report.rel_l2["u"] < 1e-3
    x = np.linspace(0, 1, 11)
    ends = [solution.evaluate(x=x, t=t)["u"] for t in (np.nextafter(0.5, 0), 0.5)]
    np.testing.assert_allclose(*ends, atol=1e-14)


def test_callbacks_hear_of_all_windows_as_of_one_run():
    class Listener(pinn.Callback):
        def __init__(self):
            self.steps, self.stages, self.decisions, self.values = [], [], [], []

        def on_start(self, session):
            self.session = session

        def on_stage_start(self, info):
            self.stages.append(info.index)

        def on_decision(self, decision):
            self.decisions.append(str(decision))

        def on_step(self, record):
            self.steps.append(record.step)
            if record.step == 30:
                self.values = self.session.solution(record).evaluate(t=0.5)["u"]
                self.checkpoint = self.session.solution(record).checkpoint()

    heard = Listener()
    solution = solve(decay(), callbacks=[heard])
    assert heard.steps == list(range(1, solution.report.steps + 1))
    assert heard.stages == [0, 1]
    assert heard.decisions == ["window 1 of 2: t from 0 to 1", "window 2 of 2: t from 1 to 2"]
    assert heard.values == pytest.approx(np.exp(-0.5), abs=1e-6)  # the first window is done
    assert [line["step"] for line in solution.report.history] == sorted(
        line["step"] for line in solution.report.history
    )


def test_a_callback_that_stops_the_first_window_stops_the_run():
    solution = solve(decay(), callbacks=[lambda record: record.step == 3])
    assert solution.report.stop_reason == "stopped by callback"
    assert solution.report.steps == 3
    assert solution.report.message.startswith("window 1 of 2: ")


def test_an_exception_leaves_the_solution_so_far():
    def fails(record):
        if record.step == 28:
            raise OSError("no disk")

    with pytest.raises(OSError, match="no disk") as caught:
        solve(decay(), callbacks=[fails])
    t = np.linspace(0, 0.9, 5)
    values = caught.value.solution.evaluate(t=t)["u"]
    np.testing.assert_allclose(values, np.exp(-t), atol=1e-6)


@pytest.mark.parametrize("changes, said", [
    ({"parameters": {"k": 1.0}, "equations": {"decay": "u_t + k*u"}}, "the first window alone"),
    ({"conditions": [pinn.Initial("u", 1), pinn.Data("u", {"t": [1.5], "u": [0.2]})]}, "got Data"),
    ({"conditions": [pinn.Periodic("u", "t")]}, "got Periodic in time"),
])  # fmt: skip
def test_what_windows_cannot_be_trained_with_is_refused(changes, said):
    with pytest.raises(DeclarationError, match=said):
        solve(decay(**changes))


def test_a_config_declares_it(tmp_path):
    (tmp_path / "decay.yaml").write_text(
        "problem:\n  domain: {t: {time: [0, 2]}}\n  unknowns: [u]\n"
        "  equations: {decay: u_t + u}\n"
        "  conditions: [initial: {unknown: u, value: 1, hard: true}]\n"
        "model: {windows: {count: 2, model: {mlp: {width: 8, depth: 1}}}}\n"
    )
    model = load(tmp_path / "decay.yaml").experiment.model
    assert model == pinn.Windows(2, SMALL, order=1)


@pytest.mark.parametrize(("changes", "said"), [
    ({"equations": {"e": "u_t + at(u, t=max(t - 1, 0))"}}, "equations.e: expected.*one time each"),
    ({"equations": {"e": "u_t + integral(at(u, t=s), s, 0, t)"}}, "one time each"),
    ({"equations": {"e": "u_ttt + u"}}, "of order 1 in t at most.*got u_ttt"),
    ({"equations": {"e": pinn.Equation("u_t + u", on="t < 1")}}, "equations.e.on: .*at all times"),
    ({"conditions": [pinn.Operator("u_t", at={"t": 0})]}, "conditions.0: .*at all times alike"),
    ({"conditions": [pinn.Operator("u_t", on="t=0")]}, "conditions.0: .*at all times alike"),
])  # fmt: skip
def test_what_a_window_cannot_know_is_refused(changes, said):
    """Equations that look at other times had been taken, and were wrong in silence."""
    with pytest.raises(DeclarationError, match=said):
        Experiment(decay(**changes), pinn.Windows(2, SMALL))


def test_an_order_that_hands_over_too_little_is_refused():
    oscillator = decay(
        equations={"o": "u_tt + u"},
        conditions=[pinn.Initial("u", 1), pinn.Initial("u", 0, order=1)],
    )  # fmt: skip
    with pytest.raises(DeclarationError, match="of order 1 in t at most, as u alone goes over"):
        Experiment(oscillator, pinn.Windows(2, SMALL, order=1))
    assert Experiment(oscillator, pinn.Windows(2, SMALL)).model.order == 2


@pytest.mark.parametrize("problem", [
    decay(equations={"a": pinn.Equation("u_t + u", on="t <= 1"),
                     "b": pinn.Equation("u_t + 50*u", on="t > 1")}),
    decay(equations={"o": "u_tt + 400*u"},
          conditions=[pinn.Initial("u", 1), pinn.Operator("u_t", at={"t": 0})]),
])  # fmt: skip
def test_the_default_takes_no_windows_where_these_are_refused(problem):
    chosen = with_model(Experiment(dataclasses.replace(problem, reference=None)))
    assert not isinstance(chosen.experiment.model, pinn.Windows)


def test_windows_that_a_limit_ended_are_told_to_have_ended_there():
    """Two windows of three: all of them went as low as they go, and the limit left no more."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 3), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1, hard=True)]
    )
    model = pinn.Windows(
        model=pinn.RandomFeatures(40, (1.0, 8.0)), breaks=[1.0, 2.0], until=2.0
    )
    run = Experiment(problem, model, pinn.Sampling(interior=160))
    objective = run.objective()

    def ended(why):
        rest = Decision(0, "solved up to t = 2 of 3", why)
        fresh = FreshLoss(objective, fresh_points(run))
        return March(run, objective, fresh=fresh, decisions=[rest]).run()

    limited = ended("the limit of 9 s does not do for more")
    assert limited.reason is StopReason.TIME and "solved up to t = 2" in limited.message
    assert ended("random features do not follow it").reason is StopReason.MINIMUM


def test_the_loss_on_fresh_points_is_the_mean_over_windows():
    problem = pinn.Problem(
        pinn.Time("t", 0, 3), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1, hard=True)]
    )
    model = pinn.Windows(model=pinn.RandomFeatures(9, (1.0, 4.0)), breaks=[1.0])
    report = pinn.solve(problem, model, pinn.Sampling(interior=160), error_bars=False).report
    first, second = (stage.fresh_loss for stage in report.stages)
    assert report.fresh_loss == pytest.approx((first + 2 * second) / 3, rel=1e-12)
