"""Algebra: identities that hold for every value, applied where they save work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..program import Argument, Instruction, Program, Value
from .rewriting import Rewriter, number, rewrite

Replacement = Sequence[Argument] | None


def simplify(program: Program) -> Program:
    """Apply the identities until nothing changes."""
    for _ in range(10):
        before = [(i.op.name, i.inputs) for i in program.instructions]
        program = rewrite(program, _simplify)
        if [(i.op.name, i.inputs) for i in program.instructions] == before:
            break
    return program


def _simplify(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    if instruction.op.elementwise and instruction.op.broadcasts:
        instruction.inputs = _without_expansion(rewriter, instruction)
    rule = _RULES.get(instruction.op.name)
    return None if rule is None else rule(rewriter, instruction)


def _without_expansion(rewriter: Rewriter, instruction: Instruction) -> tuple[Argument, ...]:
    """Read through `expand`, and write uniform constants as numbers, where broadcasting allows."""
    inputs = list(instruction.inputs)
    shape = instruction.outputs[0].shape
    numbers = instruction.op.dtype != "keep" and len(inputs) == 2
    for position, argument in enumerate(inputs):
        if not isinstance(argument, Value):
            continue
        maker = rewriter.maker.get(argument)
        smaller: Argument = argument
        if maker is not None and maker.op.name == "expand":
            smaller = maker.inputs[0]
        elif numbers and (uniform := number(argument)) is not None:
            smaller = uniform
        if smaller is argument:
            continue
        trial = [*inputs[:position], smaller, *inputs[position + 1 :]]
        values = [v.shape for v in trial if isinstance(v, Value)]
        if values and np.broadcast_shapes(*values) == shape:
            inputs = trial
    return tuple(inputs)


def _same(argument: Argument, output: Value) -> bool:
    """Return whether an argument can stand for the output as it is."""
    return isinstance(argument, Value) and (
        argument.shape == output.shape and argument.dtype == output.dtype
    )


def _made_by(rewriter: Rewriter, argument: Argument, name: str) -> Instruction | None:
    maker = rewriter.maker.get(argument) if isinstance(argument, Value) else None
    return maker if maker is not None and maker.op.name == name else None


def _add(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    x, y = instruction.inputs
    (output,) = instruction.outputs
    if number(y) == 0 and _same(x, output):
        return [x]
    if number(x) == 0 and _same(y, output):
        return [y]
    if x is y:
        return _emit(rewriter, output, "mul", x, 2.0)
    negative = _made_by(rewriter, y, "neg")
    if negative is not None:
        return _emit(rewriter, output, "sub", x, negative.inputs[0])
    negative = _made_by(rewriter, x, "neg")
    if negative is not None:
        return _emit(rewriter, output, "sub", y, negative.inputs[0])
    return None


def _sub(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    x, y = instruction.inputs
    (output,) = instruction.outputs
    if number(y) == 0 and _same(x, output):
        return [x]
    negative = _made_by(rewriter, y, "neg")
    if negative is not None:
        return _emit(rewriter, output, "add", x, negative.inputs[0])
    return None


def _emit(rewriter: Rewriter, output: Value, name: str, *inputs: Argument) -> Replacement:
    new = rewriter.emit(name, *inputs)
    return [new] if _same(new, output) else None


def _mul(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    x, y = instruction.inputs
    (output,) = instruction.outputs
    if not isinstance(x, Value):
        x, y = y, x
        instruction.inputs = (x, y)
    factor = number(y)
    if factor is None and number(x) is not None:
        x, y, factor = y, x, number(x)
    if factor is None:
        if x is y:
            return _emit(rewriter, output, "square", x)
        return _negated_product(rewriter, output, x, y)
    if factor == 1 and _same(x, output):
        return [x]
    if factor == -1 and _same(x, output):
        return [rewriter.emit("neg", x)]
    inner = _made_by(rewriter, x, "mul")
    if inner is not None and _same(x, output):
        first, second = inner.inputs
        if isinstance(first, Value) and not isinstance(second, Value):
            if all(1e-30 < abs(f) < 1e30 for f in (second, factor, second * factor)):
                return _emit(rewriter, output, "mul", first, second * factor)
    negative = _made_by(rewriter, x, "neg")
    if negative is not None and _same(x, output):
        return _emit(rewriter, output, "mul", negative.inputs[0], -factor)
    return None


def _negated_product(rewriter: Rewriter, output: Value, x: Argument, y: Argument) -> Replacement:
    left, right = _made_by(rewriter, x, "neg"), _made_by(rewriter, y, "neg")
    if left is not None and right is not None:
        return _emit(rewriter, output, "mul", left.inputs[0], right.inputs[0])
    return None


def _div(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    x, y = instruction.inputs
    (output,) = instruction.outputs
    return [x] if number(y) == 1 and _same(x, output) else None


def _neg(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    (x,) = instruction.inputs
    inner = _made_by(rewriter, x, "neg")
    if inner is not None:
        return [inner.inputs[0]]
    difference = _made_by(rewriter, x, "sub")
    if difference is not None:
        a, b = difference.inputs
        if isinstance(a, Value) and isinstance(b, Value):
            return _emit(rewriter, instruction.outputs[0], "sub", b, a)
    product = _made_by(rewriter, x, "mul")
    if product is not None and not isinstance(product.inputs[1], Value):
        a, b = product.inputs
        return _emit(rewriter, instruction.outputs[0], "mul", a, -b)
    return None


def _pow(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    x, y = instruction.inputs
    (output,) = instruction.outputs
    exponent = None if isinstance(y, Value) else y
    if exponent == 1 and _same(x, output):
        return [x]
    if exponent == 2 and isinstance(x, Value):
        return _emit(rewriter, output, "square", x)
    if exponent == 3 and isinstance(x, Value):
        return _emit(rewriter, output, "mul", rewriter.emit("square", x), x)
    return None


def _identity(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    (x,) = instruction.inputs
    return [x] if _same(x, instruction.outputs[0]) else None


def _first(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    """An operation that gives its first input back: what it tells apart is for derivatives."""
    x = instruction.inputs[0]
    return [x] if _same(x, instruction.outputs[0]) else None


def _reshape(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    (x,) = instruction.inputs
    inner = _made_by(rewriter, x, "reshape")
    if inner is not None:
        x = inner.inputs[0]
        instruction.inputs = (x,)
    return [x] if _same(x, instruction.outputs[0]) else None


def _permute(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    (x,) = instruction.inputs
    axes = instruction.attributes["axes"]
    inner = _made_by(rewriter, x, "permute")
    if inner is not None:
        before = inner.attributes["axes"]
        axes = tuple(before[a] for a in axes)
        x = inner.inputs[0]
        instruction.inputs, instruction.attributes = (x,), {"axes": axes}
    return [x] if axes == tuple(range(len(axes))) else None


def _sum_to(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    (x,) = instruction.inputs
    (output,) = instruction.outputs
    if _same(x, output):
        return [x]
    expanded = _made_by(rewriter, x, "expand")
    if expanded is not None and _same(expanded.inputs[0], output):
        return _emit(rewriter, output, "mul", expanded.inputs[0], float(x.size // output.size))
    return None


def _matmul(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    """A column times a row is a product element by element: cheaper than a matrix product."""
    x, y = instruction.inputs
    flags = instruction.attributes
    plain = not flags["transpose_x"] and not flags["transpose_y"]
    if plain and len(x.shape) == len(y.shape) == 2 and x.shape[1] == y.shape[0] == 1:
        return _emit(rewriter, instruction.outputs[0], "mul", x, y)
    return None


def _stack(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    """stack(unbind(x)) is x."""
    first = instruction.inputs[0]
    source = _made_by(rewriter, first, "unbind")
    if source is not None and source.outputs == instruction.inputs:
        x = source.inputs[0]
        same_dim = _dim(source, x) == _dim(instruction, x)
        if same_dim and _same(x, instruction.outputs[0]):
            return [x]
    return None


def _unbind(rewriter: Rewriter, instruction: Instruction) -> Replacement:
    """unbind(stack(xs)) is xs."""
    (x,) = instruction.inputs
    joined = _made_by(rewriter, x, "stack")
    if joined is not None and _dim(joined, x) == _dim(instruction, x):
        return list(joined.inputs)
    return None


def _dim(instruction: Instruction, stacked: Value) -> int:
    return instruction.attributes["dim"] % len(stacked.shape)


_RULES: dict[str, Callable[[Rewriter, Instruction], Replacement]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "to": _identity,
    "expand": _identity,
    "reshape": _reshape,
    "permute": _permute,
    "matmul": _matmul,
    "sum_to": _sum_to,
    "stack": _stack,
    "unbind": _unbind,
    "clone": _identity,
    "bend": _identity,
    "bend_slope": _first,
}
