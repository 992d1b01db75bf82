"""Where ranks of MPI meet: each says whether it is well, so that none waits for one that is not."""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .last_words import LastWords
from .ranks import RankFailed

WELL, ANSWERED, _INTERRUPTED, _FAILED, _ENDED = range(5)
_SPINS = 200  # looks at a message that has not come, before another process may have the core
_NAP = 0.01  # seconds between looks of a rank that has ended


class Meeting:
    """The meetings of the ranks of a communicator of mpi4py, on two communicators of their own.

    A rank that has failed, or is to be interrupted, says so there in place of leaving the others
    waiting. A process that ends goes on meeting, to say so, until all have ended. A rank that waits
    lets other processes have the core, as there may be more ranks than cores.

    late: seconds after which a rank says that others are. leave: called where one has failed, when
    what is under way between them has no end any more. group: of all ranks, for what they exchange
    when they have met. number, size: which rank this is, of how many. time: of rank 0's clock when
    they last met. failed: whether one has, so that this one works by itself. interrupted: whether
    this one is to be when they next meet, which is told of rank 0 alone.
    """

    def __init__(self, communicator: Any, late: float, leave: Callable[[], None]) -> None:
        self.group, self._alarms = communicator.Dup(), communicator.Dup()
        self.number, self.size = communicator.rank, communicator.size
        self.time = 0.0
        self.failed = self.interrupted = False
        self._late, self._leave = late, leave
        self._last_words = LastWords(self.number, self._end_with)

    def meet(
        self, status: int = WELL, alike: np.ndarray | None = None, where: str | None = None
    ) -> int:
        """Wait for all ranks; return the status of rank 0, whose time it is from now on.

        status: WELL or ANSWERED. where: what is said of a wait that is long. Raises RankFailed
        where one has failed or its process has ended, or holds other numbers `alike`,
        KeyboardInterrupt where rank 0 was asked to end.
        """
        if self.number == 0 and self.interrupted and status != _FAILED:
            status, self.interrupted = _INTERRUPTED, False
        digest = 0 if alike is None else zlib.crc32(np.ascontiguousarray(alike))
        said = self._said(status, digest, self._telling_of_delay(where) if where else None)
        self.time = float(said[0, 1])
        lost = np.flatnonzero(said[:, 0] >= _FAILED)
        if lost.size:
            self._end(said)
            if status != _FAILED:
                told = self.group.allgather("")
                raise RankFailed(self._about(next((k for k in lost if told[k]), lost[0]), told))
        elif said[0, 0] == _INTERRUPTED:
            raise KeyboardInterrupt
        elif (said[:, 2] != said[0, 2]).any():
            self._end(said)
            other = int(np.argmax(said[:, 2] != said[0, 2]))
            raise RankFailed(
                f"rank {other} of {self.size} holds other numbers than rank 0, so that they "
                "would drift apart: was pinn.solve called with other arguments there (start, data, "
                "a function)? Otherwise start all ranks on machines of one kind, with the same "
                "versions"
            )
        return int(said[0, 0])

    def fail(self, error: BaseException) -> None:
        """Tell the others, when they next meet or wait for their GPU, that this rank has failed."""
        others = (k for k in range(self.size) if k != self.number)
        alarms = [self._alarms.isend(None, k) for k in others]
        self.meet(_FAILED)
        self.group.allgather(f"{type(error).__name__}: {error}")
        for alarm in alarms:
            alarm.wait()

    def until(self, done: Callable[[], bool]) -> None:
        """Wait for what comes of itself, unless another rank has failed: then they meet."""
        _spin(lambda: done() or self._alarms.Iprobe())
        if not done():
            self.meet()

    def wait(self, request: Any) -> None:
        """Wait for what the group exchanges, of which all have met to ask for."""
        _spin(request.Test)

    def _said(
        self, status: int, digest: int, waiting: Callable[[], object] | None = None
    ) -> np.ndarray:
        """Return the status, the time and the digest of each rank when all have said theirs."""
        mine, said = np.array([status, time.perf_counter(), digest]), np.empty((self.size, 3))
        _spin(self.group.Iallgather(mine, said).Test, waiting)
        return said

    def _about(self, number: int, told: Sequence[str]) -> str:
        rank = f"rank {number} of {self.size}"
        if told[number]:
            return f"{rank} failed: {told[number]}"
        return (
            f"{rank} has ended, and the others wait for it: every rank must call pinn.solve, as "
            "often as the others"
        )

    def _telling_of_delay(self, where: str) -> Callable[[], None]:
        """Return what says on stderr, once, that others are late.

        Ranks 0 and 1 say so, each for itself: one of them may be the late one.
        """
        late = time.perf_counter() + self._late if self.number < 2 else float("inf")

        def tell() -> None:
            nonlocal late
            if time.perf_counter() > late:
                late = float("inf")
                print(
                    f"rank {self.number} of {self.size} has waited {self._late} s for the others "
                    f"{where} of pinn.solve: every rank must call it",
                    file=sys.stderr, flush=True,
                )  # fmt: skip

        return tell

    def _end(self, said: np.ndarray) -> None:
        """Work alone from now on, until ranks come together again; said: their statuses."""
        self.failed = True
        self._leave()
        for rank in np.flatnonzero(said[:, 0] == _FAILED):
            if rank != self.number:
                self._alarms.recv(source=rank)

    def _end_with(self, words: str, waiting: Callable[[], object]) -> list[str]:
        """Tell the others that this process ends, until all do; return the words of each."""
        while True:
            said = self._said(_ENDED, 0, lambda: (waiting(), time.sleep(_NAP)))
            self._end(said)
            told = self.group.allgather(words)
            if (said[:, 0] == _ENDED).all():
                return told


def _spin(done: Callable[[], bool], waiting: Callable[[], object] | None = None) -> None:
    """Look until it is done; waiting: called between looks when that takes long."""
    spins = 0
    while not done():
        spins += 1
        if spins > _SPINS:
            os.sched_yield()
            if waiting is not None:
                waiting()
