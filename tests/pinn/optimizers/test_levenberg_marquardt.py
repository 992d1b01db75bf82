"""Levenberg-Marquardt: known minima, scipy's beside it, exact resumption, what is refused."""

import itertools
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy.optimize import least_squares as scipys

import pinn
import pinn.config
from autograd.ranks import ALONE
from pinn.objective import Objective
from pinn.optimizers import LevenbergMarquardt, StopReason
from pinn.optimizers.least_squares import reduced
from pinn.optimizers.least_squares.host_algebra import host_bytes
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training.experiment import Experiment
from pinn.training.loop import train

VARIANTS = [
    {"scaling": scaling, "order": order}
    for scaling in ("none", "columns") for order in (1, 2, 4)
]  # fmt: skip


@pytest.fixture
def run(dense):
    """Run a stage on a function to its end; returns the end and the steps."""
    def follow(stage, function, theta, state=None):
        steps, end = dense.follow(stage, function, theta, state)
        return end, steps

    return follow


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
@pytest.mark.parametrize("name", [
    "rosenbrock", "freudenstein_roth", "brown_badly_scaled", "bard", "osborne", "meyer",
])  # fmt: skip
def test_the_minima_of_closed_problems_are_those_that_scipy_finds(run, closed, name, settings):
    function, start = closed[name]()
    theirs = scipys(
        function.weighted_rows, start, lambda theta: function.jacobian(theta)[1], method="lm",
        xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=5000,
    )  # fmt: skip
    end, steps = run(LevenbergMarquardt(**settings), function, start)
    assert end.reason in (StopReason.CONVERGED, StopReason.NO_DECREASE)
    # The loss is flat there: it fixes theta to the square root of its rounding, the loss itself to
    # all digits.
    assert steps[-1].loss == pytest.approx(2 * theirs.cost, rel=1e-10, abs=1e-25)
    scale = np.abs(theirs.x).max()
    np.testing.assert_allclose(end.theta, theirs.x, rtol=1e-6, atol=1e-7 * scale)
    losses = [step.loss for step in steps]
    assert all(a > b for a, b in zip(losses, losses[1:], strict=False))
    assert all(step.loss == function.value(step.theta) for step in steps)


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_a_singular_minimum_is_approached_to_the_end(run, closed, settings):
    function, start = closed["powell_singular"]()
    end, steps = run(LevenbergMarquardt(steps=60, **settings), function, start)
    # The Jacobian loses rank at the minimum: each step halves the distance, as Gauss-Newton's does.
    assert steps[-1].loss < 1e-30
    np.testing.assert_allclose(end.theta, 0, atol=1e-7)


def test_more_terms_follow_a_bent_valley_in_fewer_steps(run, closed):
    taken = {}
    for order in (1, 2, 4):
        function, start = closed["meyer"]()
        stage = LevenbergMarquardt(scaling="columns", order=order)
        taken[order] = len(run(stage, function, start)[1])
    assert taken[4] < taken[2] < taken[1] / 2


def test_where_all_of_a_path_leads_too_far_half_of_it_is_taken(run, dense):
    # r = arctan(t): the whole step from 1.5 goes beyond, to where the loss is higher.
    function = dense.Rows(np.arctan, lambda t: np.diag(1 / (1 + t**2)), 1)
    slope, damping = 1 / (1 + 1.5**2), 1e-6
    _, (step,) = run(LevenbergMarquardt(steps=1, order=1, damping=damping), function, [1.5])
    whole = -np.arctan(1.5) / (slope * (1 + damping))
    assert abs(1.5 + whole) > 1.5
    np.testing.assert_allclose(step.theta, [1.5 + whole / 2], rtol=1e-12)
    assert float(step.state["damping"]) == pytest.approx(2 * damping * slope**2, rel=1e-12)
    # where it begins, all of the step, half of it
    assert function.calls["value"] == 3


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
@pytest.mark.parametrize("stop", [1, 2, 7])
def test_going_on_from_a_step_gives_the_same_bits(run, closed, settings, stop):
    stage = LevenbergMarquardt(steps=12, **settings)
    function, start = closed["osborne"]()
    _, whole = run(stage, function, start)
    _, rest = run(stage, function, whole[stop - 1].theta, whole[stop - 1].state)
    for a, b in zip(whole[stop:], rest, strict=True):
        assert (a.number, a.loss, a.theta.tobytes()) == (b.number, b.loss, b.theta.tobytes())
        assert all(a.state[name].tobytes() == b.state[name].tobytes() for name in a.state)


