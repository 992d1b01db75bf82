"""What runs once a call, before tiles and after: a kernel each, or cupy for what that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....devices import Backend
from ...executors.cupy_executor import CupyExecutor
from ...program import Program, Value
from .arithmetic import THREADS, Arithmetic

GetKernel = Callable[[str], Any]
"""A kernel by its name."""

Executor = Callable[[Program, Sequence[Any], int | None], Any]
"""What makes an executor of a program, its inputs and the index of a device."""


def by_cupy(program: Program, given: Sequence[Any], index: int | None) -> CupyExecutor:
    """Return what runs a program by cupy alone."""
    return CupyExecutor(program, given)


class Before:
    """The values that know no point, bound to the arrays that they are made of.

    found      None where `other` has to do it.
    outputs    arrays, dense and of the dtype of tiles, that `run` writes or that are there already.
    is_kernel  whether `run` launches a kernel of ours, or none, and does nothing else.
    """

    def __init__(
        self,
        program: Program,
        found: Arithmetic | None,
        kernel: GetKernel,
        arrays: Sequence[Any],
        other: Executor,
        dtype: np.dtype,
        backend: Backend,
        index: int | None,
    ) -> None:
        self._xp = backend.xp
        self._steps: list[tuple[Callable, tuple]] = []
        if found is None:
            executor = other(program, arrays, index)
            self._steps.append((executor.run, ()))
            self.outputs = [self._dense(a, dtype) for a in executor.outputs]
            self.is_kernel = False
            return
        needed = {k for k, _ in found.outputs if k is not None} | set(found.arrays)
        dense = [self._dense(a, dtype) if k in needed else a for k, a in enumerate(arrays)]
        dense += [backend.from_host(a, index) for a in found.constants]
        self.is_kernel = not self._steps
        memory = self._xp.empty((max(1, found.numbers),), dtype)
        if found.text:
            given = [dense[k] for k in found.arrays] + dense[len(arrays) :]
            launch = kernel("before"), ((1,), (THREADS,), (*given, memory))
            self._steps.append(launch)
        self.outputs = [
            _part(memory if k is None else dense[k], first, value)
            for (k, first), value in zip(found.outputs, program.outputs, strict=True)
        ]

    def run(self) -> None:
        """Compute the outputs from the arrays."""
        for step, arguments in self._steps:
            step(*arguments)

    def _dense(self, array: Any, dtype: np.dtype) -> Any:
        """Return an array that is dense and of the dtype, which the next run fills if it must."""
        if array.dtype == dtype and array.flags.c_contiguous:
            return array
        own = self._xp.empty(array.shape, dtype)
        self._steps.append((self._xp.copyto, (own, array)))
        return own


class After:
    """What is made of the sums over all points and of values that know none.

    found      None where cupy has to do it; the sums then lie one after the other.
    values     the arrays that know no point: `Before.outputs`.
    times      whether the program's last input is how often the points recorded go into all.
    is_kernel  as of `Before`.
    """

    def __init__(
        self,
        program: Program,
        found: Arithmetic | None,
        kernel: GetKernel,
        sums: int,
        values: Sequence[Any],
        times: bool,
        dtype: np.dtype,
        backend: Backend,
        index: int | None,
    ) -> None:
        self._xp, self._dtype = backend.xp, dtype
        self._program, self._found = program, found
        self.is_kernel = found is not None
        totals = program.inputs[:sums]
        self._executor = None
        self._times = [self._xp.empty((), dtype)] if times else []
        if found is None:
            self._own = self._xp.empty((max(1, sum(v.size for v in totals)),), dtype)
            ends = np.cumsum([0, *(v.size for v in totals)]).tolist()
            views = [_part(self._own, first, v) for first, v in zip(ends, totals, strict=False)]
            self._executor = CupyExecutor(program, [*views, *values, *self._times])
            return
        self._kernel = kernel("after") if found.text else None
        self._constants = [backend.from_host(a, index) for a in found.constants]
        self._given = [values[k - sums] for k in found.arrays[: len(found.arrays) - times]]

    def memory(self) -> Any:
        """Return where the sums are to be written."""
        if self._found is None:
            return self._own
        return self._xp.empty((max(1, self._found.numbers),), self._dtype)

    def run(self, memory: Any, times: Sequence[Any]) -> None:
        """Compute the results from what was written there.

        times  how often the points recorded go into all, (), where the program reads it.
        """
        if self._found is None:
            for own, given in zip(self._times, times, strict=True):
                own[...] = given
            self._executor.run()
        elif self._kernel is not None:
            given = *self._given, *times, *self._constants, memory
            self._kernel((1,), (THREADS,), given)

    def results(self, memory: Any) -> list[Any]:
        """Return the results, new arrays; those of a kernel are parts of the memory."""
        if self._found is None:
            return [one.copy() for one in self._executor.outputs]
        return [
            _part(memory, first, value)
            for (_, first), value in zip(self._found.outputs, self._program.outputs, strict=True)
        ]


def _part(memory: Any, first: int, value: Value) -> Any:
    return memory.reshape(-1)[first : first + value.size].reshape(value.shape)
