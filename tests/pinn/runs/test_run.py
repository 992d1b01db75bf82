"""The run directory: what it holds, what it refuses, and what it survives."""

import errno
import getpass
import json
import os
import socket

import numpy as np
import pytest

from pinn.files import DamagedFile, read_npz
from pinn.runs.machine import machine_and_versions
from pinn.runs.run import Run


class Crash(BaseException):
    """Stands for the process being killed: no handler of ours may swallow it."""


@pytest.fixture
def run(tmp_path):
    run = Run.create(tmp_path / "run")
    run.write_config("problem: {}\n")
    return run


def test_a_run_is_made_with_its_parents_and_opened_again(tmp_path):
    run = Run.create(tmp_path / "runs" / "burgers-0")
    run.write_config("seed: 0\n")
    again = Run.open(tmp_path / "runs" / "burgers-0")
    assert again.config() == "seed: 0\n"
    assert again.metrics() == []
    assert again.directory == run.directory


def test_a_directory_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*file.run"):
        Run.create(tmp_path / "file" / "run")


def test_opening_what_is_no_run_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"expected a run directory.*config\.yaml"):
        Run.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such directory"):
        Run.open(tmp_path / "nothing")


def test_summary_comes_back_and_damage_is_named(run):
    run.write_summary({"loss": np.float64(1e-3), "rel_l2": {"u": 5e-3}, "bad": np.inf})
    assert run.summary() == {"loss": 1e-3, "rel_l2": {"u": 5e-3}, "bad": None}
    run.summary_path.write_text('{"loss": ')
    with pytest.raises(DamagedFile, match=r"summary\.json: expected JSON"):
        run.summary()


def test_metrics_are_one_line_each_and_on_disk_at_once(run):
    records = [{"step": i, "losses": {"burgers": 0.5**i}} for i in range(3)]
    for count, record in enumerate(records, start=1):
        run.log(record)
        assert run.metrics_path.read_text().count("\n") == count
    assert run.metrics() == records


def test_of_many_lines_some_are_read_evenly_with_the_ends_of_stages(run):
    stages = [("adam", range(5, 5000, 5)), ("lbfgs", range(5000, 6003))]
    whole = [{"step": step, "stage": stage} for stage, steps in stages for step in steps]
    run.metrics_path.write_text("".join(json.dumps(one) + "\n" for one in whole))
    assert run.metrics() == whole
    some = run.metrics(100)
    assert 100 <= len(some) <= 204
    steps = [one["step"] for one in some]
    assert {5, 4995, 5000, 6002} < set(steps)
    assert steps == sorted(steps)
    places = np.array([whole.index(one) for one in some])
    assert np.diff(places).max() <= 2 * len(whole) / 100
    assert [one["step"] for one in run.metrics(1)][-1] == 6002


def test_lines_before_a_step_back_stay_when_some_are_read(run):
    steps = [*range(300), *range(250, 500)]
    lines = [json.dumps({"step": step, "stage": "adam"}) + "\n" for step in steps]
    run.metrics_path.write_text("".join(lines))
    some = [one["step"] for one in run.metrics(10)]
    back = some.index(250)
    assert some[back - 1] == 299
    assert len(some) < 40


def test_a_line_cut_short_by_a_crash_neither_counts_nor_spoils_the_next(run):
    run.log({"step": 0})
    with open(run.metrics_path, "a") as file:
        file.write('{"step": 1, "lo' + " " * 10_000)
    assert run.metrics() == [{"step": 0}]
    run.log({"step": 2})
    assert run.metrics() == [{"step": 0}, {"step": 2}]


@pytest.mark.parametrize("line", ["{broken", "[1, 2]", "", "3"])
def test_a_damaged_line_in_the_middle_is_named(run, line):
    run.metrics_path.write_text('{"step": 0}\n' + line + '\n{"step": 2}\n')
    with pytest.raises(DamagedFile, match=r"metrics\.jsonl:2: expected one JSON object"):
        run.metrics()


