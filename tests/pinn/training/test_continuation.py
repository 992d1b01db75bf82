"""Hard problems by way of easier ones: one run, one solution, which the problem alone is not."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import autograd as T
import pinn
from pinn.config import load
from pinn.training.continuation import of_leg
from pinn.training.experiment import Experiment

SMALL = {
    "model": pinn.MLP(10, 2), "sampling": pinn.Sampling(400), "error_bars": False, "threads": 1,
}  # fmt: skip
STAGES = [pinn.LevenbergMarquardt(60)]


def oscillator(mu=4.0, end=8.0, **changes):
    """Van der Pol's, with one jump or two."""
    return pinn.Problem(**{
        "domain": pinn.Time("t", 0, end), "unknowns": ["u"],
        "equations": {"oscillator": "(u_tt - mu*(1 - u**2)*u_t + u)/mu"},
        "conditions": [pinn.Initial("u", 2, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
        "constants": {"mu": mu}, **changes,
    })  # fmt: skip


def decay(**changes):
    """u = exp(-k t), k = 2."""
    return pinn.Problem(**{
        "domain": pinn.Time("t", 0, 1), "unknowns": ["u"], "equations": {"decay": "u_t + k*u"},
        "conditions": [pinn.Initial("u", 1, hard=True)], "constants": {"k": 2.0},
        "reference": {"u": "exp(-k*t)"}, **changes,
    })  # fmt: skip


def error(solution, mu=4.0, end=8.0):
    """Against scipy's integrator."""
    t = np.linspace(0, end, 201)
    exact = solve_ivp(
        lambda _, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]], (0, end), [2, 0],
        rtol=1e-11, atol=1e-11, t_eval=t,
    ).y[0]  # fmt: skip
    return np.linalg.norm(solution.evaluate(t=t)["u"] - exact) / np.linalg.norm(exact)


def test_what_training_does_not_find_from_the_start_it_finds_by_way_of_easier_problems():
    with pytest.warns(pinn.UnsolvedWarning):
        alone = pinn.solve(oscillator(), **SMALL, training=STAGES)
    assert error(alone) > 0.5
    solution = pinn.solve(oscillator(), **SMALL, training=STAGES, continuation={"mu": [1, 2, 3]})
    assert error(solution) < 1e-4
    assert solution.problem.constants["mu"] == 4
    assert len(solution.report.stages) == 4
    # Those on the way end early: the next one begins there.
    *way, last = solution.report.stages
    assert all(stage.steps < 60 and stage.reason == "target reached" for stage in way)
    assert last.steps == 60 and solution.report.loss == last.loss < 1e-8


def test_callbacks_hear_of_all_of_it_as_of_one_run():
    told, steps, indices = [], [], []

    class Listening(pinn.training.Callback):
        def on_decision(self, decision):
            told.append(str(decision))

        def on_step(self, record):
            steps.append(record.step)
            indices.append(record.stage_index)

    solution = pinn.solve(
        decay(), **SMALL, training=[pinn.LevenbergMarquardt(5)], continuation={"k": [0.5, 1]},
        callbacks=[Listening()],
    )
    assert told == [
        "continuation 1 of 3: k = 0.5", "continuation 2 of 3: k = 1", "continuation 3 of 3: k = 2"
    ]  # fmt: skip
    assert [str(one) for one in solution.report.decisions] == told
    assert steps == list(range(1, solution.report.steps + 1))
    assert sorted(set(indices)) == [0, 1, 2]
    assert solution.report.message.startswith("continuation 3 of 3: ")
    assert solution.report.rel_l2["u"] < 1e-3


def test_the_loss_is_that_of_the_problem_where_it_was_stopped_on_the_way():
    solution = pinn.solve(
        decay(), **SMALL, training=[pinn.LevenbergMarquardt(5)], continuation={"k": [0.1, 1]},
        callbacks=[lambda record: record.step == 4],
    )
    assert solution.report.stop_reason == "stopped by callback"
    assert solution.report.message.startswith("continuation 1 of 3: ")
    t = solution.experiment.draw_points()["decay"].coordinates[:, 0]
    residual = solution.derivative("u_t + k*u", t=t)
    assert solution.report.loss == pytest.approx(np.mean(residual**2), rel=1e-9)
    assert solution.report.loss > 1  # of k = 2: it is where k = 0.1 left it


def test_hard_values_and_sources_have_the_values_on_the_way_too():
    problem = decay(conditions=[pinn.Initial("u", "k", hard=True)], reference={"u": "k*exp(-k*t)"})
    given = Experiment(problem, pinn.MLP(6, 1), pinn.Sampling(30), continuation={"k": [0.5, 1]})
    for number, k in enumerate([0.5, 1, 2]):
        leg = of_leg(given, number)
        assert leg.continuation == {} and leg.problem.constants["k"] == k
        module = leg.initial_parameters().module
        assert module(T.tensor([[0.0]], dtype=T.float64)).item() == k
    solution = pinn.solve(
        problem, **SMALL, training=[pinn.LevenbergMarquardt(20)], continuation={"k": [0.5, 1]}
    )
    assert solution.report.rel_l2["u"] < 1e-6


def test_weights_that_change_are_those_of_the_problem_in_the_end():
    soft = decay(conditions=[pinn.Initial("u", 1)])
    solution = pinn.solve(
        soft, **SMALL, training=[pinn.Adam(12)], weighting=pinn.GradNorm(every=2),
        continuation={"k": [1]},
    )
    report = solution.report
    assert report.loss == report.stages[-1].loss
    assert report.fresh_loss == pytest.approx(report.stages[-1].fresh_loss, rel=1e-12)


