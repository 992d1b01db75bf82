"""What is logged, and what becomes of a log that fails: no tool is needed for that."""

import threading
import time
import warnings

import pytest

import pinn
from pinn.config import ConfigError, Override, load
from pinn.optimizers import StageEnd
from pinn.schema import declared
from pinn.schema.declared import fields_of
from pinn.tracking import TRACKERS, Log, Tracker
from pinn.tracking import tracker as module

LOGS = []


class Kept(Log):
    """A log in memory, which fails at a method where that is asked for."""

    def __init__(self, opening, failing=""):
        self.opening, self.failing = opening, failing
        self.lines, self.sentences, self.figures, self.threads = [], [], [], set()
        self.end = None
        self.called = 0
        LOGS.append(self)

    @property
    def where(self):
        return "memory"

    def note(self, method):
        self.called += 1
        self.threads.add(threading.current_thread())
        if method == self.failing:
            raise OSError("the disk is full\nof bits")

    def numbers(self, step, values):
        self.note("numbers")
        self.lines.append((step, values))

    def text(self, step, sentence):
        self.note("text")
        self.sentences.append((step, sentence))

    def figure(self, step, name, png):
        self.note("figure")
        self.figures.append((step, name, png))

    def close(self, results, state):
        self.note("close")
        self.end = results, state


@declared
class InMemory(Tracker):
    """Keeps its log."""

    package = "numpy"

    failing: str | None = None
    every: int | None = None
    figures: bool = True

    def open(self, opening):
        if self.failing == "open":
            raise ConnectionError("nobody answers")
        return Kept(opening, self.failing)


@pytest.fixture(autouse=True)
def forget():
    LOGS.clear()


def test_lines_come_at_the_steps_asked_for_and_at_the_ends_of_stages(train):
    train(InMemory(every=4, figures=False))
    assert [step for step, _ in LOGS[0].lines] == [1, 4, 6, 7, 8, 9]
    LOGS.clear()
    train(InMemory(figures=False))
    assert [step for step, _ in LOGS[0].lines] == [1, 6, 7, 9]


def test_a_line_has_the_numbers_of_its_step(train):
    records = {}

    class Looking(pinn.Callback):
        def on_start(self, session):
            self.session = session

        def on_step(self, record):
            errors = self.session.errors(record).rel_l2["u"]
            records[record.step] = record, errors, self.session.fresh_loss(record)

    train(InMemory(every=1, figures=False), Looking())
    for step, line in LOGS[0].lines:
        record, error, fresh = records[step]
        assert line["loss"] == record.loss and line["losses/decay"] == record.losses["decay"]
        assert line["parameters/k"] == record.parameters["k"]
        assert (line["rel_l2/u"], line["fresh_loss"]) == (error, fresh)
        assert line["stage"] == record.stage_index
        assert line.get("lr") == record.learning_rate
        assert line.get("damping") == record.damping
    assert {"lr"} < LOGS[0].lines[0][1].keys() and {"damping"} < LOGS[0].lines[-1][1].keys()


def test_stages_and_their_ends_are_sentences(train):
    train(InMemory(figures=False))
    decision, *stages = LOGS[0].sentences
    assert decision[0] == 0 and decision[1].startswith("weights: equations and conditions grow")
    assert stages[:6] == [
        (0, "adam begins"), (6, "adam: all 6 steps done"), (6, "levenberg_marquardt begins"),
        (9, "levenberg_marquardt: all 3 steps done"),
        (9, "weights: equations and conditions kept their weights: training ended before they grew "
            "heavier"),
        (9, "stopped: all 3 steps done"),
    ]


def test_the_settings_are_those_of_the_run(train):
    train(InMemory(figures=False), seed=7)
    opening = LOGS[0].opening
    assert (opening.name, opening.step) == ("decay-7", 0)
    flat = opening.flat_settings
    assert flat["model.mlp.width"] == 4 and flat["training.1.levenberg_marquardt.steps"] == 3
    assert flat["problem.equations.decay"] == "u_t + k*u" and flat["seed"] == 7
    assert flat["seconds"] == "none"


def test_what_no_file_can_hold_is_told_as_it_is_printed(train):
    class Own(pinn.Stage):
        steps = 1

        def run(self, function, theta, state=None):
            yield from pinn.Adam(1).run(function, theta, state)
            return StageEnd(theta, pinn.StopReason.STEPS, "done")

    train(InMemory(figures=False), stages=[Own()])
    told = LOGS[0].opening.settings["training"]
    assert "test_what_no_file_can_hold" in told and len(told) <= 80


