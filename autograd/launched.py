"""What MPI launchers tell the processes that they start, before any of them asks MPI."""

from __future__ import annotations

import os

# How many there are: MPICH and Slurm, Open MPI, MVAPICH; and which of them it is.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
_NUMBERS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK")


def started_as_ranks() -> bool:
    """Return whether this process is one of several that an MPI launcher has started."""
    by_slurm = "PMIX_RANK" in os.environ and os.environ.get("SLURM_NTASKS", "1") != "1"
    return by_slurm or launched_size() > 1


def launched_size() -> int:
    """Return how many ranks mpiexec says to have started; 1 without it."""
    return max(int(os.environ.get(name, "1")) for name in _SIZES)


def launched_number() -> int:
    """Return which rank an MPI launcher has started this process as; 0 without one."""
    return next((int(os.environ[name]) for name in _NUMBERS if name in os.environ), 0)
