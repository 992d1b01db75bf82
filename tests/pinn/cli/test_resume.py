"""`train --resume` and `--extend`: killed at any moment, a run ends as one that never stopped."""

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from pinn.cli import main
from pinn.files import read_npz
from pinn.runs.run import Run

SHORT = [
    "--set", "training.0.adam.steps=60", "--set", "training.1.lbfgs.steps=15",
    "--set", "sampling.redraw=7", "--set", "output.log_every=1",
    "--set", "output.checkpoint_seconds=0", "--quiet",
]  # fmt: skip
TRAIN = ["train", "heat.yaml", "--out", "run", *SHORT]


def without_times(told):
    """A summary or a line of metrics without what depends on the clock and the machine."""
    if isinstance(told, dict):
        timed = ("wall_s", "wall_seconds", "seconds", "machine", "versions")
        return {key: without_times(one) for key, one in told.items() if key not in timed}
    return [without_times(one) for one in told] if isinstance(told, list) else told


def left(directory):
    """All that a run leaves, but for times."""
    directory = Path(directory)
    lines = (directory / "metrics.jsonl").read_text().splitlines()
    arrays = {}
    for name in ("solution.npz", "checkpoint.npz"):
        for key, array in read_npz(directory / name).items():
            if key not in ("report", "progress"):
                arrays[f"{name}/{key}"] = array.tobytes()
    return {
        "metrics": [without_times(json.loads(line)) for line in lines],
        "summary": without_times(json.loads((directory / "summary.json").read_text())),
        "figures": sorted(path.name for path in (directory / "figures").iterdir()),
        "arrays": arrays,
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run leaves that was never stopped."""
    from tests.pinn.cli.conftest import HEAT

    folder = tmp_path_factory.mktemp("whole")
    (folder / "heat.yaml").write_text(HEAT)
    command = [str(folder / "heat.yaml") if part == "heat.yaml" else part for part in TRAIN]
    command[command.index("run")] = str(folder / "run")
    assert main(command) == 0
    return left(folder / "run")


def test_killed_again_and_again_it_ends_as_one_that_never_stopped(start, whole):
    moments = np.random.default_rng(7).uniform(0.0, 0.25, 6)
    for moment in moments:
        process = start(*TRAIN, "--resume")
        mark = f"process {process.pid} "
        while mark not in read_mark() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moment)
        process.kill()
        process.communicate()
    assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def read_mark():
    try:
        return Path("run/.pinn-run").read_text()
    except FileNotFoundError:
        return ""


def cut_short(*arguments, at=20):
    """Leave a run that was interrupted after a step."""
    import pinn
    from pinn.training.callbacks import Callback

    class Stop(Callback):
        def on_step(self, record):
            if record.step == at:
                raise KeyboardInterrupt

    really = pinn.solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pinn, "solve",
            lambda *given, callbacks, **named: really(
                *given, callbacks=[*callbacks, Stop()], **named
            ),
        )  # fmt: skip
        assert main([*TRAIN, *arguments]) == 130


def test_an_interrupted_run_goes_on(folder, whole):
    cut_short()
    assert json.loads(Path("run/summary.json").read_text())["steps"] == 20
    assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def test_a_run_that_is_not_there_begins(folder, whole, capsys):
    assert main([*TRAIN, "--resume"]) == 0
    assert "run: no run is there yet; it begins now" in capsys.readouterr().err
    assert left("run") == whole


def test_a_run_without_a_checkpoint_begins_anew(folder, whole, capsys):
    cut_short()
    for name in ("checkpoint.npz", "checkpoint.previous.npz", "summary.json", "solution.npz"):
        Path("run", name).unlink()
    assert main([*TRAIN, "--resume"]) == 0
    assert "cut short before its first checkpoint; it begins anew" in capsys.readouterr().err
    assert left("run") == whole


def test_where_the_newest_checkpoint_is_damaged_the_one_before_is_taken(folder, whole):
    cut_short()
    damaged = Path("run/checkpoint.npz").read_bytes()
    Path("run/checkpoint.npz").write_bytes(damaged[: len(damaged) // 2])
    assert 0 < Run("run").last_step().step <= 20
    said = "run/checkpoint.npz is damaged, and training goes on from checkpoint.previous.npz"
    with pytest.warns(RuntimeWarning, match=said):
        assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def test_where_both_are_damaged_nothing_is_changed(folder, capsys):
    cut_short()
    for name in ("checkpoint.npz", "checkpoint.previous.npz"):
        Path("run", name).write_bytes(b"nothing")
    before = Path("run/metrics.jsonl").read_bytes()
    assert main([*TRAIN, "--resume"]) == 4
    assert "damaged or truncated" in capsys.readouterr().err
    assert Path("run/metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("change, said", [
    ("problem.constants.k=1", "problem.constants.k is"),
    ("model.mlp.width=7", "model.mlp.width is 6 there and 7 here"),
    ("seed=3", "seed is 0 there and 3 here"),
    ("training.0.adam.learning_rate=0.5", "training.0.adam.learning_rate is"),
])  # fmt: skip
def test_a_checkpoint_of_another_config_is_refused(folder, capsys, change, said):
    cut_short()
    before = left_files()
    assert main([*TRAIN, "--set", change, "--resume"]) == 2
    err = capsys.readouterr().err
    assert "is of another run" in err and said in err
    assert left_files() == before


def test_what_a_run_goes_on_with_other_than_before_is_said_in_one_line(folder, whole, capsys):
    loud = [part for part in TRAIN if part != "--quiet"]
    cut_short()
    changed = ["--seconds", "600", "--set", "output.log_every=5", "--threads", "1"]
    changed += ["--set", "training.1.lbfgs.steps=12"]
    assert main([*loud, *changed, "--resume"]) == 0
    (line,) = (one for one in capsys.readouterr().err.splitlines() if "other settings" in one)
    assert line == (
        "run: goes on with other settings: training.1.lbfgs.steps 12 (15 before), "
        "seconds 600 (null before), threads 1 (null before), output.log_every 5 (1 before)"
    )
    assert "log_every: 5" in Path("run/config.yaml").read_text()


@pytest.mark.parametrize("change", [[], ["--out", "./run"], ["--quiet"]])
def test_of_equal_settings_nothing_is_said(folder, capsys, change):
    cut_short()
    assert main([*(part for part in TRAIN if part != "--quiet"), *change, "--resume"]) == 0
    assert "other settings" not in capsys.readouterr().err


def test_a_config_that_is_damaged_keeps_no_run_from_going_on(folder, whole):
    cut_short()
    Path("run/config.yaml").write_text("a: [")
    assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def left_files():
    return {path.name: path.read_bytes() for path in Path("run").iterdir() if path.is_file()}


def test_one_of_another_version_is_refused(folder, capsys, monkeypatch):
    import pinn

    cut_short()
    monkeypatch.setattr(pinn, "__version__", "9.9")
    assert main([*TRAIN, "--resume"]) == 2
    assert "was written by pinn 0.1.0, and this is pinn 9.9" in capsys.readouterr().err


def test_a_run_that_has_ended_is_extended_only_when_asked(folder, whole, capsys):
    fewer = ["--set", "training.1.lbfgs.steps=6"]
    assert main([*TRAIN, *fewer]) == 0
    before = left_files()
    assert main([*TRAIN, *fewer, "--resume"]) == 0
    assert "has ended: all 6 steps done; --extend goes on" in capsys.readouterr().out
    assert main([*TRAIN, "--resume"]) == 0
    assert "(other limits: training.1.lbfgs.steps is 6 there and 15 here)" in (
        capsys.readouterr().out
    )
    assert left_files() == before
    assert main([*TRAIN, "--extend"]) == 0
    extended = left("run")
    assert extended["summary"]["steps"] == whole["summary"]["steps"] == 75
    # to the bits of one that had them from the start, but for what the early end had told
    assert extended["arrays"] == whole["arrays"]
    assert extended["metrics"] == whole["metrics"]


def test_a_run_that_has_ended_is_not_taken_for_one_of_another_config(folder, capsys):
    assert main(TRAIN) == 0
    before = left_files()
    for how in ("--resume", "--extend"):
        assert main([*TRAIN, "--set", "model.mlp.width=7", how]) == 2
        assert "is of another run: model.mlp.width is 6 there and 7 here" in capsys.readouterr().err
    assert left_files() == before


def test_extending_takes_a_limit_that_is_raised(folder, capsys):
    assert main([*TRAIN, "--seconds", "600"]) == 0
    before = left_files()
    for fewer in ([], ["--set", "training.1.lbfgs.steps=6"]):
        assert main([*TRAIN, "--seconds", "600", *fewer, "--extend"]) == 2
        assert "has ended, and no limit is raised; give a higher one" in capsys.readouterr().err
    assert main([*TRAIN, "--seconds", "500", "--extend"]) == 2
    assert left_files() == before


def test_an_extended_run_that_is_cut_short_goes_on(folder, whole):
    assert main([*TRAIN, "--set", "training.1.lbfgs.steps=6"]) == 0
    cut_short("--extend", at=70)
    assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def test_an_extended_run_that_is_killed_has_not_ended(folder, whole, monkeypatch):
    from pinn.runs.recorder import Recorder

    assert main([*TRAIN, "--set", "training.1.lbfgs.steps=6"]) == 0
    with monkeypatch.context() as patch:  # as one that is killed: nothing is written at the end
        patch.setattr(Recorder, "write_results", lambda self, solution: None)
        patch.setattr("pinn.runs.figures.draw_run", lambda run, solution: [])
        cut_short("--extend", at=70)
    assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def test_a_run_that_ended_before_its_first_step_is_extended(folder, whole, capsys):
    assert main([*TRAIN, "--seconds", "1e-9"]) == 0
    assert json.loads(Path("run/summary.json").read_text())["steps"] == 0
    assert main([*TRAIN, "--extend"]) == 0
    assert left("run") == whole


def test_results_without_a_checkpoint_are_never_begun_anew(folder, capsys):
    assert main(TRAIN) == 0
    for name in ("checkpoint.npz", "checkpoint.previous.npz"):
        Path("run", name).unlink()
    before = left_files()
    assert main([*TRAIN, "--set", "model.mlp.width=7", "--resume"]) == 0
    assert "has ended" in capsys.readouterr().out
    assert main([*TRAIN, "--extend"]) == 2
    assert "its results are there, and no checkpoint" in capsys.readouterr().err
    Path("run/summary.json").unlink()
    del before["summary.json"]
    assert main([*TRAIN, "--resume"]) == 2
    assert left_files() == before


def test_where_the_newest_is_gone_the_one_before_is_taken(folder, whole):
    cut_short()
    Path("run/checkpoint.npz").unlink()
    with pytest.warns(RuntimeWarning, match=r"checkpoint\.npz is gone, and training goes on from"):
        assert main([*TRAIN, "--resume"]) == 0
    assert left("run") == whole


def test_a_damaged_checkpoint_never_takes_the_place_of_a_good_one(folder):
    cut_short()
    good = Path("run/checkpoint.previous.npz").read_bytes()
    Path("run/checkpoint.npz").write_bytes(b"nothing")
    seen = []

    def look(self, arrays, keep=True):
        really(self, arrays, keep)
        seen.append(Path("run/checkpoint.previous.npz").read_bytes())

    from pinn.runs import Run

    really = Run.save_checkpoint
    with pytest.MonkeyPatch.context() as patch, pytest.warns(RuntimeWarning, match="is damaged"):
        patch.setattr(Run, "save_checkpoint", look)
        assert main([*TRAIN, "--resume"]) == 0
    assert seen[0] == good and seen[1] != good


def test_a_limit_of_a_stage_that_has_ended_is_refused(folder, capsys):
    cut_short(at=65)
    assert main([*TRAIN, "--set", "training.0.adam.steps=70", "--resume"]) == 2
    assert "training.0.adam.steps is 60 there and 70 here" in capsys.readouterr().err


def test_a_directory_that_holds_something_else_is_refused(folder, capsys):
    Path("run").mkdir()
    Path("run/thesis.txt").write_text("precious")
    assert main([*TRAIN, "--resume"]) == 2
    assert "already holds a run or other files" in capsys.readouterr().err
    assert Path("run/thesis.txt").read_text() == "precious"


def test_another_process_that_writes_there_is_told_of(running, capsys):
    process = running("--quiet")
    assert main(["train", "heat.yaml", "--out", "run", "--resume"]) == 2
    assert f"another training run is writing there (process {process.pid} " in (
        capsys.readouterr().err
    )


def test_overwriting_and_going_on_exclude_each_other(folder, capsys):
    assert main([*TRAIN, "--resume", "--overwrite"]) == 2
    assert "--overwrite begins a run anew" in capsys.readouterr().err


def test_a_copy_of_a_run_goes_on_where_it_lies_now(folder, whole):
    cut_short()
    shutil.copytree("run", "moved")
    command = [*TRAIN]
    command[command.index("run")] = "moved"
    assert main([*command, "--resume"]) == 0
    assert left("moved") == whole
