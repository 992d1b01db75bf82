"""Scripts of several ranks that do not do the same: none waits for ever, and it is said once."""

from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("ending_ranks.py")
MISSING = "ValueError: a page is missing"


@pytest.fixture
def ended(start_ranks):
    """A function that runs a part of the program; returns its stdout, stderr and exit code."""

    def ended(how, count=2, **options):
        process = start_ranks(count, *options.pop("before", ()), PROGRAM, how, **options)
        out, err = process.communicate(timeout=60)
        return out, err, process.returncode

    return ended


@pytest.mark.parametrize(("how", "count"), [("raises_before", 3), ("raises_between", 2)])
def test_a_rank_that_raises_outside_solve_ends_the_others_with_its_traceback_alone(
    ended, how, count
):
    _, err, code = ended(how, count)
    assert code == 1
    assert err.count("Traceback") == 1 and err.endswith(f"\n{MISSING}\n")


@pytest.mark.parametrize(
    ("how", "count", "number"), [("ends_before", 3, 1), ("solves_once_less", 2, 0)]
)
def test_a_rank_that_ends_is_not_waited_for(ended, how, count, number):
    _, err, code = ended(how, count)
    assert code == 1
    assert err.count("Traceback") == err.count("RankFailed: ") == 1
    assert f"rank {number} of {count} has ended, and the others wait for it" in err


def test_an_error_of_all_ranks_is_printed_once(ended):
    _, err, code = ended("raises_on_all", 3)
    assert code == 1
    assert err.count("Traceback") == err.count("expected a number > 0, got -1") == 1


def test_a_traceback_waits_two_seconds_for_ranks_that_go_on(ended):
    _, err, code = ended("raises_alone_and_others_go_on")
    assert code == 1
    assert err.endswith(f"\n{MISSING}\nwent on\n")


def test_arguments_that_differ_by_rank_are_named(ended):
    out, err, code = ended("other_arguments")
    assert (out, code) == ("", 1)
    assert err.count("Traceback") == 1
    for told in ("model.mlp.width is 3 there and 4 here", "seed is 0 there and 1 here",
                 "training.0.adam.steps is 2 there and 3 here"):  # fmt: skip
        assert told in err


def test_other_numbers_ask_for_the_arguments_first(ended):
    _, err, code = ended("other_start")
    assert code == 1
    assert err.count("Traceback") == 1
    assert "rank 1 of 2 holds other numbers than rank 0" in err
    assert "was pinn.solve called with other arguments there (start," in err


def test_a_run_of_each_rank_by_itself_is_doubted_once_unless_it_is_asked_for(ended):
    out, err, code = ended("without_executor")
    assert code == 0 and sorted(out.splitlines()) == ["0: 2 steps", "1: 2 steps"]
    assert err.count("each of the 2 processes that mpiexec has started trains a whole run") == 1
    out, err, code = ended("each_by_itself")
    assert code == 0 and sorted(out.splitlines()) == ["0: 2 steps", "1: 2 steps"]
    assert "mpiexec" not in err


def test_a_rank_that_waits_long_says_for_what(ended):
    out, err, code = ended("late")
    assert code == 0 and len(out.splitlines()) == 2
    assert err.count("rank 0 has waited 1 s for the others to start: every rank must") == 1
    assert err.count("rank 0 of 2 has waited 1 s for the others at the beginning of pinn") == 1
    assert err.count("has waited") == 2


def test_python_m_mpi4py_ends_all_ranks_when_one_has_raised(ended):
    _, err, code = ended("raises_before", before=["-m", "mpi4py"])
    assert code != 0
    assert MISSING in err
