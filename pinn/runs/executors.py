"""Executors by name: where the runs of a sweep are done."""

from __future__ import annotations

import importlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograd import mpi
from pinn.runs.machine import usable_cores
from pinn.runs.processes import Processes, leave_ctrl_c_to_others

# What submitit calls the same on every cluster; all other names are of Slurm.
_COUNTS = ("timeout_min", "nodes", "cpus_per_task", "gpus_per_node", "tasks_per_node")
_OF_ANY_CLUSTER = ("name", "mem_gb", *_COUNTS)
# What submitit raises for an option: the last for one that is not of its type.
_REFUSALS = (NameError, RuntimeError, TypeError, ValueError, AssertionError)

# Of dask: how long a new worker may take to begin, and what every one does first.
_REPLACED_SECONDS = 60
_PRELOAD = "from pinn.runs.processes import leave_ctrl_c_to_others as begin; begin()"


@dataclass(frozen=True)
class Workers:
    """What does runs.

    executor: see pinn.runs.jobs.run_jobs, None for this process. at_once: runs that share the cores
    of this machine, None where others do them. threads: of each run there.
    """

    executor: Any
    at_once: int | None = None
    threads: int = 1

    def threads_of(self, runs: int) -> int | None:
        """Return how many threads each of so many runs may take, None for all cores."""
        if self.executor is None:
            return None
        if self.at_once is None:
            return self.threads
        return max(1, usable_cores() // min(self.at_once, max(runs, 1)))


@contextmanager
def workers(text: str, jobs: int | None, folder: str | Path) -> Iterator[Workers | None]:
    """Give the executor of a name, as long as the block lasts.

    text: "processes", "mpi", "dask", "dask:ADDRESS", "slurm" or "slurm:KEY=VALUE,KEY=VALUE". jobs:
    how many runs at a time, None for what there is room for. folder: for the logs of Slurm. Under
    mpiexec the processes but the first do runs until the first leaves its block, and get None then.
    Raises ValueError for another name or option, ImportError, with what to install, where its
    package is not there.
    """
    name, _, option = text.partition(":")
    if name == "ranks":
        raise ValueError(
            "ranks share one run, of pinn.solve or train, and several runs go to workers: under "
            'mpiexec that is "mpi", and on this machine "processes", where jobs says how many at a '
            "time"
        )
    if name not in _EXECUTORS:
        raise ValueError(
            f"expected one of {', '.join(_EXECUTORS)}, got {text!r}; dask takes an address, "
            "dask:tcp://host:8786, and slurm options, slurm:partition=long,timeout_min=60"
        )
    if option and name in ("processes", "mpi"):
        raise ValueError(f"{name} takes no options, got {option!r}; how many is for --jobs to say")
    with _EXECUTORS[name](option, jobs, Path(folder)) as found:
        yield found


@contextmanager
def _processes(option: str, jobs: int | None, folder: Path) -> Iterator[Workers]:
    count = jobs or usable_cores()
    with Processes(count) as executor:
        yield Workers(executor, at_once=count)


@contextmanager
def _mpi(option: str, jobs: int | None, folder: Path) -> Iterator[Workers | None]:
    world = mpi.loaded().COMM_WORLD
    from mpi4py import futures

    if world.Get_size() == 1:  # none but this process: others are started
        with futures.MPIPoolExecutor(jobs, initializer=leave_ctrl_c_to_others) as executor:
            yield Workers(executor)
        return
    if world.Get_rank() > 0:
        leave_ctrl_c_to_others()
    with futures.MPICommExecutor(world) as executor:
        if executor is not None and jobs is not None:
            raise ValueError("under mpiexec its own -n says how many runs are done at a time")
        if executor is not None:
            yield Workers(executor)
    if executor is None:  # after its block, which no exception leaves in these processes
        yield None


@contextmanager
def _dask(option: str, jobs: int | None, folder: Path) -> Iterator[Workers]:
    distributed = _imported("distributed", "dask")
    if option:
        if jobs is not None:
            raise ValueError("the workers of dask's scheduler say how many runs are done at a time")
        with distributed.Client(option) as client:
            yield Workers(client.get_executor(pure=False))
        return
    count = jobs or usable_cores()
    import dask

    # The loss of a worker is told here and at once: who takes its run up is not for the scheduler
    # to say.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=None, preload=_PRELOAD,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Workers(_AllThere(client, count), at_once=count)


class _AllThere:
    """Dask's executor, which takes a run when all of its workers are there.

    A scheduler that gets one while a lost worker is being replaced puts it behind the run of
    another worker, and it is still there when the new one is idle.
    """

    def __init__(self, client: Any, count: int) -> None:
        self._client, self._count = client, count
        self._executor = client.get_executor(pure=False)

    def submit(self, function: Callable, /, *arguments: Any) -> Any:
        """As of every executor."""
        with suppress(TimeoutError):  # then those that are there will do
            self._client.wait_for_workers(self._count, timeout=_REPLACED_SECONDS)
        return self._executor.submit(function, *arguments)


@contextmanager
def _slurm(option: str, jobs: int | None, folder: Path) -> Iterator[Workers]:
    submitit = _imported("submitit", "slurm")
    given = _settings(option)
    threads = given.get("cpus_per_task", 1)
    cluster = given.pop("cluster", "slurm")
    if jobs is not None:
        given["array_parallelism"] = jobs
    named = {
        key if key in _OF_ANY_CLUSTER else f"slurm_{key}": value for key, value in given.items()
    }

    def made(place: str | Path) -> Any:
        executor = submitit.AutoExecutor(place, cluster=cluster)
        executor.update_parameters(**named)
        return executor

    try:
        with tempfile.TemporaryDirectory() as place:  # a refusal may come after the folder
            made(place)
        executor = made(folder / ".submitit")
    except _REFUSALS as error:
        raise ValueError(str(error)) from error
    yield Workers(executor, threads=threads)


_EXECUTORS: dict[str, Callable[..., Any]] = {
    "processes": _processes, "mpi": _mpi, "dask": _dask, "slurm": _slurm,
}  # fmt: skip


def _settings(option: str) -> dict[str, Any]:
    """Return "key=value,key=value" as a mapping, whole numbers as such."""
    found: dict[str, Any] = {}
    for pair in filter(None, option.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, such as partition=long, got {pair!r}")
        key, value = key.strip(), value.strip()
        found[key] = int(value) if value.isdigit() else value
        if key in _COUNTS and not value.isdigit():
            raise ValueError(f"{key}: expected a whole number, got {value!r}")
    return found


def _imported(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} cannot be imported ({error}); pip install \"pinn[{extra}]\" brings it"
        ) from error
