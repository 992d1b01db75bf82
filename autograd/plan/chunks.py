"""Replay over many points: chunks near the cache's size, threads, and sums in a fixed order.

A program is made for one chunk of rows and replayed for each.  Chunks belong to lanes; a lane
adds up its chunks one after the other and the lanes are added in order, so the result has the same
bits for any number of threads.  While it runs, BLAS keeps to one thread a worker.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from .. import modes
from ..devices import CPU, Device, current, device_of, namespace_of, put
from ..ranks import ALONE, Ranks
from ..tensor import Tensor
from ..threads import one_blas_thread, workers
from .bits import has_bits
from .collector import rarely_collected
from .executors import default_executor, make_executor, memory_of
from .executors.tiled_executor import executor_of_whole, executor_on_device
from .lanes.cuda.launched import Held, Launched
from .lanes.prepared import few_points, tiled_or_none
from .lanes.tiled import Tiled
from .passes import optimize
from .passes.dead import remove_dead_code
from .passes.per_row import split_rows
from .pieces import even_pieces, l2_cache_bytes, lanes_of
from .points_alone import kept_bytes, points_first
from .pool import worker_pool
from .program import Program, Value, flops
from .resized import resized
from .trace import trace
from .without_points import Parts, without_points

_PROBE_ROWS = 64
_ONE_CHUNK, _TWO_CHUNKS = 256, 1024  # up to so many rows, that is what it mostly comes to
_CACHES = 5  # working set of a chunk, in L2 caches
_LONG_CALL = 1 << 14  # elements that a call works on, at least
_LONG_BYTES = 1 << 18  # of the result of most calls of numpy
_MOST_PROGRAMS = 12  # kept: points that grow step by step ask for another size each time
_FEW_POINTS = 64  # below that, tiles are mostly empty, and nothing is saved by fewer points
_FEW = 7  # points of the recording of which all others are made
_MOST_APART, _MOST_KEPT = 64, 64 << 20  # chunks, and bytes, of which what points make is kept
_WORTH_THREADS = 1 << 20  # operations of a call, from which it is shared
_DEVICE_CHUNK = 1 << 16  # rows a chunk on a GPU: large enough to fill it

Kind = Literal["sum", "rows", "per_row"]


@dataclass(frozen=True)
class Cost:
    """What one call of a recorded function takes, counted.

    chunks   it is replayed so often.
    workers  threads that replay it side by side.
    nbytes   of the arenas of all workers and chunks, which are kept from call to call.
    flops    floating point operations of all chunks.
    """

    chunks: int
    workers: int
    nbytes: int
    flops: int


class Chunked:
    """A function of points and shared arrays, recorded and replayed chunk by chunk.

    fn      `(rows) -> Tensors`; rows is a list of Tensors, one an array of points. It is recorded
            with few of them, and what it does is taken to be the same with many, where two such
            recordings agree (resized.py); else with as many as a chunk has. What it does without
            points is done once a call, and not once a chunk (without_points.py).
    shared  the Tensors that `fn` reads besides (parameters).  They are read anew at each call.
            Other tensors that it meets are constants; it is recorded again when the library writes
            to one (writes through `.data` or a shared numpy array are not seen).
    steady  how many of these, the first, are written to as rarely as there are other points: what
            they make with points alone is kept as well (points_alone.py).
    kinds   one an output: "sum" (added over chunks), "rows" (joined along the first dimension) or
            "per_row": `fn` returns a sum over rows; what is joined are the rows' own shares
            (passes/per_row.py).  `fn` sees a chunk: a mean over its points is no sum, is not
            refused, and would come out multiplied by the number of chunks; divide the sum after.
            So would what knows no point: `fn` has to multiply it by the chunk's share of all.
    threads workers; None takes one a core, or as many as `set_num_threads` says.
    chunk   rows a chunk; None chooses it so that the working set is a few L2 caches.
    spread  how many rows of work a row stands for, where `fn` makes more of each; a large one
            keeps the first recording, from which the chunk is chosen, as small as any other.
    whole   take all rows in one go, where `fn` looks at them together; the arrays may then have
            different lengths.
    executor  "numpy", "numba", "llvm", "cupy", "cuda", or "auto": cuda for arrays on a GPU, else
            the best that is installed (executors/__init__.py).  With "llvm" and "cuda" the
            function is compiled for tiles of points, whatever `chunk` says, where tiles hold it
            (lanes/tiled.py, lanes/cuda).
    ranks   processes that share the lanes, each of which calls it with the same arrays and gets the
            same results; one that takes all rows in one go is computed by each of them.
    guard   `() -> hashable`, what else `fn` branches on (a training flag); it is recorded once for
            each value.  Shapes, dtypes, requires_grad and the grad mode are guarded in any case.
    Calling it with the point arrays (all on one device) returns the outputs as new arrays there;
    `into` has an array or None for each, and what is joined is written into those given, of any
    float dtype. Calls from several threads take turns.  Raises TraceError where `fn` cannot be
    recorded, ValueError for results that do not fit `kinds` or a place of another shape, and at
    once ExecutorError for a wrong AUTOGRAD_EXECUTOR.
    """

    def __init__(
        self,
        fn: Callable[[list[Tensor]], Sequence[Tensor]],
        shared: Sequence[Tensor],
        kinds: Sequence[Kind],
        *,
        steady: int = 0,
        threads: int | None = None,
        chunk: int | None = None,
        spread: float = 1,
        whole: bool = False,
        executor: str = "auto",
        ranks: Ranks = ALONE,
        guard: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self.fn = fn
        self.shared = list(shared)
        self.steady = steady
        self.kinds = tuple(kinds)
        self.threads = threads or workers()
        self.chunk = chunk
        self.spread = max(1.0, spread)
        self.whole = whole
        self.executor = executor
        # a wrong one in the environment is said here, not after the recording
        self._on_host = default_executor() if executor == "auto" else executor
        self.ranks = ALONE if whole else ranks
        self.guard = guard
        self._lock = threading.RLock()
        self._programs: dict[tuple, Parts] = {}
        # Those with few points, and with twice as many, of which all others are made.
        self._few: dict[tuple, tuple[Program, Program] | None] = {}
        self._bound: dict[tuple[Program, int, Any], Any] = {}
        # Of what each call runs, by whether what points alone make is kept.
        self._flops: WeakKeyDictionary[Program, dict[bool, int]] = WeakKeyDictionary()
        self._kept_bytes: WeakKeyDictionary[Program, int] = WeakKeyDictionary()
        self._tiles: dict[tuple, Tiled | Launched | None] = {}
        self._memory: list[Any] = []

    def __call__(
        self, rows: Sequence[np.ndarray], into: Sequence[np.ndarray | None] | None = None
    ) -> list[np.ndarray]:
        with self._lock, current(device_of(rows[0])):
            return self._run(rows, into or [None] * len(self.kinds))

    def _run(
        self, rows: Sequence[np.ndarray], into: Sequence[np.ndarray | None]
    ) -> list[np.ndarray]:
        self._forget_outdated()
        self._forget_unused()
        count = max(map(len, rows)) if self.whole else len(rows[0])
        tiled = self._tiled(rows, count)
        if tiled is not None:
            joined = self._places(tiled.outputs, count, into, namespace_of(rows[0]))
            totals = tiled(rows, [j for j in joined if j is not None])
            return [next(totals) if j is None else j for j in joined]
        bounds = self._bounds(rows, count)
        lanes = lanes_of(len(bounds), count)
        mine = self.ranks.share(len(lanes))
        parts = {size: self._parts(rows, size) for size in {b - a for a, b in bounds}}
        programs = {size: one.body for size, one in parts.items()}
        xp = namespace_of(rows[0])
        outputs = programs[bounds[0][1] - bounds[0][0]].outputs
        joined = self._places(outputs, count, into, xp)
        apart = self._are_apart(rows, programs, bounds)
        workers = self._workers(rows, programs, bounds, len(mine), apart)
        here = [[bounds[chunk] for chunk in lanes[k]] for k in mine]
        first = {size: self._first(one, rows) for size, one in parts.items()}
        made = {size: one.outputs if one else [] for size, one in first.items()}
        executors: list[dict[Any, Any]] = []  # bound before the threads start
        for slot in range(workers):
            if apart:
                own = [one for lane in here[slot::workers] for one in lane]
                executors.append({
                    (a, b): self._executor(programs[b - a], slot, rows, made[b - a], (a, b))
                    for a, b in own
                })  # fmt: skip
            else:
                executors.append({
                    size: self._executor(program, slot, rows, made[size])
                    for size, program in programs.items()
                })  # fmt: skip
        sums = _Sums(self.kinds, outputs, len(mine), xp)
        with one_blas_thread():
            for one in first.values():
                if one:
                    one.run()
            self._run_lanes(rows, here, joined, sums, executors, apart)
        edges = [bounds[lane.start][0] for lane in lanes] + [count]
        whole = [j for j in joined if j is not None]
        totals = sums.split(self.ranks.exchange(sums.all, len(lanes), whole, edges))
        return [next(totals) if j is None else j for j in joined]

    def _places(
        self, outputs: Sequence[Value], count: int, into: Sequence[np.ndarray | None], xp: Any
    ) -> list[np.ndarray | None]:
        """Return where each result is joined; None for a sum."""
        return [
            None if kind == "sum" else _place(given, (count, *output.shape[1:]), output.dtype, xp)
            for kind, given, output in zip(self.kinds, into, outputs, strict=True)
        ]

    def _tiled(self, rows: Sequence[np.ndarray], count: int) -> Tiled | Launched | None:
        """Return the compiled program for these arrays, None where there is or should be none."""
        device = device_of(rows[0])
        on_host = device == CPU
        on_device = self.executor in ("auto", "cuda")
        wanted = self._on_host == "llvm" if on_host else on_device
        if not wanted or self.whole or count < (_FEW_POINTS if on_host else 1):
            return None
        key = (device, *self._key(rows))
        if key not in self._tiles:
            shapes = [r.shape[1:] for r in rows] + [s._data.shape for s in self.shared]
            few = put(np.arange(few_points(shapes)) % count, device)
            self._tiles[key] = self._compiled([r[few] for r in rows], device)
        return self._tiles[key]

    def _compiled(self, rows: Sequence[np.ndarray], device: Device) -> Tiled | Launched | None:
        """Return the program of a few rows, compiled and bound."""
        try:
            program = self._record(rows)
        except Exception:  # whatever it is, of few points: the function is asked again with all
            return None
        given = program, len(rows), self.kinds
        if device == CPU:
            make = partial(Tiled, before=executor_of_whole)
            found = tiled_or_none(make, *given, self.threads, self.ranks)
        else:
            make = partial(Launched, before=executor_on_device)
            found = tiled_or_none(make, *given, device.index, self.ranks)
        if found is not None:
            found.bind([s._data for s in self.shared])
        return found

    def held(self, rows: Sequence[Any]) -> Held | None:
        """Return a call with these arrays that launches kernels of ours alone, on a GPU.

        It writes all results, sums, to the same places each time. The same call as long as no array
        is another; None where there is none such, and for several ranks, which exchange sums.
        """
        with self._lock:
            self._forget_outdated()
            none = self.ranks.size > 1 or any(kind != "sum" for kind in self.kinds)
            tiled = None if none else self._tiled(rows, len(rows[0]))
            return tiled.held(rows) if isinstance(tiled, Launched) else None

    def cost(self, rows: Sequence[np.ndarray]) -> Cost:
        """Return what a call with these arrays takes; it is recorded for that, and not run."""
        with self._lock, current(device_of(rows[0])):
            self._forget_outdated()
            count = max(map(len, rows)) if self.whole else len(rows[0])
            tiled = self._tiled(rows, count)
            if tiled is not None:
                return Cost(1, tiled.workers, tiled.nbytes, round(tiled.flops * count))
            bounds = self._bounds(rows, count)
            sizes = Counter(stop - start for start, stop in bounds)
            parts = {size: self._parts(rows, size) for size in sizes}
            programs = {size: one.body for size, one in parts.items()}
            first = [one.before for one in parts.values() if one.before is not None]
            name = self._name(rows)
            apart = self._are_apart(rows, programs, bounds)
            lanes = len(lanes_of(len(bounds), count))
            workers = self._workers(rows, programs, bounds, lanes, apart)
            kept = self._alone(rows) if apart else 0
            memory = {size: memory_of(name, one, kept) for size, one in programs.items()}
            return Cost(
                chunks=len(bounds),
                workers=workers,
                nbytes=workers * sum(one.arena_bytes for one in memory.values())
                + sum(sizes[size] * one.kept_bytes for size, one in memory.items())
                + sum(memory_of(name, one).arena_bytes for one in first),
                flops=sum(sizes[size] * p.work()[1] for size, p in programs.items())
                + sum(one.work()[1] for one in first),
            )

    def _parts(self, rows: Sequence[np.ndarray], count: int) -> Parts:
        """Return the optimized program for chunks of `count` rows, and what is done before them."""
        key = (count, *self._key(rows))
        parts = self._programs.pop(key, None)  # and put last: the one that was used last
        if parts is None:
            program = self._resized(rows, count) or self._record([r[:count] for r in rows])
            # what is steady is kept by the chunks (points_alone.py), for longer than a call
            is_split = not (self.whole or self.steady)
            parts = without_points(program, len(rows)) if is_split else Parts(None, program)
        self._programs[key] = parts
        return parts

    def _resized(self, rows: Sequence[np.ndarray], count: int) -> Program | None:
        """Return the program for many rows, made of two with few; None where it has to be recorded.

        With few rows a recording takes milliseconds, and as much memory for what is on the way.
        """
        if self.whole or count < _FEW_POINTS:
            return None
        key = self._key(rows)
        if key not in self._few:
            try:
                self._few[key] = tuple(self._record([r[: k * _FEW] for r in rows]) for k in (1, 2))
            except Exception:  # whatever it is, of few points: the function is asked with all
                self._few[key] = None
        pair = self._few[key]
        return None if pair is None else resized(*pair, count)

    def _key(self, rows: Sequence[np.ndarray]) -> tuple:
        """Return what a recording depends on besides the number of rows."""
        return (
            modes.is_grad_enabled(), self.guard(),
            *((r.shape[not self.whole :], r.dtype) for r in rows),
            *((s._data.shape, s._data.dtype, s._requires_grad) for s in self.shared),
        )  # fmt: skip

    @rarely_collected()
    def _record(self, rows: Sequence[np.ndarray]) -> Program:
        count = len(rows)
        names = [f"row{k}" for k in range(count)] + [f"p{k}" for k in range(len(self.shared))]
        program, _ = trace(
            lambda *inputs: self.fn(list(inputs[:count])),
            [*(Tensor(r.copy()) for r in rows), *self.shared],
            names,
        )
        self._check_results(program, len(rows[0]))
        program = optimize(program)
        apart = [k for k, kind in enumerate(self.kinds) if kind == "per_row"]
        return remove_dead_code(split_rows(program, apart, count)) if apart else program

    def _check_results(self, program: Program, count: int) -> None:
        if len(program.outputs) != len(self.kinds):
            raise ValueError(
                f"expected {len(self.kinds)} results, one for each of the kinds "
                f"{', '.join(self.kinds)}; got {len(program.outputs)}"
            )
        for k, (kind, output) in enumerate(zip(self.kinds, program.outputs, strict=True)):
            if kind == "rows" and output.shape[:1] != (count,):
                raise ValueError(
                    f"result {k} is of kind 'rows': expected {count} rows for {count} points, got "
                    f"shape {list(output.shape)}; return one row a point, or make it a 'sum'"
                )

    def _bounds(self, rows: Sequence[np.ndarray], count: int) -> list[tuple[int, int]]:
        """Return (start, stop) of chunks whose sizes differ by one row at most."""
        if count == 0 or self.whole:
            return [(0, count)]
        size = self.chunk
        if size is None:
            on_host = type(rows[0]) is np.ndarray
            on_device = max(1, int(_DEVICE_CHUNK / self.spread))
            size = self._choose_chunk(rows, count) if on_host else on_device
            self.chunk = size
        pieces = even_pieces(count, max(1, -(-count // size)))
        edges = [count * k // pieces for k in range(pieces + 1)]
        return list(zip(edges[:-1], edges[1:], strict=True))

    def _choose_chunk(self, rows: Sequence[np.ndarray], count: int) -> int:
        """Return a number of rows: a working set near the cache, calls that are long, two chunks.

        Measured (experiments/bench): up to some five L2 caches cost nothing, as each layer's arrays
        are met twice; shorter calls lose more to the interpreter and its lock than caches give.
        Most of all with numpy alone, whose calls are single operations: threads that meet at the
        lock every few microseconds may be slower than one (docs/decisions/0055-long-calls.md). What
        counts are the calls that most of the memory is written by.
        """
        # where the choice can be guessed, the program that it is made from is the one that is run
        guess = count if count <= _ONE_CHUNK else -(-count // 2)
        probe = guess
        if count * self.spread > _TWO_CHUNKS:
            probe = min(guess, max(1, int(_PROBE_ROWS / self.spread)))
        program = self._parts(rows, probe).body
        nbytes = memory_of(self.executor, program).arena_bytes
        width = max(
            (v.size // probe for i in program.instructions if i.op.ufunc for v in i.outputs),
            default=1,
        )
        near = _CACHES * l2_cache_bytes() // max(1, nbytes // probe)
        size, two = max(near, _LONG_CALL // max(1, width), 1), count * width >= _LONG_CALL
        if self._on_host == "numpy":
            calls = [v.nbytes // probe for i in program.instructions if i.op.ufunc
                     for v in i.outputs]  # fmt: skip
            most = max(1, _half_is_in(calls or [1]))
            size, two = max(size, _LONG_BYTES // most), count * most >= _LONG_BYTES
        return min(size, -(-count // 2)) if two else size

    def _alone(self, rows: Sequence[Any]) -> int:
        """Return how many inputs, the first, are those of points and what changes as rarely."""
        return len(rows) + self.steady

    def _are_apart(
        self, rows: Sequence[Any], programs: dict[int, Program], bounds: list[tuple[int, int]]
    ) -> bool:
        """Return whether chunks keep, each for itself, what their points alone make.

        As where a network's first layers are not trained: it is most of the work then.
        """
        if type(rows[0]) is not np.ndarray or len(bounds) > _MOST_APART:
            return False
        for program in programs.values():
            if program not in self._kept_bytes:
                self._kept_bytes[program] = kept_bytes(program, self._alone(rows))
        total = sum(self._kept_bytes[programs[b - a]] for a, b in bounds)
        return 0 < total <= _MOST_KEPT

    def _workers(
        self,
        rows: Sequence[Any],
        programs: dict[int, Program],
        bounds: list[tuple[int, int]],
        lanes: int,
        apart: bool,
    ) -> int:
        """Return how many threads share the lanes: one where it is over before another is awake."""
        if type(rows[0]) is not np.ndarray or min(self.threads, lanes) < 2:
            return 1
        for program in programs.values():
            known = self._flops.setdefault(program, {})
            if apart not in known:
                ordered, first = points_first(program, self._alone(rows) if apart else 0)
                known[apart] = sum(map(flops, ordered.instructions[first:]))
        total = sum(self._flops[programs[b - a]][apart] for a, b in bounds)
        return min(self.threads, lanes) if total >= _WORTH_THREADS else 1

    def _first(self, parts: Parts, rows: Sequence[Any]) -> Any:
        """Return what runs what is done before all chunks; None for nothing."""
        if parts.before is None:
            return None
        key = (parts.before, 0, None)
        if key not in self._bound:
            self._bound[key] = self._whole(rows, parts.before, [s._data for s in self.shared])
        return self._bound[key]

    @rarely_collected()
    def _whole(self, rows: Sequence[Any], program: Program, given: Sequence[Any]) -> Any:
        """Return what runs a program that is no chunk's."""
        on_host, name = type(rows[0]) is np.ndarray, self._name(rows)
        if on_host and self._on_host == "llvm":
            return executor_of_whole(program, given, self.threads)
        if not on_host and name == "cuda":
            return executor_on_device(program, given, device_of(rows[0]).index)
        return make_executor(name, program, given)

    def _name(self, rows: Sequence[Any]) -> str:
        """Return the name of what runs programs where the points lie."""
        on_host = type(rows[0]) is np.ndarray
        return self.executor if on_host or self.executor != "auto" else "cuda"

    def _executor(
        self,
        program: Program,
        slot: int,
        rows: Sequence[np.ndarray],
        made: Sequence[Any],
        chunk: Any = None,
    ) -> Any:
        """Return what runs a program in a worker.

        made: what was made before all chunks; chunk: the one that it keeps something for.
        """
        key = (program, slot, chunk)
        if key not in self._bound:
            xp = namespace_of(rows[0])
            own = [xp.zeros(value.shape, value.dtype) for value in program.inputs[: len(rows)]]
            given = [*own, *(s._data for s in self.shared), *made]
            points, beside = 0, None
            if chunk is not None:
                points = self._alone(rows)
                beside = next((
                    executor for (of, at, other), executor in self._bound.items()
                    if of is program and at == slot and other is not None
                ), None)  # fmt: skip
            if self.whole and chunk is None:
                self._bound[key] = self._whole(rows, program, given)
            else:
                name = self._name(rows)
                self._bound[key] = make_executor(name, program, given, points, beside)
        return self._bound[key]

    def _forget_unused(self) -> None:
        """Drop programs that were not used for long, with their buffers."""
        for key in list(self._programs)[:-_MOST_PROGRAMS]:
            parts = self._programs.pop(key)
            for bound in [one for one in self._bound if one[0] in parts]:
                del self._bound[bound]

    def _forget_outdated(self) -> None:
        """Bind again where a shared tensor got other memory; record again where a constant did."""
        memory = [s._data for s in self.shared]
        moved = len(memory) != len(self._memory) or any(
            a is not b for a, b in zip(memory, self._memory, strict=True)
        )
        outdated = [key for key, one in self._programs.items() if not one.body.is_current()]
        for key in outdated:
            del self._programs[key]
        for key in [k for k, pair in self._few.items() if pair and not pair[0].is_current()]:
            del self._few[key]
        for key in [k for k, t in self._tiles.items() if t is not None and not t.is_current()]:
            del self._tiles[key]
        if moved or outdated:
            self._memory = memory
            self._bound.clear()
            for tiled in self._tiles.values():
                if tiled is not None:
                    tiled.bind(memory)

    def _run_lanes(
        self,
        rows: Sequence,
        lanes: list[list[tuple[int, int]]],
        joined: list,
        sums: _Sums,
        executors: list[dict[Any, Any]],
        apart: bool,
    ) -> None:
        """Run the chunks (start, stop) of each lane of this rank.

        apart: whether each chunk has an executor of its own, and so its worker.
        """
        written = tuple(s._version[0] for s in self.shared[: self.steady])
        pending = [iter(range(len(lanes)))] * len(executors)
        if apart:
            pending = [iter(range(k, len(lanes), len(executors))) for k in range(len(executors))]
        lock = threading.Lock()

        def work(slot: int) -> None:
            while True:
                with lock:
                    lane = next(pending[slot], None)
                if lane is None:
                    return
                places = sums.places(lane)
                own = executors[slot]
                self._run_lane(rows, lanes[lane], joined, places, own, written if apart else None)

        others = [worker_pool().submit(work, slot) for slot in range(1, len(executors))]
        try:
            if executors:
                work(0)
        finally:
            wait(others)  # none may still write when this returns or raises
        for other in others:
            other.result()

    def _run_lane(
        self,
        rows: Sequence,
        bounds: list[tuple[int, int]],
        joined: list,
        sums: list,
        executors: dict[Any, Any],
        written: tuple[int, ...] | None,
    ) -> None:
        """Run chunks one after the other; written: how often what is steady was, if they keep it.

        Each then has an executor of its own.
        """
        for start, stop in bounds:
            executor = executors[stop - start if written is None else (start, stop)]
            pairs = [(t, s[start:stop]) for t, s in zip(executor.inputs, rows, strict=False)]
            same = written is not None and executor.written == written
            if same and all(has_bits(*pair) for pair in pairs):
                executor.run(known=True)
            else:
                for target, source in pairs:
                    target[...] = source
                executor.run()
                executor.written = written
            for whole, total, output in zip(joined, sums, executor.outputs, strict=True):
                if total is None:
                    whole[start:stop] = output
                elif start == bounds[0][0]:
                    total[...] = output
                else:
                    total += output


