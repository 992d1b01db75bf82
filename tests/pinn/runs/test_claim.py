"""Who may write in a directory: one run at a time, never over anybody else's files."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter

from pinn.figures import FieldData, animation, figure_bytes, figure_png, plot_history
from pinn.runs import Run, RunExists, check_free
from pinn.runs import claim as claim_module

RECORDS = [{"step": step, "stage": "adam", "loss": 1 / step, "losses": {}} for step in (1, 2)]


def finished(directory):
    """A run directory with a bit of everything, that nobody writes in any more."""
    run = Run.create(directory)
    run.write_config("problem: {}\n")
    run.log({"step": 1})
    run.save_checkpoint({"a": np.zeros(1)})
    run.save_checkpoint({"a": np.ones(1)})
    run.write_summary({})
    run.figure_path("history").write_bytes(figure_png(plot_history(RECORDS), dpi=20))
    run.release()
    return run


def contents(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_an_empty_directory_is_taken_and_a_used_one_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    Run.create(tmp_path / "empty")
    run = finished(tmp_path / "run")
    before = contents(run.directory)
    with pytest.raises(RunExists, match="--overwrite") as caught:
        Run.create(run.directory)
    assert isinstance(caught.value, FileExistsError)
    assert str(run.directory) in str(caught.value)
    assert contents(run.directory) == before


@pytest.mark.parametrize(
    ("reason", "goes_on"), [("step limit", False), ("interrupted", True), (None, True)]
)
def test_a_run_that_was_cut_short_may_be_gone_on_with(tmp_path, reason, goes_on):
    run = finished(tmp_path / "run")
    run.summary_path.unlink()
    if reason is not None:
        run.write_summary({"stop_reason": reason, "message": reason})
    for ends in (goes_on, False):
        with pytest.raises(RunExists, match="give .*--overwrite") as caught:
            check_free(run.directory)
        assert ("give --resume to go on with it, " in str(caught.value)) == ends
        for checkpoint in (run.checkpoint_path, run.previous_checkpoint_path):
            checkpoint.unlink(missing_ok=True)  # and without one there is nothing to go on from


def test_check_free_changes_nothing(tmp_path):
    check_free(tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()
    run = finished(tmp_path / "run")
    before = contents(run.directory)
    check_free(run.directory, overwrite=True)
    with pytest.raises(RunExists):
        check_free(run.directory)
    assert contents(run.directory) == before


def test_overwrite_replaces_the_run_and_leaves_other_files(tmp_path):
    run = finished(tmp_path / "run")
    for mine in ("notes.txt", "figures/mine.png", "figures/error_mine.png", ".notes.txt.swp"):
        (run.directory / mine).write_text("mine")
    (run.directory / ".checkpoint.npz.99-0123abcd.tmp").write_text("left by a killed writer")
    (run.directory / "figures" / ".field_u.png.99-0123abcd.tmp").write_text("here as well")
    Run.create(run.directory, overwrite=True)
    left = {str(path.relative_to(run.directory)) for path in contents(run.directory)}
    assert left == {
        ".pinn-run", "notes.txt", ".notes.txt.swp", "figures/mine.png", "figures/error_mine.png"
    }  # fmt: skip


def test_overwrite_knows_the_figures_of_a_run_by_what_they_say_of_themselves(tmp_path):
    run = finished(tmp_path / "run")
    grid = np.linspace(0, 1, 9)
    moving = [FieldData("u", {"x": grid}, grid * t, fixed={"t": t}) for t in (0.0, 1.0)]
    drawn = {
        "history.pdf": figure_bytes(plot_history(RECORDS), "pdf"),
        "history.svg": figure_bytes(plot_history(RECORDS), "svg"),
        "animation_u.gif": animation(moving).gif(),
    }
    if FFMpegWriter.isAvailable():
        drawn["animation_u.mp4"] = animation(moving).mp4()
    for name, data in drawn.items():
        (run.directory / "figures" / name).write_bytes(data)
        (run.directory / "figures" / f"mine.{name}").write_text("mine")
    Run.create(run.directory, overwrite=True)
    left = {path.name for path in (run.directory / "figures").iterdir()}
    assert left == {f"mine.{name}" for name in drawn}


@pytest.mark.parametrize("name", ["thesis.tex", "config.yaml", "solution.npz"])
def test_overwrite_refuses_what_is_no_run(tmp_path, name):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / name).write_text("years of work")
    with pytest.raises(RunExists, match=f"not a run .*'{name}'"):
        Run.create(tmp_path / "home", overwrite=True)
    with pytest.raises(RunExists, match="it is a file"):
        Run.create(tmp_path / "home" / name, overwrite=True)
    assert os.listdir(tmp_path / "home") == [name]
    assert (tmp_path / "home" / name).read_text() == "years of work"


@pytest.mark.parametrize("name", ["config.yaml", "figures", "summary.json", ".pinn-run"])
def test_overwrite_refuses_links_in_place_of_what_a_run_wrote(tmp_path, name):
    run = finished(tmp_path / "run")
    elsewhere = tmp_path / "elsewhere"
    os.rename(run.directory / name, elsewhere)
    (run.directory / name).symlink_to(elsewhere)
    before = contents(tmp_path)
    with pytest.raises(RunExists, match=f"{name}: .* link"):
        Run.create(run.directory, overwrite=True)
    assert contents(tmp_path) == before
    assert (run.directory / name).is_symlink()


def test_overwrite_refuses_a_folder_in_place_of_a_file(tmp_path):
    run = finished(tmp_path / "run")
    run.summary_path.unlink()
    run.summary_path.mkdir()
    before = contents(tmp_path)
    with pytest.raises(RunExists, match="summary.json"):
        Run.create(run.directory, overwrite=True)
    assert contents(tmp_path) == before


def test_a_run_that_goes_on_is_left_alone(tmp_path):
    run = Run.create(tmp_path / "run")
    run.write_config("seed: 0\n")
    before = contents(run.directory)
    for overwrite in (False, True):
        for ask in (check_free, Run.create):
            with pytest.raises(RunExists, match=f"another training run .*process {os.getpid()} "):
                ask(run.directory, overwrite)
    assert contents(run.directory) == before
    run.release()
    Run.create(run.directory, overwrite=True)


def test_of_many_that_ask_at_once_one_gets_the_directory(tmp_path):
    def ask():
        barrier.wait()
        try:
            won.append(Run.create(directory))
        except RunExists:
            lost.append(1)

    for number in range(40):
        directory, won, lost = tmp_path / str(number), [], []
        barrier = threading.Barrier(4)
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1 and len(lost) == 3


def test_a_run_that_ended_between_the_look_and_the_lock_is_not_taken_for_free(
    tmp_path, monkeypatch
):
    really_lock = claim_module._lock

    def another_run_was_faster(directory, text=None):
        monkeypatch.setattr(claim_module, "_lock", really_lock)
        finished(directory)
        return really_lock(directory, text)

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(claim_module, "_lock", another_run_was_faster)
    with pytest.raises(RunExists, match="already holds a run"):
        Run.create(tmp_path / "run")
    assert Run.open(tmp_path / "run").metrics() == [{"step": 1}]


@pytest.mark.parametrize(
    "written", [[], [".pinn-run"], [".pinn-run", ".config.yaml.7-0123abcd.tmp"]]
)
def test_a_run_that_was_killed_before_its_config_left_a_free_directory(tmp_path, written):
    for name in written:
        (tmp_path / name).write_text("")
    check_free(tmp_path)
    Run.create(tmp_path)
    assert os.listdir(tmp_path) == [".pinn-run"]
