"""Smooth functions of one variable: powers, exponentials, logarithms, trigonometry, erf, sinc.

Each is three operations: the function, its slope, and its derivatives of any higher order.  The
n-th derivative costs about n cheap passes (see towers.py) and one node: the rule of order n is
`g * (derivative of order n + 1)`.  What the slope and the derivatives are computed from is passed
as further inputs without rules, so that nothing is computed twice: `seed` (the function's value, or
x) and `first` (the value of the slope).  Mathematically they depend on x alone, through which all
gradients flow; its values are not needed any more, only its place in the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ... import devices, dtypes
from ...tensor import Tensor, as_tensor, method
from ..registry import LoopCode, Op, cast
from .arithmetic import conj_of, monomial_op, mul_op, ufunc
from .towers import Tower
from .vector import function_of

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]


def unary(op: Op, doc: str, *, name: str | None = None) -> Callable[[Tensor], Tensor]:
    """Return the public function (and make it the method) of an operation with one input."""

    def function(x: Tensor) -> Tensor:
        return op(x if isinstance(x, Tensor) else as_tensor(x))

    function.__name__ = function.__qualname__ = name or op.name
    function.__doc__ = doc
    return method(function)


def _function(name: str, forward: Callable | str, rule: Callable, **facts: Any) -> Op:
    """Register a smooth function of one variable; `forward` may name the ufunc that it is."""
    if isinstance(forward, str):
        facts["ufunc"], forward = forward, ufunc(forward)
    facts = {"dtype": "float", "elementwise": True, "taylor": "smooth", **facts}
    return Op(name, forward, {"x": rule}, **facts)


def _differentiated(name: str, forward: Callable | str, derivative: Callable, **facts: Any) -> Op:
    """Register a smooth function of one variable by its derivative, which all passes share.

    derivative  what is asked for by name, but for `g` (see registry.py) -> Tensor.
    """
    return _function(
        name, forward, lambda g, derivative: mul_op(g, conj_of(derivative)),
        shared={"derivative": derivative}, vjp_on_host=_chained_on_host, **facts,
    )  # fmt: skip


def _chained_on_host(g: Any, needed: Sequence[bool], derivative: Any, **attributes: Any) -> list:
    return [np.multiply(g, derivative), *(None,) * (len(needed) - 1)]


def smooth(
    name: str,
    forward: Callable | str,
    slope: Callable | None,
    tower: Tower,
    *,
    seed: str | None = None,
    reads_x: bool = False,
    variables: str = "seed first",
    code: LoopCode | None = None,
) -> Op:
    """Register a function with its slope and its higher derivatives.

    forward    as of Op, or the name of the ufunc that it is.
    slope      `(xp, x, seed, out) -> array` (`out` is always given, and is not an input); None
               where the tower starts from the function itself.
    seed       what is handed to slope and derivatives: "out", "x", or None.
    reads_x    whether the slope needs the values of x besides the seed.
    variables  the variables of the tower: "seed first", "seed" or "first".
    """

    def derivative_forward(
        xp: Any, x: Any, seed: Any, first: Any, out: Any = None, *, order: int
    ) -> Any:
        chosen = {"seed first": (seed, first), "seed": (seed,), "first": (first,)}[variables]
        return tower.evaluate(xp, order, chosen, out)

    def next_derivative(x_place: Any, seed: Any, first: Any, order: int) -> Any:
        return derivative(x_place, seed, first, order=order + 1)

    derivative = _differentiated(
        f"{name}_derivative", derivative_forward, next_derivative, dtype="keep", unread=("x",)
    )

    if slope is None:
        return _differentiated(
            name, forward, lambda x_place, out: derivative(x_place, out, None, order=1), code=code
        )

    def slope_forward(xp: Any, x: Any, seed: Any, out: Any = None) -> Any:
        if out is None:  # of x only the place may be there
            out = xp.empty_like(x if seed is None else seed)
        return slope(xp, x, seed, out)

    def second(x_place: Any, seed: Any, out: Any) -> Any:
        return derivative(x_place, seed, out, order=2)

    unread = ("x",) if seed == "out" and not reads_x else ()
    slope_op = _differentiated(f"{name}_slope", slope_forward, second, dtype="keep", unread=unread)

    def from_out(x_place: Any, out: Any) -> Any:
        return slope_op(x_place, out)

    def from_out_and_x(x: Any, out: Any) -> Any:
        return slope_op(x, out)

    def from_x(x: Any) -> Any:
        return slope_op(x, x)

    def from_x_alone(x: Any) -> Any:
        return slope_op(x, None)

    if seed == "out":
        first = from_out_and_x if reads_x else from_out
    else:
        first = from_x if seed == "x" else from_x_alone
    return _differentiated(name, forward, first, code=code)


def _in_kernels(name: str) -> LoopCode:
    """Return the code of a function that only kernels hold."""
    return LoopCode(None, f"{name}({{0}})")


# ---- exponentials: the derivative is (nearly) the value

exp_op = _function(
    "exp",
    "exp",
    lambda g, out: mul_op(g, conj_of(out)),
    taylor="exponential",
    code=_in_kernels("exp"),
)
exp = unary(exp_op, "Return e**x.")
exp2_op = _function(
    "exp2",
    "exp2",
    lambda g, out: mul_op(g, mul_op(conj_of(out), math.log(2))),
    code=_in_kernels("exp2"),
)
exp2 = unary(exp2_op, "Return 2**x.")
expm1_op = _function(
    "expm1", "expm1", lambda g, out: mul_op(g, conj_of(out + 1)), code=_in_kernels("expm1")
)
expm1 = unary(expm1_op, "Return e**x - 1, accurate near 0.")

# ---- powers of x: derivatives are powers of the value

square_op = _function(
    "square",
    lambda xp, x, out=None: xp.multiply(x, x) if out is None else xp.multiply(x, x, out=out),
    lambda g, x: mul_op(g, conj_of(monomial_op(x, exponent=1, scale=2))),
    dtype="keep",
    ufunc="square",
    taylor="square",
    code=LoopCode.of("{0} * {0}"),
)


@method
def square(x: Tensor) -> Tensor:
    """Return x*x."""
    return square_op(cast(x, dtypes.int64) if x.dtype.kind == "b" else x)


def _sqrt_slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
    return xp.divide(0.5, seed, out=out)


sqrt_op = smooth(
    "sqrt",
    "sqrt",
    _sqrt_slope,
    Tower(({(3,): -2},), {(1,): 1}),
    seed="out",
    variables="first",
    code=LoopCode("np.sqrt({0})", "sqrt({0})"),
)
sqrt = unary(sqrt_op, "Return the square root; NaN for negative real x.")


reciprocal_op = smooth(
    "reciprocal",
    "reciprocal",
    None,
    Tower(({(2,): -1},), {(2,): -1}),
    variables="seed",
    code=LoopCode.of("R(1.0) / {0}"),
)
reciprocal = unary(reciprocal_op, "Return 1/x.")


def _rsqrt(xp: Any, x: Any, out: Any = None) -> Any:
    root = xp.sqrt(x) if out is None else xp.sqrt(x, out=out)
    return xp.reciprocal(root) if out is None else xp.reciprocal(root, out=out)


_half = Fraction(1, 2)
rsqrt_op = smooth("rsqrt", _rsqrt, None, Tower(({(3,): -_half},), {(3,): -_half}), variables="seed")
rsqrt = unary(rsqrt_op, "Return 1/sqrt(x).")

# ---- logarithms: w = slope, w' = -scale w**2


def _logarithm(name: str, scale: float, doc: str, shift: int = 0) -> Callable[[Tensor], Tensor]:
    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        if shift:
            return xp.reciprocal(xp.add(x, shift, out=out), out=out)
        if scale == 1:
            return xp.reciprocal(x, out=out)
        return xp.divide(1 / scale, x, out=out)

    tower = Tower(({(2,): -scale},), {(1,): 1})
    op = smooth(name, name, slope, tower, variables="first", code=_in_kernels(name))
    return unary(op, doc)


log = _logarithm("log", 1, "Return the natural logarithm; -inf at 0, NaN for negative real x.")
log1p = _logarithm("log1p", 1, "Return log(1 + x), accurate near 0.", shift=1)
log2 = _logarithm("log2", math.log(2), "Return the logarithm to base 2.")
log10 = _logarithm("log10", math.log(10), "Return the logarithm to base 10.")

# ---- circular and hyperbolic functions


def _pair(name: str, other: str, sign: int, inner: int, doc: str) -> Callable[[Tensor], Tensor]:
    """Register one of sin, cos, sinh, cosh: slope = sign * other, other' = inner * function."""

    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        value = getattr(xp, other)(x, out=out)
        return value if sign == 1 else xp.negative(value, out=out)

    tower = Tower(({(0, 1): 1}, {(1, 0): inner}), {(0, 1): 1})
    code = _in_kernels(name)
    op = smooth(name, name, slope, tower, seed="out", reads_x=True, code=code)
    return unary(op, doc)


