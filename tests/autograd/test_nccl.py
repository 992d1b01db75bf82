"""GPUs of several ranks exchange among themselves: real processes, with strict test devices."""

import json
from pathlib import Path

import pytest

from autograd.strict.kernels import compiler

PROGRAMS = Path(__file__).with_name("nccl_programs.py")
NOTHING = [[0, 0, 0]] * 3


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def told(start_ranks, known):
    """A function that returns what each of so many ranks found."""
    if compiler() is None:
        pytest.skip("no C++ compiler")

    def told(count, name):
        if (count, name) not in known:
            process = start_ranks(count, PROGRAMS, name)
            out, err = process.communicate(timeout=240)
            assert process.returncode == 0, err
            known[count, name] = json.loads(out)
        return known[count, name]

    return told


@pytest.mark.parametrize("name", ["tiles", "operations"])
@pytest.mark.parametrize("count", [2, 3])
def test_they_have_the_bits_of_one_and_nothing_passes_through_the_host(told, count, name):
    (one,) = told(1, name)
    for rank in told(count, name):
        assert rank["digest"] == one["digest"]
        assert rank["copied"] == NOTHING
        assert rank["said"] == []


@pytest.mark.parametrize("name, why", [
    ("without", "as there is no NCCL: pip install"),
    ("shared", "as some ranks share one"),
])  # fmt: skip
def test_where_they_cannot_sums_pass_through_the_host_with_the_same_bits(told, name, why):
    (one,) = told(1, "tiles")
    for rank in told(2, name):
        assert rank["digest"] == one["digest"]
        assert all(downloads > 0 for _, downloads, _ in rank["copied"])
        (said,) = rank["said"]
        assert why in said


@pytest.mark.parametrize("name, number, words", [
    ("faulty", 1, "an illegal address"),
    ("not_made", 2, "no memory for a communicator"),
    ("gone_wrong", 0, "a cable was pulled"),
])  # fmt: skip
def test_a_rank_that_fails_ends_those_that_wait_for_its_gpu(told, name, number, words):
    for rank, (said, then) in enumerate(told(3, name)):
        failed = f"RankFailed: rank {number} of 3 failed: ArithmeticError: {words}"
        assert said == (f"ArithmeticError: {words}" if rank == number else failed)
        assert then == [21.0]  # they exchange again
