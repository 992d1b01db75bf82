"""Orthogonal polynomials by their recurrences, with derivatives of every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...tensor import Tensor, as_tensor
from ..elementwise.arithmetic import add, mul, sub
from ..elementwise.piecewise import where
from ..registry import REGISTRY, cast

__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]

Step = Callable[[Tensor, int, Tensor, Tensor], Tensor]


def _evaluated(name: str, first: Callable, step: Step, input: Any, n: Any) -> Tensor:
    """Return the polynomial of degree n, rounded towards 0, at `input`, broadcast; 0 for n < 0.

    first  `x -> p_1`.
    step   `(x, k, p_{k-1}, p_k) -> p_{k+1}`.
    """
    like = n if isinstance(n, Tensor) else None
    x = input if isinstance(input, Tensor) else as_tensor(input, like)
    if x.is_complex():
        raise RuntimeError(f"{name} is not implemented for complex tensors")
    x = x if x.dtype.kind == "f" else cast(x, dtypes.get_default_dtype())
    degrees = cast(n.detach(), dtypes.int64) if isinstance(n, Tensor) else None
    top = int(n) if degrees is None else _greatest(degrees)
    one = REGISTRY["ones_like"](x)
    if degrees is None and top < 0:
        return REGISTRY["zeros_like"](x)
    before, now = one, first(x)
    if degrees is None:
        for k in range(1, top):
            before, now = now, step(x, k, before, now)
        return now if top else one
    # each element is taken where its degree is reached
    found = where(degrees.eq(0), one, 0.0)
    for k in range(1, top + 1):
        found = where(degrees.eq(k), now, found)
        before, now = now, step(x, k, before, now)
    return found


def _greatest(degrees: Tensor) -> int:
    """Return the greatest of all degrees, those of all examples inside of vmap; -1 for none."""
    while degrees.__dispatch__ is not None:
        (degrees,) = degrees.for_all_examples([degrees])
    return degrees.max().item() if degrees.numel() else -1


def _polynomial(
    name: str, first: Callable, step: Step, doc: str, shifted: bool = False
) -> Callable:
    def function(input: Any, n: Any) -> Tensor:
        if shifted:
            input = sub(mul(input if isinstance(input, Tensor) else as_tensor(input), 2.0), 1.0)
        return _evaluated(name, first, step, input, n)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc} of degree n, a number or a tensor, broadcast; 0 for n < 0."
    return function


def _chebyshev(x: Tensor, k: int, before: Tensor, now: Tensor) -> Tensor:
    return sub(mul(mul(x, 2.0), now), before)


def _of_kind(kind: str, first: Callable, word: str, shifted: bool = False) -> Callable:
    begins = "Return at 2x - 1 the" if shifted else "Return the"
    return _polynomial(
        f"{'shifted_' * shifted}chebyshev_polynomial_{kind}", first, _chebyshev,
        f"{begins} Chebyshev polynomial of the {word} kind", shifted,
    )  # fmt: skip


def _twice(x: Tensor) -> Tensor:
    return mul(x, 2.0)


chebyshev_polynomial_t = _of_kind("t", lambda x: x, "first")
chebyshev_polynomial_u = _of_kind("u", _twice, "second")
chebyshev_polynomial_v = _of_kind("v", lambda x: sub(_twice(x), 1.0), "third")
chebyshev_polynomial_w = _of_kind("w", lambda x: add(_twice(x), 1.0), "fourth")
shifted_chebyshev_polynomial_t = _of_kind("t", lambda x: x, "first", True)
shifted_chebyshev_polynomial_u = _of_kind("u", _twice, "second", True)
shifted_chebyshev_polynomial_v = _of_kind("v", lambda x: sub(_twice(x), 1.0), "third", True)
shifted_chebyshev_polynomial_w = _of_kind("w", lambda x: add(_twice(x), 1.0), "fourth", True)

hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h",
    _twice,
    lambda x, k, before, now: sub(mul(_twice(x), now), mul(before, 2.0 * k)),
    "Return the physicists' Hermite polynomial",
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he",
    lambda x: x,
    lambda x, k, before, now: sub(mul(x, now), mul(before, float(k))),
    "Return the probabilists' Hermite polynomial",
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l",
    lambda x: 1.0 - x,
    lambda x, k, before, now: (mul(2.0 * k + 1.0 - x, now) - mul(before, float(k))) / (k + 1.0),
    "Return the Laguerre polynomial",
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p",
    lambda x: x,
    lambda x, k, before, now: (mul(mul(x, 2.0 * k + 1.0), now) - mul(before, float(k))) / (k + 1.0),
    "Return the Legendre polynomial",
)
