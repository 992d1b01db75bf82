"""The long run: what its reader takes for whole, what samples say, and how a process is watched."""

import json
import os
import time

import numpy as np
import pytest

from experiments.soak import __main__ as soak
from experiments.soak import watching
from experiments.soak.page import markdown
from experiments.soak.reading import Reader, check_png
from experiments.soak.steadiness import drift, of_memory, of_processor, of_steps
from experiments.soak.watching import memory, processor, watch
from pinn.figures.style import figure_png, new_figure
from pinn.files import DamagedFile, write_npz


@pytest.fixture(scope="module")
def picture():
    figure = new_figure(2, 2)
    figure.subplots().plot([0, 1], [1, 0])
    return figure_png(figure)


def test_a_whole_picture_is_whole(picture, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(picture)
    check_png(path)


@pytest.mark.parametrize("damage", [
    lambda data: data[:-1], lambda data: data[:-12], lambda data: data[: len(data) // 2],
    lambda data: data + b"\0", lambda data: data[:-20] + b"x" + data[-19:], lambda data: b"",
])  # fmt: skip
def test_a_damaged_picture_is_told_of(picture, tmp_path, damage):
    path = tmp_path / "a.png"
    path.write_bytes(damage(picture))
    with pytest.raises(DamagedFile, match=r"a\.png"):
        check_png(path)


@pytest.fixture
def run(tmp_path, picture):
    """The files of a run."""
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "field_u.png").write_bytes(picture)
    (tmp_path / "summary.json").write_text('{"loss": 1.0}')
    line = {"step": 1, "stage": "adam", "loss": 1.0, "losses": {"a": 1.0}}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(line) + '\n{"cut sh')  # being written
    (tmp_path / "config.yaml").write_text("problem: {}\n")
    write_npz(tmp_path / "checkpoint.npz", {"theta": np.ones(3)})
    (tmp_path / ".checkpoint.npz.12-0123abcd.tmp").write_bytes(b"half of")
    return tmp_path


def test_the_reader_reads_every_file_of_a_run_each_time(run):
    reader = Reader(run)
    reader.round()
    reader.round()
    assert reader.invalid == []
    assert reader.reads == dict.fromkeys(("png", "json", "jsonl", "yaml", "npz"), 2)


@pytest.mark.parametrize("name, content", [
    ("summary.json", b'{"loss": 1'), ("metrics.jsonl", b"{}\n"), ("config.yaml", b"problem: ["),
    ("checkpoint.npz", b"PK"), ("figures/field_u.png", b"\x89PNG\r\n\x1a\n"),
])  # fmt: skip
def test_the_reader_tells_which_file_is_not_whole(run, name, content):
    reader = Reader(run)
    reader.round()
    (run / name).write_bytes(content)
    reader.round()
    (said,) = reader.invalid
    assert said.startswith(f"{name}: ")


def test_a_file_that_was_there_has_to_stay(run):
    reader = Reader(run)
    reader.round()
    (run / "checkpoint.npz").unlink()
    reader.round()
    assert [said.split(":")[0] for said in reader.invalid] == ["checkpoint.npz"]


def test_a_process_is_watched_until_it_ends(tmp_path):
    script = (
        "import time, pathlib, sys; held = bytearray(40 * 2**20)\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "(folder / 'summary.json').write_text('{}')\n"
        "time.sleep(1.5); (folder / 'config.yaml').write_text('[')\n"
    )
    seen = watch(["-c", script], tmp_path)
    assert max(seen.mib) > 40 and seen.seconds == sorted(seen.seconds)
    assert seen.reads["json"] >= 1 and seen.reads["yaml"] >= 1
    assert seen.invalid and all(said.startswith("config.yaml: ") for said in seen.invalid)


def test_a_training_that_fails_is_told_of(tmp_path):
    with pytest.raises(RuntimeError, match="code 3: it broke"):
        watch(["-c", "import sys; print('it broke', file=sys.stderr); sys.exit(3)"], tmp_path)


def test_a_training_that_says_much_is_not_held_up(tmp_path):
    script = "import sys; sys.stderr.write('x' * 2**20)"  # more than any pipe holds
    assert watch(["-c", script], tmp_path).invalid == []


