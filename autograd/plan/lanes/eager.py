"""Functions of numbers as vector code, for operations that run one by one on the host."""

from __future__ import annotations

import ctypes
import math
import os
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ...addresses import address_of
from ...ops.registry import REGISTRY, Op, into
from ..passes.lower import lower_for
from ..program import INPUT, Instruction, Program, Value
from . import functions
from .host import Host, host
from .library import module
from .native import address

# So many numbers are worth a call, which takes as long as numpy for some hundreds of them ...
_MANY = 2048
# ... and so many where numpy's passes are a few sums and products.
_MANY_OF_SUMS = 16384
# Where registers have 512 bits numpy's own functions are vector code as fast, but for scipy's.
_NUMPY_IS_WIDE = 64
# So many kinds of numbers and attributes of one operation are compiled; others may never end.
_MOST = 16
_OF_SCIPY = ("erf", "erfc")
_OF_NUMPY = ("tanh", "exp", "expm1", "log", "log1p", "sin", "cos", "sinh", "cosh", "tan")

# Operations whose forward takes several passes of numpy's through memory.
_IN_ONE_PASS = (
    "between", "elu", "elu_derivative", "gated_power", "gelu", "gelu_tanh", "hardsigmoid",
    "hardswish", "inside", "leak", "leaky_relu", "mish", "sigmoid", "signed", "silu", "softplus",
    "winner",
)  # fmt: skip
_OF_SUMS = (
    "clamp", "monomial", "normal_density", "quotient", "rsqrt", "scaled_and_shifted",
    "standardized_sum",
)  # fmt: skip
_OF_TOWERS = ("_derivative", "_seed", "_slope")


def install() -> None:
    """Let operations on many numbers run as vector code on the host, where that is faster.

    As tiles do (`functions`): within a unit in the last place, the same for a number wherever it
    stands. Without the extra `jit`, and with AUTOGRAD_EXECUTOR=numpy or numba, all is numpy's.
    """
    for name in (*_OF_NUMPY, *_OF_SCIPY):
        op = REGISTRY[name]
        op.on_host = _Function(name, op.on_host or partial(op.forward, np))
    sine, cosine = REGISTRY["sin"].on_host, REGISTRY["cos"].on_host
    REGISTRY["sin_slope"].on_host = lambda x, _: cosine(x)
    REGISTRY["cos_slope"].on_host = lambda x, _: np.negative(sine(x))
    towers = [name for name in REGISTRY if name.endswith(_OF_TOWERS)]
    for name in (*_IN_ONE_PASS, *_OF_SUMS, *towers):
        op = REGISTRY[name]
        if op.on_host is None:
            op.on_host = _OnePass(op, _MANY_OF_SUMS if _is_of_sums(name) else _MANY)


def _is_of_sums(name: str) -> bool:
    """Return whether numpy computes an operation by sums and products, from its result at most."""
    base = name.rpartition("_")[0] if name.endswith(_OF_TOWERS) else name
    return base in (*_OF_SUMS, *_OF_NUMPY, *_OF_SCIPY, "sigmoid") and name != "sigmoid"


class _Function:
    """What an operation does on the host: with many numbers as vector code, else as before."""

    def __init__(self, name: str, plain: Callable) -> None:
        self._name, self._plain = name, plain

    def holds(self, x: Any) -> bool:
        """Return whether vector code is faster for an array."""
        many = x.size >= _MANY and x.dtype.char in "fd" and x.dtype.isnative
        return many and _compiled(self._name, x.dtype) is not None

    def __call__(self, x: Any, out: Any = None) -> Any:
        """Return the values, in `out` where that is given: it may be `x`, but not part of it."""
        if not self.holds(x):
            return self._plain(x) if out is None else self._plain(x, out=out)
        run = _compiled(self._name, x.dtype)
        if not x.flags.forc:
            x = np.ascontiguousarray(x)
        found = np.empty_like(x) if out is None or not _is_laid_out_as(x, out) else out
        run(1, x.size, address_of(x), address_of(found))
        return found if out is None or found is out else into(out, found)


def _is_laid_out_as(x: Any, out: Any) -> bool:
    """Return whether numbers in order in `x` are so in `out`."""
    same = x.shape == out.shape and x.dtype == out.dtype
    return same and (x.flags.c_contiguous, x.flags.f_contiguous) == (
        out.flags.c_contiguous, out.flags.f_contiguous
    )  # fmt: skip


@cache
def _compiled(name: str, dtype: np.dtype) -> Callable[[int, int, int, int], None] | None:
    """Return the function of 1, n and two places for n numbers; None where it is no faster."""
    found = _host()
    if found is None or (found.vector_bytes >= _NUMPY_IS_WIDE and name in _OF_NUMPY):
        return None
    return _loaded(_alone(name, dtype), (_WHOLE,), dtype, found)


def _host() -> Host | None:
    """Return the processor that code is written for, None where numpy is to do all."""
    return host() if os.environ.get("AUTOGRAD_EXECUTOR", "llvm") == "llvm" else None


