"""Functions with kinks and steps: abs, sign, maximum, where, clamp, rounding.

The derivative of a kinked function is a gate: it lets the gradient through, scales it or stops it,
by a comparison of the inputs.  A gate is linear in the gradient and locally constant in all else;
it selects rather than multiplies, so that an infinite gradient stopped by it leaves 0, not NaN.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, overload

import numpy as np

from ... import devices, dtypes, modes
from ...tensor import Tensor, as_tensor, method
from ..registry import REGISTRY, LoopCode, Op, cast, into, refuse_mixed
from .arithmetic import add, mul_op, operands, sub, zeros_rule
from .quotient import quotient_op
from .select import chosen

__all__ = [
    "abs",
    "absolute",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "fix",
    "floor",
    "fmax",
    "fmin",
    "heaviside",
    "hypot",
    "lerp",
    "maximum",
    "minimum",
    "nan_to_num",
    "round",
    "sgn",
    "sign",
    "trunc",
    "where",
    "xlogy",
]


# ---- where


def _where(xp: Any, condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    return chosen(xp, condition, x, y, out)


where_op = Op(
    "where",
    _where,
    {
        "x": lambda g, condition: where_op(condition, g, 0),
        "y": lambda g, condition: where_op(condition, 0, g),
    },
    broadcasts=True,
    elementwise=True,
    taylor="selection",
)


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...


@overload
def where(condition: Tensor, x: Any, y: Any) -> Tensor: ...


def where(condition: Tensor, x: Any = None, y: Any = None) -> Any:
    """Return `x` where `condition` (a bool tensor) is true and `y` elsewhere, broadcast.

    No gradient flows to the side that was not chosen.  With `condition` alone: the indices of its
    true elements, one int64 tensor a dimension.
    """
    if condition.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype}; write for example condition != 0"
        )
    if x is None and y is None:
        if modes.state.tracer is not None:
            modes.state.tracer.refuse_index(condition._data)
        with devices.current(condition.device):
            found = condition._elements("where() without x and y").nonzero()
        return tuple(Tensor(index) for index in found)
    if x is None or y is None:
        raise TypeError("where takes the condition alone, or the condition and both x and y")
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        x = as_tensor(x, condition)
    x, y = operands(x, y)
    target = dtypes.result_type(x, y)
    x, y = (cast(v, target) if isinstance(v, Tensor) else v for v in (x, y))
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return where_op(condition, x, y)
    # the one number must not widen the dtype: numpy takes Python numbers as weak
    number, kind = (y, x) if isinstance(x, Tensor) else (x, y)
    number = target.type(number).item() if target.kind in "iub" else number
    return where_op(condition, kind, number) if kind is x else where_op(condition, number, kind)


@method(name="where")
def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return this tensor where `condition` is true and `other` elsewhere."""
    return where(condition, self, other)


