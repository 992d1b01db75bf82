"""Plans: stages that are chosen while training runs, and the one that ships."""

import dataclasses
import io
import math
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from autograd.ranks import ALONE
from pinn.config import load
from pinn.optimizers import LBFGS, Adam, LevenbergMarquardt, SSBroyden, StopReason
from pinn.solution.storage import experiment_json, read_experiment
from pinn.training import (
    PLANS,
    Choice,
    Decision,
    InTurn,
    Resume,
    Scale,
    Situation,
    StageReport,
    auto,
)
from pinn.training.auto import MOST_DENSE, MOST_REDUCED, Auto, default_training
from pinn.training.experiment import Experiment
from pinn.training.looks import Looks
from pinn.training.loop import train

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=5, depth=1), "sampling": pinn.Sampling(interior=20)}


def objective():
    return Experiment(PROBLEM, **SMALL).objective()


@pinn.declared
class Doubling(pinn.Plan):
    """Stages of SSBroyden of twice as many steps each, until the loss has fallen below `least`."""

    first: int = 4
    least: float = 1e-5

    def next(self, now):
        if now.stages and now.loss <= self.least:
            return Choice(None, f"the loss {now.loss:.1e} will do")
        steps = self.first * 2 ** len(now.stages)
        return Choice(SSBroyden(steps), f"stage {now.number + 1}, after {now.steps} steps")

    def foreseen(self, scale):
        return (SSBroyden(self.first),)


@pytest.fixture
def doubling():
    PLANS.add("doubling", Doubling)
    yield Doubling
    PLANS.remove("doubling")


def now(**known):
    """What a plan is told, at the beginning unless said otherwise."""
    told = {
        "size": 100, "rows": 50, "precision": "float64", "number": 0, "steps": 0, "stage_step": 0,
        "loss": math.nan, "fresh_loss": math.nan, "stages": (), "history": (),
        "looks": Looks.none(1), "weights": np.ones(1), "seconds": None, "left": None,
    }  # fmt: skip
    return Situation(**{**told, **known})


def ended(name, reason=StopReason.STEPS):
    return StageReport(name, 500, 1.0, 1e-3, reason, "")


# ---- the mechanism


def test_a_plan_chooses_each_stage_by_what_the_last_one_left():
    heard = []

    class Listener(pinn.Callback):
        def on_decision(self, decision):
            heard.append(decision)

        def on_stage_start(self, info):
            heard.append((info.name, info.index, info.count, info.steps, info.why))

    result = train(objective(), Doubling(), [Listener()])
    count = len(result.stages)
    assert count >= 3
    assert [stage.steps for stage in result.stages] == [4 * 2**k for k in range(count)]
    assert all(stage.loss > 1e-5 for stage in result.stages[:-1])
    assert result.loss == result.stages[-1].loss <= 1e-5
    begun = [0, *np.cumsum([stage.steps for stage in result.stages])]
    assert result.decisions == (
        *(
            Decision(begun[k], f"ssbroyden, up to {4 * 2**k} steps", f"stage {k + 1}, after "
                     f"{begun[k]} steps") for k in range(count)
        ),
        Decision(begun[-1], "training ends", f"the loss {result.loss:.1e} will do"),
    )  # fmt: skip
    assert [stage.chosen for stage in result.stages] == [d.why for d in result.decisions[:-1]]
    assert [one for one in heard if isinstance(one, Decision)] == list(result.decisions)
    assert heard[1] == ("ssbroyden", 0, None, 4, "stage 1, after 0 steps")


def test_stages_in_turn_are_a_plan_that_says_nothing():
    stages = (Adam(5), LBFGS(4))
    given, planned = train(objective(), list(stages)), train(objective(), InTurn(stages))
    assert given.theta.tobytes() == planned.theta.tobytes()
    assert given.decisions == planned.decisions == ()
    assert InTurn(stages).next(now(number=2)) == Choice(None)


def kept(record):
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 12, 13])
def test_a_run_that_goes_on_has_the_same_stages_and_bits(stop):
    records, rest = [], []
    whole = train(objective(), Doubling(), [lambda record: records.append(kept(record))])
    record = records[stop - 1]
    before = whole.stages[: record.stage_index]
    asked = []

    class Asked(Doubling):
        def next(self, now):
            asked.append(now.number)
            return super().next(now)

    result = train(objective(), Asked(), [rest.append], resume=Resume(record, stages=before))
    assert asked[0] == record.stage_index + 1  # the running stage is not chosen again
    assert result.theta.tobytes() == whole.theta.tobytes()
    assert result.decisions == whole.decisions
    assert [r.course.choices for r in rest] == [r.course.choices for r in records[stop:]]


class Enough(Doubling):
    def enough(self, stage, now):
        return f"{now.stage_step} steps will do" if now.stage_step >= 150 else None


def test_a_plan_may_have_enough_of_a_stage():
    result = train(objective(), Enough(first=400, least=1.0))
    (stage,) = result.stages
    assert (stage.steps, stage.reason) == (200, "stalled")
    assert stage.message == "200 steps will do, after step 200"