def test_a_gradient_below_the_tolerance_ends_it(run, closed):
    function, start = closed["rosenbrock"]()
    end, steps = run(LevenbergMarquardt(gradient_tolerance=1e-4), function, start)
    assert end.reason is StopReason.CONVERGED
    assert np.abs(function.value_and_gradient(end.theta).gradient).max() <= 1e-4
    assert np.abs(function.value_and_gradient(steps[-2].theta).gradient).max() > 1e-4


def test_shorter_steps_are_those_of_a_larger_damping(run, closed):
    stage = LevenbergMarquardt(steps=5)
    function, start = closed["bard"]()
    _, steps = run(stage, function, start)
    state = stage.slower(3, steps[2].state, 2)
    assert state["damping"] == pytest.approx(1e6 * steps[2].state["damping"])
    assert state["number"] == 3


def test_what_one_damping_takes_is_gone_before_the_next(dense, most_bytes):
    matrix = np.random.default_rng(0).standard_normal((300, 600))

    class Function(dense.Rows):
        def jacobian(self, theta, out):
            out[...] = matrix
            return self.weighted_rows(theta), out

        def value(self, theta):
            value = super().value(theta)
            # two dampings are refused, after all and half of a step
            return np.inf if 2 <= self.calls["value"] <= 5 else value

    tried, damped = [], reduced._Wide.damped

    def work():
        function = Function(lambda t: matrix @ t - 1, None, 600)
        dense.follow(LevenbergMarquardt(1, order=1, damping=1e-26), function, np.zeros(600))

    with mock.patch.object(
        reduced._Wide, "damped", lambda *a: (tried.append(None), damped(*a))[1]
    ):
        work()
    assert len(tried) == 3
    assert most_bytes(work) < 1.05 * host_bytes(300, 600, divided=False)


def test_too_large_a_jacobian_few_rows_and_float32_are_told_of():
    stage = LevenbergMarquardt()

    def told(rows, size, dtype=np.float64):
        known = {"rows": rows, "size": size, "dtype": np.dtype(dtype), "on_device": None}
        return stage.check(SimpleNamespace(**known, ranks=ALONE))

    assert told(4000, 1000) == []
    with pytest.raises(ValueError, match="30000 rows for 20000 .* 35.8 GiB .* at most 4 GiB"):
        told(30_000, 20_000)
    (few,) = told(900, 1000)
    assert "900 rows for 1000 trainable numbers" in few
    (single,) = told(4000, 1000, np.float32)
    assert "float32" in single and 'precision "float64"' in single


DECAY = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip


def test_a_small_network_is_trained():
    solution = pinn.solve(
        DECAY, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=40),
        training=[pinn.LevenbergMarquardt(40)],
    )  # fmt: skip
    assert solution.report.loss < 1e-10
    assert solution.report.rel_l2["u"] < 1e-4


def test_float32_is_warned_of_before_training():
    with pytest.warns(pinn.ProblemWarning, match="levenberg_marquardt: in float32"):
        pinn.solve(
            DECAY, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=30), precision="float32",
            training=[pinn.LevenbergMarquardt(2)], callbacks=[lambda record: True],
        )  # fmt: skip


