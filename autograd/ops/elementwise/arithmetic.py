"""Addition, multiplication, division, powers, remainders, and the operators of Tensor."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...tensor import Tensor, as_tensor, method
from ..registry import REGISTRY, LoopCode, Op

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "conj",
    "conj_physical",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "mul",
    "multiply",
    "neg",
    "negative",
    "positive",
    "pow",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
]

NUMBERS = (int, float, complex)


def operand(value: Any, like: Tensor | None = None) -> Any:
    """Return a Tensor or a Python number for anything an elementwise operation accepts."""
    if isinstance(value, Tensor) or type(value) in NUMBERS or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "__operand__"):  # a number of a recording that reads it at each call
        return value.__operand__(like)
    return as_tensor(value, like)


def operands(*values: Any, needs_tensor: str = "") -> tuple:
    """Return operands of which at least one is a Tensor.

    Without any, the first becomes one, or TypeError for the operation named in `needs_tensor`.
    """
    like = next((v for v in values if isinstance(v, Tensor)), None)
    if like is None and needs_tensor:
        raise TypeError(
            f"{needs_tensor}(): at least one argument must be Tensor, not "
            f"{' and '.join(type(value).__name__ for value in values)}"
        )
    found = tuple(operand(value, like) for value in values)
    if like is None and not any(isinstance(v, Tensor) for v in found):
        found = (as_tensor(found[0]), *found[1:])
    return found


def conj_of(value: Any) -> Any:
    """Return the complex conjugate; real tensors and numbers pass through untouched."""
    if isinstance(value, Tensor):
        return conj(value) if value._data.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


def ufunc(name: str, arity: int = 1) -> Callable:
    """Return the forward that is the ufunc `name` of the array namespace."""

    def two(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        function = getattr(xp, name)
        return function(x, y) if out is None else function(x, y, out=out)

    def one(xp: Any, x: Any, out: Any = None) -> Any:
        function = getattr(xp, name)
        return function(x) if out is None else function(x, out=out)

    forward = two if arity == 2 else one
    forward.on_host = getattr(np, name)
    return forward


def _operator(name: str, function: str, vjp: Any, *, arity: int = 2, **facts: Any) -> Op:
    """Register an operation whose forward is the ufunc `function`."""
    facts = {"dtype": "promote", "ufunc": function, **facts}
    return Op(name, ufunc(function, arity), vjp, broadcasts=arity == 2, **facts)


neg_op = _operator(
    "neg", "negative", {"x": lambda g: neg_op(g)}, arity=1, linear=True, code=LoopCode.of("-{0}")
)
conj_op = _operator("conj", "conjugate", {"x": lambda g: conj_of(g)}, arity=1, linear=True)
add_op = _operator(
    "add",
    "add",
    {"x": lambda g: g, "y": lambda g: g},
    linear=True,
    commutative=True,
    taylor="sum",
    code=LoopCode.of("{0} + {1}"),
)
sub_op = _operator(
    "sub",
    "subtract",
    {"x": lambda g: g, "y": lambda g: neg_op(g)},
    linear=True,
    taylor="sum",
    code=LoopCode.of("{0} - {1}"),
)


def _factors_on_host(g: Any, needed: Sequence[bool], x: Any = None, y: Any = None) -> list:
    of_x, of_y = needed
    return [np.multiply(g, y) if of_x else None, np.multiply(g, x) if of_y else None]


mul_op = _operator(
    "mul",
    "multiply",
    {"x": lambda g, y: mul_op(g, conj_of(y)), "y": lambda g, x: mul_op(g, conj_of(x))},
    vjp_on_host=_factors_on_host,
    commutative=True,
    taylor="product",
    code=LoopCode.of("{0} * {1}"),
)
div_op = _operator(
    "div",
    "true_divide",
    {
        "x": lambda g, y: div_op(g, conj_of(y)),
        "y": lambda g, out, y: neg_op(div_op(mul_op(g, conj_of(out)), conj_of(y))),
    },
    dtype="float",
    taylor="division",
    code=LoopCode.of("{0} / {1}"),
)


# ---- powers

_MULTIPLIED = 16  # powers up to this one are computed by multiplication


def power(xp: Any, x: Any, exponent: Any, scale: Any = 1, out: Any = None) -> Any:
    """Compute `scale * x**exponent` for numbers `exponent` and `scale`; `out` must not be `x`."""
    # abs(nan) is not small either
    small = not isinstance(exponent, complex) and abs(exponent) <= _MULTIPLIED
    doubled = 2 * exponent if small else 0
    if not small or doubled != int(doubled):
        result = xp.power(x, exponent) if out is None else xp.power(x, exponent, out=out)
        return result if scale == 1 else xp.multiply(result, scale, out=out)
    if out is None:
        out = xp.empty_like(x)
    if exponent == 0:
        out[...] = scale
        return out
    whole, half = divmod(abs(int(doubled)), 2)
    if whole:
        result = x
        for bit in bin(whole)[3:]:
            result = xp.multiply(result, result, out=out)
            if bit == "1":
                result = xp.multiply(result, x, out=out)
        if half:
            result = xp.multiply(result, xp.sqrt(x), out=out)
    else:
        result = xp.sqrt(x, out=out)
    if half and whole:  # at 0 and the infinities a root has another sign, or none: C's power
        xp.copyto(result, xp.absolute(x), where=xp.add(x, x) == x)
    if exponent < 0:
        return xp.divide(scale, result, out=out)
    return result if scale == 1 and result is not x else xp.multiply(result, scale, out=out)


slope_of_line_op = Op(
    "slope_of_line",
    lambda xp, g, x, out=None, *, scale: (
        xp.multiply(g, scale) if out is None else xp.multiply(g, scale, out=out)
    ),
    {
        "g": lambda g, x_place, scale: slope_of_line_op(g, x_place, scale=conj_of(scale)),
        "x": lambda g: REGISTRY["zeros_like"](g),
    },
    linear=True,
    elementwise=True,
    unread=("x",),
)
"""`g * scale`, the gradient of `scale * x`: its derivative in x is 0, and can be asked for."""


def _monomial_rule(g: Tensor, x: Tensor, exponent: Any, scale: Any = 1) -> Tensor:
    if exponent == 0:
        return REGISTRY["zeros_like"](g)
    scale = scale * exponent
    if exponent == 1:
        return slope_of_line_op(g, x, scale=conj_of(scale))
    return mul_op(g, conj_of(monomial_op(x, exponent=exponent - 1, scale=scale)))


monomial_op = Op(
    "monomial",
    lambda xp, x, out=None, *, exponent, scale: power(xp, x, exponent, scale, out),
    {"x": _monomial_rule},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


def _pow(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    if isinstance(y, NUMBERS):
        return power(xp, x, y, 1, out)
    if y.dtype.kind == "i" and bool((y < 0).any()):
        return _integer_power(xp, x, y, out)
    return xp.power(x, y) if out is None else xp.power(x, y, out=out)


def _integer_power(xp: Any, x: Any, y: Any, out: Any) -> Any:
    """Compute x**y for integers, where a negative power of anything but 1 and -1 is 0."""
    result = xp.power(x, xp.maximum(y, 0))
    inverse = xp.where(x == 1, 1, xp.where(x == -1, 1 - 2 * (y % 2), 0))
    result = xp.where(y < 0, inverse, result).astype(result.dtype)
    if out is None:
        return result
    out[...] = result
    return out


def _pow_rule_x(g: Tensor, x: Tensor, y: Any) -> Tensor:
    if not isinstance(y, Tensor):
        return _monomial_rule(g, x, y)
    # 0 * x**-1 is 0 also at x = 0: there the exponent -1 is replaced
    constant = REGISTRY["logical_and"](REGISTRY["eq"](x, 0), REGISTRY["eq"](y, 0))
    lowered = REGISTRY["where"](constant, 0, sub_op(y, 1))
    return mul_op(g, conj_of(mul_op(y, pow_op(x, lowered))))


def _pow_rule_y(g: Tensor, x: Any, y: Tensor, out: Tensor) -> Tensor:
    return mul_op(g, conj_of(mul_op(out, _log_of_base(x, y))))


def _log_of_base(x: Any, y: Tensor) -> Any:
    """Return log(x), but 0 where x = 0 and y >= 0: there 0**y does not depend on y > 0."""
    where, exponent = REGISTRY["where"], REGISTRY["real"](y) if y.is_complex() else y
    if not isinstance(x, Tensor):
        if x == 0:
            return where(REGISTRY["ge"](exponent, 0), REGISTRY["zeros_like"](y), -math.inf)
        if isinstance(x, complex) or (x < 0 and y.is_complex()):
            return cmath.log(x)
        return math.log(x) if x > 0 else math.nan
    at_zero = REGISTRY["logical_and"](REGISTRY["eq"](x, 0), REGISTRY["ge"](exponent, 0))
    return REGISTRY["log"](where(at_zero, 1, x))


pow_op = Op(
    "pow",
    _pow,
    {"x": _pow_rule_x, "y": _pow_rule_y},
    dtype="promote",
    broadcasts=True,
    elementwise=True,
    taylor="power",
)

# ---- rounded quotients and remainders


def _integral(value: Any) -> bool:
    return isinstance(value, int) or (hasattr(value, "dtype") and value.dtype.kind in "iub")


def _refuse_integer_zero(x: Any, y: Any, name: str) -> None:
    """Raise RuntimeError where an integer is divided by zero: there is no infinity to return."""
    if not (_integral(x) and _integral(y)):
        return
    if y == 0 if isinstance(y, int) else bool((y == 0).any()):
        raise RuntimeError(
            f"ZeroDivisionError: {name} of integers by zero; convert to floating point first"
        )


def _rounded(name: str, function: str) -> Callable:
    def forward(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        _refuse_integer_zero(x, y, name)
        apply = getattr(xp, function)
        return apply(x, y) if out is None else apply(x, y, out=out)

    return forward


def _trunc_divide(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    _refuse_integer_zero(x, y, "trunc_divide")
    quotient = xp.floor_divide(x, y)
    if quotient.dtype.kind in "iu":
        result = quotient + ((quotient < 0) & (quotient * y != x)).astype(quotient.dtype)
    else:
        result = xp.trunc(xp.true_divide(x, y))
    if out is None:
        return result
    out[...] = result
    return out


def zeros_rule(g: Tensor) -> Tensor:
    """Return the gradient of a piecewise constant function: zeros."""
    return REGISTRY["zeros_like"](g)


floor_divide_op = Op(
    "floor_divide",
    _rounded("floor_divide", "floor_divide"),
    {"x": zeros_rule, "y": zeros_rule},
    dtype="promote",
    broadcasts=True,
    elementwise=True,
    taylor="constant",
)
trunc_divide_op = Op(
    "trunc_divide",
    _trunc_divide,
    {"x": zeros_rule, "y": zeros_rule},
    dtype="promote",
    broadcasts=True,
    elementwise=True,
    taylor="constant",
)
remainder_op = Op(
    "remainder",
    _rounded("remainder", "remainder"),
    {"x": lambda g: g, "y": lambda g, x, y: neg_op(mul_op(g, floor_divide_op(x, y)))},
    dtype="promote",
    broadcasts=True,
    elementwise=True,
    taylor="nested",
)
fmod_op = Op(
    "fmod",
    _rounded("fmod", "fmod"),
    {"x": lambda g: g, "y": lambda g, x, y: neg_op(mul_op(g, trunc_divide_op(x, y)))},
    dtype="promote",
    broadcasts=True,
    elementwise=True,
    taylor="nested",
)

# ---- public functions


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


def rsub(x: Tensor, y: Any, *, alpha: Any = 1) -> Tensor:
    """Return `y - alpha * x`, broadcast."""
    return sub(y, x, alpha=alpha)


@method
def mul(x: Any, y: Any) -> Tensor:
    """Return `x * y`, broadcast."""
    return mul_op(*operands(x, y))


@method
def div(x: Any, y: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return `x / y`, broadcast; integers give the default float.

    rounding_mode "floor" or "trunc" rounds the quotient (the gradient is then zero).
    """
    if rounding_mode is None:
        return _true_divide(*operands(x, y))
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if rounding_mode == "trunc":
        return trunc_divide_op(*operands(x, y))
    raise ValueError(f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}")


