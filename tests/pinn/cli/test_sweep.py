"""`sweep`: a run for each combination, once, and one table."""

import json
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.runs.executors import Workers

SWEEP = [
    "sweep", "heat.yaml", "--out", "all", "--quiet",
    "--grid", "model.width=3,4", "--grid", "seed=0,1",
]  # fmt: skip


def cells(line):
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def table(text):
    """The lines of the last table in a text, without those that explain its marks."""
    lines = [cells(line) for line in text.splitlines() if not line.startswith("unsolved  ")]
    (start,) = [i for i, line in enumerate(lines) if line[:1] == ["width"]]
    return lines[start:]


def test_each_combination_has_its_run_and_a_line(folder, capsys):
    assert main(SWEEP) == 0
    head, *lines = table(capsys.readouterr().out)
    assert head == ["width", "seed", "state", "steps", "seconds", "loss", "error", "estimated"]
    assert [line[:4] for line in lines] == [
        [width, seed, "step limit, unsolved", "17"] for width in "34" for seed in "01"
    ]
    for width in "34":
        for seed in "01":
            summary = json.loads(Path(f"all/width={width}_seed={seed}/summary.json").read_text())
            assert summary["seed"] == int(seed)
    losses = {line[5] for line in lines}
    assert len(losses) == 4


def test_values_of_a_constant_that_nothing_uses_are_refused(folder, capsys):
    grid = ["--grid", "problem.constants.nuu=0.1,0.2"]
    assert main(["sweep", "heat.yaml", "--out", "all", *grid]) == 2
    said = capsys.readouterr().err
    assert "--grid problem.constants.nuu: constants.nuu is used nowhere" in said
    assert not Path("all").exists()


def test_what_is_there_is_not_trained_again(folder, capsys):
    assert main(SWEEP) == 0
    times = {path: path.stat().st_mtime_ns for path in Path("all").rglob("solution.npz")}
    cut = Path("all/width=4_seed=1")
    for name in ("summary.json", "solution.npz", "checkpoint.npz", "checkpoint.previous.npz"):
        (cut / name).unlink(missing_ok=True)
    first = table(capsys.readouterr().out)
    assert main([*SWEEP, "--grid", "sampling.interior=60"]) == 0  # others: it has a third key
    capsys.readouterr()
    assert main(SWEEP) == 0
    again = table(capsys.readouterr().out)
    for one, other in zip(first, again, strict=True):
        assert one[:4] + one[5:] == other[:4] + other[5:]
    for path, time in times.items():
        assert (path.stat().st_mtime_ns == time) == (path.parent != cut)


def test_runs_of_another_config_are_not_taken_for_its_own(folder, capsys):
    assert main(SWEEP) == 0
    capsys.readouterr()
    assert main([*SWEEP, "--set", "sampling.interior=61"]) == 2
    said = capsys.readouterr()
    assert "is of another run: sampling.interior is" in said.err and not said.out


SEEDS = ["sweep", "heat.yaml", "--out", "all", "--grid", "seed=0,1"]
FEWER = ["--set", "training.1.lbfgs.steps=3"]


def solutions():
    return {path: path.read_bytes() for path in Path("all").rglob("solution.npz")}


