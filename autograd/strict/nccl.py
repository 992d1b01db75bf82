"""What `cupy.cuda.nccl` has, for strict test devices of several processes: MPI carries it.

A call is done when it returns, where NCCL's is only asked for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

NCCL_UINT8 = 1
_ID_BYTES = 128
_group: list[Callable[[], None]] | None = None


class NcclError(RuntimeError):
    """A call that NCCL refuses."""


def get_unique_id() -> bytes:
    """Return what the members of a new group know each other by."""
    import secrets

    return secrets.token_bytes(_ID_BYTES)


def groupStart() -> None:  # noqa: N802 - cupy's name
    """Begin calls that are carried out together."""
    global _group
    _group = []


def groupEnd() -> None:  # noqa: N802 - cupy's name
    """Carry out the calls since `groupStart`."""
    global _group
    calls, _group = _group or [], None
    for call in calls:
        call()


class NcclCommunicator:
    """One of `ndev` processes that have called this with the same id."""

    def __init__(self, ndev: int, commId: bytes, rank: int) -> None:  # noqa: N803 - cupy's name
        from mpi4py import MPI

        if len(commId) != _ID_BYTES:
            raise ValueError(f"commId length {len(commId)} != {_ID_BYTES}.")
        self._mpi: Any = MPI.COMM_WORLD.Dup()
        told = self._mpi.allgather((ndev, commId, rank))
        if told != [(self._mpi.size, commId, k) for k in range(self._mpi.size)]:
            raise NcclError("NCCL_ERROR_INVALID_ARGUMENT: members of a group do not agree")
        self._rank = rank

    def allGather(  # noqa: N802 - cupy's name
        self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int
    ) -> None:
        """Give each the numbers of all, one after the other."""
        self._check(datatype)
        whole = _bytes(recvbuf, count * self._mpi.size)
        if sendbuf != recvbuf + self._rank * count:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: this one is for what is in its place")
        self._do(lambda: self._mpi.Allgather(_in_place(), whole))

    def broadcast(
        self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int
    ) -> None:
        """Give each the numbers of one."""
        self._check(datatype)
        if sendbuff != recvbuff:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: this one is for what is in its place")
        self._do(lambda: self._mpi.Bcast(_bytes(recvbuff, count), root))

    def check_async_error(self) -> None:
        """Raise what has gone wrong since the last call."""
        self._check(NCCL_UINT8)

    def abort(self) -> None:
        """End it without the others."""
        self._mpi = None

    def _check(self, datatype: int) -> None:
        if datatype != NCCL_UINT8:
            raise NcclError(f"NCCL_ERROR_INVALID_ARGUMENT: this one carries bytes, not {datatype}")
        if self._mpi is None:
            raise NcclError("NCCL_ERROR_INVALID_USAGE: it was aborted")

    def _do(self, call: Callable[[], None]) -> None:
        if _group is None:
            call()
        else:
            _group.append(call)


def _in_place() -> Any:
    from mpi4py import MPI

    return MPI.IN_PLACE


def _bytes(address: int, count: int) -> Any:
    """Return the memory of an array."""
    return (ctypes.c_char * count).from_address(address)