class _OnePass:
    """An operation whose forward goes through memory several times, in one pass for many numbers.

    The forward is taken apart as for tiles (`passes/lower.py`) and written as one loop over rows,
    to which an input may give a number each, or the same row.  What has no vector code, or arrays
    of other shapes or of different dtypes, is computed by the forward.
    """

    def __init__(self, op: Op, many: int) -> None:
        self._op, self._plain, self._many = op, partial(op.forward, np), many

    def __call__(self, *inputs: Any, **attributes: Any) -> Any:
        first = inputs[0]
        if type(first) is not np.ndarray or first.size < self._many:
            return self._plain(*inputs, **attributes)
        rows, kinds = _arranged(inputs)
        found = None if kinds is None else self._found(inputs, kinds, first.dtype, attributes)
        if found is None:
            return self._plain(*inputs, **attributes)
        run, used = found
        arrays = [inputs[k] for k in used]
        if not all(x.flags.c_contiguous for x in arrays):
            if rows > 1 or not all(x.flags.f_contiguous for x in arrays):
                arrays = [np.ascontiguousarray(x) for x in arrays]
        out = np.empty_like(arrays[0] if rows == 1 else first, order="K" if rows == 1 else "C")
        run(rows, out.size // rows, *map(address_of, arrays), address_of(out))
        return out

    def _found(
        self, inputs: tuple, kinds: tuple, dtype: np.dtype, attributes: dict
    ) -> tuple | None:
        """Return the loop for such inputs and attributes and which it reads; None without one."""
        numbers = tuple([None if type(x) is np.ndarray else (x,) for x in inputs])
        key = self._op.name, dtype.char, kinds, numbers, tuple(attributes.values())
        try:
            return _passes[key]
        except KeyError:
            pass
        except TypeError:  # an attribute that is no number
            return None
        if sum(other[0] == self._op.name for other in tuple(_passes)) >= _MOST:
            return None
        found = _host()
        known = None if found is None else _program(self._op, inputs, dtype, attributes)
        if known is not None:
            program, used = known
            known = _loaded(program, [kinds[k] for k in used], dtype, found), used
        _passes[key] = known
        return known


_passes: dict[tuple, tuple | None] = {}
"""The loops of operations in one pass, with the numbers of the inputs that they read."""


# What an input gives to a row of the result: as many numbers, one number, the same row each time.
_WHOLE, _NUMBER, _SAME = "whole", "number", "same"
# Rows of fewer numbers are shorter than vectors.
_SHORTEST = 32


def _arranged(inputs: tuple) -> tuple[int, tuple | None]:
    """Return the number of rows and what each input gives to them; 1 and None without such rows.

    The first input has the shape of the result.  All arrays are floating point numbers of one
    dtype; those of other shapes lack the first or the last dimensions.
    """
    first = inputs[0]
    shape, dtype = first.shape, first.dtype
    if dtype.char not in "fd" or not dtype.isnative:
        return 1, None
    kinds, split = [_WHOLE] * len(inputs), None
    for k, x in enumerate(inputs):
        if type(x) is not np.ndarray or (x.shape == shape and x.dtype == dtype):
            continue
        sizes = (1,) * (len(shape) - x.ndim) + x.shape
        if x.dtype != dtype or x.size >= first.size or len(sizes) != len(shape):
            return 1, None
        differ = [d for d, size in enumerate(sizes) if size != shape[d]]
        first_one, behind = differ[0], differ[-1] + 1
        if math.prod(sizes[first_one:]) == 1:
            kinds[k], at = _NUMBER, first_one
        elif math.prod(sizes[:behind]) == 1:
            kinds[k], at = _SAME, behind
        else:
            return 1, None
        if split not in (None, at):
            return 1, None
        split = at
    if split is None:
        return 1, tuple(kinds)
    columns = math.prod(shape[split:])
    return (first.size // columns, tuple(kinds)) if columns >= _SHORTEST else (1, None)


def _alone(name: str, dtype: np.dtype) -> Program:
    """Return the program of one operation on vectors of numbers."""
    x, out = Value(0, (1,), dtype, INPUT), Value(1, (1,), dtype)
    return Program([x], [Instruction(REGISTRY[name], (x,), {}, (out,))], [out], [2])


def _program(
    op: Op, inputs: tuple, dtype: np.dtype, attributes: dict
) -> tuple[Program, list[int]] | None:
    """Return an operation taken apart into what has vector code, and the inputs that are read.

    None where that cannot be, or where numpy does it in one pass too.
    """
    values = [Value(k, (1,), dtype, INPUT) for k in range(len(inputs))]
    given = [v if isinstance(x, np.ndarray) else x for v, x in zip(values, inputs, strict=True)]
    out = Value(len(values), (1,), dtype)
    whole = Instruction(op, tuple(given), attributes, (out,))
    program = lower_for(functions.HELD, Program(values, [whole], [out], [len(values) + 1]))
    steps = program.instructions
    if any(i.op.name not in functions.HELD or i.attributes for i in steps):
        return None
    if not steps or (len(steps) == 1 and steps[0].op.name != op.name):
        return None
    uses = program.uses()
    used = [k for k, value in enumerate(values) if uses.get(value)]
    return Program([values[k] for k in used], steps, program.outputs, program.counter), used


def _loaded(program: Program, kinds: Sequence[str], dtype: np.dtype, found: Host) -> Callable:
    """Return the function of how many rows and columns, where inputs lie, and where results go."""
    lanes = 2 * found.vector_bytes // dtype.itemsize
    places = [ctypes.c_void_p] * (len(program.inputs) + 1)
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *places)
    return run(address(_text(program, kinds, str(dtype), lanes), "run"))


def _text(program: Program, kinds: Sequence[str], dtype: str, lanes: int) -> str:
    """Return the module of `run(rows, n, *inputs, out)` for n numbers a row, at least `lanes`.

    kinds  what each input gives to a row, of _WHOLE, _NUMBER and _SAME.
    Where there is one input, a whole one, the results may go where it lies.
    """
    real, size = {"float64": ("double", 8), "float32": ("float", 4)}[dtype]
    vector = f"<{lanes} x {real}>"
    calls = Counter(instruction.op.name for instruction in program.instructions)
    names = [f"%x{k}" for k in range(len(program.inputs))]
    inputs = list(zip(program.inputs, names, kinds, strict=True))

    def begun() -> list[str]:
        lines = []
        for _, name, kind in inputs:
            if kind != _NUMBER:
                offset = "%base" if kind == _WHOLE else "0"
                lines.append(f"  {name}.row = getelementptr {real}, ptr {name}, i64 {offset}")
                continue
            lines += [
                f"  {name}.row = getelementptr {real}, ptr {name}, i64 %r",
                f"  {name}.one = load {real}, ptr {name}.row, align {size}",
                f"  {name}.first = insertelement {vector} poison, {real} {name}.one, i32 0",
                f"  {name}.all = shufflevector {vector} {name}.first, {vector} poison, "
                f"<{lanes} x i32> zeroinitializer",
            ]
        return lines

    def read(place: str, block: str) -> list[str]:
        lines = []
        for _, name, kind in inputs:
            if kind != _NUMBER:
                lines += [
                    f"  {name}.{block}.from = getelementptr {real}, ptr {name}.row, i64 {place}",
                    f"  {name}.{block} = load {vector}, ptr {name}.{block}.from, align {size}",
                ]
        return lines

    def computed(place: str, block: str) -> list[str]:
        texts = {v: f"{n}.{'all' if kind == _NUMBER else block}" for v, n, kind in inputs}
        lines = []
        for instruction in program.instructions:
            given = ", ".join(
                f"{vector} {_operand(i, texts, real, dtype)}" for i in instruction.inputs
            )
            (out,) = instruction.outputs
            texts[out] = f"%v{out.number}.{block}"
            function = functions.name(instruction.op.name, dtype, lanes)
            lines.append(f"  {texts[out]} = call {vector} @{function}({given})")
        return [
            *lines,
            f"  %to.{block} = getelementptr {real}, ptr %out.row, i64 {place}",
            f"  store {vector} {texts[program.outputs[0]]}, ptr %to.{block}, align {size}",
        ]

    parameters = "".join(f", ptr {name}" for name in names)
    return module([
        *sorted(functions.declarations(dtype, lanes)),
        *(functions.function_text(op, dtype, lanes, 2 * count) for op, count in calls.items()),
        f"define void @run(i64 %rows, i64 %n{parameters}, ptr %out) #0 {{",
        "entry:", f"  %last = sub i64 %n, {lanes}", "  br label %row",
        "row:", "  %r = phi i64 [0, %entry], [%below, %done]",
        "  %left = icmp slt i64 %r, %rows", "  br i1 %left, label %begin, label %end",
        "begin:", "  %base = mul i64 %r, %n", *begun(),
        f"  %out.row = getelementptr {real}, ptr %out, i64 %base",
        # the last ones are computed together with those before them, read before these are written
        *read("%last", "rest"), "  br label %loop",
        "loop:", "  %i = phi i64 [0, %begin], [%next, %body]",
        "  %more = icmp slt i64 %i, %last", "  br i1 %more, label %body, label %done",
        "body:", *read("%i", "part"), *computed("%i", "part"),
        f"  %next = add i64 %i, {lanes}", "  br label %loop",
        "done:", *computed("%last", "rest"), "  %below = add i64 %r, 1", "  br label %row",
        "end:", "  ret void", "}",
    ])  # fmt: skip


def _operand(value: Any, texts: dict[Value, str], real: str, dtype: str) -> str:
    """Return what stands for an operand: a name, or a number in every lane."""
    if isinstance(value, Value) and value in texts:
        return texts[value]
    number = value.data.flat[0] if isinstance(value, Value) else value
    (bits,) = struct.unpack("<Q", struct.pack("<d", float(np.dtype(dtype).type(number))))
    return f"splat ({real} 0x{bits:016X})"