def test_a_callback_may_stop_at_a_decision():
    class Stopping(pinn.Callback):
        def on_decision(self, decision):
            raise StopIteration("I would rather choose myself")

    result = train(objective(), Doubling(), [Stopping()])
    assert (result.reason, result.steps) == ("stopped by callback", 0)
    assert "I would rather choose myself" in result.message


def test_a_stage_that_does_not_fit_the_model_is_refused_when_it_is_chosen():
    class Dense(Doubling):
        def next(self, now):
            return Choice(SSBroyden(), "it does not fit")

    plain = objective()
    plain.__class__ = type("Large", (type(plain),), {"size": property(lambda self: 10**6)})
    with pytest.raises(ValueError, match="its inverse Hessian of 1000000 trainable numbers"):
        train(plain, Dense())


# ---- in files


def test_a_plan_is_declared_by_its_name_in_a_file(doubling, tmp_path):
    text = "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u]\n" \
           "  equations: {decay: u_t + u}\n  conditions: [initial: {unknown: u, value: 1}]\n"
    for written, expected, resolved in (
        ("", Auto(), "training: auto\n"),
        ("training: auto\n", Auto(), "training: auto\n"),
        ("training:\n", Auto(), "training: auto\n"),
        ("training: doubling\n", Doubling(), "doubling: {first: 4, least: 1.0e-05}\n"),
        ("training: {doubling: {first: 7}}\n", Doubling(7), "doubling: {first: 7, "),
    ):  # fmt: skip
        (tmp_path / "a.yaml").write_text(text + written)
        config = load(tmp_path / "a.yaml")
        assert config.experiment.training == expected
        assert resolved in config.text()
        (tmp_path / "b.yaml").write_text(config.text())
        assert load(tmp_path / "b.yaml").experiment.training == expected
        again = read_experiment(experiment_json(config.experiment), "file")
        assert again.training == expected


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ("autp", "expected auto or a list of training stages, got 'autp'"),
        (pinn.Adam(), r"expected auto or a list .*; put it in \[ \]"),
        (pinn.Auto, "expected auto or a list of training stages, got"),
        (7, r"expected auto or a list of training stages, got 7; write \[pinn.Adam\(\)\]"),
    ],
)
def test_what_is_neither_a_plan_nor_stages_is_refused(training, message):
    with pytest.raises(TypeError, match=message):
        pinn.solve(PROBLEM, training=training)


def test_a_solution_keeps_what_was_decided_and_why(doubling, tmp_path):
    solution = pinn.solve(PROBLEM, **SMALL, training=Doubling())
    assert solution.report.decisions[-1].what == "training ends"
    solution.save(tmp_path / "s.npz")
    loaded = pinn.load(tmp_path / "s.npz")
    assert loaded.report.decisions == solution.report.decisions
    assert loaded.report.stages == solution.report.stages
    assert loaded.experiment.training == Doubling()
    checkpoint = solution.checkpoint()
    assert '"stage": {"ssbroyden": {' in checkpoint["progress"].tobytes().decode()
    assert "will do" not in checkpoint["progress"].tobytes().decode()  # decided after the last step


def test_progress_tells_of_each_decision():
    out = io.StringIO()
    pinn.solve(PROBLEM, **SMALL, training=Doubling(), callbacks=[pinn.Progress(out)])
    lines = out.getvalue().splitlines()
    assert lines[0] == "ssbroyden, up to 4 steps: stage 1, after 0 steps"
    assert any(line.startswith("training ends: the loss ") for line in lines)


# ---- what auto chooses


def scale(**known):
    """How large a training is; too few rows for their slopes unless said otherwise."""
    return Scale(**{"size": 100, "rows": 50, "precision": "float64", "seconds": None, **known})


@pytest.mark.parametrize(
    ("known", "kind", "why"),
    [
        ({"size": 900, "rows": 1800}, LevenbergMarquardt, "900 trainable numbers and 1800 rows"),
        ({"size": MOST_REDUCED, "rows": 9000}, LevenbergMarquardt, "slopes of all rows"),
        ({"size": 900, "rows": 1799}, SSBroyden, "1799 rows are too few for the slopes of 900"),
        ({"size": MOST_REDUCED + 1, "rows": 9000}, SSBroyden, "2001 trainable numbers are too"),
        ({"size": 1000, "rows": 50_000}, LevenbergMarquardt, "slopes of all rows"),
        ({"size": 1000, "rows": 50_001}, SSBroyden, "of 50001 rows in 1000 trainable numbers are"),
        ({"size": MOST_DENSE, "rows": 20000}, SSBroyden, "5000 trainable numbers are too many"),
        ({"size": MOST_DENSE + 1, "rows": 20000}, LBFGS, "5001 trainable numbers are too many"),
        ({"size": 90, "rows": 900, "precision": "float32"}, SSBroyden, "in float32 the slopes"),
    ],
)
def test_the_stages_follow_from_the_numbers_of_parameters_and_rows(known, kind, why):
    stages = Auto().foreseen(scale(**known))
    assert type(stages[-1]) is kind
    assert type(stages[0]) is (kind if kind is LevenbergMarquardt else Adam)
    first = Auto().next(now(**known))
    assert first.stage == stages[0] and why in first.why
    second = Auto().next(now(**known, number=1, stages=(ended(stages[0].name),)))
    assert second.stage == stages[1] and second.why
    for stage in stages:
        function = SimpleNamespace(**known, dtype=np.dtype("float64"), on_device=None, ranks=ALONE)
        assert stage.check(function) == []


