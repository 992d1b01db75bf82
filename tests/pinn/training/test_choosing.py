"""The model that a short trial chooses: by the equations alone, told, saved, the same each time."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pinn
import pinn.config
from autograd import ranks
from pinn.training import Choice, choosing
from pinn.training.auto import Auto
from pinn.training.experiment import Experiment
from pinn.training.judging import trial
from pinn.training.judging.trial import Budget, Trial
from pinn.training.windows import pacing


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A trial of a size that suits tests."""
    small = {
        "_FEW": 60, "_LEAST_FEW": 30, "_MOST_FEW": 150, "_MANY": 120,
        "_LEAST_MANY": 60, "_MOST_MANY": 200, "_ON_A_LINE": 1.0,
    }  # fmt: skip
    for name, value in small.items():
        monkeypatch.setattr(choosing, name, value)


SMOOTH = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"poisson": "u_xx + pi**2*sin(pi*x)"},
    [pinn.Dirichlet("u", 0, hard=True)], reference={"u": "sin(pi*x)"},
)  # fmt: skip
FRONT = pinn.Problem(
    pinn.Time("t", 0, 8), ["u"], {"relaxation": "u_tt - 30*(1 - u**2)*u_t + u"},
    [pinn.Initial("u", 2, hard=True), pinn.Initial("u", 0, order=1, hard=True)],
)  # fmt: skip


def that_left(share, found=None, seconds=1.0):
    """A trial with steps of so many seconds that left a share of the loss."""
    return Trial({"e": 1.0}, {"e": share}, seconds, found or {}, False, np.zeros(1))


def gone(spent, limit):
    """A budget of which so many seconds are spent."""
    return Budget(limit, lambda: spent, 0.0)


def test_a_smooth_solution_gets_random_features_and_many_digits():
    told = []

    class Listening(pinn.training.Callback):
        def on_decision(self, decision):
            told.append(decision)

    solution = pinn.solve(SMOOTH, pinn.AutoModel(), callbacks=[Listening()], error_bars=False)
    assert isinstance(solution.experiment.model, pinn.RandomFeatures)
    assert solution.experiment.sampling.interior == 4 * 120
    assert solution.report.rel_l2["u"] < 1e-9
    assert told[0].what == "model: 120 random features"
    assert solution.report.decisions[0] == told[0]
    assert [stage.name for stage in solution.report.stages] == ["gauss_newton"]
    assert solution.report.history[0]["loss"] < 1e-15  # it goes on from the trial


