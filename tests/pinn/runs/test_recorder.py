"""The callback that writes a run directory, used from Python."""

import errno
import gc
import json
import os
import stat

import numpy as np
import pytest

import pinn
from pinn.figures.style import new_figure
from pinn.files import read_npz
from pinn.runs import Run, RunExists, figures
from pinn.runs import run as run_module
from pinn.runs.recorder import NotWritten, Recorder


def decay():
    return pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1.0)], name="decay"
    )


def solve(recorder, steps=6):
    return pinn.solve(
        decay(),
        pinn.MLP(width=4, depth=1),
        pinn.Sampling(interior=20),
        [pinn.Adam(steps=steps)],
        callbacks=[recorder],
    )


def test_what_was_chosen_before_the_first_step_is_told_with_it(tmp_path):
    recorder = Recorder(tmp_path / "run", "seed: 0\n", log_every=3)
    given = pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20)
    solution = pinn.solve(decay(), *given, target=1e-2, callbacks=[recorder])
    lines = recorder.run.metrics()
    chosen = [str(one) for one in solution.report.decisions if one.step == 0]
    assert len(chosen) == 1 and lines[0]["decision"] == chosen[0]
    assert "decision" not in lines[1]


def test_config_and_metrics_are_written_on_the_way(tmp_path):
    recorder = Recorder(tmp_path / "run", "seed: 0\n", log_every=3)
    solve(recorder)
    assert recorder.run.config() == "seed: 0\n"
    records = recorder.run.metrics()
    assert [record["step"] for record in records] == [1, 3, 6]
    # No reference, no error.
    assert all("rel_l2" not in record for record in records)


def test_training_without_a_step_has_a_line_of_where_it_stands(tmp_path):
    recorder = Recorder(tmp_path / "run", "")
    stop = pinn.Callback()
    stop.on_stage_start = lambda info: True
    solution = pinn.solve(
        decay(), pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20), [pinn.Adam(5)],
        callbacks=[recorder, stop],
    )  # fmt: skip
    recorder.write_results(solution)
    (line,) = recorder.run.metrics()
    assert (line["step"], line["stage"]) == (0, "adam")
    assert list(line["losses"]) == ["decay", "initial_u"]
    assert figures.draw_run(recorder.run, solution)


def test_metrics_tell_how_often_points_were_drawn_anew(tmp_path):
    recorder = Recorder(tmp_path / "run", "", log_every=1)
    pinn.solve(
        decay(), pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20, redraw=2),
        [pinn.Adam(steps=5)], callbacks=[recorder],
    )  # fmt: skip
    draws = [record["draw"] for record in recorder.run.metrics()]
    assert draws == [0, 0, 1, 1, 2]


def test_checkpoints_are_written_on_the_way_and_the_one_before_is_kept(tmp_path):
    recorder = Recorder(tmp_path / "run", "", checkpoint_seconds=0)
    solve(recorder)
    run = Run(tmp_path / "run")
    steps = [
        json.loads(np.load(path)["progress"].tobytes())["last"]["step"]
        for path in (run.previous_checkpoint_path, run.checkpoint_path)
    ]
    assert steps == [5, 6]


def test_results_are_those_of_the_report(tmp_path):
    recorder = Recorder(tmp_path / "run", "")
    solution = solve(recorder)
    recorder.write_results(solution)
    summary = recorder.run.summary()
    assert (summary["loss"], summary["steps"]) == (solution.report.loss, 6)
    assert (summary["rel_l2"], summary["max_error"]) == ({}, {})
    assert summary["error_estimate"]["trusted"] is False  # there is none
    assert summary["unsolved"] is solution.report.unsolved
    assert np.array_equal(pinn.load(recorder.run.solution_path).theta, solution.theta)


def test_a_directory_that_is_taken_is_refused_when_training_starts(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunExists):
        solve(Recorder(tmp_path, ""))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_nothing_is_written_before_training_starts(tmp_path):
    recorder = Recorder(tmp_path / "run", "")
    with pytest.raises(ValueError, match="weighting.nothing"):
        pinn.solve(decay(), weighting={"nothing": 1.0}, callbacks=[recorder])
    assert not (tmp_path / "run").exists()


