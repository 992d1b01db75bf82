"""Lowering: elementwise operations are taken apart into the ufuncs that their forward calls.

The forward of an operation is run on symbolic arrays, with an array namespace that writes down what
is called.  A symbolic array is mutable, so `out=` means what it means for numpy.  A forward that
does anything else than ufuncs on whole arrays stays one operation.

Where numbers are chosen by comparisons, numpy is as fast with the whole operation; loops that hold
comparisons and choices themselves are not, so for those it is taken apart as well (`lower_for`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...devices import OwnSpecial
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
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
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
        return self.array(None, array.shape, array.dtype)

    def array(self, value: Argument, shape: tuple, dtype: Any) -> _Array:
        """Return an array of this namespace."""
        return _Array(self, value, shape, dtype)

    def emit(self, operation: str, *inputs: Argument) -> Value:
        """Write an operation down."""
        return self.rewriter.emit(operation, *inputs)

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
                value = self.emit(operation, *arguments)
                shape, dtype = value.shape, value.dtype
            if out is None:
                return self.array(value, shape, dtype)
            out.value = value
            return out

        return ufunc


class _Chosen(_Array):
    """One that can be compared; what is chosen by."""

    __hash__ = None

    def __invert__(self) -> _Array:
        return self.lowering.logical_not(self)


for _name, _ufunc in {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "and": "logical_and",
    "or": "logical_or",
}.items():
    setattr(_Chosen, f"__{_name}__", _operator(_ufunc))


class _Choosing(_Namespace, OwnSpecial):
    """One that writes comparisons and choices down, too; numbers are of one dtype."""

    def __init__(
        self, rewriter: Rewriter, operations: dict[np.ufunc, str], dtype: np.dtype
    ) -> None:
        super().__init__(rewriter, operations)
        self.dtype = dtype

    def array(self, value: Argument, shape: tuple, dtype: Any) -> _Array:
        return _Chosen(self, value, shape, dtype)

    def emit(self, operation: str, *inputs: Argument) -> Value:
        dtype = np.dtype(bool) if operation in _TRUTHS else self.dtype
        return self.rewriter.emit(operation, *inputs, dtype=dtype)

    def where(self, condition: Any, x: Any, y: Any) -> _Array:
        if not isinstance(condition, _Array):
            raise _CannotLower
        given = [v.value if isinstance(v, _Array) else float(v) for v in (condition, x, y)]
        if not isinstance(given[0], Value) or None in given:
            raise _CannotLower
        value = self.emit("where", *given)
        return self.array(value, value.shape, value.dtype)

    def copyto(self, target: _Array, source: Any, where: _Array) -> None:
        target.value = self.where(where, source, target).value

    @property
    def special(self) -> _Choosing:
        return self

    def erf(self, x: _Array, out: _Array | None = None) -> _Array:
        return self._applied("erf", x, out)

    def erfc(self, x: _Array, out: _Array | None = None) -> _Array:
        return self._applied("erfc", x, out)

    def around(self, x: _Array, decimals: int) -> _Array:
        if decimals:
            raise _CannotLower
        return self._applied("round", x, None)

    def _applied(self, operation: str, x: _Array, out: _Array | None) -> _Array:
        if not isinstance(x.value, Value):
            raise _CannotLower
        found = self.array(self.emit(operation, x.value), x.shape, x.dtype)
        if out is None:
            return found
        out.value = found.value
        return out

    def zeros_like(self, array: _Array) -> _Array:
        return self.array(0.0, array.shape, self.dtype)

    def ones_like(self, array: _Array) -> _Array:
        return self.array(1.0, array.shape, self.dtype)

    def zeros(self, shape: tuple, dtype: Any) -> _Array:
        return self.array(0.0, shape, dtype)

    def asarray(self, array: Any, dtype: Any = None) -> _Array:
        return array if isinstance(array, _Array) else self.array(float(array), (), self.dtype)

    def isnan(self, array: _Array) -> _Array:
        return self.not_equal(array, array)

    def isinf(self, array: _Array) -> _Array:
        return self.equal(self.absolute(array), math.inf)

    def isfinite(self, array: _Array) -> _Array:
        return self.less(self.absolute(array), math.inf)


_TRUTHS = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not",
})  # fmt: skip
_FURTHER = {
    np.equal: "eq", np.not_equal: "ne", np.less: "lt", np.less_equal: "le", np.greater: "gt",
    np.greater_equal: "ge", np.logical_and: "logical_and", np.logical_or: "logical_or",
    np.logical_not: "logical_not", np.power: "pow", np.floor: "floor", np.ceil: "ceil",
    np.trunc: "trunc", np.bitwise_and: "logical_and", np.bitwise_or: "logical_or",
    np.invert: "logical_not",
}  # fmt: skip


def _operations_by_ufunc() -> dict[np.ufunc, str]:
    """Return the registered operation that each ufunc is: the first, where there are several."""
    operations: dict[np.ufunc, str] = {}
    for op in REGISTRY.values():
        if op.ufunc is not None:
            operations.setdefault(getattr(np, op.ufunc), op.name)
    return operations


def lower(program: Program) -> Program:
    """Take elementwise operations apart."""
    operations = _operations_by_ufunc()

    def rule(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument] | None:
        if instruction.op.name == "linear":
            return _lower_linear(rewriter, instruction)
        if instruction.outputs[0].dtype.kind != "f":
            return None
        return _lower(_Namespace(rewriter, operations), instruction)

    return rewrite(program, rule)


def lower_for(held: Collection[str], program: Program) -> Program:
    """Take apart what loops do not hold; what they hold, by name, stays one operation.

    They hold comparisons and choices. Values are of the first input's dtype, or truths.
    """
    operations = _operations_by_ufunc() | _FURTHER
    dtype = program.inputs[0].dtype

    def rule(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument] | None:
        name = instruction.op.name
        if (name in held and not instruction.attributes) or name in _WHOLE:
            return None
        if any(v.dtype not in (dtype, bool) for v in (*instruction.values(), *instruction.outputs)):
            return None
        return _lower(_Choosing(rewriter, operations, dtype), instruction)

    return rewrite(program, rule)


_WHOLE = frozenset({"to", "to_device", "clone", "pointwise"})
"""Copies, and a function that asks on which device it is."""


def _lower(namespace: _Namespace, instruction: Instruction) -> Sequence[Argument] | None:
    rewriter, op, outputs = namespace.rewriter, instruction.op, instruction.outputs
    if not op.elementwise or op.ufunc is not None:
        return None
    mark = len(rewriter.instructions)
    arrays = [
        namespace.array(i, i.shape, i.dtype) if isinstance(i, Value) else i
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
