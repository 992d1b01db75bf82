"""How training uses the machine: one BLAS thread, and memory that is kept for the next step."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from autograd.threads import one_blas_thread, one_thread_everywhere

__all__ = ["one_blas_thread", "training_resources"]

# From glibc's malloc.h; see mallopt(3).
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_TRIM_BYTES = 2**30
_MMAP_BYTES = 2**25


@contextmanager
def training_resources() -> Iterator[None]:
    """Hold BLAS to one thread inside the block, and keep freed memory in the process.

    One thread makes the bits independent of the number of cores, and at the sizes of these networks
    it is also the fastest: a matrix product takes microseconds, less than waking a second thread.
    """
    # scipy brings a BLAS of its own, and a limit reaches only what is loaded: loaded later, inside
    # L-BFGS, its idle threads would take more processor time than the network.
    import scipy.linalg  # noqa: F401

    _keep_freed_memory()
    with one_thread_everywhere():
        yield


def _keep_freed_memory() -> None:
    """Ask glibc's malloc to hold on to freed arrays; elsewhere, and a second time, do nothing new.

    By default it hands the arrays of a step back to the system at the step's end, and the page
    faults of getting them again take up to a third of the next step.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