def test_the_stages_to_change_are_those_that_are_foreseen():
    assert default_training(100) == list(Auto().foreseen(scale(rows=200)))
    assert default_training(100, 60.0, 199) == list(Auto().foreseen(scale(seconds=60.0, rows=199)))
    assert default_training(100, precision="float32") == list(Auto().foreseen(scale()))


@pytest.mark.parametrize("rows", [50, 200])
def test_without_a_limit_in_time_no_stage_depends_on_the_clock(rows):
    assert all(stage.seconds is None for stage in default_training(100, None, rows))


def test_a_limit_in_time_leaves_the_most_of_it_to_the_last_stage():
    adam, last = default_training(100, 50.0, 50)
    assert (adam.seconds, last.seconds) == (10.0, None)
    assert last.steps >= 10**6
    assert Auto().next(now(seconds=50.0)).stage == adam
    assert default_training(100, 50.0)[-1].steps >= 10**6
    with pytest.raises(ValueError, match="seconds: expected a number > 0"):
        default_training(100, 0, 50)


def test_the_first_steps_see_other_points_sooner():
    first, last = default_training(100)
    assert first.redraw < last.redraw and first.steps < last.steps


@pytest.mark.parametrize("reason", [StopReason.STEPS, StopReason.STALLED, StopReason.NO_DECREASE])
def test_after_the_last_stage_it_is_done(reason):
    stages = (ended("adam"), ended("ssbroyden", reason))
    choice = Auto().next(now(number=2, stages=stages))
    assert choice.stage is None
    assert bool(choice.why) == (reason is StopReason.STALLED)


@pytest.mark.parametrize(
    ("width", "points", "names"),
    [
        (5, 10, ["adam", "ssbroyden"]),
        (80, 10, ["adam", "lbfgs"]),
        (5, 100, ["levenberg_marquardt", "levenberg_marquardt"]),
    ],
)
def test_solve_chooses_by_the_size_of_the_model_and_the_number_of_points(width, points, names):
    seen = []

    class Second(pinn.Callback):
        def on_stage_start(self, info):
            seen.append(info.name)
            return info.index == 1

    pinn.solve(
        PROBLEM, pinn.MLP(width, 2 if width == 5 else 3), pinn.Sampling(interior=points),
        callbacks=[Second()],
    )  # fmt: skip
    assert seen == names


def losses_at(steps, loss):
    """Looks at one block whose loss on fresh points is a function of the step."""
    fresh = np.array([[loss(step)] for step in steps])
    return Looks(np.array(steps), fresh, fresh)


STEPS = list(range(100, 6001, 100))


@pytest.mark.parametrize(
    ("loss", "stalls"),
    [
        (lambda k: 1e-3, True),
        (lambda k: 1e-3 * 0.99 ** (k / 1000), True),  # 1 % in a thousand steps
        (lambda k: 1 / k, False),  # half over each window
        (lambda k: 1e-3 * 0.9 ** (k / 1000), False),
        # It creeps for 1500 steps, and falls again.
        (lambda k: 1e-3 if 1000 < k < 2500 else 1 / k, False),
        # Redraws: up by half, and down again, a little lower each time.
        (lambda k: (1 + 0.5 * (k % 500 < 200)) * math.exp(-k / 4000), False),
        (lambda k: (1 + 0.5 * (k % 500 < 200)) * 1e-3, True),
        (lambda k: math.nan, False),
    ],
)
def test_a_stage_stalls_where_the_loss_hardly_falls_over_half_of_all_steps(loss, stalls):
    said = [
        Auto().enough(SSBroyden(), now(
            steps=step, stage_step=step - 500, looks=losses_at(STEPS[: k + 1], loss)
        ))
        for k, step in enumerate(STEPS)
        if step > 500
    ]  # fmt: skip
    assert any(said) == stalls
    if stalls:
        assert said[0] is None and "steps the loss on fresh points" in next(filter(None, said))


def test_a_run_that_stalls_says_so_and_ends(monkeypatch):
    class Slow(Auto):
        def foreseen(self, scale):
            return Adam(150, learning_rate=1e-12), SSBroyden(10)

        def next(self, now):
            choice = super().next(now)
            return Choice(Adam(900, learning_rate=1e-12), "slowly") if now.number == 1 else choice

    monkeypatch.setattr(auto, "_FEWEST", 3)
    report = pinn.solve(PROBLEM, **SMALL, training=Slow()).report
    assert [stage.reason for stage in report.stages] == ["step limit", "stalled"]
    assert (report.stop_reason, report.steps) == ("stalled", 500)
    assert report.message.startswith("over the last 300 steps the loss on fresh points fell by ")
    assert report.message.endswith(", after step 500")
    assert str(report.decisions[-1]) == "training ends: nothing better than adam is left to try"
