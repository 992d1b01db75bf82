"""pinn.solve: known accuracy, equal bits, and what is refused before training begins."""

import inspect

import numpy as np
import pytest

import pinn

ODE = pinn.Problem(
    pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
    reference={"u": "exp(-t)"},
)  # fmt: skip
X, Y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=40)}


def test_an_ordinary_equation():
    solution = pinn.solve(ODE, **SMALL, training=[pinn.SSBroyden(400)])
    assert solution.report.rel_l2["u"] < 1e-5
    assert solution.report.max_error["u"] < 1e-5
    t = np.linspace(0, 2, 7)
    np.testing.assert_allclose(solution.evaluate(t=t)["u"], np.exp(-t), atol=1e-5)
    np.testing.assert_allclose(solution.derivative("u_t", t=t), -np.exp(-t), atol=1e-3)


def test_a_second_order_equation_with_both_initial_conditions():
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["u"], {"swing": lambda s: s.u_tt + s.u},
        [pinn.Initial("u", 0), pinn.Initial("u", 1, order=1)], reference={"u": "sin(t)"},
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(400)])
    assert solution.report.rel_l2["u"] < 1e-4


def test_poissons_equation():
    problem = pinn.Problem(
        X * Y, ["u"], {"poisson": "laplacian(u) + 2*pi**2*sin(pi*x)*sin(pi*y)"},
        [pinn.Dirichlet("u", 0)], reference={"u": "sin(pi*x)*sin(pi*y)"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(width=12, depth=2), pinn.Sampling(interior=150, boundary=80),
        [pinn.SSBroyden(400)], weighting={"dirichlet_u": 100},
    )  # fmt: skip
    assert solution.report.rel_l2["u"] < 5e-3


def test_a_system_of_two_unknowns():
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["a", "b"], {"first": "a_t - b", "second": "b_t + a"},
        [pinn.Initial("a", 0), pinn.Initial("b", 1)], reference={"a": "sin(t)", "b": "cos(t)"},
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(400)])
    assert max(solution.report.rel_l2.values()) < 1e-4


def test_a_coefficient_is_found():
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + k*u"},
        [pinn.Initial("u", 1), pinn.Initial("u", -2, order=1)],
        parameters=[pinn.Parameter("k", 0.5, lower=0)],
    )  # fmt: skip
    solution = pinn.solve(problem, **SMALL, training=[pinn.SSBroyden(400)])
    assert solution.report.parameters["k"] == pytest.approx(2, abs=1e-3)
    assert solution.parameters == solution.report.parameters
    assert solution.report.rel_l2 == {}


def test_equal_arguments_give_equal_bits_and_other_seeds_other_ones():
    stages = [pinn.Adam(20), pinn.LBFGS(20)]
    first, second, other = (
        pinn.solve(ODE, **SMALL, training=stages, seed=seed) for seed in (4, 4, 5)
    )
    assert first.theta.tobytes() == second.theta.tobytes()
    assert first.report.loss == second.report.loss
    assert first.report.rel_l2 == second.report.rel_l2
    assert not np.isin(first.theta, other.theta).any()


def test_callbacks_and_a_reference_change_no_bit():
    stages = [pinn.Adam(20)]
    plain = pinn.Problem(ODE.domain, ODE.unknowns, ODE.equations, ODE.conditions)
    quiet = pinn.solve(plain, **SMALL, training=stages)
    watched = pinn.solve(ODE, **SMALL, training=stages, callbacks=[Watcher()])
    assert quiet.theta.tobytes() == watched.theta.tobytes()


class Watcher(pinn.Callback):
    """Evaluates in the middle of training, as a run's log does."""

    def on_start(self, session):
        self.session = session
        self.errors = []
        self.ended = None

    def on_step(self, record):
        snapshot = self.session.solution(record)
        assert snapshot.report.stop_reason == "running"
        assert snapshot.report.loss == record.loss
        self.errors.append(self.session.errors(record).rel_l2["u"])

    def on_end(self, solution):
        self.ended = solution


