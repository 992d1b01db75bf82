"""A recorded function over points as kernels: one launch takes all points through all layers.

The function is recorded for a few points, taken apart and laid out as for the host (prepared.py)
and written as CUDA C (kernels.py).  A lane is a run of tiles; a block takes lanes, one after the
other, and each lane has sums of its own, which are added in order: those of each of 16 runs of
lanes, then the runs.  Ranks share out the runs.  So the bits depend neither on how many blocks nor
on how many ranks there are.  Nothing is copied to the host or from it, and the host waits for
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .... import devices
from ....ranks import ALONE, Ranks
from ...program import CONSTANT, Instruction, Program, Value
from ..places import CannotCompile
from ..prepared import lowered, prepared, tiled_or_none
from .arithmetic import arithmetic
from .around import After, Before, Executor, by_cupy
from .expressions import HELD
from .form import SHARED
from .kernels import ADDED, RUNS, kernels_of
from .modules import kernel_of

_PACKING = 8  # blocks a matrix
_THREADS = 512  # of all blocks of a multiprocessor, where each has its memory


class Launched:
    """A program as kernels.

    program, kinds  as for `Tiled`.
    index           of the device.
    ranks           that lanes are shared out to, each on a device of its own.
    whole           as for `Tiled`.
    before          what makes an executor of what knows no point and is more than one block should
                    do, of that, its arrays and `index`.
    Raises CannotCompile for what tiles do not hold.

    outputs, flops  as of `Tiled`.
    workers         1: all of the device.
    nbytes          of the device's memory that is kept from call to call.
    """

    workers = 1

    def __init__(
        self,
        program: Program,
        points: int,
        kinds: Sequence[str],
        index: int | None,
        ranks: Ranks = ALONE,
        whole: bool = False,
        before: Executor = by_cupy,
    ) -> None:
        given = lowered(_with_constants_on_host(program), points, HELD)
        parts, layout = prepared(given, points, kinds, HELD, whole)
        self._executor = before
        self._parts, dtype = parts, layout.dtype
        if any(value.dtype != dtype for value in program.inputs[:points]):
            raise CannotCompile(f"points that are yes or no beside {dtype}")
        self._before = tiled_or_none(arithmetic, "before", parts.before, dtype, 0, False)
        self._after = tiled_or_none(arithmetic, "after", parts.after, dtype, parts.sums, True)
        ends = np.cumsum([0, *layout.totals]).tolist()[:-1]
        placed = ends if self._after is None else self._after.placed
        self._backend, self._index, self._ranks = devices.backend("cuda"), index, ranks
        device = self._backend.xp.cuda.Device(index or 0).attributes
        shared = min(SHARED, device["MaxSharedMemoryPerBlockOptin"])
        self.kernels = kernels = kernels_of(layout, points, placed, shared)
        texts = [one.text for one in (self._before, self._after) if one is not None]
        self.text = "\n".join([kernels.text, *texts])
        self._program = program
        self.outputs = program.outputs
        self.flops = program.work()[1] / program.inputs[0].shape[0]
        self._blocks = _THREADS // kernels.form.threads * device["MultiProcessorCount"]
        self._scratch = 0 if kernels.form.shared else (
            min(self._blocks, kernels.lanes) * kernels.arena
        )  # fmt: skip
        numbers = self._scratch + kernels.packed + kernels.lanes * kernels.sums
        self.nbytes = numbers * dtype.itemsize
        self._load()

    def _load(self) -> None:
        kernels, dtype = self.kernels, self.kernels.form.dtype
        xp = self.xp = self._backend.xp
        self._kernel = partial(kernel_of, xp.RawModule, self.text)
        self._work = self._kernel("work")
        self._shared_bytes = kernels.arena * dtype.itemsize if kernels.form.shared else 0
        if self._shared_bytes:
            self._work.max_dynamic_shared_size_bytes = self._shared_bytes
        self._add, self._add_runs = (
            self._kernel(name) if kernels.sums else None for name in ("add", "add_runs")
        )
        self._pack = self._kernel("pack") if kernels.packed else None
        self._constants = self._backend.from_host(kernels.constants, self._index)
        self._packed = xp.empty((max(1, kernels.packed),), dtype)
        self._memory = xp.empty((max(1, self._scratch),), dtype)
        self._sums = xp.empty((kernels.lanes * max(1, kernels.sums),), dtype)

    def is_current(self) -> bool:
        """Return whether the tensors frozen into constants are as they were when recorded."""
        return self._program.is_current()

    def bind(self, shared: Sequence[Any]) -> None:
        """Read these arrays from now on, at each call."""
        how = self.kernels.form.dtype, self._backend, self._index
        self._first = Before(
            self._parts.before, self._before, self._kernel, shared, self._executor, *how
        )
        values = self._first.outputs
        self._numbers = [values[k] for k in self.kernels.arrays]
        self._last = After(
            self._parts.after, self._after, self._kernel, self._parts.sums, values,
            self._parts.times, *how,
        )  # fmt: skip
        self._held: Held | None = None
        self._times: tuple[int, list[Any]] = 0, []

    def __call__(self, rows: Sequence[Any], joined: Sequence[Any]) -> Iterator[Any]:
        """Return the sums, one after the other; what is joined is written into `joined`."""
        return iter(self.run(rows, joined))

    def run(self, rows: Sequence[Any], joined: Sequence[Any]) -> list[Any]:
        """Return the sums; what is joined is written into `joined`.

        rows    the points' arrays, of one length that is not 0.
        """
        self._first.run()
        rows = [self.xp.ascontiguousarray(r) for r in rows]
        own = [_own(j, self.kernels.form.dtype, self.xp) for j in joined]
        memory = self._last.memory()
        self.launch(rows, self._numbers, own, memory)
        for given, one in zip(joined, own, strict=True):
            if one is not given:
                given[...] = one
        self._last.run(memory, self.times(len(rows[0])))
        results, scaled = self._last.results(memory), self._parts.scaled
        sums = len(results) - len(scaled)
        for k, scale in zip(scaled, results[sums:], strict=True):
            self.xp.multiply(joined[k], scale, out=joined[k])
        return results[:sums]

    def times(self, count: int) -> list[Any]:
        """Return how often the points recorded go into so many, [] where nobody reads it."""
        if self._parts.times and self._times[0] != count:
            often = count / self._parts.recorded
            self._times = count, [self.xp.full((), often, self.kernels.form.dtype)]
        return self._times[1]

    def held(self, rows: Sequence[Any]) -> Held | None:
        """Return a call with these arrays whose results are sums, as long as it can be made.

        The same one for the same arrays while none of the arrays without points is another. None
        where more than kernels of ours takes part.
        """
        if not (self._first.is_kernel and self._last.is_kernel):
            return None
        held = self._held
        if held is None or any(a is not b for a, b in zip(held.given, rows, strict=True)):
            self._held = held = Held(self, rows, self._first, self._numbers, self._last)
        return held

    def launch(
        self, rows: Sequence[Any], numbers: Sequence[Any], joined: Sequence[Any], memory: Any
    ) -> None:
        """Take all points through all layers; write the sums over them.

        numbers  the arrays without points that kernels read.
        """
        kernels, form = self.kernels, self.kernels.form
        count = len(rows[0])
        lanes = min(kernels.lanes, -(-count // form.tile))
        runs = self._ranks.share(RUNS)
        begin, end = (lanes * run // RUNS for run in (runs.start, runs.stop))
        most = end - begin if form.shared else min(end - begin, self._blocks)
        if self._pack is not None:
            self._pack((_PACKING, kernels.products), (form.threads,), (*numbers, self._packed))
        if most:
            self._work(
                (most,), (form.threads,),
                (
                    *rows, *numbers, self._constants, self._packed, *joined, self._sums,
                    self._memory, np.int64(count), *map(np.int32, (lanes, begin, end)),
                ),
                shared_mem=self._shared_bytes,
            )  # fmt: skip
        sums = self._sums
        if self._ranks.size > 1:
            tiles = -(-count // form.tile)
            edges = [lanes * run // RUNS for run in range(RUNS + 1)]
            edges = [min(count, tiles * lane // lanes * form.tile) for lane in edges]
            sums = self._ranks.gather(self._run_sums(lanes, runs), RUNS, joined, edges)
            lanes = len(sums)
        if self._add is not None:
            blocks = -(-kernels.sums // ADDED)
            self._add((blocks,), (RUNS * ADDED,), (sums, memory, np.int32(lanes)))

    def _run_sums(self, lanes: int, runs: range) -> Any:
        """Return the sums of each of some runs of lanes, (runs, sums)."""
        kernels, threads = self.kernels, self.kernels.form.threads
        found = self.xp.empty((len(runs), kernels.sums), kernels.form.dtype)
        if found.size:
            blocks = -(-kernels.sums // threads), len(runs)
            given = self._sums, found, np.int32(lanes), np.int32(runs.start)
            self._add_runs(blocks, (threads,), given)
        return found


class Held:
    """A call with the same arrays each time: launches of kernels alone, into the same memory.

    given    the points' arrays.
    results  arrays, which each call writes anew.
    """

    def __init__(
        self, launched: Launched, given: Sequence[Any], first: Before, numbers: Sequence[Any],
        last: After,
    ) -> None:  # fmt: skip
        self._launched, self._first, self._last = launched, first, last
        self._numbers, self.given = numbers, tuple(given)
        self._rows = [launched.xp.ascontiguousarray(r) for r in given]
        self._times = launched.times(len(given[0]))
        self._memory = last.memory()
        self.results = last.results(self._memory)

    def __call__(self) -> None:
        self._first.run()
        self._launched.launch(self._rows, self._numbers, (), self._memory)
        self._last.run(self._memory, self._times)


def _own(given: Any, dtype: np.dtype, xp: Any) -> Any:
    """Return an array of the dtype that is dense: the one given, where it is, or one to fill."""
    fits = given.dtype == dtype and given.flags.c_contiguous
    return given if fits else xp.empty(given.shape, dtype)


def _with_constants_on_host(program: Program) -> Program:
    """Return a program whose constants can be looked at."""
    kept: dict[Value, Value] = {}

    def of(argument: Any) -> Any:
        if not isinstance(argument, Value) or argument.kind != CONSTANT:
            return argument
        if argument not in kept:
            kept[argument] = replace(argument, data=devices.put(argument.data, devices.CPU))
        return kept[argument]

    instructions = [
        Instruction(i.op, tuple(of(a) for a in i.inputs), i.attributes, i.outputs)
        for i in program.instructions
    ]
    return program.replaced(instructions, [of(v) for v in program.outputs])