def test_weights_that_undo_the_units_of_an_equation_undo_them_in_the_trial_too():
    def chosen(factor, **given):
        problem = pinn.Problem(
            pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"],
            {"heat": f"{factor}*(u_t - 0.1*u_xx)"},
            [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
        )  # fmt: skip
        solution = pinn.solve(problem, pinn.AutoModel(), error_bars=False, **given)
        return str(solution.report.decisions[0])

    plain = chosen(1, weighting={"heat": 1.0})
    assert "random features" in plain
    assert chosen(2.0**40, weighting={"heat": 2.0**-80}) == plain


def test_more_features_than_were_tried_begin_where_these_ended():
    given = Experiment(SMOOTH, pinn.AutoModel(enrichment=("x**1.5",)))
    found, _, theta, _ = choosing.with_model(given)
    assert (found.model.width, found.sampling.interior) == (120, 4 * 120)
    objective = found.objective()
    assert theta.shape == (objective.size,) == (1 + 120 + 1,)
    assert objective.value(theta) < 1e-12 * objective.value(0 * theta)


def test_an_interrupted_trial_leaves_layers_that_are_not_trained(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(choosing, "_tried", interrupted)
    solution = pinn.solve(SMOOTH)
    assert isinstance(solution.experiment.model, pinn.MLP)
    assert (solution.report.stop_reason, solution.report.steps) == ("interrupted", 0)
    assert "the trial of random features was interrupted" in solution.report.decisions[0].why
    with pytest.raises(KeyboardInterrupt):
        pinn.check(SMOOTH)


@pytest.mark.parametrize("embedding", [
    pinn.PeriodicEmbedding("x", trainable=True), pinn.FourierEmbedding(4, trainable=True),
])  # fmt: skip
def test_features_of_inputs_that_are_trained_are_not_linear_and_not_tried(embedding):
    assert not pinn.RandomFeatures(embedding=embedding).linear
    assert pinn.RandomFeatures(embedding=replace(embedding, trainable=False)).linear
    given = Experiment(SMOOTH, pinn.AutoModel(embedding=embedding))
    (decision,) = choosing.with_model(given).decisions
    assert decision.why == "what the network sees is trained as well"


def test_what_few_features_do_not_resolve_more_of_them_are_tried_on(monkeypatch):
    monkeypatch.setattr(choosing, "_KINDS", (("tanh", (0.5, 4.0)), ("tanh", (0.3, 2.0))))
    ripple = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"],
        {"poisson": "u_xx + 256*pi**2*sin(16*pi*x) + pi**2*sin(pi*x)"},
        [pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip
    found, (decision,), theta, _ = choosing.with_model(Experiment(ripple))
    assert isinstance(found.model, pinn.RandomFeatures) and found.model.width == 120
    assert decision.why.startswith("a trial of 120 random features left ")
    objective = found.objective()
    assert objective.value(theta) < 1e-6 * objective.value(0 * theta)


@pytest.mark.parametrize("half, follow", [(1e-2, True), (3e-4, False), (1.0, False)])
def test_in_haste_features_are_taken_that_leave_more_where_half_of_them_leave_far_more(
    monkeypatch, half, follow
):
    def tried(experiment, auto, kind, width, *more, **share):
        model = auto.random_features(width, *kind)
        parameters = choosing.replace(experiment, model=model).objective().parameters
        return that_left(half if width == 30 else 1e-4, parameters.named(np.zeros(width + 1)))

    monkeypatch.setattr(choosing, "_tried", tried)
    calm, hurried = (
        choosing.with_model(Experiment(SMOOTH, seconds=seconds)) for seconds in (None, 1e-6)
    )
    assert isinstance(calm.experiment.model, pinn.MLP)
    assert isinstance(hurried.experiment.model, pinn.RandomFeatures if follow else pinn.MLP)
    compared = f"; half of 60 left {half / 1e-4:.2g} times as much as all"
    assert hurried.decisions[0].why.endswith(
        f"; the limit in time cut it short{compared * (half < 1)}"  # of 1 it was not fitted
    )


def test_the_clock_counts_where_there_is_a_limit_in_time():
    def width(limit=None, spent=0.0):
        return choosing._many(
            Experiment(SMOOTH, pinn.AutoModel(), seconds=limit), gone(spent, limit), 1.0
        )

    assert width() == width(1000.0) == width(1040.0, 40.0) == 120
    assert width(0.1) == width(10.0, 10.5) == 60  # no fewer than were tried
    assert 60 < width(10.0) == width(15.0, 5.0) == int(60 * 3**0.4) < 120


def test_more_features_are_trained_where_time_is_left_and_digits_are_to_be_had():
    def width(left, limit=None, problem=SMOOTH, seconds=0.01):
        experiment = Experiment(problem, pinn.AutoModel(), seconds=limit)
        return choosing._worth(experiment, gone(0.0, limit), 60, that_left(left, {}, seconds))

    plane = replace(
        SMOOTH, domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), reference=None,
        equations={"poisson": "u_xx + u_yy + 1"},
    )  # fmt: skip
    # digits grow like the number along each coordinate
    assert width(1e-8, 1000.0) == 60 * 20 / 8
    assert width(1e-8, 1000.0, plane) == 200 < 60 * (20 / 8) ** 2  # no more than there are
    assert width(1e-12, 1000.0, plane) == int(60 * (20 / 12) ** 2)
    assert width(1e-8) == width(1e-18, 1000.0) == width(0.0, 1000.0) == 120  # as without a limit
    assert width(1e-8, 10.0, seconds=0.8) == int(60 * (3 / 0.8) ** 0.4)
    assert width(1e-8, 0.1, seconds=1.0) == 60


def test_points_that_are_given_limit_the_number_of_features():
    given = Experiment(SMOOTH, pinn.AutoModel(), pinn.Sampling(interior=180))
    assert choosing._many(given, gone(0.0, None), 1.0) == 90


def test_along_a_line_half_of_the_features_do(monkeypatch):
    monkeypatch.setattr(choosing, "_ON_A_LINE", 0.5)
    monkeypatch.setattr(choosing, "_LEAST_MANY", 20)
    square = replace(
        SMOOTH, domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), reference=None,
        equations={"poisson": "u_xx + u_yy + 1"},
    )  # fmt: skip
    line, plane = (Experiment(one, pinn.AutoModel()) for one in (SMOOTH, square))
    assert (choosing._few(line), choosing._few(plane)) == (30, 60)
    free = gone(0.0, None)
    assert (choosing._many(line, free, 1.0), choosing._many(plane, free, 1.0)) == (60, 120)


def test_trials_end_where_they_have_taken_their_share_of_the_time(monkeypatch):
    tried = []
    monkeypatch.setattr(choosing, "_tried", lambda experiment, auto, kind, *more: (
        tried.append(kind), that_left(1e-3))[1])
    choosing.with_model(Experiment(SMOOTH, pinn.AutoModel(), seconds=1e-6))
    assert len(tried) == 1
    choosing.with_model(Experiment(SMOOTH, pinn.AutoModel()))
    assert len(tried) == 1 + len(choosing._KINDS) + 1  # more of the best in the end


def test_a_front_gets_hidden_layers_that_are_trained(monkeypatch):
    class Stopped(pinn.training.Callback):
        def on_stage_start(self, info):
            return True

    monkeypatch.setattr(choosing, "_may_have_windows", lambda _: False)
    solution = pinn.solve(FRONT, error_bars=False, callbacks=[Stopped()], seconds=100.0)
    assert solution.experiment.model == pinn.MLP(depth=3)
    assert solution.report.decisions[0].what == "model: 3 trained hidden layers"
    long = Experiment(FRONT, pinn.AutoModel(), seconds=300.0)
    chosen = choosing.with_model(long).experiment
    assert chosen.model.depth == 4
    assert chosen.sampling.interior == 8000


def test_in_time_alone_features_go_in_windows_where_one_set_of_them_does_not_follow():
    found, (decision,), theta, _ = choosing.with_model(Experiment(FRONT))
    features = pinn.RandomFeatures(50, (1.0, 8.0))
    assert found.model == pinn.Windows(model=features, order=2, breaks=found.model.breaks)
    assert found.sampling.interior == 4 * 50
    count = found.model.count
    assert decision.what == f"model: 50 random features in each of {count} windows of time"
    assert "windows of time leave at most" in decision.why
    objective = found.objective()
    objective.parameters.load(theta)  # training begins where the trial ended
    assert objective.value(theta) < 1e-12 * objective.value(0 * theta)
    right = solve_ivp(
        lambda _, y: [y[1], 30 * (1 - y[0] ** 2) * y[1] - y[0]], (0, 8), [2.0, 0.0],
        method="Radau", t_eval=[0.01, 4.0, 8.0], rtol=1e-11, atol=1e-13,
    ).y[0]  # fmt: skip
    solution = pinn.solve(FRONT, found.model, found.sampling, error_bars=False)
    times = np.array([0.01, 4.0, 8.0])
    assert solution.evaluate(t=times)["u"].ravel() == pytest.approx(right, rel=1e-9)


def test_windows_that_are_solved_are_kept_where_the_limit_does_not_do_for_all(monkeypatch):
    """On a machine where a fit takes two seconds: after two trials a limit of 9 s leaves time for
    two windows, one of 16 s for the four that are needed, and one of 7 s for none."""
    now, counts = [0.0], []

    def slow(objective, points, start, *_):
        now[0] += 2
        return that_left(1e-3 if now[0] <= 4 else 1e-30)._replace(theta=start)

    monkeypatch.setattr(ranks, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(choosing, "fitted", slow)
    monkeypatch.setattr(pacing, "fitted", slow)
    for limit in (7.0, 9.0, 16.0):
        now[0] = 0.0
        chosen = choosing.with_model(Experiment(FRONT, seconds=limit))
        model = chosen.experiment.model
        counts.append((getattr(model, "trained", 0), getattr(model, "until", None)))
        told = [one.what for one in chosen.decisions]
        assert any("solved up to t = 3 of 8" in one for one in told) == (limit == 9.0)
    assert counts == [(0, None), (2, 3.0), (4, None)]


def test_what_features_do_not_follow_in_windows_layers_do_in_fewer(monkeypatch):
    # a trial takes no time here: how long it takes depends on the machine
    for module in (choosing, pacing):
        monkeypatch.setattr(
            module, "fitted", lambda *given: that_left(1.0)._replace(theta=given[2])
        )
    found, (decision,), *_ = choosing.with_model(Experiment(FRONT))
    assert found.model == replace(pinn.Windows(4, pinn.MLP(depth=2)), order=found.model.order)
    assert decision.what == "model: 2 trained hidden layers in each of 4 windows of time"
    for given in ({"seconds": 19.0}, {"continuation": {"k": [0.5]}}):
        problem = replace(
            FRONT, constants={"k": 30.0}, equations={"relaxation": "u_tt - k*(1 - u**2)*u_t + u"}
        )
        assert isinstance(choosing.with_model(Experiment(problem, **given)).experiment.model,
                          pinn.MLP)  # fmt: skip
    windows = choosing.with_model(Experiment(FRONT, seconds=21.0)).experiment.model
    assert windows.model == pinn.MLP(depth=2)


def test_windows_solve_a_pendulum():
    """Against an integration by Runge and Kutta's method."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 6), ["u"], {"pendulum": "u_tt + sin(u)"},
        [pinn.Initial("u", 3.0), pinn.Initial("u", 0, order=1)],
    )  # fmt: skip
    stages = [pinn.LevenbergMarquardt(steps=40)]
    few, t = pinn.Sampling(interior=160), np.linspace(0, 6, 61)
    right = solve_ivp(
        lambda _, y: [y[1], -np.sin(y[0])], (0, 6), [3.0, 0.0], t_eval=t, rtol=1e-10, atol=1e-10
    ).y[0]
    found = pinn.solve(problem, pinn.Windows(2, pinn.MLP(width=8, depth=2)), few, stages)
    assert np.abs(found.evaluate(t=t)["u"].ravel() - right).max() < 1e-3


def test_what_the_network_is_to_see_stays():
    seen = {"features": ("x", "sin(3*x)"), "scale": {"u": 2.0}}
    chosen = choosing.with_model(Experiment(SMOOTH, pinn.AutoModel(**seen))).experiment.model
    assert isinstance(chosen, pinn.RandomFeatures)
    assert (chosen.features, dict(chosen.scale)) == (seen["features"], seen["scale"])


def test_the_number_of_points_that_is_given_stays():
    given = Experiment(SMOOTH, pinn.AutoModel(), pinn.Sampling(interior=77))
    assert choosing.with_model(given).experiment.sampling == given.sampling


def test_a_trial_takes_no_more_points_than_it_needs(monkeypatch):
    rows = []

    class Counting(pinn.GaussNewton):
        def run(self, function, *arguments):
            rows.append(function.rows)
            return super().run(function, *arguments)

    monkeypatch.setattr(trial, "GaussNewton", Counting)
    chosen = choosing.with_model(Experiment(SMOOTH, sampling=pinn.Sampling(interior=1000)))
    assert rows[0] == 4 * 60
    assert chosen.experiment.sampling.interior == 1000


def test_equal_arguments_choose_the_same():
    found = [choosing.with_model(Experiment(SMOOTH, pinn.AutoModel(), seed=3)) for _ in range(2)]
    assert found[0].decisions == found[1].decisions
    assert found[0].experiment.model == found[1].experiment.model


def test_a_trial_ends_where_it_has_taken_its_share_of_the_time():
    taken = []

    class Counting(pinn.GaussNewton):
        def run(self, *arguments):
            for step in super().run(*arguments):
                taken.append(step.number)
                yield step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "GaussNewton", Counting)
        patch.setattr(trial, "AT_MOST", 1e9)
        patch.setattr(choosing, "AT_MOST", 1e9)
        patch.setattr(choosing, "_may_have_windows", lambda _: False)
        chosen = choosing.with_model(Experiment(FRONT, pinn.AutoModel(), seconds=1e-6))
    assert taken == [1]
    assert isinstance(chosen.experiment.model, pinn.MLP)


@pytest.mark.parametrize("equation", ["u_x + u*log(u)", "u_x + 1/u"])
def test_where_a_network_of_zero_has_no_finite_residual_layers_are_trained(equation):
    """They begin with the values that conditions give, random features with zero."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 0.1), ["u"], {"e": equation}, [pinn.Dirichlet("u", 0.5, on="x=0")]
    )  # fmt: skip
    chosen = choosing.with_model(Experiment(problem))
    assert chosen.experiment.model == pinn.MLP()
    assert "left inf of the loss" in chosen.decisions[0].why


def test_the_time_of_the_trial_counts_and_the_limit_is_told_as_it_was_given():
    solution = pinn.solve(SMOOTH, seconds=1e-3, error_bars=False)
    assert solution.report.stop_reason == "time limit"
    assert "time limit of 0.001 s for all stages" in solution.report.message
    assert "choosing the model took" in solution.report.message


@pinn.declared
class Own(pinn.Plan):
    """Two steps of Adam."""

    def next(self, now):
        return Choice(None if now.stages else pinn.Adam(2), "as planned")

    def foreseen(self, scale):
        return (pinn.Adam(2),)


@pytest.mark.parametrize(("arguments", "why"), [
    ({"training": Own()}, "stages of training are given"),
    ({"precision": "float32"}, "more digits than float32 has"),
    ({"problem": pinn.Problem(
        pinn.Box(*(pinn.Interval(name, 0, 1) for name in "abcd")), ["u"], {"p": "laplacian(u)"},
        [pinn.Dirichlet("u", "a")],
    )}, "cannot follow 4 coordinates"),
    ({"training": (pinn.Adam(5),)}, "stages of training are given"),
    ({"weighting": pinn.SelfAdaptive()}, "weights that change on the way"),
    ({"sampling": pinn.Sampling(interior=100, batch=10)}, "all points at once"),
    ({"problem": pinn.Problem(
        pinn.Interval("x", 0, 1), list("abcdfgh"),
        {f"of_{name}": f"{name}_xx" for name in "abcdfgh"},
        [pinn.Dirichlet(name, "x") for name in "abcdfgh"],
    )}, "7 unknowns are too many for a trial"),
])  # fmt: skip
def test_where_there_is_no_hope_nothing_is_tried(arguments, why, monkeypatch):
    monkeypatch.setattr(choosing, "_tried", None)
    given = Experiment(**{"problem": SMOOTH, "model": pinn.AutoModel(), **arguments})
    (decision,) = choosing.with_model(given).decisions
    assert why in decision.why


def test_a_model_that_is_given_is_taken():
    given = Experiment(SMOOTH, pinn.MLP(width=3))
    assert choosing.with_model(given) == choosing.Chosen(given)


def test_what_goes_on_from_a_solution_has_its_model():
    first = pinn.solve(SMOOTH, pinn.MLP(width=3), training=[pinn.Adam(2)], error_bars=False)
    assert pinn.solve(SMOOTH, start=first, training=[pinn.Adam(2)]).experiment.model.width == 3
    chosen = pinn.solve(SMOOTH, error_bars=False)
    again = pinn.solve(SMOOTH, start=chosen, sampling=chosen.experiment.sampling, error_bars=False)
    assert again.experiment.model == chosen.experiment.model
    numbers = choosing.with_model(Experiment(SMOOTH), started=True)
    assert numbers.experiment.model == pinn.MLP()
    assert "the numbers to start from are given" in numbers.decisions[0].why


def test_it_is_written_as_a_word_and_the_solution_knows_what_was_chosen(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        "problem:\n  domain: {x: [0, 1]}\n  unknowns: [u]\n"
        "  equations: {poisson: u_xx + pi**2*sin(pi*x)}\n"
        "  conditions: [{dirichlet: {unknown: u, value: 0, hard: true}}]\nmodel: auto\n"
    )
    experiment = pinn.config.load(file).experiment
    assert experiment.model == pinn.AutoModel()
    solution = pinn.solve(**experiment.arguments | {"error_bars": False})
    solution.save(tmp_path / "solution.npz")
    loaded = pinn.load(tmp_path / "solution.npz")
    assert loaded.experiment.model == solution.experiment.model
    x = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(loaded.evaluate(x=x)["u"], solution.evaluate(x=x)["u"])


@pytest.mark.parametrize(("model", "key"), [
    (pinn.Windows(2, model=pinn.AutoModel()), "model.model"),
    (pinn.PerUnknown(networks={"u": pinn.AutoModel()}), "model.networks.u"),
    (pinn.Separable(body=pinn.AutoModel()), "model.body"),
])  # fmt: skip
def test_as_a_part_of_a_model_it_is_refused(model, key):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - u_xx"},
        [pinn.Initial("u", "x")],
    )  # fmt: skip
    with pytest.raises(ValueError, match=f"{key}: expected a model such as mlp"):
        Experiment(problem, model)


