"""Comparisons and logic: bool results, no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import devices, modes
from ...tensor import Tensor, as_tensor, method
from ..registry import Op
from .arithmetic import is_operand, operand, operands

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
]

_ORDERS = ("lt", "le", "gt", "ge")
_COMPARISONS = ("eq", "ne", *_ORDERS)  # these take a number on the right


def _forward(name: str, function: str) -> Callable:
    def forward(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        if name in _ORDERS:
            for value in (x, y):
                if isinstance(value, complex) or _kind(value) == "c":
                    raise RuntimeError(
                        f"{name} is not implemented for complex numbers, which have no order; "
                        "compare abs(), real or imag"
                    )
        apply = getattr(xp, function)
        return apply(x, y) if out is None else apply(x, y, out=out)

    return forward


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return "" if dtype is None else dtype.kind


def _binary(name: str, ufunc: str, doc: str, dtype: str = "promote") -> Callable:
    op = Op(name, _forward(name, ufunc), None, dtype=dtype, broadcasts=True, elementwise=True)

    def function(x: Tensor, y: Any) -> Tensor:
        return op(*operands(x, y))

    if name not in _COMPARISONS:
        function.__annotations__["y"] = "Tensor"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


eq = _binary("eq", "equal", "Return where `x == y`, broadcast.")
ne = _binary("ne", "not_equal", "Return where `x != y`, broadcast.")
lt = _binary("lt", "less", "Return where `x < y`, broadcast.")
le = _binary("le", "less_equal", "Return where `x <= y`, broadcast.")
gt = _binary("gt", "greater", "Return where `x > y`, broadcast.")
ge = _binary("ge", "greater_equal", "Return where `x >= y`, broadcast.")
not_equal, less, less_equal, greater, greater_equal = ne, lt, le, gt, ge

logical_and = _binary(
    "logical_and", "logical_and", "Return where both are nonzero, broadcast.", "keep"
)
logical_or = _binary("logical_or", "logical_or", "Return where either is nonzero.", "keep")
logical_xor = _binary("logical_xor", "logical_xor", "Return where just one is nonzero.", "keep")


def _unary(name: str, forward: Callable, doc: str) -> Callable:
    op = Op(name, forward, None, elementwise=True)

    def function(x: Tensor) -> Tensor:
        return op(x if isinstance(x, Tensor) else as_tensor(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


def _test(name: str) -> Callable:
    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        function = getattr(xp, name)
        return function(x) if out is None else function(x, out=out)

    return forward


def _infinite(sign: int) -> Callable:
    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        limit = sign * np.inf
        return xp.equal(x, limit) if out is None else xp.equal(x, limit, out=out)

    return forward


logical_not = _unary("logical_not", _test("logical_not"), "Return where `x` is zero.")
isnan = _unary("isnan", _test("isnan"), "Return where `x` is not a number.")
isinf = _unary("isinf", _test("isinf"), "Return where `x` is infinite.")
isfinite = _unary("isfinite", _test("isfinite"), "Return where `x` is neither infinite nor NaN.")
isposinf = _unary("isposinf", _infinite(1), "Return where `x` is +inf.")
isneginf = _unary("isneginf", _infinite(-1), "Return where `x` is -inf.")

# ---- bits


def _bitwise(name: str) -> Callable:
    def forward(xp: Any, *arrays: Any, out: Any = None) -> Any:
        if any(_kind(a) in ("f", "c") or isinstance(a, (float, complex)) for a in arrays):
            raise TypeError(
                f"{name} is only implemented on integer and Boolean-type tensors; "
                "compare first, for example (x > 0)"
            )
        function = getattr(xp, name if name != "bitwise_not" else "invert")
        return function(*arrays) if out is None else function(*arrays, out=out)

    if name == "bitwise_not":
        return lambda xp, x, out=None: forward(xp, x, out=out)
    return lambda xp, x, y, out=None: forward(xp, x, y, out=out)


def _bits(name: str, doc: str) -> Callable:
    op = Op(name, _bitwise(name), None, dtype="promote", broadcasts=True, elementwise=True)

    def function(x: Any, y: Any) -> Tensor:
        return op(*operands(x, y, needs_tensor=name))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


bitwise_and = _bits("bitwise_and", "Return `x & y` of bools or integers, broadcast.")
bitwise_or = _bits("bitwise_or", "Return `x | y` of bools or integers, broadcast.")
bitwise_xor = _bits("bitwise_xor", "Return `x ^ y` of bools or integers, broadcast.")
bitwise_not = _unary("bitwise_not", _bitwise("bitwise_not"), "Return `~x` of bools or integers.")

# ---- closeness


def isclose(
    x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Return where `|x - y| <= atol + rtol * |y|`; equal infinities are close."""
    for name, limit in (("rtol", rtol), ("atol", atol)):
        if limit < 0:
            raise RuntimeError(
                f"isclose: {name} must be greater than or equal to zero, but got {limit}"
            )
    left, right = x.detach(), y.detach()
    if left.dtype != right.dtype:
        raise RuntimeError(
            f"isclose: expected tensors of one dtype, got {left.dtype} and {right.dtype}; "
            "convert one with .to(dtype)"
        )
    if left.dtype.kind == "b":
        return eq(left, right)
    near = le(abs(left - right), abs(right) * rtol + atol)
    close = logical_or(eq(left, right), logical_and(isfinite(right), near))
    if equal_nan:
        close = logical_or(close, logical_and(isnan(left), isnan(right)))
    return close


def allclose(
    x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close: see isclose."""
    return _answer("allclose", isclose(x, y, rtol, atol, equal_nan))


def equal(x: Tensor, y: Tensor) -> bool:
    """Return whether shapes and all elements are equal (NaN equals nothing)."""
    return x.shape == y.shape and _answer("equal", eq(x, y))


def _answer(name: str, elements: Tensor) -> bool:
    """Return whether all elements are true: a number of now, which no recording may decide by."""
    tracer = modes.state.tracer
    if tracer is not None and tracer.varies(elements):
        tracer.refuse(f"{name}()")
    array = elements._elements(f"{name}()")
    with devices.current(elements.device):
        return bool(array.all())


for _function in (isclose, allclose, equal):
    method(_function)
for _name in ("not_equal", "less", "less_equal", "greater", "greater_equal"):
    method(globals()[_name], name=_name)


def _operator(name: str, function: Callable, reflected: bool = False) -> None:
    def forward(self: Tensor, other: Any) -> Tensor:
        if not is_operand(other):
            return NotImplemented
        return function(self, operand(other, self))

    method(forward, name=f"__{name}__")
    if reflected:
        method(forward, name=f"__r{name}__")


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _operator(_name, globals()[_name])
for _name in ("and", "or", "xor"):
    _operator(_name, globals()[f"bitwise_{_name}"], reflected=True)
method(bitwise_not, name="__invert__")
