"""How a computation over points is carried out.

A computation is a function of the columns of some points that returns Tensors; `kinds` says of each
result whether it is added over the points or joined along them (autograd.plan.chunks).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np

import autograd as T
from autograd.devices import CPU, put
from autograd.plan import trace
from autograd.plan.chunks import Chunked, Cost, Kind
from autograd.plan.passes.per_row import CannotSplitRows

ENGINES = ("recorded", "eager")
# Points at which the work of a run that is not recorded is counted.
_FEW = 64
Function = Callable[[list[T.Tensor]], Sequence[T.Tensor]]


class Engine(Protocol):
    """What carries out computations."""

    def run(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> list[np.ndarray]:
        """Return the results at the points of some arrays (n, 1) as host arrays.

        Equal keys mean the same computation. spread: the points at which the model is evaluated for
        each of these. whole: it is run once, on all points together, and
        each result is what that gives; arrays may then have different lengths.
        """

    def cost(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> Cost:
        """Return what such a run takes, without one."""


class EagerEngine:
    """Runs the computation as it is written, on all points at once: for debugging.

    shared: the tensors that computations read besides their points.
    """

    def __init__(self, shared: Sequence[T.Tensor] = ()) -> None:
        self._shared = list(shared)

    def run(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> list[np.ndarray]:
        if whole or "per_row" not in kinds:
            return [_host(result) for result in function([T.Tensor(a) for a in arrays])]
        each = [
            [_host(result) for result in function([T.Tensor(a[k : k + 1]) for a in arrays])]
            for k in range(len(arrays[0]))
        ]
        return [
            np.stack(column) if kind == "per_row"
            else np.concatenate(column) if kind == "rows"
            else np.sum(column, axis=0)
            for kind, column in zip(kinds, zip(*each, strict=True), strict=True)
        ]

    def cost(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> Cost:
        """Return the operations and results of a run, all of which the graph may keep.

        Counted at a few points, in proportion to their number.
        """
        few = list(arrays) if whole else [array[:_FEW] for array in arrays]
        inputs = [*(T.Tensor(array.copy()) for array in few), *self._shared]
        program, _ = trace(lambda *given: function(list(given[: len(few)])), inputs)
        share = len(arrays[0]) / len(few[0])
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
    ) -> None:
        self._shared = list(shared)
        self._threads = threads
        self._guard = guard
        self._recorded: dict[Hashable, Chunked] = {}
        self._row_by_row: set[Hashable] = set()

    def run(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> list[np.ndarray]:
        if key in self._row_by_row:
            return EagerEngine().run(key, function, kinds, arrays)
        try:
            results = self._chunked(key, function, kinds, whole, spread)(arrays)
        except CannotSplitRows as error:
            self._row_by_row.add(key)
            warnings.warn(
                f"rows of the Jacobian of {key} are computed one by one, which is slow: {error}",
                RuntimeWarning,
                stacklevel=4,
            )
            return EagerEngine().run(key, function, kinds, arrays)
        return [put(result, CPU) for result in results]

    def cost(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        arrays: Sequence[Any],
        whole: bool = False,
        spread: float = 1,
    ) -> Cost:
        return self._chunked(key, function, kinds, whole, spread).cost(arrays)

    def _chunked(
        self,
        key: Hashable,
        function: Function,
        kinds: Sequence[Kind],
        whole: bool,
        spread: float,
    ) -> Chunked:
        if key not in self._recorded:
            self._recorded[key] = Chunked(
                function,
                self._shared,
                ["sum"] * len(kinds) if whole else kinds,
                threads=self._threads,
                spread=spread,
                whole=whole,
                guard=self._guard,
            )
        return self._recorded[key]


def _host(tensor: T.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def make_engine(
    name: str,
    shared: Sequence[T.Tensor],
    threads: int | None,
    guard: Callable[[], Hashable] = lambda: None,
) -> Engine:
    """Return the engine "recorded" or "eager"; ValueError for another name.

    guard: what computations branch on besides their inputs; they are recorded once a value of it.
    """
    if name == "eager":
        return EagerEngine(shared)
    if name == "recorded":
        return RecordedEngine(shared, threads, guard)
    raise ValueError(f"engine: expected 'recorded' or 'eager', got {name!r}")