def test_callbacks_see_solutions_on_the_way():
    watcher = Watcher()
    solution = pinn.solve(ODE, **SMALL, training=[pinn.LBFGS(100)], callbacks=[watcher])
    assert watcher.ended is solution
    assert len(watcher.errors) == solution.report.steps
    assert watcher.errors[-1] == solution.report.rel_l2["u"] < 0.1 * watcher.errors[0]


def test_nothing_is_printed(capfd):
    pinn.solve(ODE, **SMALL, training=[pinn.Adam(5)])
    assert capfd.readouterr() == ("", "")


def test_a_problem_that_seems_wrong_is_warned_of_before_training():
    problem = pinn.Problem(pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"})
    began = []
    with pytest.warns(pinn.ProblemWarning, match="not to be determined in t") as caught:
        report = pinn.solve(
            problem, **SMALL, training=[pinn.LBFGS(200)],
            callbacks=[lambda record: began.append(len(caught))],
        ).report  # fmt: skip
    assert set(began) == {1} and caught[0].filename == __file__
    assert report.warnings == (str(caught[0].message),)


def test_warnings_as_errors_end_a_run_before_training():
    problem = pinn.Problem(pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"})
    with pytest.raises(pinn.ProblemWarning):
        pinn.solve(problem, callbacks=[lambda record: pytest.fail("training began")])


def test_the_report_says_what_happened():
    report = pinn.solve(ODE, **SMALL, training=[pinn.Adam(5), pinn.LBFGS(6)]).report
    assert (report.stop_reason, report.steps) == ("step limit", 11)
    assert set(report.losses) == {"decay", "initial_u"}
    assert report.loss == pytest.approx(sum(report.losses.values()))
    assert 0 < report.wall_seconds < 30
    assert "stopped: step limit; loss " in report.summary()
    assert "relative L2 error of u " in report.summary()


def test_an_interrupted_run_still_gives_its_solution():
    def interrupt(record):
        raise KeyboardInterrupt

    solution = pinn.solve(ODE, **SMALL, callbacks=[interrupt])
    assert solution.report.stop_reason == "interrupted"
    assert solution.report.rel_l2["u"] > 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"problem": "burgers"}, TypeError, "problem: expected pinn.Problem"),
        ({"model": "mpl"}, TypeError, "model: expected a model such as pinn.MLP"),
        ({"model": pinn.MLP}, TypeError, r"got the class MLP; write pinn.MLP\(\)"),
        ({"sampling": pinn.Sampling}, TypeError,
         r"got the class Sampling; write pinn.Sampling\(\)"),
        ({"training": [pinn.Adam]}, TypeError, r"training.0: .* class Adam; write pinn.Adam\(\)"),
        ({"training": [pinn.Stage]}, TypeError, r"got the class Stage$"),
        ({"model": pinn.Progress}, TypeError,
         r"model: expected a model .* got <class '.*Progress'>"),
        ({"callbacks": [pinn.Progress]}, TypeError,
         r"callbacks.0: .* got the class Progress; write pinn.Progress\(\)"),
        ({"callbacks": pinn.Progress()}, TypeError, r"callbacks: expected a list.*put it in \[ \]"),
        ({"device": "gpu"}, ValueError, "got 'gpu'; did you mean 'cuda'"),
        ({"training": "adam"}, TypeError, r"got 'adam'; write \[pinn\.Adam\(\)\]$"),
        ({"device": "x"}, ValueError, "device: expected one of cpu, cuda"),
        ({"sampling": 2500}, TypeError, "sampling: expected pinn.Sampling"),
        ({"training": []}, ValueError, "training: expected a list of training stages, got none"),
        ({"training": pinn.Adam()}, TypeError, r"a list of training stages.*put it in \[ \]"),
        ({"training": ["adam"]}, TypeError, "training.0: expected a training stage such as pinn"),
        ({"weighting": {"deca": 1}}, ValueError, "did you mean 'decay'"),
        ({"seed": -1}, ValueError, "seed: expected a whole number >= 0, got -1"),
        ({"seed": 0.5}, TypeError, "seed: expected a whole number"),
        ({"precision": "float16"}, ValueError, "precision: expected one of float64, float32"),
        ({"callbacks": ["progress"]}, TypeError, "callbacks.0: expected a function"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        pinn.solve(**{"problem": ODE, **arguments})


def test_a_reference_that_fails_does_so_before_training():
    problem = pinn.Problem(
        X, ["u"], {"e": "u_x"}, reference=lambda s: np.where(s.x > 0.5, np.nan, s.x)
    )
    with pytest.raises(ValueError, match="reference of 'u': not finite at 500 of 1001 .* x = 0.50"):
        pinn.solve(problem, callbacks=[lambda record: pytest.fail("training began")])


def test_float32():
    solution = pinn.solve(ODE, **SMALL, training=[pinn.LBFGS(100)], precision="float32")
    assert solution.evaluate(t=0.5)["u"].dtype == np.float32
    assert solution.report.rel_l2["u"] < 1e-2


def test_a_run_that_diverges_warns_with_the_place():
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t + log(u - 9)"}, [pinn.Initial("u", 1)]
    )
    with pytest.warns(pinn.UnsolvedWarning, match="training diverged: .*log") as caught:
        solution = pinn.solve(problem, training=[pinn.Adam(2)], sampling=pinn.Sampling(10))
    assert any(solution.report.message in str(warning.message) for warning in caught)
    assert solution.report.unsolved


