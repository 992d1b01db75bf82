"""Run directories that were forged: told of in a sentence; nothing outside of them is touched."""

import json
import os

import pytest

from pinn.figures.coefficients import plot_coefficients
from pinn.figures.comparison import plot_comparison
from pinn.figures.history import plot_history
from pinn.figures.style import figure_png
from pinn.files import DamagedFile
from pinn.runs import Run, RunExists
from pinn.runs.claim import MARKER, check_free, claim
from pinn.runs.comparison import comparison_text, results
from pinn.runs.overview import Overview, aligned, overviews

WHOLE = {
    "name": "heat", "steps": 7, "wall_s": 1.5, "loss": 0.25, "rel_l2": {"u": 0.5},
    "parameters": {"k": 0.1}, "error_estimate": {"relative_l2": {"u": None}},
    "stop_reason": "step limit", "message": "all 7 steps done", "warnings": ["something"],
    "stages": [{"name": "adam", "message": "all 7 steps done", "loss": None}],
    "decisions": [{"step": 1, "what": "adam", "why": "it begins"}],
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    run = Run.create(tmp_path / "run")
    run.write_config("problem: {}\n")
    run.log({"step": 1, "loss": 0.5, "losses": {"heat": 0.5}})
    run.release()
    return run


def test_a_summary_may_lack_any_key(run):
    for key in WHOLE:
        run.write_summary({name: value for name, value in WHOLE.items() if name != key})
        assert key not in run.summary()
        assert Overview.of(run.directory).steps == (1 if key == "steps" else 7)
        results([Overview.of(run.directory)])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", -1), ("steps", "7"), ("steps", True), ("steps", 2**64), ("wall_s", "long"),
        ("loss", [1]), ("rel_l2", 0.5), ("rel_l2", {"u": "low"}), ("parameters", [["k", 1]]),
        ("parameters", {"k" * 300: 1}), ("parameters", {f"k{i}": 1 for i in range(2000)}),
        ("error_estimate", []), ("error_estimate", {"relative_l2": 1}), ("stop_reason", 3),
        ("message", {}), ("warnings", "one"), ("warnings", [1]), ("stages", {}), ("stages", [{}]),
        ("stages", [{"name": "adam"}]), ("stages", [{"name": 1, "message": "", "loss": 0}]),
        ("decisions", ["adam"]), ("decisions", [{"what": "adam"}]), ("unsolved", "no"),
        ("error_estimate", {"doubts": [1]}),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_told_of(run, key, value):
    run.write_summary({**WHOLE, key: value})
    with pytest.raises(DamagedFile, match=f"expected the summary of a run, but its '{key}' is"):
        run.summary()
    assert "summary.json: expected the summary of a run" in Overview.of(run.directory).state


@pytest.mark.parametrize(
    "text", ['{"loss": 1e999}', '{"loss": Infinity}', '{"steps": %s}' % ("9" * 5000), "\x00", "[]"]
)
def test_numbers_that_are_none_are_told_of(run, text):
    run.summary_path.write_text(text)
    with pytest.raises(DamagedFile, match="summary.json"):
        run.summary()


def test_files_without_an_end_are_not_read(run):
    os.mkfifo(run.summary_path)
    assert "got a pipe" in Overview.of(run.directory).state
    run.summary_path.unlink()
    run.metrics_path.unlink()
    run.metrics_path.symlink_to("/dev/zero")
    assert "got a device" in Overview.of(run.directory).state
    run.metrics_path.unlink()
    with run.summary_path.open("wb") as file:
        file.truncate(2**34)
    with pytest.raises(OSError, match="expected a file of at most"):
        run.summary()


def test_a_marker_that_is_no_file_does_not_end_a_list(run):
    other = run.directory.parent / "other"
    other.mkdir()
    os.mkfifo(other / MARKER)
    run.write_summary(WHOLE)
    assert [one.directory for one in overviews(run.directory.parent)] == [other, run.directory]
    with pytest.raises(RunExists, match="expected the plain file that a run directory is known by"):
        check_free(other)


def test_a_cell_cannot_look_like_more_rows_or_move_the_cursor(run):
    run.write_summary({**WHOLE, "stop_reason": "x\nruns/fake  step limit\x1b[2J\u202e"})
    table = aligned([one.cells for one in overviews(run.directory)])
    assert table.count("\n") == 0
    assert r"x\nruns/fake  step limit\x1b[2J\u202e" in table
    text = comparison_text(overviews(run.directory) * 2, [{"a": "\x1b[31m"}, {"a": "b\nc"}])
    assert r"\x1b[31m" in text and r"b\nc" in text


RECORD = {"step": 1, "stage": "adam", "loss": 1.0, "losses": {"heat": 1.0}}


@pytest.mark.parametrize(
    "name", ["$\\frac{$", "_hidden", "a\nb", "\x1b[31m", "$$", "\\", "", "{", "u_$x$", "x" * 200]
)
def test_names_of_anybody_are_drawn_as_they_are(name):
    lines = [
        {**RECORD, "step": step, "stage": name, "losses": {name: 1.0, "heat": 2.0},
         "rel_l2": {name: 0.1}, "parameters": {name: 0.1}, "weights": {name: 1.0}, "draw": step}
        for step in (1, 2)
    ]  # fmt: skip
    for figure in (plot_history(lines), plot_comparison({name: lines, "b": lines}),
                   plot_coefficients(lines)):  # fmt: skip
        assert figure_png(figure, 20).startswith(b"\x89PNG")


def test_of_very_many_coefficients_some_are_drawn():
    lines = [{**RECORD, "parameters": {f"k{i}": float(i) for i in range(1000)}}]
    assert len(plot_coefficients(lines).axes) == 60


@pytest.mark.parametrize(
    "change",
    [
        {"losses": {f"b{i}": 1.0 for i in range(2000)}}, {"losses": {"b" * 300: 1.0}},
        {"stage": "s" * 300}, {"wall_s": "long"}, {"draw": "two"}, {"fresh_loss": []},
    ],
)  # fmt: skip
def test_a_record_that_no_figure_could_hold_is_refused(run, change):
    with run.metrics_path.open("a") as file:
        file.write(json.dumps({**RECORD, **change}) + "\n")
    with pytest.raises(DamagedFile, match=r"metrics\.jsonl:2: expected a record of a step"):
        run.metrics()


# ---- nothing outside of the directory is touched


def test_overwriting_a_link_to_a_run_removes_what_runs_wrote_there_alone(tmp_path, run):
    (run.directory / "notes.txt").write_text("mine")
    run.write_summary(WHOLE)
    (tmp_path / "link").symlink_to(run.directory)
    claim(tmp_path / "link", overwrite=True).release()
    assert sorted(path.name for path in run.directory.iterdir()) == [MARKER, "notes.txt"]
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", ["checkpoint.npz", "metrics.jsonl", "config.yaml", "figures"])
def test_overwriting_never_follows_a_link(tmp_path, run, name):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "history.png").write_text("theirs")
    path = run.directory / name
    path.unlink(missing_ok=True)
    path.symlink_to(theirs if name == "figures" else theirs / "history.png")
    with pytest.raises(RunExists, match="a link or something else"):
        claim(run.directory, overwrite=True)
    assert (theirs / "history.png").read_text() == "theirs"


def test_a_figure_that_is_a_link_or_not_ours_stays(tmp_path, run):
    (tmp_path / "theirs.png").write_text("theirs")
    figures = run.directory / "figures"
    figures.mkdir()
    (figures / "history.png").symlink_to(tmp_path / "theirs.png")
    (figures / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\nmine")
    claim(run.directory, overwrite=True).release()
    assert sorted(path.name for path in figures.iterdir()) == ["history.png", "photo.png"]
    assert (tmp_path / "theirs.png").read_text() == "theirs"


def test_a_broken_link_is_no_free_directory(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RunExists):
        claim(tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()
