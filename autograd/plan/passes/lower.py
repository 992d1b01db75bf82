"""Lowering: elementwise operations are taken apart into the ufuncs that their forward calls.

The forward of an operation is run on symbolic arrays, with an array namespace that writes down what
is called.  A symbolic array is mutable, so `out=` means what it means for numpy.  A forward that
does anything else than ufuncs on whole arrays stays one operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ops.registry import REGISTRY
from ..program import Argument, Instruction, Program, Value
from .rewriting import Rewriter, rewrite


class _CannotLower(Exception):
    """The forward does something that has no ufunc."""


class _Array:
    """An array of the program under construction; writing into it changes what it stands for."""

    def __init__(self, lowering: _Namespace, value: Argument, shape: tuple, dtype: Any) -> None:
        self.lowering, self.value, self.shape, self.dtype = lowering, value, shape, dtype
        self.ndim = len(shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis:
            raise _CannotLower
        self.value = value.value if isinstance(value, _Array) else float(value)

    def __getattr__(self, name: str) -> Any:
        raise _CannotLower

    def __bool__(self) -> bool:
        raise _CannotLower

    def __eq__(self, other: object) -> bool:
        raise _CannotLower

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __hash__ = None


def _operator(ufunc: str, reflected: bool = False) -> Any:
    def apply(self: _Array, other: Any) -> _Array:
        pair = (other, self) if reflected else (self, other)
        return getattr(self.lowering, ufunc)(*pair)

    return apply


for _name, _ufunc in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
}.items():
    setattr(_Array, f"__{_name}__", _operator(_ufunc))
    setattr(_Array, f"__r{_name}__", _operator(_ufunc, reflected=True))
_Array.__neg__ = lambda self: self.lowering.negative(self)


class _Namespace:
    """The array namespace that a forward sees while it is taken apart."""

    def __init__(self, rewriter: Rewriter, operations: dict[np.ufunc, str]) -> None:
        self.rewriter = rewriter
        self.operations = operations

    def empty_like(self, array: Any) -> _Array:
        if not isinstance(array, _Array):
            raise _CannotLower
        return _Array(self, None, array.shape, array.dtype)

    def __getattr__(self, name: str) -> Any:
        operation = self.operations.get(getattr(np, name, None))
        if operation is None:
            raise _CannotLower

        def ufunc(*inputs: Any, out: _Array | None = None) -> _Array:
            arguments = [i.value if isinstance(i, _Array) else i for i in inputs]
            if any(a is None for a in arguments):
                raise _CannotLower
            if not any(isinstance(a, Value) for a in arguments):
                value: Argument = float(getattr(np, name)(*arguments))
                shape, dtype = (), np.dtype(float)
            else:
                value = self.rewriter.emit(operation, *arguments)
                shape, dtype = value.shape, value.dtype
            if out is None:
                return _Array(self, value, shape, dtype)
            out.value = value
            return out

        return ufunc


def _operations_by_ufunc() -> dict[np.ufunc, str]:
    """Return the registered operation that each ufunc is: the first, where there are several."""
    operations: dict[np.ufunc, str] = {}
    for op in REGISTRY.values():
        if op.ufunc is not None:
            operations.setdefault(getattr(np, op.ufunc), op.name)
    return operations


def lower(program: Program) -> Program:
    """Take elementwise operations apart."""
    return rewrite(program, partial(_lower, _operations_by_ufunc()))


def _lower(
    operations: dict[np.ufunc, str], rewriter: Rewriter, instruction: Instruction
) -> Sequence[Argument] | None:
    op, outputs = instruction.op, instruction.outputs
    if op.name == "linear":
        return _lower_linear(rewriter, instruction)
    if not op.elementwise or op.ufunc is not None or outputs[0].dtype.kind != "f":
        return None
    mark = len(rewriter.instructions)
    namespace = _Namespace(rewriter, operations)
    arrays = [
        _Array(namespace, i, i.shape, i.dtype) if isinstance(i, Value) else i
        for i in instruction.inputs
    ]
    try:
        result = op.forward(namespace, *arrays, **instruction.attributes)
    except (_CannotLower, TypeError, AttributeError):
        del rewriter.instructions[mark:]
        return None
    if not isinstance(result, _Array) or result.value is None:
        del rewriter.instructions[mark:]
        return None
    value = result.value
    if not isinstance(value, Value):
        return [rewriter.program.new_constant(np.full(outputs[0].shape, value, outputs[0].dtype))]
    if (value.shape, value.dtype) != (outputs[0].shape, outputs[0].dtype):
        del rewriter.instructions[mark:]
        return None
    return [value]


def _lower_linear(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument]:
    x, weight, bias = instruction.inputs
    product = rewriter.program.new_value(instruction.outputs[0].shape, instruction.outputs[0].dtype)
    flags = {"transpose_x": False, "transpose_y": True}
    rewriter.add(Instruction(REGISTRY["matmul"], (x, weight), flags, (product,)))
    return [product if bias is None else rewriter.emit("add", product, bias)]
