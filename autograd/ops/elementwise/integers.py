"""Integers: common divisors and multiples, shifts of their bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensor import Tensor, method
from ..registry import Op, into
from .arithmetic import operands

__all__ = ["bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"]


def _of_integers(
    name: str, function: str, doc: str, numbers: bool = True
) -> Callable[[Any, Any], Tensor]:
    """Define a function of integers; `numbers` says whether one of them may be Python's."""

    def forward(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        return into(out, getattr(xp, function)(x, y))

    op = Op(name, forward, None, dtype="promote", broadcasts=True, elementwise=True)

    def public(x: Any, other: Any) -> Tensor:
        x, other = operands(x, other, needs_tensor=name)
        for value in (x, other):
            kind = value.dtype.kind if isinstance(value, Tensor) else ""
            if kind in ("b", "f", "c") or isinstance(value, (bool, float, complex)):
                raise RuntimeError(
                    f"{name} is only implemented for integers, got "
                    f"{value.dtype if isinstance(value, Tensor) else type(value).__name__}; "
                    "convert with .long()"
                )
        return op(x, other)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    if not numbers:
        public.__annotations__.update(x="Tensor", other="Tensor")
    return method(public)


gcd = _of_integers("gcd", "gcd", "Return the greatest common divisors, >= 0, broadcast.", False)
lcm = _of_integers("lcm", "lcm", "Return the least common multiples, >= 0, broadcast.", False)
bitwise_left_shift = _of_integers(
    "bitwise_left_shift", "left_shift", "Return `x * 2**other` of integers, broadcast."
)
bitwise_right_shift = _of_integers(
    "bitwise_right_shift", "right_shift", "Return `x / 2**other`, rounded down, broadcast."
)
method(bitwise_left_shift, name="__lshift__")
method(bitwise_right_shift, name="__rshift__")
