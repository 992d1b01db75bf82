"""Local processes: one that is killed is replaced, and costs only what it was doing."""

import functools
import os
import runpy
import signal
from concurrent.futures import BrokenExecutor

import pytest

from pinn.runs.processes import CannotBegin, Processes

BEGINNING = """\
import os, signal
from pathlib import Path

for kill in Path(__file__).parent.glob("kill_*"):
    kill.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def kills(tmp_path, monkeypatch):
    """A folder with a file kill_* for each process that is to be killed while it begins."""
    script = tmp_path / "beginning.py"
    script.write_text(BEGINNING)
    begin = functools.partial(runpy.run_path, str(script))
    monkeypatch.setattr("pinn.runs.processes._begin", begin)
    return tmp_path


def test_a_process_that_is_killed_is_replaced():
    with Processes(1) as executor:
        first = executor.submit(os.getpid).result()
        with pytest.raises(BrokenExecutor):
            executor.submit(os.kill, first, signal.SIGKILL).result()
        second = executor.submit(os.getpid).result()
        assert executor.submit(os.getpid).result() == second
    assert len({first, second, os.getpid()}) == 3


def test_what_a_process_raises_is_raised_here_and_it_goes_on():
    with Processes(1) as executor:
        with pytest.raises(ValueError, match="invalid literal"):
            executor.submit(int, "x").result()
        assert executor.submit(int, "7", base=8).result() == 7


def test_ctrl_c_is_not_for_the_processes():
    with Processes(1) as executor:
        pid = executor.submit(os.getpid).result()
        executor.submit(os.kill, pid, signal.SIGINT).result()
        assert executor.submit(os.getpid).result() == pid


def test_the_first_process_may_be_killed_while_it_begins(kills):
    (kills / "kill_0").touch()
    with Processes(3) as executor:
        assert list(executor.map(abs, [-1, -2, -3])) == [1, 2, 3]


def test_one_that_is_killed_while_it_begins_after_the_first_is_replaced(kills):
    with Processes(1) as executor:
        first = executor.submit(os.getpid).result()
        (kills / "kill_0").touch()
        for lost in (functools.partial(os.kill, first, signal.SIGKILL), os.getpid):
            with pytest.raises(BrokenExecutor):
                executor.submit(lost).result()
        assert executor.submit(abs, -1).result() == 1


def test_where_two_end_before_one_has_begun_no_third_is_tried(kills):
    for number in range(9):
        (kills / f"kill_{number}").touch()
    with Processes(3) as executor:
        for future in [executor.submit(abs, -1) for _ in range(4)]:
            with pytest.raises(CannotBegin, match="with exit codes -9 and -9; ") as caught:
                future.result()
    assert len(list(kills.glob("kill_*"))) == 7
    assert str(caught.value).endswith(' below `if __name__ == "__main__":`')
