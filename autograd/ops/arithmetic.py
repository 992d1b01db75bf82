"""Addition, subtraction, multiplication and division, and the operators of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor, as_tensor, method
from .registry import Op

NUMBERS = (int, float, complex)


def operand(value: Any, like: Tensor | None = None) -> Any:
    """Return a Tensor or a Python number for anything an elementwise operation accepts."""
    if isinstance(value, Tensor) or type(value) in NUMBERS or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return as_tensor(value, like)


def operands(*values: Any) -> tuple:
    """Return operands of which at least one is a Tensor."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    found = tuple(operand(value, like) for value in values)
    if like is None and not any(isinstance(v, Tensor) for v in found):
        found = (as_tensor(found[0]), *found[1:])
    return found


def conj_of(value: Any) -> Any:
    """Return the complex conjugate; real tensors and numbers pass through untouched."""
    if isinstance(value, Tensor):
        return conj(value) if value._data.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


def elementwise(name: str, function: Callable[[Any], Callable], vjp: Any, **options: Any) -> Op:
    """Register an elementwise operation whose forward is the ufunc `function(xp)`."""
    options.setdefault("dtype", "promote")

    def two(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        return function(xp)(x, y, out=out) if out is not None else function(xp)(x, y)

    def one(xp: Any, x: Any, out: Any = None) -> Any:
        return function(xp)(x, out=out) if out is not None else function(xp)(x)

    forward = two if options.pop("arity", 1) == 2 else one
    return Op(name, forward, vjp, broadcasts=forward is two, **options)


neg_op = elementwise("neg", lambda xp: xp.negative, {"x": lambda g: neg_op(g)}, linear=True)
conj_op = elementwise("conj", lambda xp: xp.conjugate, {"x": lambda g: conj_of(g)}, linear=True)
add_op = elementwise(
    "add", lambda xp: xp.add, {"x": lambda g: g, "y": lambda g: g}, arity=2, linear=True
)
sub_op = elementwise(
    "sub", lambda xp: xp.subtract, {"x": lambda g: g, "y": lambda g: neg_op(g)},
    arity=2, linear=True,
)
mul_op = elementwise(
    "mul",
    lambda xp: xp.multiply,
    {"x": lambda g, y: mul_op(g, conj_of(y)), "y": lambda g, x: mul_op(g, conj_of(x))},
    arity=2,
)
div_op = elementwise(
    "div",
    lambda xp: xp.true_divide,
    {
        "x": lambda g, y: div_op(g, conj_of(y)),
        "y": lambda g, out, y: neg_op(div_op(mul_op(g, conj_of(out)), conj_of(y))),
    },
    arity=2,
    dtype="float",
)


@method
def add(x: Any, y: Any, *, alpha: Any = 1) -> Tensor:
    """Return `x + alpha * y`, broadcast."""
    x, y = operands(x, y)
    return add_op(x, y if alpha == 1 else mul(y, alpha))


@method
def sub(x: Any, y: Any, *, alpha: Any = 1) -> Tensor:
    """Return `x - alpha * y`, broadcast."""
    x, y = operands(x, y)
    return sub_op(x, y if alpha == 1 else mul(y, alpha))


@method
def mul(x: Any, y: Any) -> Tensor:
    """Return `x * y`, broadcast."""
    return mul_op(*operands(x, y))


@method
def div(x: Any, y: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return `x / y`, broadcast; integers give the default float.

    rounding_mode "floor" or "trunc" rounds the quotient (the gradient is then zero).
    """
    x, y = operands(x, y)
    if rounding_mode is None:
        return div_op(x, y)
    if rounding_mode == "floor":
        return x // y
    if rounding_mode == "trunc":
        return (x / y).trunc()
    raise ValueError(f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")


@method
def neg(x: Tensor) -> Tensor:
    """Return `-x`."""
    return neg_op(x)


@method
def conj(x: Tensor) -> Tensor:
    """Return the complex conjugate of `x`; a real tensor itself."""
    return conj_op(x) if x._data.dtype.kind == "c" else x


negative, subtract, multiply, divide, true_divide = neg, sub, mul, div, div


def binary_operator(name: str, function: Callable) -> None:
    """Make `function` the operator `__name__` of Tensor and its reflection `__rname__`."""

    def forward(self: Tensor, other: Any) -> Any:
        if not is_operand(other):
            return NotImplemented
        return function(self, operand(other, self))

    def reflected(self: Tensor, other: Any) -> Any:
        if not is_operand(other):
            return NotImplemented
        return function(operand(other, self), self)

    method(forward, name=f"__{name}__")
    method(reflected, name=f"__r{name}__")


def is_operand(value: Any) -> bool:
    """Return whether an operator of Tensor takes `value` as its other side."""
    return isinstance(value, (Tensor, int, float, complex, np.generic, np.ndarray))


binary_operator("add", add_op)
binary_operator("sub", sub_op)
binary_operator("mul", mul_op)
binary_operator("truediv", div_op)
method(neg, name="__neg__")
method(lambda self: self, name="__pos__")
