"""What the command `sweep` does, as functions of Python: pinn.sweep and pinn.ensemble."""

from __future__ import annotations

import functools
import os
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli.grid import Grid
from pinn.cli.many import GridRuns
from pinn.cli.verdict import Misuse

if TYPE_CHECKING:
    from pinn.problem import Problem
    from pinn.runs.executors import Workers
    from pinn.runs.sweep import Sweep
    from pinn.solution import Ensemble

_FUNCTIONS = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial,
)  # fmt: skip
_OF_ONE_RUN = ("callbacks", "start", "resume")


def sweep(
    problem: Problem,
    model: Any = None,
    *,
    grid: Mapping[str, Iterable[Any]],
    out: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
    tries: int = 3,
    extend: bool = False,
    tell: Callable[[str], object] | None = None,
    **settings: Any,
) -> Sweep:
    """Train a run for each combination of some values, each in a directory of its own.

    problem, model, settings: the arguments of pinn.solve, without callbacks, start and resume. What
    a worker gets is the text of a config, so functions of Python have no place in them, and a class
    of one's own only where the worker knows it. grid: key of a config -> the values that it has in
    turn, {"seed": range(3), "model.width": [20, 40]}. out: the folder of the runs (runs/NAME-sweep
    where left out); those that have ended there are not trained again, and others are gone on with.
    extend: go on with those that have ended as well, where a limit of theirs is raised; without it
    a RuntimeWarning tells of runs that were made with other limits.

    executor: a concurrent.futures.Executor, such as mpi4py.futures.MPIPoolExecutor, get_executor()
    of a Dask client, or an executor of submitit; or a name, as of the command's --executor. The
    workers have to see the folder. jobs: how many runs at a time, in processes of this machine
    where no name is given, each with its share of the cores. Without either, runs are trained here,
    one after the other. tries: how many workers may have a run, each from the last checkpoint of
    the one before, when they are lost. tell: gets a line when a run begins and ends, such as print.

    A run that fails does not end the others; `codes` of the result says which did, and `reasons`
    why. Ctrl-C ends all of them with a checkpoint and raises KeyboardInterrupt; the same call then
    goes on. With "mpi" under mpiexec the processes but the first do runs for it and then end, as by
    SystemExit. Processes import the script that starts them, which therefore keeps what it does
    below `if __name__ == "__main__":`. Raises TypeError or ValueError, naming the argument, before
    anything is trained, and RuntimeError where the processes end before they have begun.
    """
    return _swept(
        "sweep", problem, grid, {"model": model, **settings}, out=out, executor=executor, jobs=jobs,
        tries=tries, extend=extend, tell=tell,
    )  # fmt: skip


def _swept(
    caller: str,
    problem: Problem,
    grid: Mapping[str, Iterable[Any]],
    settings: Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None,
    executor: Any,
    jobs: int | None,
    tries: int,
    extend: bool,
    tell: Callable[[str], object] | None,
) -> Sweep:
    """Do what `sweep` says, for the function of whose arguments its errors speak."""
    from pinn.config import Config, Output, parse
    from pinn.runs.processes import CannotBegin
    from pinn.training.experiment import Experiment

    for name in _OF_ONE_RUN:
        if name in settings:
            raise TypeError(f"{caller} has no argument {name!r}: it is of one run; leave it out")
    _check_count(caller, "tries", tries)
    _check_workers(caller, executor, jobs)
    axes = Grid.of(grid)
    given = {name: value for name, value in settings.items() if value is not None}
    experiment = Experiment(problem, **given)
    for path in _functions(experiment.arguments, ()):
        raise TypeError(
            f"{caller}: {'.'.join(path)} is a Python function, and a run gets its config as a "
            "text; write it as a text"
        )
    text = Config(experiment, Output(), "").text()
    with ExitStack() as stack:
        found = _opened(caller, executor, jobs, out or "runs", stack)
        if found is None:
            raise SystemExit(0)
        try:
            runs = GridRuns(
                axes, lambda changed: parse(text, caller, changed), out, _untold, extend
            )
        except Misuse as error:
            raise ValueError(str(error)) from None
        kept = runs.other_limits("extend=True", "another out=")
        if kept is not None:
            warnings.warn(f"{caller}: {kept}", RuntimeWarning, stacklevel=3)
        try:
            runs.train(found, tries=tries, tell=tell or _untold)
        except CannotBegin as error:
            raise RuntimeError(f"{caller}: {error}") from None
    return runs.sweep


def _untold(line: str) -> None:
    """Of whoever does not ask what is going on."""