# ---- a disk that is full


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def disk_for_files_up_to(monkeypatch, largest):
    """Let the disk take no file of more than `largest` bytes."""

    def fsync(descriptor, really=os.fsync):
        facts = os.fstat(descriptor)
        if stat.S_ISREG(facts.st_mode) and facts.st_size > largest:
            refuse()
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


def test_lines_that_cannot_be_written_cost_no_step_and_are_counted(tmp_path, monkeypatch):
    said = []
    recorder = Recorder(tmp_path / "run", "", log_every=1, warn=said.append)
    monkeypatch.setattr(run_module, "append_record", refuse)
    solution = solve(recorder)
    assert solution.report.steps == 6 and solution.report.stop_reason == "step limit"
    assert len(said) == 1 and "training goes on" in said[0]
    with pytest.raises(NotWritten, match="metrics.jsonl: 6 lines could not be written") as caught:
        recorder.write_results(solution)
    assert "saved in" in str(caught.value)
    assert "solution.npz, summary.json, checkpoint.npz" in str(caught.value)
    assert recorder.run.summary()["steps"] == 6


def test_checkpoints_that_cannot_be_written_cost_no_step(tmp_path, monkeypatch):
    said = []
    recorder = Recorder(tmp_path / "run", "", checkpoint_seconds=0, warn=said.append)
    with monkeypatch.context() as patch:
        disk_for_files_up_to(patch, 1000)
        solution = solve(recorder)
    assert solution.report.steps == 6
    assert len(said) == 1 and "checkpoint.npz: No space left on device" in said[0]
    recorder.write_results(solution)  # there is room again, and nothing is missing
    assert np.array_equal(pinn.load(recorder.run.checkpoint_path).theta, solution.theta)


def test_a_checkpoint_that_is_too_large_does_not_take_the_solution_with_it(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "run", "")
    solution = solve(recorder)
    solution.save(tmp_path / "size.npz")
    disk_for_files_up_to(monkeypatch, (tmp_path / "size.npz").stat().st_size)
    with pytest.raises(NotWritten) as caught:
        recorder.write_results(solution)
    assert "cannot write" in str(caught.value) and "checkpoint.npz: No space" in str(caught.value)
    assert str(caught.value).endswith("solution.npz, summary.json")
    assert np.array_equal(pinn.load(recorder.run.solution_path).theta, solution.theta)
    assert recorder.run.summary()["loss"] == solution.report.loss


def test_a_solution_that_cannot_be_written_does_not_take_the_others_with_it(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "run", "")
    solution = solve(recorder)
    monkeypatch.setattr(type(solution), "save", refuse)
    with pytest.raises(NotWritten):
        recorder.write_results(solution)
    assert np.array_equal(pinn.load(recorder.run.checkpoint_path).theta, solution.theta)
    assert recorder.run.summary()["steps"] == 6


def test_without_a_listener_the_trouble_is_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "append_record", refuse)
    with pytest.warns(RuntimeWarning, match="training goes on without such lines"):
        solve(Recorder(tmp_path / "run", ""))


# ---- training that ends without a solution


def test_what_was_reached_is_saved_when_training_fails(tmp_path):
    def fail(record):
        if record.step == 4:
            raise RuntimeError("broken")

    recorder = Recorder(tmp_path / "run", "")
    with pytest.raises(RuntimeError) as raised:
        pinn.solve(
            decay(), pinn.MLP(4, 1), pinn.Sampling(20), [pinn.Adam(9)], callbacks=[recorder, fail]
        )
    assert recorder.write_reached(raised.value)
    summary = recorder.run.summary()
    assert (summary["steps"], summary["stop_reason"]) == (4, "failed")
    assert summary["message"].startswith("RuntimeError after")
    assert summary["message"].endswith("broken")
    loaded = pinn.load(recorder.run.solution_path)
    assert loaded.report.stop_reason == "failed"
    progress = json.loads(read_npz(recorder.run.checkpoint_path)["progress"].tobytes())
    assert progress["last"]["step"] == 4


def test_before_the_first_step_there_is_nothing_to_save(tmp_path):
    recorder = Recorder(tmp_path / "run", "")
    assert not recorder.write_reached(RuntimeError("broken"))
    assert not (tmp_path / "run").exists()


