"""Operations along a point's own numbers, written in those that tiles hold.

A norm of a gradient, a softmax over a few outputs, a product of two matrices of each point: they
let no points meet, and are sums, choices and arithmetic of few numbers.  Each is recorded as it is
written here, and takes the place of the operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from ... import modes
from ...ops.creation.create import full_like
from ...ops.elementwise.compare import isfinite
from ...ops.elementwise.piecewise import maximum, minimum, where
from ...ops.layout.join import cat, stack
from ...ops.matrices.matmul import matmul_op
from ...tensor import Tensor
from ..program import CONSTANT, Instruction, Program, Value
from ..trace import trace

_MOST = 512  # numbers of a point, or multiplications, that are written out
_MOST_MATRICES = 64  # of a batch


def along_numbers(program: Program, points: int) -> Program:
    """Return the program without such operations, as far as that can be.

    Its first `points` inputs have a row a point, and no other dimension is as long.
    """
    few = program.inputs[0].shape[0]
    varies = set(program.inputs[:points])
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        if not any(v in varies for v in instruction.values()):
            instructions.append(instruction)
            continue
        varies.update(instruction.outputs)
        form = _form_of(instruction, few, varies)
        instructions += [instruction] if form is None else _written(program, instruction, form)
    return program.replaced(instructions)


def _form_of(instruction: Instruction, few: int, varies: set[Value]) -> Callable | None:
    """Return how an operation is written; None where it stays, or lets points meet."""
    values, (output, *_) = list(instruction.values()), instruction.outputs
    if output.dtype.kind != "f" or any(v.dtype != output.dtype for v in values):
        return None
    if instruction.op.name == "matmul":
        return _form_of_product(instruction, few, varies)
    found = _FORMS.get(instruction.op.name)
    if found is None or values[0].size > _MOST * few or few not in values[0].shape:
        return None
    attributes = instruction.attributes
    axes = attributes.get("axes") or (attributes.get("dim", attributes.get("axis")),)
    return None if any(values[0].shape[k] == few for k in axes) else found


def _form_of_product(instruction: Instruction, few: int, varies: set[Value]) -> Callable | None:
    (x, y), (output,) = instruction.values(), instruction.outputs
    batch = output.shape[:-2]
    if few not in batch:  # matrices of a batch, each with all points or with none
        return _one_by_one if 1 < math.prod(batch) <= _MOST_MATRICES else None
    of_points = all(v in varies and few in v.shape[:-2] for v in (x, y))
    work = output.size * x.shape[-2 if instruction.attributes["transpose_x"] else -1]
    fits = few not in (*x.shape[-2:], *y.shape[-2:]) and work <= _MOST * few
    return _number_by_number if of_points and fits else None


def _written(
    program: Program, instruction: Instruction, form: Callable[..., Tensor]
) -> Iterator[Instruction]:
    """Yield what is recorded of a form, with the values of the operation at both ends."""
    given = [Tensor(np.ones(v.shape, v.dtype)) for v in instruction.values()]
    with modes.no_grad(), np.errstate(all="ignore"):
        own, _ = trace(lambda *x: [form(*x, **instruction.attributes)], given)
    known: dict[Any, Any] = dict(zip(own.inputs, instruction.values(), strict=True))
    known[own.outputs[0]] = instruction.outputs[0]
    for one in own.instructions:
        for value in (*one.values(), *one.outputs):
            if value not in known:
                is_constant = value.kind == CONSTANT
                known[value] = (
                    program.new_constant(value.data)
                    if is_constant
                    else program.new_value(value.shape, value.dtype)
                )
        yield Instruction(
            one.op,
            tuple(known[v] if isinstance(v, Value) else v for v in one.inputs),
            one.attributes,
            tuple(known[o] for o in one.outputs),
        )


# ---- the forms: of tensors and the operation's attributes


def _reduced(x: Tensor, axes: Sequence[int], keepdims: bool, pair: Callable) -> Tensor:
    """Put the numbers along some dimensions together, two by two."""
    shape = [n for k, n in enumerate(x.shape) if k not in axes]
    for axis in axes:
        x = reduce(pair, x.split(1, axis))
    return x if keepdims else x.reshape(shape)


def _largest(x: Tensor, axes: Sequence[int]) -> Tensor:
    return _reduced(x, axes, True, maximum)


def _running(x: Tensor, dim: int, reverse: bool, pair: Callable) -> Tensor:
    parts = list(x.split(1, dim))[:: -1 if reverse else 1]
    for k in range(1, len(parts)):
        parts[k] = pair(parts[k - 1], parts[k])
    return cat(parts[:: -1 if reverse else 1], dim)


def _recurrence(a: Tensor, b: Tensor, dim: int, reverse: bool) -> Tensor:
    """h[k] = a[k] h[k-1] + b[k]."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = a.expand(shape), b.expand(shape)
    pairs = list(zip(a.split(1, dim), b.split(1, dim), strict=True))[:: -1 if reverse else 1]
    found = [pairs[0][1]]
    for factor, added in pairs[1:]:
        found.append(factor * found[-1] + added)
    return cat(found[:: -1 if reverse else 1], dim)