def test_a_misspelled_argument_is_answered_with_the_one_that_was_meant():
    with pytest.raises(TypeError, match="solve has no argument 'second'; did you mean 'seconds'"):
        pinn.solve(None, second=1)


def test_what_a_run_is_checked_with_is_what_it_is_solved_with():
    solved, checked = inspect.signature(pinn.solve), inspect.signature(pinn.check)
    arguments = [one for one in solved.parameters.values() if one.name != "resume"]
    assert list(checked.parameters.values()) == arguments
    assert checked.return_annotation == "Check"
    told = pinn.check(ODE, SMALL["model"], SMALL["sampling"], [pinn.Adam(7)], precision="float32")
    assert told.parameters == 31 and told.precision == "float32"
    assert [stage.steps for stage in told.stages] == [7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"second": 1}, "check has no argument 'second'; did you mean 'seconds'"),
        ({"resume": "run"}, "check has no argument 'resume'"),
        ({}, r"check\(\): missing a required argument: 'problem'"),
        ({"problem": ODE, "callbacks": ["progress"]}, "callbacks.0: expected a function"),
    ],
)
def test_what_a_check_is_refused_with(arguments, message):
    with pytest.raises(TypeError, match=message):
        pinn.check(**arguments)


def test_what_is_solved_for_a_part_of_time_is_not_believed():
    """Windows up to t = 1.5 of 2: the part is right, and the report, the warning say the rest."""
    model = pinn.Windows(model=pinn.RandomFeatures(40, (1.0, 8.0)), breaks=[0.5, 1.5], until=1.5)
    with pytest.warns(pinn.UnsolvedWarning, match=r"solved up to t = 1\.5: what comes after"):
        solution = pinn.solve(ODE, model, pinn.Sampling(interior=160))
    t = np.linspace(0, 1.5, 31)
    np.testing.assert_allclose(solution.evaluate(t=t)["u"].ravel(), np.exp(-t), atol=1e-9)
    assert solution.report.unsolved
    assert solution.report.message == "solved up to t = 1.5, in 2 windows of time"
    estimate = solution.error_estimate()
    assert not estimate.trusted and estimate.relative_l2["u"] < 1e-9
    assert "nothing is solved after t = 1.5" in estimate.doubts[0]
    assert "solved up to t = 1.5" in str(solution.report)
