"""The ranks that mpiexec has started, by mpi4py (the extra `mpi`)."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np

from .devices import CPU, Device, backend_of, device_of, put
from .last_words import LastWords, when_late
from .nccl import Gpus, new_name, place_of
from .ranks import ALONE, RankFailed, Ranks, in_order

T = TypeVar("T")
Executor = Literal["process", "ranks"]

_WELL, _ANSWERED, _INTERRUPTED, _FAILED, _ENDED = range(5)
_SPINS = 200  # looks at a message that has not come, before another process may have the core
FEW = 1 << 13  # numbers of all lanes that cost less to send than another round does
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_LATE = 30  # seconds that a rank waits for others to begin, before it says so
_NAP = 0.01  # seconds between looks of a rank that has ended
# What starts ranks tells each of them how many there are: MPICH and Slurm, Open MPI, MVAPICH; and
# which of them it is.
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


def ranks_of(executor: Executor) -> Ranks:
    """Return who computes: this process, or the MPI ranks that run this program.

    Raises ImportError, with what to install, where mpi4py is missing.
    """
    return ALONE if executor == "process" else world()


@cache
def world() -> Ranks:
    """Return all ranks of MPI's world; ALONE where there is one.

    Raises ImportError, with what to install, where mpi4py or an MPI library is missing.
    """
    waits = (
        f"rank {launched_number()} has waited {_LATE} s for the others to start: every rank must "
        "call pinn.solve, and one that ends before it keeps the others waiting"
    )
    # MPI starts all ranks at once or none, and nothing of Python runs while it waits for them.
    with when_late(waits, _LATE if started_as_ranks() and launched_number() < 2 else None):
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise ImportError(
                'executor "ranks": it needs mpi4py and an MPI library: pip install mpi4py mpich '
                f"(here: {error})"
            ) from error
        return MpiRanks(MPI.COMM_WORLD) if MPI.COMM_WORLD.size > 1 else ALONE


def device_of_rank(place: int, visible: str | None, present: Sequence[str]) -> str | None:
    """Return the one GPU that a rank sees, as CUDA_VISIBLE_DEVICES has it; None for none.

    place: of the rank among those of its machine. visible: what CUDA_VISIBLE_DEVICES says. present:
    the numbers of the machine's GPUs.
    """
    devices = present if visible is None else [one for one in visible.split(",") if one]
    return devices[place % len(devices)] if devices else None


class MpiRanks(Ranks):
    """The ranks of a communicator of mpi4py.

    Before anything is exchanged they meet: each says whether it is well, so that a rank that has
    failed, or is to be interrupted, never leaves the others waiting. A process that ends goes on
    meeting, to say so, until all have ended. A rank that waits lets other
    processes have the core, as there may be more ranks than cores. With GPUs, each rank has one;
    what is exchanged goes from one to the other (nccl.py), or through the host where they cannot.
    """

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI

        self._all, self._alarms = communicator.Dup(), communicator.Dup()
        self.number = communicator.rank
        self._machine = MPI.Get_processor_name()
        here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        self.neighbours = here.size
        _take_device(here.rank)
        self._asked = False  # to be interrupted
        self._apart = 0  # blocks that rank 0 is in by itself
        self._depth = 0  # of blocks that all ranks are in
        self._failed = False
        self._time = 0.0  # of rank 0 when they last met
        self._gpus: dict[Device, Gpus | None] = {}
        self._pending: Gpus | None = None  # which were asked for something, and not waited for
        self._last_words = LastWords(self.number, self._leave)

    @property
    def size(self) -> int:
        return 1 if self._apart or self._failed else self._all.size

    def share(self, lanes: int) -> range:
        return range(lanes) if self.size == 1 else self._share(lanes, self.number)

    def _share(self, lanes: int, number: int) -> range:
        return range(lanes * number // self.size, lanes * (number + 1) // self.size)

    # ---- what is exchanged

    def gather(
        self,
        sums: Any,
        lanes: int,
        joined: Sequence[Any] = (),
        edges: Sequence[int] = (),
    ) -> Any:
        if self.size == 1:
            return sums
        starts = self._first_rows(lanes, edges) if joined else []
        device = device_of(sums)
        gpus = None if device == CPU else self._gpus_of(device)
        if gpus is not None:
            return self._gather_there(gpus, sums, lanes, joined, starts)
        self._meet()
        for array in joined:
            whole = np.ascontiguousarray(put(array, CPU))  # itself, where it is
            self._join(whole, starts)
            if whole is not array:
                array[...] = put(whole, device)
        return put(self._added(put(sums, CPU), lanes), device)

    def _gather_there(
        self, gpus: Gpus, sums: Any, lanes: int, joined: Sequence[Any], starts: Sequence[int]
    ) -> Any:
        gpus.check()
        xp, mine = backend_of(sums).xp, self.share(lanes)
        rows = xp.empty((lanes, *sums.shape[1:]), sums.dtype)
        rows[mine.start : mine.stop] = sums
        dense = [xp.ascontiguousarray(array) for array in joined]
        self._meet()  # nothing may go wrong from here on before all are asked for
        self._pending = gpus
        for whole in dense:
            gpus.complete(whole, starts)
        gpus.complete(rows, self._starts(lanes))
        for array, whole in zip(joined, dense, strict=True):
            if whole is not array:
                array[...] = whole
        return rows

    def complete(self, array: np.ndarray, lanes: int, edges: Sequence[int]) -> None:
        if not array.flags.c_contiguous:
            raise ValueError(f"expected a dense array, got strides {array.strides}")
        if self.size > 1:
            self._meet()
            self._join(array, self._first_rows(lanes, edges))

    def settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            self._until(pending.idle)

    def _starts(self, lanes: int) -> list[int]:
        """Return the first lane of each rank, and how many there are."""
        return [lanes * k // self.size for k in range(self.size + 1)]

    def _first_rows(self, lanes: int, edges: Sequence[int]) -> list[int]:
        """Return the first row of each rank, and how many there are."""
        return [edges[lane] for lane in self._starts(lanes)]

    # ---- GPUs

    def _gpus_of(self, device: Device) -> Gpus | None:
        """Return the GPUs of all ranks; None where they cannot exchange among themselves.

        Asked by all of them; they get to know each other the first time.
        """
        if device in self._gpus:
            return self._gpus[device]
        mine = self._machine, place_of(device)
        self._meet()
        said = self._all.allgather(mine)
        if any(place is None for _, place in said):
            return self._through_the_host(
                device, "there is no NCCL: pip install nvidia-nccl-cu12, or -cu13"
            )
        if len(set(said)) < len(said):
            return self._through_the_host(
                device, "some ranks share one, which NCCL refuses; start a rank for each GPU"
            )
        name = self.agreed(lambda: new_name(device))
        found = _aside(lambda: Gpus(device, self.number, self.size, name))
        self._until(found.done)
        self._gpus[device] = found.result()
        self._meet()
        return self._gpus[device]

    def _through_the_host(self, device: Device, why: str) -> None:
        warnings.warn(
            f"the GPUs of {self.size} ranks exchange sums by way of the host, as {why}",
            RuntimeWarning,
            stacklevel=2,
        )
        self._gpus[device] = None

    def _leave_gpus(self) -> None:
        """End what is under way on them; they get to know each other anew."""
        for gpus in filter(None, self._gpus.values()):
            gpus.abort()
        self._gpus.clear()
        self._pending = None

    def _added(self, sums: np.ndarray, lanes: int) -> np.ndarray:
        """Few numbers go to all ranks, lane by lane; of many each rank adds up a part for all."""
        size = sums.shape[1]
        shares = np.array([len(self._share(lanes, k)) for k in range(self.size)])
        if lanes * size <= FEW:
            parts = np.empty((lanes, size), sums.dtype)
            self._wait(self._all.Iallgatherv(sums, [parts, shares * size]))
            return parts
        cuts = [size * k // self.size for k in range(self.size + 1)]
        widths = np.diff(cuts)
        given = np.concatenate([part.reshape(-1) for part in np.split(sums, cuts[1:-1], axis=1)])
        parts = np.empty((lanes, widths[self.number]), sums.dtype)
        self._wait(
            self._all.Ialltoallv([given, len(sums) * widths], [parts, shares * widths[self.number]])
        )
        total = np.empty((1, size), sums.dtype)
        mine = np.ascontiguousarray(in_order(parts))
        self._wait(self._all.Iallgatherv(mine, [total, widths]))
        return total

    def _join(self, array: np.ndarray, starts: Sequence[int]) -> None:
        """Complete an array in place whose rows from starts[k] on are those of rank k."""
        numbers = array[0].size if len(array) else 0
        self._wait(self._all.Iallgatherv(_in_place(), [array, np.diff(starts) * numbers]))

    # ---- what is agreed upon

    def agreed(self, ask: Callable[[], T], alike: np.ndarray | None = None) -> T:
        if self.size == 1:
            return ask()
        found, status = None, _WELL
        if self.number == 0:
            try:
                self._apart += 1
                try:
                    found = ask()
                finally:
                    self._apart -= 1
            except KeyboardInterrupt:
                self._asked = True
            except BaseException as error:
                self._fail(error)
                raise
            status = _WELL if found is None else _ANSWERED
        said = self._meet(status, alike)
        return self._all.bcast(found) if said == _ANSWERED else found

    def meet(self) -> None:
        if self.size > 1:
            self._meet()

    def clock(self) -> float:
        return time.perf_counter() if self._apart else self._time

    def interrupt(self) -> None:
        if self.size == 1 or not self._depth:
            raise KeyboardInterrupt
        self._asked = True

    @contextmanager
    def together(self) -> Iterator[None]:
        if self.size == 1 or self._depth:
            yield
            return
        self._depth += 1
        try:
            with self._signals_of_rank_0(), warnings.catch_warnings():
                if self.number:
                    warnings.simplefilter("ignore")  # rank 0 has the same
                try:
                    self._meet(where="at the beginning")
                    yield
                    self.meet()
                except KeyboardInterrupt:
                    raise  # on all
                except BaseException as error:
                    if not self._failed:
                        self._fail(error)
                    raise
        finally:
            self._depth, self._failed = 0, False

    @contextmanager
    def _signals_of_rank_0(self) -> Iterator[None]:
        """Let signals that a launcher sends to all ranks be heard by rank 0 alone.

        Its own handlers stay, but that which would raise KeyboardInterrupt anywhere.
        """
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
                usual = signal.getsignal(number)
                if self.number:
                    before[number] = signal.signal(number, signal.SIG_IGN)
                elif usual is signal.default_int_handler:
                    before[number] = signal.signal(number, lambda *_: self.interrupt())
        try:
            yield
        finally:
            for number, usual in before.items():
                signal.signal(number, usual)

    # ---- meeting

    def _meet(
        self, status: int = _WELL, alike: np.ndarray | None = None, where: str | None = None
    ) -> int:
        """Wait for all ranks; return the status of rank 0, whose time it is from now on.

        where: what is said of a wait that is long. Raises RankFailed where one has failed or its
        process has ended, KeyboardInterrupt where rank 0 was asked to end.
        """
        if self.number == 0 and self._asked and status != _FAILED:
            status, self._asked = _INTERRUPTED, False
        digest = 0 if alike is None else zlib.crc32(np.ascontiguousarray(alike))
        said = self._said(status, digest, self._telling_of_delay(where) if where else None)
        self._time = float(said[0, 1])
        lost = np.flatnonzero(said[:, 0] >= _FAILED)
        if lost.size:
            self._end(said)
            if status != _FAILED:
                told = self._all.allgather("")
                raise RankFailed(self._about(next((k for k in lost if told[k]), lost[0]), told))
        elif said[0, 0] == _INTERRUPTED:
            raise KeyboardInterrupt
        elif (said[:, 2] != said[0, 2]).any():
            self._end(said)
            other = int(np.argmax(said[:, 2] != said[0, 2]))
            raise RankFailed(
                f"rank {other} of {self._all.size} holds other numbers than rank 0, so that they "
                "would drift apart: was pinn.solve called with other arguments there (start, data, "
                "a function)? Otherwise start all ranks on machines of one kind, with the same "
                "versions"
            )
        return int(said[0, 0])

    def _said(
        self, status: int, digest: int, waiting: Callable[[], object] | None = None
    ) -> np.ndarray:
        """Return the status, the time and the digest of each rank when all have said theirs."""
        mine, said = np.array([status, time.perf_counter(), digest]), np.empty((self._all.size, 3))
        _spin(self._all.Iallgather(mine, said).Test, waiting)
        return said

    def _about(self, number: int, told: Sequence[str]) -> str:
        rank = f"rank {number} of {self._all.size}"
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
        late = time.perf_counter() + _LATE if self.number < 2 else float("inf")

        def tell() -> None:
            nonlocal late
            if time.perf_counter() > late:
                late = float("inf")
                print(
                    f"rank {self.number} of {self._all.size} has waited {_LATE} s for the others "
                    f"{where} of pinn.solve: every rank must call it",
                    file=sys.stderr, flush=True,
                )  # fmt: skip

        return tell

    def _fail(self, error: BaseException) -> None:
        """Tell the others, when they next meet or wait for their GPU, that this rank has failed."""
        others = (k for k in range(self._all.size) if k != self.number)
        alarms = [self._alarms.isend(None, k) for k in others]
        self._meet(_FAILED)
        self._all.allgather(f"{type(error).__name__}: {error}")
        for alarm in alarms:
            alarm.wait()

    def _end(self, said: np.ndarray) -> None:
        """Work alone from now on, until ranks come together again; said: their statuses."""
        self._failed = True
        self._leave_gpus()
        for rank in np.flatnonzero(said[:, 0] == _FAILED):
            if rank != self.number:
                self._alarms.recv(source=rank)

    def _leave(self, words: str, waiting: Callable[[], object]) -> list[str]:
        """Tell the others that this process ends, until all do; return the words of each."""
        while True:
            said = self._said(_ENDED, 0, lambda: (waiting(), time.sleep(_NAP)))
            self._end(said)
            told = self._all.allgather(words)
            if (said[:, 0] == _ENDED).all():
                return told

    def _wait(self, request: Any) -> None:
        _spin(request.Test)

    def _until(self, done: Callable[[], bool]) -> None:
        """Wait for what comes of itself, unless another rank has failed: then they meet."""
        _spin(lambda: done() or self._alarms.Iprobe())
        if not done():
            self._meet()


def _in_place() -> Any:
    from mpi4py import MPI

    return MPI.IN_PLACE


def _spin(done: Callable[[], bool], waiting: Callable[[], object] | None = None) -> None:
    """Look until it is done; waiting: called between looks when that takes long."""
    spins = 0
    while not done():
        spins += 1
        if spins > _SPINS:
            os.sched_yield()
            if waiting is not None:
                waiting()


def _aside(work: Callable[[], T]) -> Future[T]:
    """Start work that may never end on a thread that the process does not wait for."""
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return found


def _take_device(place: int) -> None:
    """Let this process see one GPU alone, unless cupy has looked already."""
    known, listed = "CUDA_VISIBLE_DEVICES", "/proc/driver/nvidia/gpus"
    if "cupy" in sys.modules:
        return
    present = [str(k) for k in range(len(os.listdir(listed)))] if os.path.isdir(listed) else []
    device = device_of_rank(place, os.environ.get(known), present)
    if device is not None:
        os.environ[known] = device
