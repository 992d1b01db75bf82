"""The callback that writes a run directory, used from Python."""

import json

import numpy as np
import pytest

import pinn
from pinn.runs import recorder as recorder_module
from pinn.runs.recorder import Recorder
from pinn.runs.run import Run, RunExists


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


def test_config_and_metrics_are_written_on_the_way(tmp_path):
    recorder = Recorder(tmp_path / "run", "seed: 0\n", log_every=3)
    solve(recorder)
    assert recorder.run.config() == "seed: 0\n"
    records = recorder.run.metrics()
    assert [record["step"] for record in records] == [1, 3, 6]
    # No reference, no error.
    assert all("rel_l2" not in record for record in records)


def test_checkpoints_are_written_on_the_way_and_the_one_before_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "CHECKPOINT_SECONDS", 0.0)
    recorder = Recorder(tmp_path / "run", "")
    solve(recorder)
    run = Run(tmp_path / "run")
    steps = [
        json.loads(str(np.load(path)["progress"]))["step"]
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