def _shifted(x: Tensor, dim: int, reverse: bool = False, fill: float = 0.0) -> Tensor:
    parts = list(x.split(1, dim))
    end = full_like(parts[0], fill)
    return cat([*parts[1:], end] if reverse else [end, *parts[:-1]], dim)


def _softmax(x: Tensor, dim: int) -> Tensor:
    weights = (x - _largest(x, (dim,))).exp()
    return weights / weights.sum(dim, True)


def _log_softmax(x: Tensor, dim: int) -> Tensor:
    shifted = x - _largest(x, (dim,))
    return shifted - shifted.exp().sum(dim, True).log()


def _logsumexp(x: Tensor, axes: tuple, keepdims: bool) -> Tensor:
    top = _largest(x, axes)
    top = where(isfinite(top), top, full_like(top, 0.0))
    total = (x - top).exp().sum(axes, keepdims).log()
    return total + top.reshape(total.shape)


def _var(x: Tensor, axes: tuple, correction: float, keepdims: bool) -> Tensor:
    number = math.prod(x.shape[k] for k in axes)
    apart = x - x.sum(axes, True) / number
    return (apart * apart).sum(axes, keepdims) / max(number - correction, 0.0)


def _std(x: Tensor, axes: tuple, correction: float, keepdims: bool) -> Tensor:
    return _var(x, axes, correction, keepdims).sqrt()


def _vector_norm(x: Tensor, p: float, axes: tuple, keepdims: bool) -> Tensor:
    """Scaled by the largest number, so that no power overflows or vanishes."""
    size = x.abs()
    if p == 0:
        return (size != 0).to(x.dtype).sum(axes, keepdims)
    top = _largest(size, axes)
    top = where((top > 0) & (top < math.inf), top, full_like(top, 1.0))
    scaled = size / top
    if p == 2:
        total = (scaled * scaled).sum(axes, keepdims).sqrt()
    else:
        total = (scaled**p).sum(axes, keepdims) ** (1 / p)
    return total * top.reshape(total.shape)


def _tie_shares(x: Tensor, extreme: Tensor, axes: tuple) -> Tensor:
    ties = (x == extreme).to(x.dtype)
    return ties / ties.sum(axes, True)


def _cross(x: Tensor, y: Tensor, axis: int) -> Tensor:
    (a, b, c), (d, e, f) = x.split(1, axis), y.split(1, axis)
    return cat([b * f - c * e, c * d - a * f, a * e - b * d], axis)


def _number_by_number(
    x: Tensor, y: Tensor, transpose_x: bool, transpose_y: bool, columns: bool = False
) -> Tensor:
    """Multiply the matrices of each point."""
    x = x.transpose(-1, -2) if transpose_x else x
    y = y.transpose(-1, -2) if transpose_y else y
    return (x.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2)


def _one_by_one(x: Tensor, y: Tensor, **flags: bool) -> Tensor:
    """Multiply the matrices of a batch, each by itself."""
    depth = max(x.ndim, y.ndim)
    if depth == 2:
        return matmul_op(x, y, **flags)
    several = [t.unbind(0) if t.ndim == depth else (t,) for t in (x, y)]
    count = max(map(len, several))
    xs, ys = (one * count if len(one) == 1 else one for one in several)
    return stack([_one_by_one(a, b, **flags) for a, b in zip(xs, ys, strict=True)])


_FORMS: dict[str, Callable[..., Tensor]] = {
    "amax": lambda x, axes, keepdims: _reduced(x, axes, keepdims, maximum),
    "amin": lambda x, axes, keepdims: _reduced(x, axes, keepdims, minimum),
    "prod": lambda x, dim, keepdims: _reduced(x, (dim,), keepdims, mul),
    "cumsum": lambda x, dim, reverse=False: _running(x, dim, reverse, add),
    "cumprod": lambda x, dim, reverse=False: _running(x, dim, reverse, mul),
    "recurrence": _recurrence,
    "shifted": _shifted,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "var": _var,
    "std": _std,
    "vector_norm": _vector_norm,
    "tie_shares": _tie_shares,
    "cross": _cross,
}