def test_a_leg_ends_at_the_target_of_the_run_and_wherever_it_begins():
    given = {**SMALL, "training": [pinn.LevenbergMarquardt(40)], "continuation": {"k": [1]}}
    solution = pinn.solve(decay(), **given, target=1e-3)
    assert [stage.reason for stage in solution.report.stages] == ["target reached"] * 2
    assert solution.report.stages[0].loss > 1e-6
    fine = pinn.solve(decay(), **SMALL, training=[pinn.LevenbergMarquardt(40)])
    again = pinn.solve(decay(), **given, start=fine)
    assert again.report.stages[0].reason == "target reached"


def test_time_that_is_over_between_two_legs_is_told_as_such(monkeypatch):
    class Slow(pinn.training.Callback):
        def on_stage_end(self, report):
            clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + 5000)
            monkeypatch.setattr("autograd.ranks.time", clock)

    with pytest.warns(pinn.UnsolvedWarning):
        solution = pinn.solve(
            decay(), **SMALL, training=[pinn.LevenbergMarquardt(2)], continuation={"k": [0.5]},
            seconds=4000.0, callbacks=[Slow()],
        )
    assert solution.report.stop_reason == "time limit"
    assert solution.report.message == (
        "continuation 1 of 2: time limit of 4000 s reached before continuation 2"
    )


def test_several_constants_go_together():
    solution = pinn.solve(
        decay(equations={"decay": "u_t + k*u - a*sin(t)"}, constants={"k": 2.0, "a": 1.0},
              reference=None), **SMALL,
        training=[pinn.LevenbergMarquardt(3)], continuation={"k": [1, 1.5], "a": [0, 0.5]},
    )  # fmt: skip
    assert [one.why for one in solution.report.decisions] == [
        "k = 1, a = 0", "k = 1.5, a = 0.5", "k = 2, a = 1"
    ]  # fmt: skip


def test_a_limit_in_time_is_shared_out_and_half_is_for_the_problem_itself():
    limits = []

    class Listening(pinn.training.Callback):
        def on_stage_start(self, info):
            limits.append(info.seconds)

    pinn.solve(
        decay(), **SMALL, training=[pinn.LevenbergMarquardt(2)], seconds=100.0,
        continuation={"k": [0.5, 1]}, callbacks=[Listening()],
    )
    first, second, last = limits
    assert 20 < first <= 25 and 40 < second <= 50 and 90 < last <= 100


def test_where_a_trial_resolves_the_problem_it_is_not_gone_through():
    solution = pinn.solve(
        decay(), sampling=pinn.Sampling(200), continuation={"k": [0.5, 1]}, error_bars=False
    )
    assert isinstance(solution.experiment.model, pinn.RandomFeatures)
    assert solution.experiment.continuation == {}
    assert solution.report.decisions[0].why.endswith("gone through before is left out")
    assert [stage.name for stage in solution.report.stages] == ["gauss_newton"]
    assert solution.report.rel_l2["u"] < 1e-9


@pytest.mark.parametrize(("values", "said"), [
    ({"l": [1]}, "continuation.l: expected a constant of the problem (k), got 'l'"),
    ({"k": []}, "continuation.k: expected a list of numbers such as [1, 2, 4], got none"),
    ({"k": 3}, "continuation.k: expected a list of numbers such as [1, 2, 4], got 3"),
    ({"k": ["a"]}, "continuation.k.0: expected a number, got 'a'"),
    ([1, 2], "continuation: expected a mapping from constants to lists of numbers"),
])  # fmt: skip
def test_values_that_mean_nothing_are_refused(values, said):
    with pytest.raises((TypeError, ValueError)) as caught:
        pinn.solve(decay(), **SMALL, continuation=values)
    assert said in str(caught.value)


def test_constants_that_change_nothing_and_lists_of_other_lengths_are_refused():
    two = decay(constants={"k": 2.0, "a": 1.0}, equations={"decay": "u_t + k*u*(1 + a - a)"})
    with pytest.raises(ValueError, match="expected as many values of each constant, got 1 of k, 2"):
        pinn.solve(two, **SMALL, continuation={"k": [1], "a": [1, 2]})
    derived = decay(constants={"tau": 0.5, "k": "1/tau"})
    with pytest.raises(ValueError, match="continuation.tau: k was computed from 'tau' and keeps"):
        pinn.solve(derived, **SMALL, continuation={"tau": [2, 1]})
    idle = decay(constants={"k": 2.0, "idle": 1.0})
    with pytest.raises(ValueError, match="no condition has 'idle', so its values change nothing"):
        pinn.solve(idle, **SMALL, continuation={"idle": [2, 1]})
    early = decay(equations={"decay": "u_t + where(early, 1, 2)*u"}, regions={"early": "t < k"})
    Experiment(early, continuation={"k": [0.5]})
    with pytest.raises(ValueError, match="continuation: expected none with a model of windows"):
        pinn.solve(decay(), pinn.Windows(2, pinn.MLP(4, 1)), continuation={"k": [1]})


def test_a_config_declares_it_and_check_tells_of_it(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u]\n  constants: {k: 2}\n"
        "  equations: {decay: u_t + k*u}\n"
        "  conditions: [{initial: {unknown: u, value: 1, hard: true}}]\n"
        "model: {mlp: {width: 6, depth: 1}}\ncontinuation: {k: [1/2, 1]}\n"
    )
    experiment = load(path).experiment
    assert experiment.continuation == {"k": (0.5, 1.0)}
    assert "by way of k = 0.5, 1, then 2" in str(pinn.check(**experiment.arguments))