@method
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Return `input + value * tensor1 * tensor2`, broadcast."""
    return add(input, mul(tensor1, tensor2), alpha=value)


@method
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """Return `input + value * tensor1 / tensor2`, broadcast.

    Raises RuntimeError where both divided tensors are integers.
    """
    if _integral(tensor1) and _integral(tensor2):
        raise RuntimeError(
            "addcdiv: integer division is not supported, got dtypes "
            f"{tensor1.dtype} and {tensor2.dtype}; convert with .float(), or write "
            "input + value * floor_divide(tensor1, tensor2)"
        )
    return add(input, div(tensor1, tensor2), alpha=value)


@method
def neg(x: Tensor) -> Tensor:
    """Return `-x`; RuntimeError for bool tensors."""
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported; "
            "use the `~` or `logical_not()` operator instead"
        )
    return neg_op(x)


@method
def positive(x: Tensor) -> Tensor:
    """Return `x` itself."""
    return x


def _true_divide(x: Any, y: Any) -> Tensor:
    if type(x) in (int, float):
        # a power of y: one saved tensor, and all orders stay cheap
        return monomial_op(y, exponent=-1, scale=x)
    return div_op(x, y)


@method
def pow(x: Any, exponent: Any) -> Tensor:
    """Return `x**exponent`, broadcast; `0**0` is 1, and its derivatives are 0.

    Integer tensors to negative powers that are tensors round towards zero.  Raises RuntimeError
    for integers to a negative Python integer.
    """
    x, exponent = operands(x, exponent, needs_tensor="pow")
    if type(exponent) is int and exponent < 0 and x.dtype.kind in "iub":
        raise RuntimeError(
            "Integers to negative integer powers are not allowed; convert the base to floating "
            f"point first, or write x ** {float(exponent)}"
        )
    if isinstance(exponent, bool):
        exponent = int(exponent)
    return pow_op(x, exponent)


@method
def floor_divide(x: Any, y: Any) -> Tensor:
    """Return the quotient rounded towards minus infinity, broadcast; its gradient is zero."""
    return floor_divide_op(*operands(x, y))


@method
def remainder(x: Any, y: Any) -> Tensor:
    """Return `x - y * floor(x/y)`, broadcast: the remainder with the sign of `y`, as Python's %."""
    return remainder_op(*operands(x, y, needs_tensor="remainder"))