def test_the_end_has_the_errors_and_the_figures(train):
    solution = train(InMemory())
    results, state = LOGS[0].end
    assert state == "finished"
    assert results["rel_l2/u"] == solution.report.rel_l2["u"]
    assert results["parameters/k"] == solution.parameters["k"]
    assert results["steps"] == 9
    assert [name for _, name, _ in LOGS[0].figures] == ["field_u", "history"]
    assert all(png.startswith(b"\x89PNG") for *_, png in LOGS[0].figures)


def test_the_log_is_written_on_one_other_thread(train):
    train(InMemory(figures=False))
    (thread,) = LOGS[0].threads
    assert thread is not threading.main_thread() and not thread.is_alive()


@pytest.mark.parametrize(
    ("failing", "words"),
    [
        ("open", "ConnectionError: nobody answers"), ("numbers", "OSError: the disk is full of"),
        ("text", "OSError"), ("figure", "OSError"), ("close", "OSError"),
    ],
)
def test_a_log_that_fails_is_told_of_once_and_costs_the_run_nothing(train, failing, words):
    whole = train(stages=[pinn.Adam(30)], error_bars=False)
    slow = [lambda record: time.sleep(0.005)]
    with pytest.warns(RuntimeWarning, match="the run goes on without this log") as told:
        tracker = InMemory(failing, every=1)
        solution = train(tracker, *slow, stages=[pinn.Adam(30)], error_bars=False)
    ours = [str(one.message) for one in told if one.category is RuntimeWarning]
    assert len(ours) == 1 and ours[0].startswith(f"InMemory: {words}")
    assert solution.theta.tobytes() == whole.theta.tobytes()
    if failing == "numbers":
        assert LOGS[0].called <= 3  # nothing more is asked of it


def test_a_figure_that_cannot_be_drawn_ends_the_log_alone(train, monkeypatch):
    monkeypatch.setattr(module, "_figures", lambda solution: 1 / 0)
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        assert train(InMemory()).report.steps == 9


def test_a_log_that_never_answers_is_waited_for_only_so_long(train, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    answer = threading.Event()
    monkeypatch.setattr(InMemory, "open", lambda self, opening: answer.wait(60))
    began = time.monotonic()
    with pytest.warns(RuntimeWarning, match="not all of the log was sent within 0.3 s"):
        train(InMemory(figures=False))
    assert time.monotonic() - began < 30
    answer.set()


def test_an_exception_ends_the_log_as_failed(train):
    def fail(record):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        train(InMemory(), fail)
    assert LOGS[0].end == ({}, "failed") and LOGS[0].sentences[-1][1] == "ValueError: no"


def test_an_interrupted_run_ends_its_log_so(train):
    def interrupt(record):
        raise KeyboardInterrupt

    train(InMemory(figures=False), interrupt)
    assert LOGS[0].end[1] == "interrupted"


def test_training_alone_has_no_log():
    from pinn.training import train
    from pinn.training.experiment import Experiment

    problem = pinn.Problem(pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"})
    objective = Experiment(problem, model=pinn.MLP(width=2, depth=1)).objective()
    assert train(objective, [pinn.Adam(2)], [InMemory()]).steps == 2 and not LOGS


def test_a_tool_that_is_not_installed_is_told_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    for tracker, package in ((pinn.TensorBoard, "tensorboard"), (pinn.WandB, "wandb"),
                             (pinn.MLflow, "mlflow")):  # fmt: skip
        with pytest.raises(ValueError, match=rf"not installed; pip install 'pinn\[{package}\]'"):
            tracker()
    config = tmp_path / "decay.yaml"
    config.write_text(
        "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u]\n  equations: {d: u_t + u}\n"
        "output:\n  tracking: [tensorboard]\n"
    )
    with pytest.raises(ConfigError, match=r"decay.yaml:6: output.tracking.0.*pinn\[tensorboard\]"):
        load(config)
    with pytest.raises(ConfigError, match="expected one tracker out of .*tensorboard"):
        load(config, [Override.parse("output.tracking=[tensorbord]", "--track tensorbord")])


def test_every_tracker_has_the_settings_that_all_share():
    for _, cls in TRACKERS.items():
        assert {"every", "figures"} <= fields_of(cls).keys()


def test_no_warning_is_given_of_a_log_that_is_whole(train):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        train(InMemory())