sin = _pair("sin", "cos", 1, -1, "Return the sine.")
cos = _pair("cos", "sin", -1, -1, "Return the cosine.")
sinh = _pair("sinh", "cosh", 1, 1, "Return the hyperbolic sine.")
cosh = _pair("cosh", "sinh", 1, 1, "Return the hyperbolic cosine.")


def _tangent(name: str, sign: int, doc: str) -> Callable[[Tensor], Tensor]:
    """Register tan (sign 1) or tanh (-1): t' = w = 1 + sign t**2, w' = 2 sign t w."""

    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        xp.multiply(seed, seed, out=out)
        return xp.add(out, 1, out=out) if sign == 1 else xp.subtract(1, out, out=out)

    tower = Tower(
        ({(0, 1): 1}, {(1, 1): 2 * sign}), {(0, 1): 1}, square={(0, 1): sign, (0, 0): -sign}
    )
    return unary(smooth(name, name, slope, tower, seed="out", code=_in_kernels(name)), doc)


tan = _tangent("tan", 1, "Return the tangent.")
tanh = _tangent("tanh", -1, "Return the hyperbolic tangent.")


def sigmoid_forward(xp: Any, x: Any, out: Any = None) -> Any:
    """Compute 1/(1 + exp(-x)), to full relative accuracy on both sides."""
    if out is None:
        out = xp.empty_like(x)
    xp.negative(x, out=out)
    function_of(xp, "exp")(out, out=out)
    xp.add(out, 1, out=out)
    return xp.reciprocal(out, out=out)