@method
def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Return `x` with numbers in place of NaN (0 by default) and the infinities.

    These are replaced by the largest and the least number of the dtype unless `posinf`, `neginf`
    are given.  No gradient flows where a number was put in.
    """
    if x.is_complex():
        parts = [nan_to_num(REGISTRY[part](x), nan, posinf, neginf) for part in ("real", "imag")]
        return add(parts[0], mul_op(parts[1], 1j))
    if x.dtype.kind != "f":
        return REGISTRY["clone"](x)
    limits = np.finfo(x.dtype)
    numbers = {
        "isnan": 0.0 if nan is None else nan,
        "isposinf": float(limits.max) if posinf is None else posinf,
        "isneginf": float(limits.min) if neginf is None else neginf,
    }
    result = x
    for test, number in numbers.items():
        result = where(REGISTRY[test](x), number, result)
    return result


# ---- pieces of straight lines: their slopes depend on x, with derivative 0


bend_slope_op = Op(
    "bend_slope",
    lambda xp, g, x, out=None: xp.positive(g) if out is None else xp.positive(g, out=out),
    {"g": lambda g, x: bend_slope_op(g, x), "x": zeros_rule},
    elementwise=True,
    taylor="linear",
)
bend_op = Op(
    "bend",
    lambda xp, x, out=None: xp.positive(x) if out is None else xp.positive(x, out=out),
    {"x": lambda g, x: bend_slope_op(g, x)},
    elementwise=True,
    taylor="linear",
)


def bent(x: Tensor) -> Tensor:
    """Return `x`, of which `where` makes a function with kinks: its second derivatives are zeros.

    The gradient of `where` alone does not depend on `x`, so that none of it could be asked for.
    """
    return bend_op(x) if x.dtype.kind == "f" else x


# ---- abs, sign


def _signed(xp: Any, g: Any, x: Any, out: Any = None) -> Any:
    return xp.multiply(xp.sign(x), g, out=out) if out is not None else xp.multiply(xp.sign(x), g)


signed_op = Op(
    "signed",
    _signed,
    {"g": lambda g, x: signed_op(g, x), "x": zeros_rule},
    elementwise=True,
    taylor="linear",
)


def _abs_rule(g: Tensor, x: Tensor) -> Tensor:
    return mul_op(g, sgn_op(x)) if x.is_complex() else signed_op(g, x)


def _abs(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.absolute(x) if out is None else xp.absolute(x, out=out)


abs_op = Op(
    "abs",
    _abs,
    {"x": _abs_rule},
    ufunc="absolute",
    taylor="real smooth",
    code=LoopCode("abs({0})", "fabs({0})"),
)


sign_op = Op(
    "sign",
    lambda xp, x, out=None: xp.sign(x) if out is None else xp.sign(x, out=out),
    ufunc="sign",
    code=LoopCode(None, "({0} != {0}) ? {0} : R(({0} > R(0.0)) - ({0} < R(0.0)))"),
)
"""numpy's sign, where that of NaN is NaN: the gate of `abs` in recorded programs."""


def _sgn(xp: Any, x: Any, out: Any = None) -> Any:
    if x.dtype.kind == "b":
        return into(out, x.copy())
    if x.dtype.kind == "c":
        size = xp.absolute(x)
        return into(out, x / xp.where(size == 0, 1, size))
    result = xp.sign(x, out=xp.empty_like(x) if out is None else out)
    xp.copyto(result, 0, where=result != result)
    return result