def test_what_no_file_can_hold_is_refused_when_training_starts(tmp_path):
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"},
        [pinn.Initial("u", lambda s: s.cos(0.0), hard=True)],
    )  # fmt: skip
    with pytest.raises(TypeError, match="which a file cannot hold"):
        pinn.solve(problem, callbacks=[Recorder(tmp_path / "run", "")])
    assert not (tmp_path / "run").exists()


def test_the_directory_is_let_go_when_the_recorder_is(tmp_path):
    with Recorder(tmp_path / "run", "") as recorder:
        solve(recorder)
        with pytest.raises(RunExists, match="another training run"):
            Run.create(tmp_path / "run", overwrite=True)
    Run.create(tmp_path / "run", overwrite=True)


# ---- a process that dies


class Crash(BaseException):
    """Stands for the process being killed: nothing is cleaned up after it."""


def test_a_crash_at_any_step_leaves_what_loads_and_a_directory_for_the_next(tmp_path, monkeypatch):

    def whole_life():
        recorder = Recorder(
            tmp_path / "run", "seed: 0\n", log_every=1, checkpoint_seconds=0, overwrite=True
        )
        lives.append(recorder)
        solution = solve(recorder, steps=2)
        recorder.write_results(solution)
        figures.draw_training(recorder.run, solution, figures.Look(dpi=20))

    monkeypatch.setattr(figures, "points_data", lambda *_: [])  # the history alone
    new_figure(1, 1)  # matplotlib is no part of this: it makes folders when it is imported
    lives, limit, ended = [], 0, False
    while not ended:
        count = 0

        def counted(function):
            def call(*args, **kwargs):
                nonlocal count
                count += 1
                if count > limit:  # noqa: B023 - it is called within this pass
                    raise Crash
                return function(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for name in ("fsync", "link", "replace", "unlink", "mkdir", "ftruncate"):
                patch.setattr(os, name, counted(getattr(os, name)))
            try:
                whole_life()
                ended = True
            except Crash:
                pass
        for recorder in lives:
            if recorder.run is not None:
                recorder.run.release()  # as the system does for a process that is gone
        lives.clear()
        gc.collect()  # the rooms kept for them are removed now, and in no later life
        check_that_all_loads(tmp_path / "run")
        limit += 1
    assert limit > 30  # each of these moments was tried
    assert read_npz(tmp_path / "run" / "checkpoint.npz")
    left = [path for path in (tmp_path / "run").rglob("*.tmp")]
    assert left == []


def check_that_all_loads(directory):
    run = Run(directory)
    for path in (run.solution_path, run.checkpoint_path, run.previous_checkpoint_path):
        if path.exists():
            assert np.isfinite(pinn.load(path).evaluate(t=0.5)["u"])
    if run.summary_path.exists():
        assert run.summary()["steps"] == 2
    if run.config_path.exists():
        assert run.config() == "seed: 0\n"
    assert [record["step"] for record in run.metrics()] in ([], [1], [1, 2])


def test_coefficients_have_a_history_a_figure_and_standard_errors(tmp_path):
    times = np.linspace(0, 1, 6)
    problem = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + k*u"},
        [pinn.Initial("u", 1.0),
         pinn.Data("u", {"t": times, "u": np.exp(-times)}, sigma=10.0)],
        parameters=[pinn.Parameter("k", 0.5)],
    )  # fmt: skip
    recorder = Recorder(tmp_path / "run", "", log_every=2)
    with pytest.warns(pinn.ProblemWarning):  # such noise determines nothing
        solution = pinn.solve(
            problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20),
            [pinn.Adam(steps=4)], callbacks=[recorder],
        )  # fmt: skip
    recorder.write_results(solution)
    records = recorder.run.metrics()
    assert [list(record["parameters"]) for record in records] == [["k"]] * len(records)
    assert records[-1]["parameters"] == solution.report.history[-1]["parameters"]
    assert recorder.run.summary()["recovery"] == json.loads(
        json.dumps(solution.report.recovery.as_dict())
    )
    paths = figures.draw_run(recorder.run, solution)
    assert "coefficients.png" in [path.name for path in paths]