def test_a_field_that_is_to_be_tried_is_refused():
    x = pinn.Interval("x", 0, 1)
    problem = pinn.Problem(
        x, ["u"], {"e": "u_xx + k"}, [pinn.Dirichlet("u", 0)],
        fields=[pinn.Field("k", ["x"], model=pinn.AutoModel())],
    )  # fmt: skip
    with pytest.raises(ValueError, match="problem.fields.k.model: expected a model such as mlp"):
        Experiment(problem)


def test_a_network_that_is_not_chosen_yet_says_so():
    with pytest.raises(RuntimeError, match="has not been chosen yet"):
        pinn.AutoModel().build(
            pinn.Interval("x", 0, 1), ["u"], np.random.default_rng(0), np.dtype(float)
        )


def test_a_level_of_the_solution_does_not_make_a_layer_resolved():
    def chosen(level):
        layer = pinn.Problem(
            pinn.Interval("x", 0, 1), ["u"], {"layer": "u_x - 0.0005*u_xx - 1"},
            [pinn.Dirichlet("u", level)],
        )  # fmt: skip
        return choosing.with_model(Experiment(layer)).experiment.model

    assert isinstance(chosen(0), pinn.MLP) and isinstance(chosen(1000), pinn.MLP)


def test_a_trial_gives_up_within_a_step_where_that_would_take_half_of_the_time(monkeypatch):
    """On a machine where an evaluation takes ten seconds, one step tries more than five."""
    now, values = [0.0], trial.Watched.values

    def slow(self, thetas):
        now[0] += 10 * len(thetas)
        return values(self, thetas)

    monkeypatch.setattr(ranks, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(trial.Watched, "values", slow)
    chosen = choosing.with_model(Experiment(FRONT, seconds=40.0))
    assert now[0] <= 30
    assert chosen.experiment.model.model == pinn.MLP(depth=2)  # in windows
    assert "the limit in time cut it short" in chosen.decisions[0].why


def test_nothing_is_compiled_for_features_that_a_few_steps_solve_for(monkeypatch):
    made, make = [], pinn.objective.objective.make_engine

    def listened(*arguments, **named):
        made.append(arguments[4])
        return make(*arguments, **named)

    monkeypatch.setattr(pinn.objective.objective, "make_engine", listened)
    for model, stages in (
        (pinn.RandomFeatures(5), Auto()), (pinn.RandomFeatures(5), [pinn.Adam(1000)]),
        (pinn.MLP(width=3, depth=1), Auto()),
    ):  # fmt: skip
        Experiment(SMOOTH, model, pinn.Sampling(interior=9), training=stages).objective()
    assert made == ["numpy", "auto", "auto"]


def test_callbacks_hear_how_far_the_choice_is():
    heard = []

    class Listening(pinn.training.Callback):
        def on_choosing(self, sentence):
            heard.append(sentence)

    given = {"training": [pinn.Adam(1)], "error_bars": False, "callbacks": [Listening()]}
    with pytest.warns(pinn.UnsolvedWarning):
        pinn.solve(SMOOTH, pinn.MLP(width=3, depth=1), **given)
    assert heard == []  # nothing is to be chosen
    decay = pinn.Problem(
        pinn.Time("t", 0, 60), ["u"], {"e": "u_t + u"}, [pinn.Initial("u", 1, hard=True)]
    )  # fmt: skip
    pinn.solve(decay, error_bars=False, callbacks=[Listening()])
    assert heard[0].startswith("a trial of 60 random features left ")
    assert heard[-1].endswith("windows of time, up to t = 60 of 60")


def test_points_that_are_fitted_to_rounding_are_not_told_of():
    """A residual of 1e-22 is no fit of points alone, though it is 1e-24 at these."""
    problem = pinn.Problem(
        pinn.Time("t", 0, 3), ["u"], {"g": "u_t - 1/u"}, [pinn.Initial("u", 0.1)]
    )  # fmt: skip
    solution = pinn.solve(problem, error_bars=False)
    assert solution.report.warnings == ()
    t = np.linspace(0, 3, 7)
    found = solution.evaluate(t=t)["u"].ravel()
    np.testing.assert_allclose(found, np.sqrt(0.01 + 2 * t), rtol=1e-9)


X, Y = pinn.Interval("x", -1, 1), pinn.Interval("y", -1, 1)


def around_a_hole(exact, sampling=None):
    """Laplace's or Poisson's equation in a square with a hole, whose model sees it."""
    domain = X * Y - pinn.Disk((0.2, 0.1), 0.3)
    problem = pinn.Problem(
        domain, ["u"], {"e": f"laplacian(u) - laplacian({exact})"}, [pinn.Dirichlet("u", exact)]
    )
    (hole,) = domain.holes
    seen = pinn.InversionEmbedding(hole.center, hole.radius)
    return Experiment(problem, pinn.AutoModel(embedding=seen), sampling or pinn.Sampling())


def test_many_features_have_more_points_along_walls(monkeypatch):
    monkeypatch.setattr(choosing, "_MANY", 500)
    chosen = choosing.with_model(around_a_hole("log((x - 0.2)**2 + (y - 0.1)**2)")).experiment
    assert chosen.model.width == 500 and chosen.sampling.interior == 2000
    assert chosen.sampling.boundary == 250 and chosen.sampling.initial == 125
    given = pinn.Sampling(boundary=40, initial=30, density="1")
    asked = around_a_hole("log((x - 0.2)**2 + (y - 0.1)**2)", given)
    chosen = choosing.with_model(asked).experiment.sampling
    assert (chosen.boundary, chosen.initial, chosen.density) == (40, 30, "1")


@pytest.mark.parametrize(("exact", "sees"), [
    ("log((x - 0.25)**2 + (y - 0.1)**2)", True), ("sin(x)*cos(y)", False),
])  # fmt: skip
def test_inputs_that_the_solution_does_not_need_are_left_out(exact, sees):
    asked = around_a_hole(exact)
    plainer = replace(asked.model, embedding=())
    chosen = choosing.with_model(asked, plainer=replace(asked, model=plainer))
    model, sampling = chosen.experiment.model, chosen.experiment.sampling
    assert isinstance(model, pinn.RandomFeatures)
    assert bool(model.embedding) is sees and bool(sampling.density) is sees
    assert ("inputs: without" in " ".join(map(str, chosen.decisions))) is not sees


def test_layers_see_holes_even_where_few_features_do_without(monkeypatch):
    left = iter([that_left(1e-2), that_left(1e-3), *[that_left(1e-3)] * 20])
    monkeypatch.setattr(choosing, "_tried", lambda *given: next(left))
    asked = around_a_hole("sin(x)*cos(y)")
    plainer = replace(asked.model, embedding=())
    chosen = choosing.with_model(asked, plainer=replace(asked, model=plainer))
    assert isinstance(chosen.experiment.model, pinn.MLP)
    assert chosen.experiment.model.embedding == asked.model.embedding
    assert "inputs: without" not in " ".join(map(str, chosen.decisions))