def test_other_limits_than_those_of_runs_that_had_ended_are_told(folder, capsys):
    assert main([*SEEDS, *FEWER, "--seconds", "600", "--quiet"]) == 0
    before = solutions()
    capsys.readouterr()
    assert main([*SEEDS, "--seconds", "600"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == (
        "2 of 2 runs had ended under other limits, and stay as they are: training.1.lbfgs.steps is "
        "3 there and 5 here; --extend goes on with them, and another --out begins new ones"
    )
    for extend in ([], ["--extend"]):  # a lower one: there is nothing to go on with
        assert main([*SEEDS, *FEWER, "--seconds", "500", *extend]) == 0
        assert capsys.readouterr().err.splitlines()[-1] == (
            "2 of 2 runs had ended under other limits, and stay as they are: seconds is 600.0 "
            "there and 500.0 here; another --out begins new ones"
        )
    assert solutions() == before


def test_equal_limits_are_not_told_of(folder, capsys):
    for _ in range(2):
        assert main([*SEEDS, *FEWER, "--seconds", "600"]) == 0
    assert "other limits" not in capsys.readouterr().err


@pytest.mark.parametrize("at_once", [[], ["--jobs", "2"]])
def test_runs_that_have_ended_are_extended_where_a_limit_is_raised(folder, capsys, at_once):
    assert main([*SEEDS, *FEWER, "--quiet"]) == 0
    assert main([*SEEDS, "--extend", *at_once]) == 0
    said = capsys.readouterr()
    assert "other limits" not in said.err
    assert [cells(line)[:3] for line in said.out.splitlines()[-3:-1]] == [
        [seed, "step limit, unsolved", "17"] for seed in "01"
    ]
    assert main(["train", "heat.yaml", "--seed", "1", "--out", "alone", "--quiet"]) == 0
    extended, alone = (pinn.load(run).theta for run in ("all/seed=1", "alone"))
    np.testing.assert_array_equal(extended, alone)
    before = solutions()
    assert main([*SEEDS, "--extend", *at_once]) == 0  # the same command again
    assert solutions() == before


def test_ctrl_c_ends_the_sweep_with_the_table_so_far(folder, capsys, monkeypatch):
    import pinn

    def interrupted(*given, callbacks, **named):
        def stop(record):
            if named["seed"] == 1 and record.step == 3:
                raise KeyboardInterrupt

        return really(*given, callbacks=[*callbacks, stop], **named)

    really = pinn.solve
    with monkeypatch.context() as patch:
        patch.setattr(pinn, "solve", interrupted)
        assert main(SWEEP) == 130
    said = capsys.readouterr()
    lines = table(said.out)[1:]
    states = ["step limit, unsolved", "interrupted", "empty", "empty"]
    assert [line[2] for line in lines] == states
    assert said.err.count("the same command goes on with the runs that have not ended") == 1
    assert main(SWEEP) == 0
    assert [line[2] for line in table(capsys.readouterr().out)[1:]] == 4 * states[:1]


def test_the_table_ends_with_why_a_run_failed(folder, capsys, monkeypatch):
    def refused(config, *given):
        raise OSError(28, "No space left on device", config.directory)

    monkeypatch.setattr("pinn.cli.worker.train_config", refused)
    assert main(SWEEP[:-2]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:3]] == ["failed", "failed"]
    assert [line.split(" ")[:2] for line in lines[3:]] == [
        [f"width={width}:", f"all/width={width}:"] for width in "34"
    ]
    assert all("No space left" in line for line in lines[3:])


class Interrupted(Executor):
    """Does the first thing that it is given; Ctrl-C comes with the second."""

    def __init__(self):
        self.future = None

    def submit(self, function, argument):
        if self.future is not None:
            raise KeyboardInterrupt
        self.future = Future()
        self.future.set_result(function(argument))
        return self.future


def test_what_a_worker_told_before_ctrl_c_is_in_the_table(folder, capsys, monkeypatch):
    def refused(config, *given):
        raise OSError(28, "No space left on device", config.directory)

    monkeypatch.setattr("pinn.cli.worker.train_config", refused)
    monkeypatch.setattr("pinn.cli.sweep._workers", lambda *given: Workers(Interrupted()))
    assert main(["sweep", "heat.yaml", "--out", "all", "--jobs", "2", "--grid", "seed=0,1"]) == 130
    _, *lines, reason = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["0", "failed"], ["1", "empty"]]
    assert reason.startswith("seed=0: all/seed=0: ") and "No space left" in reason


def test_a_run_that_diverges_has_its_reason_below_the_table(folder, capsys):
    rates = ["--grid", "training.0.adam.learning_rate=1e-3,1e300"]
    assert main(["sweep", "heat.yaml", "--out", "all", "--quiet", *rates]) == 3
    *_, reason = capsys.readouterr().out.splitlines()
    assert reason.startswith("learning_rate=1e300: ")
    assert "training diverged: " in reason and "its last good state is in all/" in reason


def test_a_run_whose_results_cannot_be_written_has_its_reason_below_the_table(
    folder, capsys, monkeypatch
):
    def full(recorder, solution):
        raise OSError(f"{recorder.directory}: no space is left")

    monkeypatch.setattr("pinn.runs.recorder.Recorder.write_results", full)
    assert main([*SWEEP[:-4], "--grid", "seed=0"]) == 4
    *_, reason = capsys.readouterr().out.splitlines()
    assert reason == "seed=0: all/seed=0: no space is left"


@pytest.mark.parametrize("grid, said", [
    (["seed"], "--grid seed: expected key.path=value,value"),
    (["seed="], "--grid seed=: expected key.path=value,value"),
    (["seed=0,1", "seed=2"], "--grid seed: it is given twice"),
    (["sead=0,1"], "sead: unknown key"),
    (["seed=0,0"], "seed=0: two combinations would go there"),
    (["model.width=3,-1"], "width: expected a whole number >= 1"),
])  # fmt: skip
def test_mistakes_are_told_before_anything_is_trained(folder, capsys, grid, said):
    options = [part for one in grid for part in ("--grid", one)]
    assert main(["sweep", "heat.yaml", "--out", "all", *options]) == 2
    assert said in capsys.readouterr().err
    assert not Path("all").exists()


def test_every_run_is_logged_with_the_tools_that_are_named(folder, monkeypatch):
    for package in ("tensorboard", "mlflow"):
        pytest.importorskip(package)
    given = []

    def train(config, *_):
        given.append(config.output.tracking)
        return 0, ""

    monkeypatch.setattr("pinn.cli.worker.train_config", train)
    assert main([*SWEEP, "--track", "tensorboard", "--track", "mlflow"]) == 0
    assert given == [(pinn.TensorBoard(), pinn.MLflow())] * 4
