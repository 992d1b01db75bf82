"""Activation functions of networks, with derivatives of every order in closed form.

Kinked ones (relu, leaky_relu, elu, selu) gate the gradient; smooth ones (softplus, silu, gelu,
mish) have towers of derivatives: see towers.py and smooth.py.
"""

from __future__ import annotations

import math
from typing import Any

from ... import devices
from ...tensor import Tensor, method
from ..registry import REGISTRY, Op, floating, into, refuse_mixed
from .arithmetic import add_op, conj_of, div_op, mul_op, neg_op, operands, sub_op, zeros_rule
from .piecewise import bent, clamp_max, where, where_op
from .select import chosen
from .smooth import sigmoid_forward, sigmoid_op
from .towers import Polynomial, Tower, times
from .vector import function_of

_LOG_2 = math.log(2)

__all__ = [
    "celu",
    "elu",
    "gelu",
    "leaky_relu",
    "logaddexp",
    "logaddexp2",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "selu",
    "silu",
    "softplus",
    "softsign",
]


def _real(x: Tensor, name: str) -> Tensor:
    if x.is_complex():
        raise RuntimeError(
            f"{name} is not implemented for complex tensors; apply it to x.real and x.imag"
        )
    return x


# ---- relu and leaky_relu


def _leak(xp: Any, g: Any, x: Any, out: Any = None, *, slope: float = 0.0) -> Any:
    return chosen(xp, x <= 0, g * slope if slope else 0, g, out)  # NaN passes g


leak_op = Op(
    "leak",
    _leak,
    {"g": lambda g, x, slope: leak_op(g, x, slope=slope), "x": zeros_rule},
    elementwise=True,
    taylor="linear",
)