def _half_is_in(sizes: list[int]) -> int:
    """Return the size such that half of the sum is in larger ones."""
    ordered, half = sorted(sizes, reverse=True), sum(sizes) / 2
    totals = itertools.accumulate(ordered)
    return next(size for size, total in zip(ordered, totals, strict=True) if total >= half)


class _Sums:
    """What is added over points, by lane.

    all: (lanes, numbers), a lane's sums one after the other.
    """

    def __init__(
        self, kinds: Sequence[Kind], outputs: Sequence[Value], lanes: int, xp: Any
    ) -> None:
        added = [v for kind, v in zip(kinds, outputs, strict=True) if kind == "sum"]
        self._kinds, self._shapes = kinds, [v.shape for v in added]
        self._dtypes = [v.dtype for v in added]
        self._edges = [0, *itertools.accumulate(v.size for v in added)]
        self.all = xp.empty((lanes, self._edges[-1]), np.result_type(*self._dtypes, np.float32))

    def places(self, lane: int) -> list[Any]:
        """Return where a lane adds up each result; None for one that is joined."""
        own = iter(self._split(self.all[lane]))
        return [next(own) if kind == "sum" else None for kind in self._kinds]

    def split(self, totals: Any) -> Iterator[Any]:
        """Return the sum of each result that is added, from those of all lanes."""
        return iter(
            (part.real if dtype.kind != "c" else part).astype(dtype, copy=False)
            for part, dtype in zip(self._split(totals), self._dtypes, strict=True)
        )

    def _split(self, numbers: Any) -> list[Any]:
        edges = zip(self._edges[:-1], self._edges[1:], strict=True)
        return [
            numbers[a:b].reshape(shape) for (a, b), shape in zip(edges, self._shapes, strict=True)
        ]


def _place(given: Any, shape: tuple[int, ...], dtype: Any, xp: Any) -> Any:
    """Return where a joined result is written: the array given, or a new one."""
    if given is None:
        return xp.empty(shape, dtype)
    if given.shape != shape:
        raise ValueError(f"into: expected an array of shape {shape}, got {given.shape}")
    return given