@method
def fmod(x: Tensor, y: Any) -> Tensor:
    """Return `x - y * trunc(x/y)`, broadcast: the remainder with the sign of `x`, as C's fmod."""
    return fmod_op(*operands(x, y))


@method
def conj(x: Tensor) -> Tensor:
    """Return the complex conjugate of `x`; a real tensor itself."""
    return conj_op(x) if x._data.dtype.kind == "c" else x


negative, subtract, multiply, divide, true_divide = neg, sub, mul, div, div
conj_physical = conj
for _name in ("conj_physical", "negative", "subtract", "multiply", "divide", "true_divide"):
    method(globals()[_name], name=_name)


def is_operand(value: Any) -> bool:
    """Return whether an operator of Tensor takes `value` as its other side."""
    return isinstance(value, (Tensor, int, float, complex, np.generic, np.ndarray))


def binary_operator(
    name: str, function: Callable, takes: Callable[[Any], bool] = is_operand
) -> None:
    """Make `function` the operator `__name__` of Tensor and its reflection `__rname__`.

    takes  whether it knows the other side; where it does not, Python raises TypeError.
    """

    def forward(self: Tensor, other: Any) -> Tensor:
        if isinstance(other, Tensor):
            return function(self, other)
        if not takes(other):
            return NotImplemented
        return function(self, operand(other, self))

    def reflected(self: Tensor, other: Any) -> Tensor:
        if not takes(other):
            return NotImplemented
        return function(operand(other, self), self)

    method(forward, name=f"__{name}__")
    method(reflected, name=f"__r{name}__")


binary_operator("add", add_op)
binary_operator("sub", sub_op)
binary_operator("mul", mul_op)
binary_operator("truediv", _true_divide)
binary_operator("floordiv", floor_divide_op)
binary_operator("mod", remainder_op)
binary_operator("pow", pow)
method(neg, name="__neg__")
method(positive, name="__pos__")
