"""What a process knows of the launcher that has started it, by its environment."""

import pytest

from autograd import launched
from autograd.launched import launched_number, launched_size, started_as_ranks


def test_a_process_knows_whether_a_launcher_started_several(monkeypatch):
    for name in (*launched._SIZES, "PMIX_RANK", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    assert not started_as_ranks()
    monkeypatch.setenv("SLURM_NTASKS", "4")  # of a script, which starts the tasks
    assert not started_as_ranks()
    monkeypatch.setenv("PMIX_RANK", "2")
    assert started_as_ranks()
    monkeypatch.delenv("PMIX_RANK")
    monkeypatch.setenv("PMI_SIZE", "4")
    assert started_as_ranks()


@pytest.mark.parametrize("size, number", [
    ("PMI_SIZE", "PMI_RANK"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
])  # fmt: skip
def test_launchers_tell_how_many_there_are_and_which_it_is(monkeypatch, size, number):
    for name in (*launched._SIZES, *launched._NUMBERS):
        monkeypatch.delenv(name, raising=False)
    assert (launched_size(), launched_number()) == (1, 0)
    monkeypatch.setenv(size, "4")
    monkeypatch.setenv(number, "3")
    assert (launched_size(), launched_number()) == (4, 3)
