"""Progress on a terminal, as plain lines and with an error."""

import io
import re
import time

import numpy as np
import pytest

import pinn
from pinn.estimates import ErrorEstimate
from pinn.solution.report import Report
from pinn.training import Training, train
from pinn.training.experiment import Experiment
from pinn.training.shown import progress
from pinn.training.shown.progress import Progress, estimate_time

DECAY = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1.0)],
    reference={"u": "exp(-t)"},
)
ENDED = {
    "stop_reason": "step limit", "message": "", "loss": 1.0, "losses": {}, "wall_seconds": 3.0,
    "steps": 3,
}  # fmt: skip
SMALL = {"model": pinn.MLP(width=4, depth=1), "sampling": pinn.Sampling(interior=8)}


def objective():
    return Experiment(DECAY, **SMALL).objective()


class Screen(io.StringIO):
    """A terminal of 80 columns: what is seen on it, and whether a line ever ran over its end."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def seen(self):
        rows, row, column = [], [], 0
        for sign in self.getvalue():
            if sign == "\n":
                rows, row, column = [*rows, "".join(row).rstrip()], [], 0
            elif sign == "\r":
                column = 0
            else:
                row[column : column + 1] = [sign]
                column += 1
                assert column <= 80
        assert "".join(row).strip() == ""
        return rows


def wait(record):
    time.sleep(0.04)


def test_plain_lines_name_the_losses():
    stream = io.StringIO()
    train(objective(), [pinn.Adam(12), pinn.LBFGS(3)], [Progress(stream, interval=0.0)])
    lines = stream.getvalue().splitlines()
    assert len(lines) == 12 + 1 + 3 + 1
    assert lines[0].startswith("adam 1/12  loss ")
    for text in ("  decay ", "  initial_u ", "  rate 1.0e-03  ", "/s  0:0"):
        assert text in lines[0]
    assert lines[12].startswith("adam: all 12 steps done; loss ")
    assert lines[-1].startswith("lbfgs: all 3 steps done; loss ")


def test_under_a_limit_in_time_no_steps_are_counted_that_it_leaves_no_time_for():
    stream = io.StringIO()
    stages = [pinn.Adam(2), pinn.LBFGS(10_000_000)]
    heard = []

    def stop(record):
        heard.append(record)
        return len(heard) == 4

    Training(objective(), stages, [stop, Progress(stream, interval=0.0)], seconds=3000).run()
    line = next(line for line in stream.getvalue().splitlines() if line.startswith("lbfgs 1"))
    assert line.startswith("lbfgs 1  loss ") and "10000000" not in line
    minutes = int(re.search(r"(\d+):\d\d left", line)[1])
    assert 45 <= minutes <= 50


def test_plain_lines_keep_to_their_interval():
    stream = io.StringIO()
    train(objective(), [pinn.Adam(12)], [Progress(stream, interval=60)])
    assert len(stream.getvalue().splitlines()) == 1


def test_a_terminal_has_one_line_that_changes_and_keeps_the_end_of_each_stage():
    stream = Screen()
    train(objective(), [pinn.Adam(12), pinn.LBFGS(6)], [wait, Progress(stream)])
    assert "  decay " in stream.getvalue() and "  initial_u " in stream.getvalue()
    rows = stream.seen()
    assert rows[0].startswith("adam: all 12 steps done; loss ")
    assert any(row.startswith("lbfgs: all 6 steps done; loss ") for row in rows)
    changed = re.findall(r"\r(adam \d+/12[^\r\n]*)", stream.getvalue())
    assert len(changed) >= 2 and all(" left" in one for one in changed)


def test_a_sentence_goes_above_the_line_that_changes():
    stream = Screen()
    progress = Progress(stream)

    def tell(record):
        wait(record)
        if record.step == 8:
            progress.tell("the disk is full, " * 12)

    train(objective(), [pinn.Adam(12)], [tell, progress])
    rows = stream.seen()
    told = [row for row in rows if "the disk is full" in row]
    assert len(told) == 3
    assert told[0].startswith("the disk is full") and told[1].startswith("  disk")


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "\N{BOX DRAWINGS LIGHT HORIZONTAL}"),
                                                ("ascii", "-")])  # fmt: skip
def test_the_bar_is_made_of_signs_that_the_terminal_can_show(encoding, sign):
    stream = Screen()
    stream.encoding = encoding
    hard = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1.0, hard=True)]
    )
    train(Experiment(hard, **SMALL).objective(), [pinn.Adam(12)], [wait, Progress(stream)])
    stream.getvalue().encode(encoding)
    assert 3 * sign in stream.getvalue()


def test_the_error_against_the_reference_is_shown():
    stream, errors = io.StringIO(), []

    class Looking(pinn.Callback):
        def on_start(self, session):
            self.session = session

        def on_step(self, record):
            errors.append(self.session.errors(record).rel_l2["u"])

    with np.errstate(all="raise"):
        pinn.solve(
            DECAY, **SMALL, training=[pinn.Adam(3)], callbacks=[Progress(stream, 0.0), Looking()]
        )
    assert f"  error {errors[0]:.1e}  " in stream.getvalue().splitlines()[0]


def test_the_damping_of_a_solver_that_has_one_is_shown():
    stream, dampings = io.StringIO(), []
    train(
        objective(), [pinn.LevenbergMarquardt(2)],
        [lambda record: dampings.append(record.damping), Progress(stream, 0.0)],
    )
    assert f"  damping {dampings[0]:.1e}  " in stream.getvalue().splitlines()[0]


def test_a_run_ends_with_its_report():
    stream = io.StringIO()
    solution = pinn.solve(
        DECAY, **SMALL, training=[pinn.Adam(3)], callbacks=[Progress(stream, 60)]
    )
    assert stream.getvalue().endswith(f"{solution.report}\n")


def test_an_error_estimate_is_announced_and_its_time_is_told(monkeypatch):
    estimate = ErrorEstimate(relative_l2={"u": 1e-3}, maximum={"u": 1e-3}, seconds=20.04)
    monkeypatch.setattr("pinn.solving._WORTH", 0)
    monkeypatch.setattr("pinn.solving.error_estimate", lambda *_: estimate)
    stream = io.StringIO()
    solution = pinn.solve(
        DECAY, **SMALL, training=[pinn.Adam(3)], callbacks=[Progress(stream, 60)]
    )
    lines = stream.getvalue().splitlines()
    announced = [i for i, line in enumerate(lines) if line.startswith("estimating the error")]
    stage, *_ = (i for i, line in enumerate(lines) if line.startswith("adam: "))
    assert announced == [stage + 1]
    trained = f"{solution.report.wall_seconds:.1f} s"
    assert lines[-1] == f"the error estimate took 20.0 s, on top of the {trained} of training"


@pytest.mark.parametrize("seconds", [float("nan"), 0.5])
def test_an_estimate_of_no_length_is_not_worth_a_word(seconds):
    assert estimate_time(Report(error_estimate=ErrorEstimate(seconds=seconds), **ENDED)) is None


def test_no_estimate_is_announced_where_none_is_made():
    stream = io.StringIO()
    pinn.solve(
        DECAY, **SMALL, training=[pinn.Adam(3)], callbacks=[Progress(stream, 60)], error_bars=False
    )
    assert "estimat" not in stream.getvalue()


def test_control_characters_reach_no_terminal():
    stream = io.StringIO()
    Progress(stream).tell("a\x1b[2Jb\nc")
    assert "\x1b" not in stream.getvalue() and stream.getvalue().endswith("b\nc\n")


def test_an_exception_leaves_no_line_behind():
    stream = Screen()

    def fail(record):
        wait(record)
        if record.step == 8:
            raise OSError("the disk is full")

    with pytest.raises(OSError):
        pinn.solve(DECAY, **SMALL, training=[pinn.Adam(12)], callbacks=[Progress(stream), fail])
    assert "\r" in stream.getvalue()
    stream.seen()


def test_a_long_choice_of_the_model_is_told_now_and_then(monkeypatch):
    now, stream = [0.0], io.StringIO()
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    shown = Progress(stream)
    for now[0] in (0.0, 1.0, 3.5, 4.0, 7.0):
        shown.on_choosing(f"{now[0]:g} s")
    assert stream.getvalue() == "choosing the model: 3.5 s\nchoosing the model: 7 s\n"