def test_a_log_that_the_disk_refuses_names_the_file(run):
    run.metrics_path.mkdir()
    with pytest.raises(OSError, match=r"cannot write .*metrics\.jsonl"):
        run.log({"step": 0})


def test_the_checkpoint_before_is_kept(run):
    for step in range(3):
        run.save_checkpoint({"step": np.int64(step), "theta": np.full(4, step / 3)})
    assert read_npz(run.checkpoint_path)["step"] == 2
    assert read_npz(run.previous_checkpoint_path)["step"] == 1
    assert sorted(os.listdir(run.directory)) == [
        ".pinn-run", "checkpoint.npz", "checkpoint.previous.npz", "config.yaml"
    ]  # fmt: skip


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), Crash()])
@pytest.mark.parametrize("failing", range(12))
def test_a_failure_at_any_step_leaves_two_whole_checkpoints(run, monkeypatch, failing, error):
    run.save_checkpoint({"step": np.int64(1)})
    run.save_checkpoint({"step": np.int64(2)})
    count = 0

    def counted(function):
        def call(*args, **kwargs):
            nonlocal count
            count += 1
            if count > failing:
                raise error
            return function(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        # After a crash nothing is cleaned up either.
        steps = ["fsync", "link", "replace", "open", "close"]
        for name in [*steps, "unlink"] if isinstance(error, Crash) else steps:
            patch.setattr(os, name, counted(getattr(os, name)))
        try:
            run.save_checkpoint({"step": np.int64(3)})
        except (OSError, Crash):
            pass
        else:
            assert count <= failing
    current = int(read_npz(run.checkpoint_path)["step"])
    previous = int(read_npz(run.previous_checkpoint_path)["step"])
    assert (current, previous) in {(2, 1), (2, 2), (3, 2)}
    if not isinstance(error, Crash):
        assert [name for name in os.listdir(run.directory) if name.endswith(".tmp")] == []
    # The run goes on as if nothing had happened.
    run.save_checkpoint({"step": np.int64(4)})
    run.save_checkpoint({"step": np.int64(5)})
    assert read_npz(run.checkpoint_path)["step"] == 5
    assert read_npz(run.previous_checkpoint_path)["step"] == 4


def test_figures_have_a_folder_of_their_own(run):
    assert run.figure_path("field_u") == run.directory / "figures" / "field_u.png"
    assert (run.directory / "figures").is_dir()


def test_machine_and_versions_name_no_host_user_or_path():
    facts = machine_and_versions()
    text = json.dumps(facts)
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["machine"]["cores"] >= 1
    assert facts["machine"]["cpu"]
    assert "/" not in text.replace("/s", "") and "\\" not in text
    host = socket.gethostname()
    assert not host or host not in text
    assert getpass.getuser() == "root" or getpass.getuser() not in text


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"step": "1"}',
        '{"step": true}',
        '{"step": 1, "stage": 3}',
        '{"step": 1, "loss": "low"}',
        '{"step": 1, "losses": [1.0]}',
        '{"step": 1, "losses": {"heat": "low"}}',
        '{"step": 1, "rel_l2": []}',
        '{"step": 1, "loss": NaN}',
        '{"step": 1, "loss": %s}' % ("9" * 400),
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_record_is_named(run, line):
    run.log({"step": 1})
    with open(run.metrics_path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DamagedFile, match=r"metrics\.jsonl:2: expected "):
        run.metrics()


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "\udcff"])
def test_a_damaged_summary_is_named(run, text):
    run.summary_path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedFile, match=r"summary\.json"):
        run.summary()


def test_nothing_is_written_through_links(tmp_path, run):
    (tmp_path / "theirs").mkdir()
    (run.directory / "figures").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="figures is a link"):
        run.figure_path("field_u")
    (tmp_path / "theirs.txt").write_text("theirs")
    run.metrics_path.symlink_to(tmp_path / "theirs.txt")
    with pytest.raises(OSError, match="metrics.jsonl is a link"):
        run.log({"step": 1})
    assert (tmp_path / "theirs.txt").read_text() == "theirs"
