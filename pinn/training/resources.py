"""How training uses the machine: one BLAS thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograd.threads import one_blas_thread, one_thread_everywhere

__all__ = ["one_blas_thread", "training_resources"]


@contextmanager
def training_resources() -> Iterator[None]:
    """Hold BLAS to one thread inside the block.

    One thread makes the bits independent of the number of cores, and at the sizes of these networks
    it is also the fastest: a matrix product takes microseconds, less than waking a second thread.
    """
    # scipy brings a BLAS of its own, and a limit reaches only what is loaded: loaded later, inside
    # L-BFGS, its idle threads would take more processor time than the network.
    import scipy.linalg  # noqa: F401

    with one_thread_everywhere():
        yield
