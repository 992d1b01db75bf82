"""Functions of probability: the normal distribution, entropy, log-odds, incomplete Gamma."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import devices, dtypes
from ...tensor import Tensor, as_tensor, method
from ..elementwise.arithmetic import add, div, mul, mul_op, neg, operands, pow, sub
from ..elementwise.compare import eq, ge, le, logical_and
from ..elementwise.piecewise import clamp, where, without_log
from ..elementwise.smooth import erfc, exp, log, log1p, sinc, special
from ..layout.shape import broadcast_tensors
from ..registry import Op, cast, floating, into
from .gamma import lgamma_op

__all__ = [
    "entr",
    "erfcx",
    "igamma",
    "igammac",
    "log_ndtr",
    "logit",
    "multigammaln",
    "ndtr",
    "ndtri",
    "spherical_bessel_j0",
    "xlog1py",
    "zeta",
]

_ROOT_PI = math.sqrt(math.pi)
_FACTS: dict[str, Any] = {"dtype": "float", "elementwise": True, "taylor": "smooth"}


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else as_tensor(x)


erfcx_op = Op(
    "erfcx",
    special("erfcx"),
    {"x": lambda g, x, out: mul_op(g, sub(mul(mul(x, 2.0), out), 2 / _ROOT_PI))},
    **_FACTS,
)
ndtri_op = Op(
    "ndtri",
    special("ndtri"),
    {"x": lambda g, out: mul_op(g, mul(exp(mul(mul(out, out), 0.5)), math.sqrt(2) * _ROOT_PI))},
    **_FACTS,
)


entr_op = Op(
    "entr", special("entr"), {"x": lambda g, x: mul_op(g, sub(-1.0, log(x)))}, **_FACTS
)


def _hazard(x: Tensor) -> Tensor:
    """Return the density over the probability of less than x, which underflow on the left."""
    return div(math.sqrt(2) / _ROOT_PI, erfcx_op(mul(x, -math.sqrt(0.5))))


log_ndtr_op = Op(
    "log_ndtr", special("log_ndtr"), {"x": lambda g, x: mul_op(g, _hazard(x))}, **_FACTS
)


def erfcx(input: Tensor) -> Tensor:
    """Return e**(x**2) erfc(x), for large x without underflow."""
    return erfcx_op(_tensor(input))


def ndtr(input: Tensor) -> Tensor:
    """Return the probability that a standard normal variable is less than x."""
    return mul(erfc(mul(_tensor(input), -math.sqrt(0.5))), 0.5)


def log_ndtr(input: Tensor) -> Tensor:
    """Return log(ndtr(x)), for negative x without underflow."""
    return log_ndtr_op(_tensor(input))


def ndtri(input: Tensor) -> Tensor:
    """Return the x of which `input` is `ndtr`; infinite at 0 and 1, NaN outside of them."""
    return ndtri_op(_tensor(input))


def entr(input: Tensor) -> Tensor:
    """Return -x log(x): 0 at 0, with an infinite slope, and -inf for negative x, without one."""
    return entr_op(_tensor(input))


@method
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """Return log(x / (1 - x)); NaN outside [0, 1] unless `eps` moves x into [eps, 1 - eps].

    Where it is NaN, so are its derivatives.
    """
    x = floating(x)
    inside = clamp(x, eps, 1 - eps) if eps is not None else x
    value = sub(log(inside), log1p(neg(inside)))
    if x.is_complex():
        return value
    known = eq(x, x) if eps is not None else logical_and(ge(x, 0), le(x, 1))
    return add(value, mul(x, where(known, 0.0, math.nan)))


def xlog1py(input: Any, other: Any) -> Tensor:
    """Return `x log(1 + y)`, broadcast: 0 where x is 0 and log(1 + y) not finite (y not NaN).

    There every derivative is 0 too.
    """
    x, y = operands(input, other, needs_tensor="xlog1py")
    kind = dtypes.result_type(x, y)
    kind = kind if kind.kind in "fc" else dtypes.get_default_dtype()
    x = cast(x, kind) if isinstance(x, Tensor) else as_tensor(np.asarray(x, kind), y)
    y = cast(y, kind) if isinstance(y, Tensor) else as_tensor(np.asarray(y, kind), x)
    nothing = logical_and(eq(x, 0), without_log(y, -1))
    return mul(x, log1p(where(nothing, 0, y)))


@method(name="mvlgamma")
def multigammaln(a: Tensor, p: int) -> Tensor:
    """Return the logarithm of the Gamma function of dimension p >= 1 at a > (p - 1)/2.

    Source: DLMF 35.3.4.
    """
    if p < 1:
        raise RuntimeError(f"multigammaln: p has to be greater than or equal to 1, got {p}")
    terms = [lgamma_op(sub(_tensor(a), 0.5 * k)) for k in range(p)]
    total = terms[0]
    for term in terms[1:]:
        total = add(total, term)
    return add(total, 0.25 * p * (p - 1) * math.log(math.pi))


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """Return sin(x)/x, 1 at 0."""
    return sinc(mul(_tensor(input), 1 / math.pi))


# ---- incomplete Gamma functions, and Hurwitz' zeta function: derivatives in the second argument


def _of_second(name: str, rule: Callable) -> Op:
    """Register the special function `name` of (a, x) as one of x, and of a without derivatives.

    That by a is refused where it is asked for, not where a could have one.
    """

    def forward(xp: Any, x: Any, a: Any, out: Any = None) -> Any:
        return into(out, getattr(devices.special_of(xp), name)(a, x))

    def by_first(g: Tensor) -> Tensor:
        raise _no_derivative(name)

    return Op(name, forward, {"x": rule, "a": by_first}, **_FACTS)


def _no_derivative(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: the derivative for the first argument is not implemented; detach() it, or take "
        "gradients by others alone"
    )


def _density(x: Tensor, a: Tensor) -> Tensor:
    """Return x^(a - 1) e^-x / Gamma(a), by logarithms, as its factors overflow for large a.

    At 0, where derivatives of the logarithm are infinite, the power alone.
    """
    at_zero, less = eq(x, 0), sub(a, 1)
    inside = where(at_zero, 1.0, x)
    found = exp(sub(sub(mul(less, log(inside)), inside), lgamma_op(a)))
    start = mul(pow(where(at_zero, x, 1.0), less), exp(neg(add(x, lgamma_op(a)))))
    return where(at_zero, start, found)


gammainc_op = _of_second("gammainc", lambda g, x, a: mul_op(g, _density(x, a)))
gammaincc_op = _of_second("gammaincc", lambda g, x, a: neg(mul_op(g, _density(x, a))))
zeta_op = _of_second("zeta", lambda g, x, a: neg(mul_op(g, mul(zeta_op(x, a + 1), a))))


def _without_first(name: str, op: Op, first: Any, second: Any) -> Tensor:
    if isinstance(first, Tensor) and first.__dispatch__ is not None and first.in_sweep:
        raise _no_derivative(name)
    a, x = operands(first, second, needs_tensor=name)
    if not isinstance(x, Tensor):
        x = as_tensor(x, a)
    if isinstance(a, Tensor) and a.shape != x.shape:
        a, x = broadcast_tensors(a, x)
    return op(x, a)


@method
def igamma(x: Tensor, other: Tensor) -> Tensor:
    """Return the lower incomplete Gamma function P(x, other), from 0 to 1, broadcast.

    It has derivatives in `other`; NotImplementedError where that of the first is asked for.
    """
    return _without_first("igamma", gammainc_op, x, other)


@method
def igammac(x: Tensor, other: Tensor) -> Tensor:
    """Return the upper incomplete Gamma function Q(x, other) = 1 - P(x, other), broadcast.

    It has derivatives in `other`; NotImplementedError where that of the first is asked for.
    """
    return _without_first("igammac", gammaincc_op, x, other)


def zeta(input: Any, other: Any) -> Tensor:
    """Return Hurwitz' zeta function, the sum of (k + other)**-input over k >= 0, broadcast.

    It has derivatives in `other`; NotImplementedError where that of the first is asked for.
    """
    return _without_first("zeta", zeta_op, input, other)