def _sgn_rule(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    if not x.is_complex():
        return zeros_rule(g)
    size = abs_op(x)
    along = REGISTRY["real"](mul_op(REGISTRY["conj"](out), g))
    return quotient_op(g - mul_op(out, along), size)


sgn_op = Op("sgn", _sgn, {"x": _sgn_rule}, elementwise=True, taylor="real smooth")


@method
def abs(x: Tensor) -> Tensor:
    """Return the absolute value; its derivative at 0 is 0."""
    return abs_op(x)


@method
def sign(x: Tensor) -> Tensor:
    """Return -1, 0 or 1, and 0 for NaN; RuntimeError for complex tensors: they have sgn."""
    if x.is_complex():
        raise RuntimeError("sign is not defined for complex tensors; use sgn(x), which is x/|x|")
    return sgn_op(x)


@method
def sgn(x: Tensor) -> Tensor:
    """Return `x/|x|`, the sign of real and complex numbers; 0 at 0 and for a real NaN."""
    return sgn_op(x)


# ---- rounding


def _stepwise(name: str, doc: str) -> Any:
    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        if x.dtype.kind in "iub":
            return into(out, x.copy())
        if x.dtype.kind == "c":
            raise RuntimeError(f"{name} is not supported for complex inputs; round x.real")
        function = getattr(xp, name)
        return function(x) if out is None else function(x, out=out)

    op = Op(name, forward, {"x": zeros_rule}, elementwise=True, taylor="constant")

    def function(x: Tensor) -> Tensor:
        return op(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


floor = _stepwise("floor", "Return the largest integer at most `x`; its gradient is zero.")
ceil = _stepwise("ceil", "Return the smallest integer at least `x`; its gradient is zero.")
trunc = _stepwise("trunc", "Return `x` rounded towards 0; its gradient is zero.")


def _round(xp: Any, x: Any, out: Any = None, *, decimals: int = 0) -> Any:
    if x.dtype.kind in "iub":
        return into(out, x.copy())
    return into(out, xp.around(x, decimals))


round_op = Op("round", _round, {"x": zeros_rule}, elementwise=True, taylor="constant")


@method
def round(x: Tensor, *, decimals: int = 0) -> Tensor:
    """Return `x` rounded to `decimals`, halves to even; its gradient is zero."""
    return round_op(x, decimals=decimals)


# ---- maximum, minimum


def _winner(xp: Any, g: Any, x: Any, y: Any, out: Any = None) -> Any:
    # written so that NaN lets the gradient through, as in PyTorch
    won = xp.where(xp.less(x, y), 0, g)
    xp.copyto(won, 0.5 * g, where=xp.equal(x, y))
    return into(out, won)


winner_op = Op(
    "winner",
    _winner,
    {"g": lambda g, x, y: winner_op(g, x, y)},
    broadcasts=True,
    elementwise=True,
    taylor="linear",
)


def _extremum(name: str, larger: bool, order: str, doc: str) -> Any:
    # of two numbers the first where it is NaN, as numpy does
    code = LoopCode(
        f"{{0}} if {{0}} {order} {{1}} or {{0}} != {{0}} else {{1}}",
        f"({{0}} {order} {{1}} || {{0}} != {{0}}) ? {{0}} : {{1}}",
    )

    def forward(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        for value in (x, y):
            if getattr(value, "dtype", None) is not None and value.dtype.kind == "c":
                raise RuntimeError(
                    f"{name} not implemented for complex tensors; they have no order, compare abs()"
                )
        function = getattr(xp, name)
        return function(x, y) if out is None else function(x, y, out=out)

    def to_x(g: Tensor, x: Any, y: Any) -> Tensor:
        return winner_op(g, x, y) if larger else winner_op(g, y, x)

    def to_y(g: Tensor, x: Any, y: Any) -> Tensor:
        return winner_op(g, y, x) if larger else winner_op(g, x, y)

    op = Op(
        name,
        forward,
        {"x": to_x, "y": to_y},
        dtype="promote",
        broadcasts=True,
        ufunc=name,
        commutative=True,
        code=code,
        taylor="extremum",
    )

    def function(x: Tensor, y: Tensor) -> Tensor:
        return op(*operands(x, y))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


maximum = _extremum(
    "maximum",
    True,
    ">=",
    "Return the larger of `x` and `y`, broadcast; NaN wins, ties share the gradient equally.",
)
minimum = _extremum(
    "minimum",
    False,
    "<=",
    "Return the smaller of `x` and `y`, broadcast; NaN wins, ties share the gradient equally.",
)

# ---- clamp


def _clamp(xp: Any, x: Any, out: Any = None, *, low: Any = None, high: Any = None) -> Any:
    if low is not None:
        x = xp.maximum(x, low) if out is None else xp.maximum(x, low, out=out)
    if high is not None:
        x = xp.minimum(x, high) if out is None else xp.minimum(x, high, out=out)
    return x


def _inside(xp: Any, g: Any, x: Any, out: Any = None, *, low: Any, high: Any) -> Any:
    if low is None:
        inside = x <= high
    elif high is None:
        inside = x >= low
    else:
        inside = (x >= low) & (x <= high)
    return chosen(xp, inside, g, 0, out)


inside_op = Op(
    "inside",
    _inside,
    {"g": lambda g, x, low, high: inside_op(g, x, low=low, high=high)},
    elementwise=True,
    taylor="linear",
)
clamp_op = Op(
    "clamp",
    _clamp,
    {"x": lambda g, x, low, high: inside_op(g, x, low=low, high=high)},
    elementwise=True,
    taylor="smooth",
)


@method
def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return `x` limited to [min, max] (numbers or tensors, either may be None).

    At the limits themselves the gradient goes to `x`.  Where min > max the result is max.
    """
    if min is None and max is None:
        raise RuntimeError(
            "clamp: At least one of 'min' or 'max' must not be None; pass a number or a tensor"
        )
    limits = [v for v in (min, max) if v is not None]
    x = cast(x, dtypes.result_type(x, *limits))
    if not any(isinstance(limit, Tensor) for limit in limits):
        return clamp_op(x, low=min, high=max)
    if min is not None:
        x = where(_beyond("lt", x, min), min, x)
    return x if max is None else where(_beyond("gt", x, max), max, x)


def _beyond(comparison: str, x: Tensor, limit: Any) -> Tensor:
    """Return where the limit replaces `x`: beyond it, or where the limit is NaN."""
    beyond = REGISTRY[comparison](x, limit)
    if isinstance(limit, Tensor) and limit.dtype.kind == "f":
        return REGISTRY["logical_or"](beyond, REGISTRY["isnan"](limit))
    return beyond


@method
def clamp_min(x: Tensor, min: Any) -> Tensor:
    """Return `x` limited from below."""
    return clamp(x, min=min)


@method
def clamp_max(x: Tensor, max: Any) -> Tensor:
    """Return `x` limited from above."""
    return clamp(x, max=max)


# ---- hypot, lerp


def _hypot(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    return xp.hypot(x, y) if out is None else xp.hypot(x, y, out=out)


hypot_op = Op(
    "hypot",
    _hypot,
    {
        "x": lambda g, x, out: mul_op(g, quotient_op(x, out)),
        "y": lambda g, y, out: mul_op(g, quotient_op(y, out)),
    },
    dtype="float",
    broadcasts=True,
    ufunc="hypot",
    taylor="nested",
    code=LoopCode(None, "hypot({0}, {1})"),
)


@method
def hypot(x: Tensor, y: Tensor) -> Tensor:
    """Return sqrt(x*x + y*y) without overflow, broadcast; its derivative at (0, 0) is 0."""
    return hypot_op(*operands(x, y))


@method
def lerp(start: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Return `start + weight * (end - start)`, exact at weight 0 and 1 (a number or a tensor)."""
    step = sub(end, start)
    if isinstance(weight, Tensor):
        from_start = add(start, mul_op(weight, step))
        from_end = sub(end, mul_op(sub(1, weight), step))
        size = abs(weight) if weight.is_complex() else weight
        return where(REGISTRY["lt"](size, 0.5), from_start, from_end)
    if builtins.abs(weight) < 0.5:
        return add(start, mul_op(step, weight))
    return sub(end, mul_op(step, 1 - weight))


# ---- steps, and x log y


@method
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Return 0 where `input` < 0, `values` where it is 0 and 1 beyond, broadcast.

    0 where `input` is NaN.  A gradient flows to `values` alone.  Raises RuntimeError for complex
    numbers and for different dtypes.
    """
    refuse_mixed("heaviside", input, values)
    return where(REGISTRY["eq"](input, 0), values, cast(REGISTRY["gt"](input, 0), input.dtype))


@method
def xlogy(x: Any, y: Any) -> Tensor:
    """Return `x * log(y)`, broadcast: 0 where x is 0 and log(y) not finite (y not NaN).

    There every derivative is 0 too.  One of them may be a number.
    """
    x, y = operands(x, y, needs_tensor="xlogy")
    kind = dtypes.result_type(x, y)
    kind = kind if kind.kind in "fc" else dtypes.get_default_dtype()
    x = cast(x, kind) if isinstance(x, Tensor) else as_tensor(np.asarray(x, kind), y)
    y = cast(y, kind) if isinstance(y, Tensor) else as_tensor(np.asarray(y, kind), x)
    nothing = REGISTRY["logical_and"](REGISTRY["eq"](x, 0), without_log(y, 0))
    return mul_op(x, REGISTRY["log"](where(nothing, 1, y)))


def without_log(y: Tensor, least: float) -> Tensor:
    """Return where log(y - least) is not finite, though y is a number."""
    if y.is_complex():
        return REGISTRY["eq"](y, least)
    return REGISTRY["logical_or"](REGISTRY["le"](y, least), REGISTRY["eq"](y, math.inf))


def _without_nan(name: str, order: str, doc: str) -> Any:
    def function(x: Tensor, y: Tensor) -> Tensor:
        if x.is_complex() or y.is_complex():
            raise RuntimeError(f"{name} is not implemented for complex tensors; take .abs()")
        first = REGISTRY[order](x, y)
        return where(REGISTRY["logical_or"](first, REGISTRY["isnan"](y)), x, y)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


fmax = _without_nan(
    "fmax", "ge", "Return the larger of two, or the one that is no NaN; of equal ones the first."
)
fmin = _without_nan(
    "fmin", "le", "Return the smaller of two, or the one that is no NaN; of equal ones the first."
)


absolute, clip, fix = abs, clamp, trunc
for _alias, _function in {"absolute": abs, "clip": clamp, "fix": trunc, "__abs__": abs}.items():
    method(_function, name=_alias)
method(lambda self, decimals=0: round(self, decimals=decimals), name="__round__")
