"""How a rank ends, without MPI: what is printed, by whom, and what cannot keep it from that."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("mpi4py", reason="an exit is that of a rank of MPI")

HEAD = """
import sys
from autograd import last_words
from autograd.ranks import RankFailed

def leave(words, waiting):
    {leave}

last_words.LastWords({number}, leave)
"""


def ended(leave: str, then: str, number: int = 0, **options: object) -> subprocess.CompletedProcess:
    """A process that ends after `then`, where the words of all ranks are what `leave` returns."""
    program = HEAD.format(leave=leave, number=number) + then
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, **options
    )


def test_an_error_is_printed_when_all_have_ended():
    found = ended("print('left:', words); return [words, '']", "1 / 0")
    assert found.returncode == 1
    assert found.stdout == "left: ZeroDivisionError: division by zero\n"
    assert found.stderr.count("ZeroDivisionError: division by zero") == 1


@pytest.mark.parametrize("number, told", [(0, 1), (1, 0)])
def test_of_ranks_with_the_same_error_the_first_prints_it(number, told):
    found = ended("return [words, words]", "1 / 0", number)
    assert found.stderr.count("Traceback") == told


def test_a_failure_of_another_rank_is_left_to_that_rank():
    then = "raise RankFailed('rank 1 of 2 failed: ValueError: three')"
    assert ended("return [words, 'ValueError: three']", then).stderr == ""
    assert "three" in ended("return [words, '']", then).stderr


def test_an_error_is_printed_where_nobody_can_be_told():
    found = ended("raise OSError('gone')", "1 / 0")
    assert "ZeroDivisionError: division by zero" in found.stderr


def test_a_closed_stderr_keeps_no_rank_from_being_met():
    found = ended("waiting(); print('met'); return [words]", "sys.stderr.close(); 1 / 0")
    assert found.stdout == "met\n"


def test_nothing_is_said_of_a_delay_without_a_shell(monkeypatch):
    from autograd import last_words

    def none(*arguments: object, **options: object) -> None:
        raise FileNotFoundError("sh")

    monkeypatch.setattr(last_words.subprocess, "Popen", none)
    with last_words.when_late("late", 1):
        pass