def _sigmoid_slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
    xp.subtract(1, seed, out=out)
    return xp.multiply(out, seed, out=out)


sigmoid_op = smooth(
    "sigmoid",
    sigmoid_forward,
    _sigmoid_slope,
    Tower(({(0, 1): 1}, {(0, 1): 1, (1, 1): -2}), {(0, 1): 1}, square={(1, 0): 1, (0, 1): -1}),
    seed="out",
)
sigmoid = unary(sigmoid_op, "Return 1/(1 + e**-x).")

# ---- inverse functions: w = slope


def _inverse(
    name: str, slope: Callable, rate: Any, square: dict, doc: str
) -> Callable[[Tensor], Tensor]:
    """Register an inverse function: variables x and w, w' = `rate`; x**2 only lowers orders."""
    tower = Tower(({(0, 0): 1}, rate), {(0, 1): 1}, square=square)
    code = _in_kernels(name)
    return unary(smooth(name, f"arc{name[1:]}", slope, tower, seed="x", code=code), doc)


def _quadratic(sign: int) -> Callable:
    """Return the slope 1/(1 + sign x**2)."""

    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        return xp.reciprocal(_one_plus_square(xp, x, sign, out), out=out)

    return slope


def _root(sign: int, outer: int = 1) -> Callable:
    """Return the slope outer/sqrt(1 + sign x**2)."""

    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        xp.sqrt(_one_plus_square(xp, x, sign, out), out=out)
        return xp.divide(outer, out, out=out)

    return slope


def _one_plus_square(xp: Any, x: Any, sign: int, out: Any) -> Any:
    if sign == 1:
        return xp.add(xp.multiply(x, x, out=out), 1, out=out)
    # (1 - x)(1 + x) keeps its accuracy near 1
    xp.subtract(1, x, out=out)
    return xp.multiply(out, x + 1, out=out)


def _acosh_slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
    if x.dtype.kind == "c":
        xp.multiply(xp.sqrt(x - 1), xp.sqrt(x + 1), out=out)
    else:
        xp.sqrt(xp.multiply(x - 1, x + 1, out=out), out=out)
    return xp.reciprocal(out, out=out)


def _circle(sign: int, doc: str, name: str, outer: int) -> Callable[[Tensor], Tensor]:
    """Register asin (sign -1, outer 1), acos (-1, -1) or asinh (1, 1): w is the slope."""
    square = {(0, -2): sign, (0, 0): -sign}
    return _inverse(name, _root(sign, outer), {(1, 3): -sign}, square, doc)


def _area(sign: int, doc: str, name: str) -> Callable[[Tensor], Tensor]:
    """Register atan (sign 1) or atanh (-1): w = 1/(1 + sign x**2)."""
    square = {(0, -1): sign, (0, 0): -sign}
    return _inverse(name, _quadratic(sign), {(1, 2): -2 * sign}, square, doc)


