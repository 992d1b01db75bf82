"""Output that nobody can read neither ends a run nor loses one."""

import fcntl
import io
import json
import os
import pty
import select
import signal
import termios
from pathlib import Path

import pytest

import pinn
from pinn.cli import main
from pinn.cli.output import QuietStream


def check_finished():
    assert json.loads(Path("runs/heat-0/summary.json").read_text())["stop_reason"] != "failed"
    assert pinn.load("runs/heat-0/solution.npz").evaluate(x=1.0, t=0.5)["u"].shape == ()
    assert Path("runs/heat-0/figures/history.png").exists()
    # No file has lines in it that were meant for people.
    for line in Path("runs/heat-0/metrics.jsonl").read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_nobody_reading_the_output_is_no_failure(start, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*arguments, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, "")


def test_a_reader_that_goes_away_does_not_cost_the_run(start):
    process = start("train", "heat.yaml")
    process.stdout.close()
    process.stderr.close()
    process.stdout, process.stderr = None, None
    assert process.wait(timeout=240) == 0
    check_finished()


@pytest.mark.parametrize("closed", [[2], [0, 1, 2]])
def test_a_descriptor_that_was_never_open_does_not_cost_the_run(start, closed):
    def close():
        for descriptor in closed:
            os.close(descriptor)

    process = start("train", "heat.yaml", before=close)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "Traceback" not in out + err
    check_finished()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the full device of Linux")
@pytest.mark.parametrize("streams", [["stderr"], ["stdout", "stderr"]])
def test_a_full_disk_behind_the_output_does_not_cost_the_run(start, streams):
    with open("/dev/full", "w") as full:
        process = start("train", "heat.yaml", **dict.fromkeys(streams, full))
        process.communicate(timeout=240)
    assert process.returncode == 0
    check_finished()


@pytest.mark.parametrize("hangup", ["ignored", "taken"])
def test_a_terminal_that_is_closed_in_mid_training(start, hangup):
    terminal, theirs = pty.openpty()

    def lead_a_session_of_its_own():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        ignored = signal.SIG_IGN if hangup == "ignored" else signal.SIG_DFL
        signal.signal(signal.SIGHUP, ignored)

    # Without a signal only time ends it; with one, time must not: a busy machine takes it first.
    limit = ["--set", "training.0.adam.seconds=3"] if hangup == "ignored" else []
    process = start(
        "train", "endless.yaml", "--out", "runs/heat-0", *limit,
        before=lead_a_session_of_its_own, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    while not Path("runs/heat-0/metrics.jsonl").exists():
        # What nobody reads would fill up and make the writer wait; it may have nothing to say.
        if select.select([terminal], [], [], 0.05)[0]:
            os.read(terminal, 1000)
    os.close(terminal)
    assert process.wait(timeout=240) == (0 if hangup == "ignored" else 130)
    check_finished()


def test_streams_that_python_has_already_closed(folder, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setattr("sys.stderr", stream)
        assert main(["train", "heat.yaml", "--overwrite"]) in (0, 2)
        assert not QuietStream(stream).isatty()
        assert main(["list"]) == 0
    check_finished()


def test_characters_that_the_output_cannot_show_are_escaped():
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="ascii")
    print("runs/wärme", file=QuietStream(stream), flush=True)
    assert buffer.getvalue() == b"runs/w\\xe4rme\n"
