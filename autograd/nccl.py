"""GPUs of ranks that exchange arrays among themselves, by NCCL through cupy.

Nothing is computed there: what is added is added in the order of lanes by whoever asked, as an
all-reduce would add in an order of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .devices import Device, backend

_NOT_READY = 600  # cudaErrorNotReady


def place_of(device: Device) -> str | None:
    """Return which GPU of its machine a device is; None where there is no NCCL."""
    owner = backend(device.type)
    if owner.load_nccl() is None:
        return None
    return owner.xp.cuda.runtime.deviceGetPCIBusId(device.index or 0)


def new_name(device: Device) -> Any:
    """Return what the GPUs of a new group know each other by."""
    return backend(device.type).load_nccl().get_unique_id()


class Gpus:
    """The GPUs of all ranks, one each; made by all of them, which takes until all are there.

    device: that of this rank. name: as `new_name` gave it to one of them. Raises what NCCL does.
    """

    def __init__(self, device: Device, number: int, size: int, name: Any) -> None:
        owner = backend(device.type)
        self._cuda, self._nccl = owner.xp.cuda, owner.load_nccl()
        self._device, self._number = self._cuda.Device(device.index or 0), number
        with self._device:
            self._group = self._nccl.NcclCommunicator(size, name, number)

    def complete(self, array: Any, edges: Sequence[int]) -> None:
        """Give each rank the rows of the others, in place; asked for by all of them.

        array: dense, rows edges[k] to edges[k + 1] written by rank k. The host waits for nothing.
        """
        width = array.nbytes // max(1, len(array))
        starts = [array.data.ptr + edge * width for edge in edges[:-1]]
        counts = (np.diff(edges) * width).tolist()  # of bytes
        kind, nccl = self._nccl.NCCL_UINT8, self._nccl
        if not sum(counts):
            return
        with self._device:
            stream = self._cuda.get_current_stream().ptr
            if len(set(counts)) == 1:
                mine = starts[self._number]
                self._group.allGather(mine, starts[0], counts[0], kind, stream)
                return
            nccl.groupStart()
            try:
                for rank, (start, count) in enumerate(zip(starts, counts, strict=True)):
                    if count:
                        self._group.broadcast(start, start, count, kind, rank, stream)
            finally:
                nccl.groupEnd()

    def check(self) -> None:
        """Raise what has gone wrong since the last call."""
        self._group.check_async_error()

    def idle(self) -> bool:
        """Return whether the device has done what was asked of it, or has failed."""
        with self._device:
            # not `done` of cupy's streams, which a device that has failed never is
            stream = self._cuda.get_current_stream().ptr
            return self._cuda.runtime.streamQuery(stream) != _NOT_READY

    def abort(self) -> None:
        """End what is under way, which the others may have left; no more can be asked."""
        self._group.abort()