asin = _circle(-1, "Return the inverse sine; NaN outside [-1, 1] for real x.", "asin", 1)
acos = _circle(-1, "Return the inverse cosine; NaN outside [-1, 1] for real x.", "acos", -1)
asinh = _circle(1, "Return the inverse hyperbolic sine.", "asinh", 1)
atan = _area(1, "Return the inverse tangent.", "atan")
atanh = _area(-1, "Return the inverse hyperbolic tangent; NaN outside [-1, 1].", "atanh")
acosh = _inverse(
    "acosh",
    _acosh_slope,
    {(1, 3): -1},
    {(0, -2): 1, (0, 0): 1},
    "Return the inverse hyperbolic cosine; NaN below 1 for real x.",
)
arcsin, arccos, arctan = asin, acos, atan
arcsinh, arccosh, arctanh = asinh, acosh, atanh
for _name in ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"):
    method(globals()[_name], name=_name)

# ---- error function: w = 2/sqrt(pi) e**(-x**2), w' = -2 x w


def special(name: str) -> Callable:
    """Return the forward that is the special function `name` of the device."""

    def forward(xp: Any, x: Any, out: Any = None) -> Any:
        function = getattr(devices.special_of(xp), name)
        if out is None:
            out = xp.empty_like(x)
        return function(x, out=out)

    return forward


def _error_function(name: str, sign: int, doc: str) -> Callable[[Tensor], Tensor]:
    def slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
        xp.multiply(seed, seed, out=out)
        xp.negative(out, out=out)
        function_of(xp, "exp")(out, out=out)
        return xp.multiply(out, sign * 2 / math.sqrt(math.pi), out=out)

    tower = Tower(({(0, 0): 1}, {(1, 1): -2}), {(0, 1): 1}, decays=True)
    return unary(smooth(name, special(name), slope, tower, seed="x"), doc)


erf = _error_function("erf", 1, "Return the error function.")
erfc = _error_function("erfc", -1, "Return 1 - erf(x), accurate for large x.")


def _erfinv_slope(xp: Any, x: Any, seed: Any, out: Any) -> Any:
    xp.multiply(seed, seed, out=out)
    xp.exp(out, out=out)
    return xp.multiply(out, math.sqrt(math.pi) / 2, out=out)


# its value y and slope w = sqrt(pi)/2 e**(y*y), w' = 2 y w**2
erfinv = unary(
    smooth(
        "erfinv",
        special("erfinv"),
        _erfinv_slope,
        Tower(({(0, 1): 1}, {(1, 2): 2}), {(0, 1): 1}),
        seed="out",
    ),
    "Return the inverse error function; infinite at -1 and 1, NaN outside of them.",
)

# ---- sinc


def _sinc_derivative(xp: Any, x: Any, out: Any = None, *, order: int) -> Any:
    """Differentiate sin(z)/z with z = pi x: a power series near 0, Leibniz' rule elsewhere."""
    z = xp.multiply(x, math.pi)
    limit = 1 + order / 2
    near = xp.where(xp.abs(z) < limit, z, 0)
    far = xp.where(xp.abs(z) < limit, limit, z)
    # (sin z / z)^(n) = sum_m (-1)^m (2m)! / ((2m-n)! (2m+1)!) z^(2m-n)
    lowest = (order + 1) // 2
    square = near * near
    series = xp.zeros_like(near)
    for m in range(lowest + 12 + order, lowest - 1, -1):
        coefficient = (-1) ** m / (math.factorial(2 * m - order) * (2 * m + 1))
        series = series * square + coefficient
    if order % 2:
        series = series * near
    # sum_k C(n,k) sin^(n-k)(z) (-1)^k k! / z^(k+1)
    waves = (xp.sin(far), xp.cos(far))
    inverse = 1 / far
    leibniz = xp.zeros_like(far)
    for k in range(order, -1, -1):
        phase = order - k
        wave = waves[phase % 2] * (1 - phase // 2 % 2 * 2)
        coefficient = (-1) ** k * math.factorial(order) / math.factorial(order - k)
        leibniz = leibniz + coefficient * wave * inverse ** (k + 1)
    result = xp.where(xp.abs(z) < limit, series, leibniz) * math.pi**order
    if out is None:
        return xp.asarray(result)
    out[...] = result
    return out


sinc_derivative_op = _function(
    "sinc_derivative",
    _sinc_derivative,
    lambda g, x, order: mul_op(g, conj_of(sinc_derivative_op(x, order=order + 1))),
    dtype="keep",
)


def _sinc(xp: Any, x: Any, out: Any = None) -> Any:
    result = xp.sinc(x)
    if out is None:
        return result
    out[...] = result
    return out


sinc_op = _function("sinc", _sinc, lambda g, x: mul_op(g, conj_of(sinc_derivative_op(x, order=1))))
sinc = unary(sinc_op, "Return sin(pi x)/(pi x), 1 at 0; every derivative is finite there.")
