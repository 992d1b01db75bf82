"""A sequence of launches as one CUDA graph, where the device's library lets it be captured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def captured(run: Callable[[], object], xp: Any) -> Any | None:
    """Return what `run` launches as a graph; `launch()` does all of it again.

    run  launches kernels that have been launched before, into memory that was there before: a graph
         has the addresses of arrays, and numbers that are given by value, as they are now.  It is
         called once, and nothing of what it launches happens then.
    xp   the device's namespace.
    None where something is asked for that a graph cannot hold: a copy from or to the host, a wait,
    memory (which would be given to others later), cuBLAS.  The device is then as it was before.
    """
    cuda = xp.cuda
    try:
        # what the default stream is given cannot be captured, nor what waits for that
        stream = cuda.Stream(non_blocking=True)
        with stream, cuda.using_allocator(_no_memory):
            return _captured(run, stream)
    except (RuntimeError, MemoryError):  # of cupy and CUDA, and our own about memory
        return None


def _captured(run: Callable[[], object], stream: Any) -> Any:
    stream.begin_capture()
    try:
        run()
    except BaseException:
        _ended(stream)
        raise
    return stream.end_capture()


def _ended(stream: Any) -> None:
    """End a capture that nothing will come of."""
    try:
        stream.end_capture()
    except (RuntimeError, MemoryError):  # it says that the capture was refused something
        pass


def _no_memory(nbytes: int) -> Any:
    raise MemoryError(f"{nbytes} bytes were asked for within a capture")
