"""Ranks of MPI: real processes, as mpiexec starts them."""

import json
import sys
from pathlib import Path

import pytest

from autograd import mpi
from autograd.mpi import device_of_rank, ranks_of, started_as_ranks
from autograd.ranks import ALONE

PROGRAMS = Path(__file__).with_name("mpi_programs.py")


@pytest.fixture
def told(start_ranks):
    """A function that runs one of the programs, and returns what each rank found."""

    def told(count, name, *arguments):
        process = start_ranks(count, PROGRAMS, name, *arguments)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        return json.loads(out)

    return told


def test_ranks_share_out_all_lanes_in_order(told):
    assert told(3, "shares", 16) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15]]
    assert told(3, "shares", 2) == [[], [0], [1]]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_sums_of_lanes_and_rows_have_the_bits_of_one_process(told, count):
    for rank in told(count, "sums_and_rows"):
        assert len(rank) == 40
        assert all(rank)


def test_rank_0_is_asked_for_all_and_works_alone_meanwhile(told):
    first, *others = told(3, "agreed")
    assert first["asked"] == [[0, 1]]
    for rank in others:
        assert rank["asked"] == []
        assert rank["found"] == first["found"] == {"said by": 0}
        assert rank["size"] == 3
        assert rank["clock"] == pytest.approx(first["clock"], abs=1e-6)


@pytest.mark.parametrize("number", [0, 2])
def test_a_rank_that_fails_ends_the_others_with_its_sentence(told, number):
    found = told(3, "failing", number)
    for rank, (said, then) in enumerate(found):
        assert then == "again"
        failed = f"RankFailed: rank {number} of 3 failed: ValueError: a page is missing"
        assert said == ("ValueError: a page is missing" if rank == number else failed)


def test_what_rank_0_raises_when_asked_ends_all(told):
    (first, _), *others = told(2, "failing_callback")
    assert first == "ArithmeticError: no room"
    assert others == [["RankFailed: rank 0 of 2 failed: ArithmeticError: no room", "again"]]


def test_an_interruption_of_rank_0_is_that_of_all(told):
    assert told(3, "interrupted") == [["KeyboardInterrupt: ", "again"]] * 3


def test_ranks_that_hold_other_numbers_are_told_apart(told):
    for said, _ in told(3, "unlike"):
        assert said.startswith("RankFailed: rank 2 of 3 holds other numbers than rank 0")


def test_warnings_are_shown_once(told):
    assert told(3, "warned") == [1, 0, 0]


def test_a_process_knows_whether_a_launcher_started_several(monkeypatch):
    for name in (*mpi._SIZES, "PMIX_RANK", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    assert not started_as_ranks()
    monkeypatch.setenv("SLURM_NTASKS", "4")  # of a script, which starts the tasks
    assert not started_as_ranks()
    monkeypatch.setenv("PMIX_RANK", "2")
    assert started_as_ranks()
    monkeypatch.delenv("PMIX_RANK")
    monkeypatch.setenv("PMI_SIZE", "4")
    assert started_as_ranks()
    assert ranks_of("process") is ALONE


def test_without_mpi4py_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi.world.cache_clear()
    with pytest.raises(ImportError, match=r'executor "ranks": .* pip install mpi4py mpich'):
        ranks_of("ranks")


@pytest.mark.parametrize(
    ("place", "visible", "present", "device"),
    [
        (0, None, ["0", "1"], "0"),
        (3, None, ["0", "1"], "1"),
        (1, "4,7", ["0", "1"], "7"),
        (1, "GPU-5a", ["0", "1"], "GPU-5a"),
        (0, "", ["0"], None),
        (0, None, [], None),
    ],
)
def test_each_rank_of_a_machine_has_a_gpu(place, visible, present, device):
    assert device_of_rank(place, visible, present) == device
