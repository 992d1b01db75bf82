"""How a computation over points is carried out.

A computation is a function of the columns of some points that returns Tensors; `kinds` says of each
result whether it is added over the points or joined along them (autograd.plan.chunks).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import autograd as T
from autograd.devices import CPU, current, device_of, namespace_of, put, put_together
from autograd.plan import trace
from autograd.plan.chunks import Chunked, Cost, Kind
from autograd.plan.lanes.cuda.launched import Held
from autograd.plan.passes.per_row import CannotSplitRows
from autograd.ranks import ALONE, Ranks

ENGINES = ("recorded", "eager")
# Points at which the work of a run that is not recorded is counted.
_FEW = 64
Function = Callable[[list[T.Tensor]], Sequence[T.Tensor]]


@dataclass(frozen=True)
class Work:
    """A computation at the points of some arrays (n, 1).

    key: equal ones mean the same computation. function, kinds: as above. whole: it is run once, on
    all points together, and each result is what that gives; arrays may then have different lengths.
    spread: the points at which the model is evaluated for each of these.
    """

    key: Hashable
    function: Function
    kinds: Sequence[Kind]
    arrays: Sequence[Any]
    whole: bool = False
    spread: float = 1


Into = Sequence[Any]
"""For each result that is joined along the points, the array that it goes to, or None."""


class Engine(Protocol):
    """What carries out computations."""

    def run(self, work: Work, into: Into | None = None) -> list[np.ndarray]:
        """Return the results as host arrays: those given, where they were, or new ones."""

    def run_there(self, work: Work, into: Into | None = None) -> list[Any]:
        """Return the same as arrays of the device of the work's own, which is not waited for."""

    def run_all_there(self, works: Sequence[Work]) -> list[list[Any]]:
        """Return the results of several, none of which is "per_row", as `run_there` does."""

    def home(self, results: Sequence[Sequence[Any]]) -> list[list[np.ndarray]]:
        """Return what `run_all_there` gave, once or several times, on the host: for one wait."""

    def cost(self, work: Work) -> Cost:
        """Return what such a run takes, without one."""


class EagerEngine:
    """Runs the computation as it is written, on all points at once: for debugging.

    shared: the tensors that computations read besides their points.
    """

    def __init__(self, shared: Sequence[T.Tensor] = ()) -> None:
        self._shared = list(shared)

    def run(self, work: Work, into: Into | None = None) -> list[np.ndarray]:
        return _written([put(result, CPU) for result in self.run_there(work)], into)

    def run_all_there(self, works: Sequence[Work]) -> list[list[Any]]:
        return [self.run_there(work) for work in works]

    def home(self, results: Sequence[Sequence[Any]]) -> list[list[np.ndarray]]:
        return [[put(one, CPU) for one in each] for each in results]

    def run_there(self, work: Work, into: Into | None = None) -> list[Any]:
        if work.whole or "per_row" not in work.kinds:
            return _written(self._results(work, work.arrays), into)
        each = [
            self._results(work, [array[k : k + 1] for array in work.arrays])
            for k in range(len(work.arrays[0]))
        ]
        xp = namespace_of(work.arrays[0])
        with current(device_of(work.arrays[0])):
            joined = [
                xp.stack(column) if kind == "per_row"
                else xp.concatenate(column) if kind == "rows"
                else xp.sum(xp.stack(column), axis=0)
                for kind, column in zip(work.kinds, zip(*each, strict=True), strict=True)
            ]  # fmt: skip
            return _written(joined, into)

    def _results(self, work: Work, arrays: Sequence[Any]) -> list[Any]:
        return [one.detach()._data for one in work.function([T.Tensor(a) for a in arrays])]

    def cost(self, work: Work) -> Cost:
        """Return the operations and results of a run, all of which the graph may keep.

        Counted at a few points, in proportion to their number.
        """
        few = list(work.arrays) if work.whole else [array[:_FEW] for array in work.arrays]
        inputs = [*(T.Tensor(array.copy()) for array in few), *self._shared]
        program, _ = trace(lambda *given: work.function(list(given[: len(few)])), inputs)
        share = len(work.arrays[0]) / len(few[0])
        written, flops = program.work()
        return Cost(1, 1, round(share * written), round(share * flops))


