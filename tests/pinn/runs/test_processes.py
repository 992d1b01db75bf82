"""Local processes: one that is killed is replaced, and costs only what it was doing."""

import os
import signal
from concurrent.futures import BrokenExecutor

import pytest

from pinn.runs.processes import Processes


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