def test_it_is_declared_as_text(tmp_path):
    stage = pinn.LevenbergMarquardt(7, scaling="columns", order=1, redraw=None)
    experiment = Experiment(DECAY, training=(stage,))
    assert read_experiment(experiment_json(experiment), "file").training == (stage,)
    file = tmp_path / "decay.yaml"
    file.write_text(
        "problem:\n  domain: {t: {time: [0, 2]}}\n  unknowns: [u]\n"
        "  equations: {decay: u_t + u}\n  conditions: [{initial: {unknown: u, value: 1}}]\n"
        "training:\n- levenberg_marquardt: {steps: 7, scaling: columns, order: 1, "
        "redraw: null}\n"
    )
    assert pinn.config.load(file).experiment.training == (stage,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": 0}, "levenberg_marquardt: steps"),
        ({"damping": 0}, "levenberg_marquardt: damping"),
        ({"scaling": "row"}, "levenberg_marquardt: scaling: expected one of none, columns"),
        ({"order": 0}, "levenberg_marquardt: order"),
        ({"redraw": 0}, "levenberg_marquardt: redraw"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        LevenbergMarquardt(**arguments)


def test_coefficients_stay_inside_of_their_bounds_and_are_recovered():
    t = np.linspace(0, 2, 30)
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + k*u"},
        [pinn.Initial("u", 1), pinn.Data("u", {"t": t, "u": np.exp(-0.97 * t)})],
        # The truth is near a bound, and the start far from it.
        parameters=[pinn.Parameter("k", 0.05, lower=0, upper=1)],
    )  # fmt: skip
    seen = []
    solution = pinn.solve(
        problem, pinn.MLP(width=6, depth=1), pinn.Sampling(interior=40),
        training=[pinn.LevenbergMarquardt(40)],
        callbacks=[lambda record: seen.append(record.parameters["k"])],
    )  # fmt: skip
    assert len(seen) == 40 and all(0 < k < 1 for k in seen)
    assert solution.parameters["k"] == pytest.approx(0.97, abs=1e-3)


def test_points_are_redrawn_as_often_as_the_stage_says():
    draws = {}
    for redraw in (3, None, "never"):
        draws[redraw] = []
        pinn.solve(
            DECAY, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20, redraw=5),
            training=[pinn.LevenbergMarquardt(11, redraw=redraw)],
            callbacks=[lambda record, seen=draws[redraw]: seen.append(record.draw)],
        )  # fmt: skip
    assert draws[3] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert draws[None] == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert draws["never"] == 11 * [0]


@pytest.mark.parametrize("redraw", [2, "auto"])
def test_points_that_are_never_redrawn_stay_whatever_happens(redraw):
    """Overfitted, and where no lower loss is found on them."""
    draws = []
    with pytest.warns((pinn.ProblemWarning, pinn.UnsolvedWarning)):
        solution = pinn.solve(
            DECAY, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=4, redraw=redraw),
            training=[pinn.LevenbergMarquardt(400, redraw="never")],
            callbacks=[lambda record: draws.append(record.draw)],
        )  # fmt: skip
    assert solution.report.stop_reason in ("no decrease", "precision floor")
    assert set(draws) == {0}


def test_points_that_are_overfitted_are_redrawn_at_once():
    """At a look, which is due at every second step, or after as many as the stage says."""
    seen = []
    with pytest.warns(pinn.ProblemWarning, match="5 rows for 25 trainable numbers"):
        pinn.solve(
            DECAY, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=4, redraw=1000),
            training=[pinn.LevenbergMarquardt(30, redraw=12)], callbacks=[seen.append],
        )  # fmt: skip
    early = 0
    for record, after in itertools.pairwise(seen):
        looks, served = record.course.looks, record.step - record.course.drawn_at
        ones = np.ones(looks.fresh.shape[1])
        overfitted = looks.is_at(record.step) and looks.overfit(ones) > 10
        assert (after.draw > record.draw) == (overfitted or served == 12)
        early += overfitted and served < 12
    assert early > 2


def test_a_step_takes_one_jacobian_and_no_gradient():
    """What training tells of a step was found when its loss was tried."""
    calls = []

    class Counted(Objective):
        def value_and_gradient(self, theta):
            calls.append("gradient")
            return super().value_and_gradient(theta)

        def jacobian(self, *arguments, **options):
            calls.append("jacobian")
            return super().jacobian(*arguments, **options)

    setup = Experiment(DECAY, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20))
    objective = Counted(
        DECAY, setup.initial_parameters(), setup.draw_points(), dtype=setup.dtype
    )
    result = train(objective, [LevenbergMarquardt(6)])
    assert result.steps == 6
    assert calls.count("jacobian") == 6
    assert calls.count("gradient") == 1  # where training begins
    again = objective.value_and_gradient(result.theta)
    assert result.loss == pytest.approx(again.loss, rel=1e-12)
    assert result.losses == pytest.approx(again.losses, rel=1e-12)