class RecordedEngine:
    """Records each computation once and replays it over chunks of points, with threads.

    Rows of a Jacobian that the recorded sweep cannot tell apart (passes/per_row.py) are computed
    eagerly, one by one, with a RuntimeWarning that says so.
    """

    def __init__(
        self,
        shared: Sequence[T.Tensor],
        threads: int | None = None,
        guard: Callable[[], Hashable] = lambda: None,
        executor: str = "auto",
        ranks: Ranks = ALONE,
        steady: int = 0,
    ) -> None:
        self._shared = list(shared)
        self._steady = steady
        self._threads = threads
        self._guard = guard
        self._executor = executor
        self._ranks = ranks
        self._recorded: dict[Hashable, Chunked] = {}
        self._row_by_row: set[Hashable] = set()

    def run(self, work: Work, into: Into | None = None) -> list[np.ndarray]:
        if isinstance(work.arrays[0], np.ndarray):
            return self.run_there(work, into)
        results = self.run_there(work)
        self._ranks.settle()
        return _written([put(result, CPU) for result in results], into)

    def run_there(self, work: Work, into: Into | None = None) -> list[Any]:
        if work.key not in self._row_by_row:
            try:
                return self._chunked(work)(work.arrays, into)
            except CannotSplitRows as error:
                self._row_by_row.add(work.key)
                warnings.warn(
                    f"rows of the Jacobian of {work.key} are computed one by one, which is slow: "
                    f"{error}",
                    RuntimeWarning,
                    stacklevel=3,
                )
        return EagerEngine().run_there(work, into)

    def run_all_there(self, works: Sequence[Work]) -> list[list[Any]]:
        return [self._chunked(work)(work.arrays) for work in works]

    def home(self, results: Sequence[Sequence[Any]]) -> list[list[np.ndarray]]:
        self._ranks.settle()
        host = iter(put_together([one for each in results for one in each], CPU))
        return [[next(host) for _ in each] for each in results]

    def held(self, works: Sequence[Work]) -> tuple[Held, ...] | None:
        """Return calls that compute several on a GPU with kernels alone, into the same places.

        None where one of them takes more. The same calls while no array is another.
        """
        calls = [self._chunked(work).held(work.arrays) for work in works]
        return None if any(call is None for call in calls) else tuple(calls)

    def cost(self, work: Work) -> Cost:
        return self._chunked(work).cost(work.arrays)

    def _chunked(self, work: Work) -> Chunked:
        if work.key not in self._recorded:
            self._recorded[work.key] = Chunked(
                work.function,
                self._shared,
                ["sum"] * len(work.kinds) if work.whole else work.kinds,
                steady=self._steady,
                threads=self._threads,
                spread=work.spread,
                whole=work.whole,
                guard=self._guard,
                executor=self._executor,
                ranks=self._ranks,
            )
        return self._recorded[work.key]


def _written(results: list[Any], into: Into | None) -> list[Any]:
    """Return the results, those with a place of their own there."""
    places = into or [None] * len(results)
    for place, result in zip(places, results, strict=True):
        if place is not None:
            place[...] = result
    return [r if place is None else place for place, r in zip(places, results, strict=True)]


def make_engine(
    name: str,
    shared: Sequence[T.Tensor],
    threads: int | None,
    guard: Callable[[], Hashable] = lambda: None,
    executor: str = "auto",
    ranks: Ranks = ALONE,
    steady: int = 0,
) -> Engine:
    """Return the engine "recorded" or "eager"; ValueError for another name.

    guard: what computations branch on besides their inputs; they are recorded once a value of it.
    executor: what replays what is recorded (autograd.plan.executors). ranks: who share it out; what
    is eager each of them computes. steady: how many of the shared, the first, are
    rarely written to.
    """
    if name == "eager":
        return EagerEngine(shared)
    if name == "recorded":
        return RecordedEngine(shared, threads, guard, executor, ranks, steady)
    raise ValueError(f"engine: expected 'recorded' or 'eager', got {name!r}")
