"""A recorded function of arrays of a device, called with any of them: its results are new arrays.

An executor has one memory, into which its arrays are copied and from which its results are; here
nothing is copied, and what a call gives stays as it is.  For short programs, such as the step of an
optimizer, of whose values those of many calls are wanted.  As far as there are kernels of ours for
its operations, a call can be captured in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import devices
from ..tensor import Tensor
from .executors.cupy_executor import kernel_of
from .lanes.cuda.expressions import HELD
from .lanes.cuda.transfers import copy
from .lanes.cuda.whole_arrays import launch_of
from .passes import optimize, run_pass
from .passes.clusters import fuse, fused_op
from .program import CONSTANT, Instruction, Program, Value
from .trace import trace


class Unbound:
    """A function of tensors, as kernels and calls of the device's array library.

    fn       `(*tensors) -> Tensors`, recorded once with ones.
    numbers  so many arguments, the first, are numbers of shape () that the host knows.
    shapes   of the others; all are float64.
    device   where they lie.
    Raises TraceError where `fn` cannot be recorded, DeviceError where the device is not there.

    What is made of the numbers alone is computed on the host (`scalars`): those of many calls go to
    the device in one copy.
    """

    def __init__(
        self,
        fn: Callable[..., Sequence[Tensor]],
        numbers: int,
        shapes: Sequence[tuple[int, ...]],
        device: devices.Device,
    ) -> None:
        backend = devices.backend(device.type)
        self._xp = backend.xp
        ones = [np.ones(shape) for shape in [()] * numbers + list(shapes)]
        with np.errstate(all="ignore"):  # nothing is kept of what the ones give
            given = [Tensor(backend.from_host(one, device.index)) for one in ones]
            program = optimize(trace(fn, given)[0])
        self._numbers = program.inputs[:numbers]
        self._early, self._scalars, late = _split(program, set(self._numbers))
        loops = partial(
            fuse, held=lambda op: op.name in HELD, truths=np.dtype(np.float64), every=True
        )
        self._late = run_pass("clusters", loops, late)
        # yes and no are numbers, but for calls of the array library
        self._constants = {v: _number(v.data) for v in _values(self._late) if v.kind == CONSTANT}
        other = [v.dtype for v in self._late.outputs if v.dtype != np.float64]
        if other:
            raise TypeError(f"results of a recorded step are float64, got {other[0]}")

    @property
    def count(self) -> int:
        """How many numbers `scalars` returns."""
        return len(self._scalars)

    def scalars(self, *numbers: float) -> list[float]:
        """Return what a call takes in place of its numbers."""
        found: dict[Value, Any] = dict(zip(self._numbers, map(np.float64, numbers), strict=True))
        with np.errstate(all="ignore"):
            for one in self._early:
                inputs = [found[v] if isinstance(v, Value) else v for v in one.inputs]
                _take(one, one.op.forward(np, *inputs, **one.attributes), found)
        return [float(found[value]) for value in self._scalars]

    def __call__(
        self,
        scalars: Any,
        *arrays: Any,
        out: Mapping[int, Any] | None = None,
        kept: dict[Value, Any] | None = None,
    ) -> list[Any]:
        """Return the results; nothing is copied, and nothing is waited for.

        scalars: those of the call as an array of the device. out: number of a result -> a dense
        array of its shape, where it is written. kept: has the memory of what else a kernel writes,
        for calls that take none of their own; it is filled by the first of them.
        """
        places = {self._late.outputs[k]: array for k, array in (out or {}).items()}
        found = {**self._constants, **{v: scalars[k] for k, v in enumerate(self._scalars)}}
        found.update(zip(self._late.inputs[len(self._numbers) :], arrays, strict=True))

        def place(value: Value) -> Any:
            if value in places:
                return places[value]
            dtype = np.float64 if value.dtype == bool else value.dtype
            if kept is None:
                return self._xp.empty(value.shape, dtype)
            if value not in kept:
                kept[value] = self._xp.empty(value.shape, dtype)
            return kept[value]

        with np.errstate(all="ignore"):
            for instruction in self._late.instructions:
                self._call(instruction, found, place)
            left = [(found[v], a) for v, a in places.items() if found[v] is not a]
            if left:
                copy(self._xp, [(self._xp.ascontiguousarray(one), a) for one, a in left])
        return [places.get(value, found[value]) for value in self._late.outputs]

    def _call(
        self, instruction: Instruction, found: dict[Value, Any], place: Callable[[Value], Any]
    ) -> None:
        inputs = [found[one] if isinstance(one, Value) else one for one in instruction.inputs]
        if instruction.op is not fused_op:
            truths = [isinstance(one, Value) and one.dtype == bool for one in instruction.inputs]
            launch = (
                None
                if any(truths)
                else launch_of(self._xp, instruction.op.name, inputs, instruction.attributes)
            )
            if launch is None:
                inputs = [
                    one != 0 if truth else one for one, truth in zip(inputs, truths, strict=True)
                ]
                results = instruction.op.forward(self._xp, *inputs, **instruction.attributes)
                results = results if isinstance(results, tuple) else (results,)
                return _take(instruction, tuple(map(_number, results)), found)
            result = place(instruction.outputs[0])
            launch(result)
            return _take(instruction, result, found)
        results = tuple(map(place, instruction.outputs))
        kernel = kernel_of(self._xp.ElementwiseKernel, instruction.attributes["loop"])
        kernel(*inputs, *instruction.attributes["numbers"], *results)
        return _take(instruction, results, found)


def _take(instruction: Instruction, results: Any, found: dict[Value, Any]) -> None:
    several = isinstance(results, tuple)
    found.update(zip(instruction.outputs, results if several else (results,), strict=True))


def _number(array: Any) -> Any:
    return array.astype(np.float64) if array.dtype == bool else array


def _values(program: Program) -> set[Value]:
    return {v for i in program.instructions for v in i.values()} | set(program.outputs)


def _split(program: Program, numbers: set[Value]) -> tuple[list[Instruction], list[Value], Program]:
    """Take out what is made of some inputs alone, numbers of shape ().

    Returns that, the values that the rest reads of it and of the inputs, and the rest.
    """
    known, early, late = set(numbers), [], []
    for instruction in program.instructions:
        own = list(instruction.values())
        if own and known.issuperset(own) and not any(o.shape for o in instruction.outputs):
            early.append(instruction)
            known.update(instruction.outputs)
        else:
            late.append(instruction)
    rest = program.replaced(late)
    return early, sorted(_values(rest) & known, key=lambda v: v.number), rest