def ensemble(
    problem: Problem,
    model: Any = None,
    *,
    seeds: int | Iterable[int] = 5,
    out: str | os.PathLike[str] | None = None,
    executor: Any = None,
    jobs: int | None = None,
    tries: int = 3,
    extend: bool = False,
    tell: Callable[[str], object] | None = None,
    **settings: Any,
) -> Ensemble:
    """Train the same run with several seeds, and return the solutions as a pinn.Ensemble.

    seeds: how many, or which, two at least. out: the folder of the runs, runs/NAME-ensemble where
    left out. All else is as of pinn.sweep. Runs that failed or diverged are left out, with a
    RuntimeWarning that says why; ValueError, which says it too, where fewer than two are left.
    """
    from pinn.problem import Problem
    from pinn.solution import Ensemble, load

    if not isinstance(problem, Problem):
        raise TypeError(
            f"ensemble: expected a problem, which it trains with several seeds, got "
            f"{type(problem).__name__}; of solutions that there are it is pinn.Ensemble(solutions)"
        )
    if "seed" in settings:
        raise TypeError("ensemble has no argument 'seed', as it trains with several; give seeds")
    swept = _swept(
        "ensemble", problem, {"seed": _seeds(seeds)}, {"model": model, **settings},
        out=out or Path("runs", f"{problem.name}-ensemble"), executor=executor, jobs=jobs,
        tries=tries, extend=extend, tell=tell,
    )  # fmt: skip
    there = [run.solution_path for run in swept.runs if run.solution_path.exists()]
    found = [load(path) for path in there]
    good = [solution for solution in found if solution.report.stop_reason != "diverged"]
    lost = f"{len(swept.runs) - len(good)} of {len(swept.runs)} runs failed or diverged"
    if len(good) < 2:
        raise ValueError(
            f"ensemble: expected two solutions or more, got {len(good)}; {lost}:\n{swept}"
        )
    if len(good) < len(swept.runs):
        warnings.warn(
            f"ensemble: {lost}, and are no part of it:\n{swept}", RuntimeWarning, stacklevel=2
        )
    return Ensemble(good)


def _seeds(given: int | Iterable[int]) -> Sequence[int]:
    """Return two seeds or more; TypeError, ValueError for what does not say which."""
    if isinstance(given, str | Mapping) or not isinstance(given, Integral | Iterable):
        raise TypeError(
            f"ensemble: seeds: expected how many, or which, such as 5 or [0, 3], got {given!r:.60}"
        )
    if isinstance(given, Integral):
        _check_count("ensemble", "seeds", given, least=2)
        return range(given)
    seeds = list(given)
    for seed in seeds:
        _check_count("ensemble", "seeds", seed, least=0)
    if len(seeds) < 2:
        raise ValueError(
            f"ensemble: seeds: expected two or more, got {seeds}; a spread is between solutions"
        )
    return [int(seed) for seed in seeds]


def _check_workers(caller: str, executor: Any, jobs: int | None) -> None:
    """Raise TypeError or ValueError for what is no executor, and for a number of jobs that is none.

    caller: whose arguments they are.
    """
    by_name = executor is None or isinstance(executor, str)
    submits = callable(getattr(executor, "submit", None)) and not isinstance(executor, type)
    if not by_name and not submits:
        raise TypeError(
            f"{caller}: executor: expected an executor, which has submit() as those of "
            "concurrent.futures, or the name of one, such as 'processes' or 'mpi', got "
            f"{executor!r:.60}; for so many runs at a time write jobs=..."
        )
    if jobs is None:
        return
    if not by_name:
        raise ValueError(
            f"{caller}: jobs is how many processes to start, and an executor has its own"
        )
    _check_count(caller, "jobs", jobs)


def _check_count(caller: str, name: str, given: Any, least: int = 1) -> None:
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise TypeError(f"{caller}: {name}: expected a whole number >= {least}, got {given!r:.60}")
    if given < least:
        raise ValueError(f"{caller}: {name}: expected a whole number >= {least}, got {given}")


def _opened(
    caller: str, executor: Any, jobs: int | None, folder: str | os.PathLike[str], stack: ExitStack
) -> Workers | None:
    """Return what does the runs, until the stack is closed; see pinn.runs.executors.workers."""
    from pinn.runs.executors import Workers, workers

    if jobs is None and not isinstance(executor, str):
        return Workers(executor)
    name = executor or "processes"
    try:
        return stack.enter_context(workers(name, jobs, Path(folder)))
    except ValueError as error:
        raise ValueError(f"{caller}: executor {name!r}: {error}") from None


def _functions(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Give the path to every function of Python in what a run is made of."""
    from pinn.schema import fields_of

    if isinstance(value, _FUNCTIONS):
        yield path
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _functions(one, (*path, str(key)))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, one in enumerate(value):
            yield from _functions(one, (*path, getattr(one, "name", None) or str(number)))
    elif hasattr(type(value), "__dataclass_fields__"):
        for key in fields_of(type(value)):
            yield from _functions(getattr(value, key, None), (*path, key))