def _relu(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.maximum(x, 0) if out is None else xp.maximum(x, 0, out=out)


relu_op = Op(
    "relu", _relu, {"x": lambda g, out: leak_op(g, out)}, elementwise=True, taylor="smooth"
)
leaky_relu_op = Op(
    "leaky_relu",
    lambda xp, x, out=None, *, slope: _leak(xp, x, x, out, slope=slope),
    {"x": lambda g, x, slope: leak_op(g, x, slope=slope)},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


@method
def relu(x: Tensor) -> Tensor:
    """Return max(x, 0); its derivative at 0 is 0.  RuntimeError for bool tensors."""
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu; convert with .long()")
    return relu_op(_real(x, "relu"))


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return `x` where positive and `negative_slope * x` elsewhere, also at 0."""
    return leaky_relu_op(_real(x, "leaky_relu"), slope=negative_slope)


@method
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return `input` where positive and `weight * input` elsewhere (He et al. 2015).

    weight  one number (0-d or of shape (1,)), or (k,): one a place of dimension 1 of the input.
    Raises RuntimeError for another number of weights, and for different dtypes.
    """
    refuse_mixed("prelu", input, weight)
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.ndim > 1 or weight.numel() not in (1, channels):
        raise RuntimeError(
            "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers "
            f"= {weight.numel()} (shape {list(weight.shape)}) and channel size = {channels}; "
            "pass one weight, or a 1-d tensor of one a channel"
        )
    shape = (1, -1, *(1,) * (input.ndim - 2)) if weight.numel() != 1 else ()
    input = bent(input)
    return where(REGISTRY["gt"](input, 0), input, mul_op(weight.reshape(shape), input))


# ---- elu and selu: outer * x, or outer * alpha * (e**x - 1)


def _elu(xp: Any, x: Any, out: Any = None, *, alpha: float = 1.0, outer: float = 1.0) -> Any:
    # above 0 the exponential is that of 0, and leaves 0 to be added
    below = xp.minimum(x, 0, out=xp.empty_like(x))
    function_of(xp, "expm1")(below, out=below)
    if alpha * outer != 1:
        xp.multiply(below, alpha * outer, out=below)
    above = xp.maximum(x, 0, out=xp.empty_like(x))
    if outer != 1:
        xp.multiply(above, outer, out=above)
    return xp.add(above, below, out=below if out is None else out)


def _elu_slope(xp: Any, x: Any, out: Any = None, *, alpha: float, outer: float) -> Any:
    below = xp.minimum(x, 0, out=xp.empty_like(x))
    function_of(xp, "exp")(below, out=below)
    if alpha * outer != 1:
        xp.multiply(below, alpha * outer, out=below)
    return chosen(xp, x > 0, outer, below, out)


# below 0 all derivatives are the slope, from 0 on they are 0
elu_derivative_op = Op(
    "elu_derivative",
    lambda xp, x, seed, out=None: chosen(xp, x >= 0, 0, seed, out),
    {"x": lambda g, out: mul_op(g, out)},
    elementwise=True,
    taylor="smooth",
)
elu_slope_op = Op(
    "elu_slope",
    _elu_slope,
    {"x": lambda g, x, out: mul_op(g, elu_derivative_op(x, out))},
    elementwise=True,
    taylor="smooth",
)
elu_op = Op(
    "elu",
    _elu,
    {"x": lambda g, x, alpha, outer: mul_op(g, elu_slope_op(x, alpha=alpha, outer=outer))},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `x` where positive and `alpha * (e**x - 1)` elsewhere (Clevert et al. 2015)."""
    return elu_op(_real(x, "elu"), alpha=alpha)


def selu(x: Tensor) -> Tensor:
    """Return the self-normalising unit (Klambauer et al. 2017): a scaled elu."""
    return elu_op(_real(x, "selu"), alpha=1.6732632423543772, outer=1.0507009873554805)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return `x` where positive and `alpha * (e**(x/alpha) - 1)` elsewhere (Barron 2017).

    Its derivative is continuous for every alpha > 0.  Raises RuntimeError for alpha = 0.
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU; pass a positive number")
    if alpha == 1:
        return elu(x)
    below = REGISTRY["expm1"](div_op(clamp_max(_real(x, "celu"), 0), alpha))
    return add_op(relu_op(x), mul_op(below, alpha))


# ---- hardsigmoid: (x + 3) / 6 between -3 and 3, 0 below and 1 above


between_op = Op(  # where x lies between -3 and 3, g times a number
    "between",
    lambda xp, g, x, out=None, *, scale=1.0: chosen(xp, xp.absolute(x) < 3, g * scale, 0, out),
    {"g": lambda g, x, scale: between_op(g, x, scale=scale), "x": zeros_rule},
    elementwise=True,
    taylor="linear",
)


def _hardsigmoid(xp: Any, x: Any, out: Any = None) -> Any:
    result = xp.multiply(x, 1 / 6, out=xp.empty_like(x))
    xp.add(result, 0.5, out=result)
    xp.maximum(result, 0, out=result)
    return xp.minimum(result, 1, out=result if out is None else out)


hardsigmoid_op = Op(
    "hardsigmoid",
    _hardsigmoid,
    {"x": lambda g, x: between_op(g, x, scale=1 / 6)},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


# ---- hardswish: x (x + 3) / 6 between -3 and 3, 0 below and x above; NaN at -inf, 0 times that


def _hardswish(xp: Any, x: Any, out: Any = None) -> Any:
    gate = xp.maximum(x, -3, out=xp.empty_like(x))
    xp.add(gate, 3, out=gate)
    xp.minimum(gate, 6, out=gate)
    xp.multiply(gate, 1 / 6, out=gate)  # 1 from 3 on, exactly
    return xp.multiply(x, gate, out=gate if out is None else out)


def _hardswish_slope(xp: Any, x: Any, out: Any = None) -> Any:
    slope = xp.multiply(x, 1 / 3, out=xp.empty_like(x))
    xp.add(slope, 0.5, out=slope)
    slope = chosen(xp, x <= -3, 0, slope)
    return chosen(xp, x >= 3, 1, slope, out)


hardswish_slope_op = Op(
    "hardswish_slope",
    _hardswish_slope,
    {"x": lambda g, x: between_op(g, x, scale=1 / 3)},
    elementwise=True,
    taylor="smooth",
)
hardswish_op = Op(
    "hardswish",
    _hardswish,
    {"x": lambda g, x: mul_op(g, hardswish_slope_op(x))},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


# ---- softplus and its relatives: the derivative is a sigmoid


def _softplus(xp: Any, x: Any, out: Any = None) -> Any:
    """Compute log(1 + e**x) = max(x, 0) + log1p(e**-|x|)."""
    if out is None:
        out = xp.empty_like(x)
    xp.absolute(x, out=out)
    xp.negative(out, out=out)
    function_of(xp, "exp")(out, out=out)
    function_of(xp, "log1p")(out, out=out)
    return xp.add(out, xp.maximum(x, 0), out=out)


softplus_op = Op(
    "softplus",
    _softplus,
    {"x": lambda g, x: mul_op(g, sigmoid_op(x))},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return log(1 + e**(beta*x)) / beta, smooth and accurate everywhere.

    PyTorch returns `x` where `beta * x > threshold`; here that is done for a threshold below 20
    only, since beyond 20 it would just cost accuracy (2e-9) and smoothness.
    """
    scaled = _real(x, "softplus") if beta == 1 else mul_op(x, beta)
    result = softplus_op(scaled)
    if beta != 1:
        result = mul_op(result, 1 / beta)
    if threshold < 20:
        result = where_op(REGISTRY["gt"](scaled, threshold), x, result)
    return result


def logsigmoid(x: Tensor) -> Tensor:
    """Return log(sigmoid(x)), accurate on both sides."""
    return neg_op(softplus_op(neg_op(floating(_real(x, "logsigmoid")))))


def softsign(x: Tensor) -> Tensor:
    """Return x / (1 + |x|)."""
    return x / (REGISTRY["abs"](x) + 1)


def _logaddexp(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    if "c" in [value.dtype.kind for value in (x, y) if hasattr(value, "dtype")]:
        return into(out, _complex_logaddexp(xp, x, y))
    return xp.logaddexp(x, y) if out is None else xp.logaddexp(x, y, out=out)


def _complex_logaddexp(xp: Any, x: Any, y: Any) -> Any:
    """Compute z + log(1 + e**(w - z)), z the one with the larger real part."""
    larger = xp.real(x) >= xp.real(y)
    most, least = xp.where(larger, x, y), xp.where(larger, y, x)
    nothing = xp.isneginf(xp.real(most))  # the logarithm of 0 + 0
    return most + xp.where(nothing, 0, xp.log1p(xp.exp(least - xp.where(nothing, 0, most))))


logaddexp_op = Op(
    "logaddexp",
    _logaddexp,
    {
        "x": lambda g, x, y: mul_op(g, conj_of(sigmoid_op(sub_op(x, y)))),
        "y": lambda g, x, y: mul_op(g, conj_of(sigmoid_op(sub_op(y, x)))),
    },
    dtype="float",
    broadcasts=True,
    ufunc="logaddexp",
    taylor="nested",
)


@method
def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """Return log(e**x + e**y) without overflow, broadcast."""
    return logaddexp_op(*operands(x, y))


def _logaddexp2(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    return xp.logaddexp2(x, y) if out is None else xp.logaddexp2(x, y, out=out)


logaddexp2_op = Op(
    "logaddexp2",
    _logaddexp2,
    {
        "x": lambda g, x, y: mul_op(g, sigmoid_op(mul_op(sub_op(x, y), _LOG_2))),
        "y": lambda g, x, y: mul_op(g, sigmoid_op(mul_op(sub_op(y, x), _LOG_2))),
    },
    dtype="float",
    broadcasts=True,
    ufunc="logaddexp2",
    taylor="nested",
)


@method
def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    """Return the logarithm of 2**x + 2**y to base 2 without overflow, broadcast."""
    return logaddexp2_op(*operands(_real(x, "logaddexp2"), _real(y, "logaddexp2")))


# ---- smooth activations x * s(x)


def _gated(name: str, forward: Any, prepare: Any, tower: Tower, variables: Any) -> Op:
    """Register an activation whose derivatives are a tower in x and a seed.

    prepare    `(xp, x, out) -> array`: the seed, the one transcendental function of all orders.
    variables  `(xp, x, seed) -> tuple`: the variables of the tower.
    """
    seed_op = Op(f"{name}_seed", prepare, elementwise=True)

    def derivative_forward(xp: Any, x: Any, seed: Any, out: Any = None, *, order: int) -> Any:
        return tower.evaluate(xp, order, variables(xp, x, seed), out)

    def next_derivative(g: Tensor, x: Tensor, seed: Tensor, order: int) -> Tensor:
        return mul_op(g, conj_of(derivative(x, seed, order=order + 1)))

    derivative = Op(
        f"{name}_derivative",
        derivative_forward,
        {"x": next_derivative},
        elementwise=True,
        taylor="smooth",
    )
    return Op(
        name,
        forward,
        {"x": lambda g, x: mul_op(g, conj_of(derivative(x, seed_op(x), order=1)))},
        dtype="float",
        elementwise=True,
        taylor="smooth",
    )


def _times_x(xp: Any, x: Any, seed: Any, out: Any) -> Any:
    return xp.multiply(x, seed) if out is None else xp.multiply(x, seed, out=out)


def _variance(xp: Any, s: Any) -> Any:
    """Compute s (1 - s)."""
    rest = xp.subtract(1, s, out=xp.empty_like(s))
    return xp.multiply(rest, s, out=rest)


# silu: x s with s = sigmoid(x), s' = w = s - s*s, w' = w (1 - 2 s)
_silu_tower = Tower(
    ({(0, 0, 1): 1}, {(0, 0, 0): 1}, {(0, 0, 1): 1, (1, 0, 1): -2}),
    {(1, 0, 0): 1, (0, 1, 1): 1},
    square={(1, 0, 0): 1, (0, 0, 1): -1},
)
silu_op = _gated(
    "silu",
    lambda xp, x, out=None: _times_x(xp, x, sigmoid_forward(xp, x), out),
    sigmoid_forward,
    _silu_tower,
    lambda xp, x, s: (s, x, _variance(xp, s)),
)

# mish: x t with t = tanh(softplus(x)) = s (2 - s) / (2 - 2 s + s*s), t' = (1 - t*t) s
_mish_tower = Tower(
    (
        {(0, 0, 1): 1, (2, 0, 1): -1},
        {(0, 0, 0): 1},
        {(0, 0, 1): 1, (0, 0, 2): -1},
    ),
    {(1, 0, 0): 1, (0, 1, 1): 1, (2, 1, 1): -1},
)


def _mish_factor(s: Any) -> Any:
    rest = 1 - s
    return s * (1 + rest) / (1 + rest * rest)


mish_op = _gated(
    "mish",
    lambda xp, x, out=None: _times_x(xp, x, _mish_factor(sigmoid_forward(xp, x)), out),
    sigmoid_forward,
    _mish_tower,
    lambda xp, x, s: (_mish_factor(s), x, s),
)

# gelu, tanh approximation: x (1 + t) / 2, t = tanh(q), w = 1 - t*t, q' = c (1 + 3 k x*x)
_C, _K = math.sqrt(2 / math.pi), 0.044715
_inner_slope: Polynomial = {(0, 0, 0): _C, (0, 2, 0): 3 * _K * _C}
_gelu_tanh_tower = Tower(
    (
        times({(0, 0, 1): 1}, _inner_slope),
        {(0, 0, 0): 1},
        times({(1, 0, 1): -2}, _inner_slope),
    ),
    {(0, 0, 0): 0.5, (1, 0, 0): 0.5, **times({(0, 1, 1): 0.5}, _inner_slope)},
    square={(0, 0, 0): 1, (0, 0, 1): -1},
)


def _gelu_tanh_seed(xp: Any, x: Any, out: Any = None) -> Any:
    inner = xp.multiply(x, x)
    inner = (inner * (_K * _C) + _C) * x
    tanh = function_of(xp, "tanh")
    return tanh(inner) if out is None else tanh(inner, out=out)


gelu_tanh_op = _gated(
    "gelu_tanh",
    lambda xp, x, out=None: _times_x(xp, x, 0.5 + 0.5 * _gelu_tanh_seed(xp, x), out),
    _gelu_tanh_seed,
    _gelu_tanh_tower,
    lambda xp, x, t: (t, x, 1 - t * t),
)

# gelu: x P(x), P the normal distribution function, with p = P' and p' = -x p


def _normal_density(xp: Any, x: Any, out: Any = None) -> Any:
    if out is None:
        out = xp.empty_like(x)
    xp.multiply(x, x, out=out)
    xp.multiply(out, -0.5, out=out)
    function_of(xp, "exp")(out, out=out)
    return xp.multiply(out, 1 / math.sqrt(2 * math.pi), out=out)


def _normal_distribution(xp: Any, x: Any) -> Any:
    """Compute the distribution function as erfc, which is accurate in the left tail too."""
    scaled = xp.empty_like(x)
    xp.multiply(x, -math.sqrt(0.5), out=scaled)
    devices.special_of(xp).erfc(scaled, out=scaled)
    return xp.multiply(scaled, 0.5, out=scaled)


def _gelu_slope(xp: Any, x: Any, value: Any, out: Any = None) -> Any:
    """Compute P + x p, where P = value / x: that spares erfc, which costs more than all else."""
    density = _normal_density(xp, x, out)
    underflown = density == 0
    xp.multiply(density, x, out=density)
    xp.copyto(density, 0, where=underflown)  # not 0 times infinity
    distribution = xp.true_divide(value, x, out=xp.empty_like(x))
    xp.copyto(distribution, x > 0, where=underflown)  # not infinity over itself
    xp.copyto(distribution, 0.5, where=x == 0)
    return xp.add(density, distribution, out=density)


_gelu_tower = Tower(({(0, 0): 1}, {(1, 1): -1}), {(0, 1): 2, (2, 1): -1}, start=2, decays=True)
normal_density_op = Op("normal_density", _normal_density, elementwise=True)
gelu_derivative_op = Op(
    "gelu_derivative",
    lambda xp, x, seed, first, out=None, *, order: _gelu_tower.evaluate(
        xp, order, (seed, first), out
    ),
    {
        "x": lambda g, x_place, seed, first, order: mul_op(
            g, gelu_derivative_op(x_place, seed, first, order=order + 1)
        )
    },
    elementwise=True,
    taylor="smooth",
)
gelu_slope_op = Op(
    "gelu_slope",
    _gelu_slope,
    {"x": lambda g, x: mul_op(g, gelu_derivative_op(x, x, normal_density_op(x), order=2))},
    elementwise=True,
    taylor="smooth",
)
gelu_op = Op(
    "gelu",
    lambda xp, x, out=None: _times_x(xp, x, _normal_distribution(xp, x), out),
    {"x": lambda g, x, out: mul_op(g, gelu_slope_op(x, out))},
    dtype="float",
    elementwise=True,
    taylor="smooth",
)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Return x P(x) with the normal distribution function P (Hendrycks and Gimpel 2016).

    approximate="tanh" takes x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))) / 2 instead.
    """
    if approximate == "none":
        return gelu_op(_real(x, "gelu"))
    if approximate == "tanh":
        return gelu_tanh_op(x)
    raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")


def silu(x: Tensor) -> Tensor:
    """Return x sigmoid(x), also known as swish."""
    return silu_op(x)


def mish(x: Tensor) -> Tensor:
    """Return x tanh(softplus(x)) (Misra 2019)."""
    return mish_op(x)