def test_a_reader_that_fails_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "read_until_told", zip)  # ends without an answer, nor a word
    with pytest.raises(RuntimeError, match="the reader failed"):
        watch(["-c", "pass"], tmp_path)


def test_a_process_that_is_gone_has_no_memory():
    assert memory(2**22 + 7) is None


def test_memory_that_grows_is_not_flat():
    seconds = np.arange(0.0, 3600.0)
    warming = np.where(seconds < 60, seconds, 60.0)  # libraries load in the first minute
    steady = of_memory(seconds, 100 + warming + np.sin(seconds))
    assert steady["flat"] and abs(steady["mib_per_hour"]) < 0.1
    assert 158.9 < steady["least"] < steady["most"] < 161.1
    leaking = of_memory(seconds, 100 + warming + seconds / 360)
    assert not leaking["flat"]
    assert leaking["mib_per_hour"] == pytest.approx(10.0)
    assert leaking["growth"] == pytest.approx(0.0545, abs=1e-3)  # 9 of 165 MiB
    with pytest.raises(ValueError, match="at least 120 seconds"):
        of_memory([0.0, 60.0], [1.0, 1.0])


def records(milliseconds):
    """Lines of metrics, one for each 100 steps, of so many ms a step in each minute."""
    wall, step, found = 0.0, 0, []
    for minute, each in enumerate(milliseconds):
        while wall < 60 * (minute + 1):
            found.append({"step": step, "wall_s": wall})
            wall, step = wall + each / 10, step + 100
    return found


def test_the_time_of_steps_goes_by_minutes():
    rows = of_steps(records([10.0, 5.0, 5.0, 6.0]))
    assert [row["minute"] for row in rows] == [0, 1, 2, 3]
    assert [row["median_ms"] for row in rows] == pytest.approx([10, 5, 5, 6])
    assert rows[1]["p99_ms"] == pytest.approx(5, rel=0.5) and rows[1]["samples"] in (119, 120, 121)
    assert drift(rows) == pytest.approx(0.2)  # without the first minute


def test_the_processors_time_goes_by_minutes_of_training():
    lines = records([10.0, 5.0, 5.0, 6.0, 6.0])
    seconds = np.arange(0.0, 306.0)  # 5 of them before the training begins
    taken = np.interp(seconds, [0, 5, 305], [0, 4, 4 + 150])  # half of the core is somebody else's
    rows = of_processor(seconds, taken, lines)
    assert [row["minute"] for row in rows] == [0, 1, 2, 3]
    assert [row["mean_ms"] for row in rows] == pytest.approx([5, 2.5, 2.5, 3], rel=0.02)
    assert drift(rows, "mean_ms") == pytest.approx(0.2, abs=0.02)


def test_the_processors_time_of_a_process_is_that_it_measures_itself():
    start = time.process_time()
    while time.process_time() < start + 0.05:
        pass
    assert processor(os.getpid()) == pytest.approx(time.process_time(), abs=0.05)
    assert processor(2**22 + 7) == 0


def test_the_page_says_what_was_seen():
    seconds = list(map(float, range(600)))
    rows = of_steps(records([5.0] * 10))
    facts = {
        "minutes": 10.0, "figures_seconds": 30.0, "last_step": 1000, "draws": 7,
        "drift": drift(rows), "processor": [{"minute": k, "mean_ms": 2.0 + k} for k in range(10)],
        "processor_drift": 0.5, "reads": {"npz": 30, "png": 12}, "invalid": ["a.npz: damaged"],
        "steps": rows, "memory": {**of_memory(seconds, [100.0] * 600)},
        "measured": {
            "command": "python -m experiments.soak", "machine": {"cpu": "a cpu", "cores": 2},
            "versions": {"pinn": "0.1.0"}, "executor": "numba",
        },
    }  # fmt: skip
    page = markdown(facts)
    assert "Files read: 42 (30 of .npz, 12 of .png). Invalid ones: 1." in page
    assert "Memory is flat after the first minute: 100 to 100 MiB, +0.0 %" in page
    assert "from 3 ms in minute 1 to 11 ms in the last: +50.0 %" in page
    assert "- a.npz: damaged" in page


def test_too_short_a_run_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        soak.main(["--minutes", "1"])
    assert caught.value.code == 2
    assert "expected 3 or more" in capsys.readouterr().err
