"""The Taylor rule of every differentiable operation, by kind.

Linear operations act on each channel; products follow Leibniz; smooth functions of one variable
follow Faa di Bruno with their tower of derivatives (ops/towers.py); everything else that can be
differentiated takes the general rule (general.py).
"""

from __future__ import annotations

from collections.abc import Callable

from ..engine import grad
from ..modes import enable_grad
from ..ops.registry import REGISTRY, Op, apply
from ..tensor import Tensor
from .general import general_rule
from .jet import (
    additive_rule,
    affine_rule,
    bilinear_rule,
    division_rule,
    elementwise_linear_rule,
    join_rule,
    linear_rule,
    part,
    product_rule,
    unary_rule,
    where_rule,
)


def _slopes(op: Op, x: Tensor, y: Tensor, attributes: dict, order: int) -> list[Tensor]:
    """Return f', f'', ... of an elementwise function at x: each is one reverse step from the last.

    The operations keep towers (ops/towers.py), so that order n costs about n cheap passes.
    """
    linked = y.requires_grad  # not in no_grad mode, whatever x says
    slopes = []
    with enable_grad():
        point = x if linked else x.detach().requires_grad_()
        current = y if linked else apply(op, point, **attributes)
        for _ in range(order):
            if current.requires_grad:
                ones = REGISTRY["ones_like"](current)
                (found,) = grad(current, point, ones, create_graph=True, allow_unused=True)
            else:
                found = None
            current = REGISTRY["zeros_like"](current) if found is None else found
            slopes.append(current if linked else current.detach())
    return slopes


def _exponential(op: Op, x: Tensor, y: Tensor, attributes: dict, order: int) -> list[Tensor]:
    return [y] * order


def _square_rule(op: Op, args: tuple, attributes: dict) -> Tensor:
    (x,) = args
    return product_rule(REGISTRY["mul"], (x, x), {})


def _power_rule(op: Op, args: tuple, attributes: dict) -> Tensor:
    """x**y: a smooth function of x for a number y."""
    x, y = args
    if isinstance(y, Tensor):
        return general_rule(op, args, attributes)
    if y == 2:
        return product_rule(REGISTRY["mul"], (x, x), {})
    return _of_one_variable(REGISTRY["monomial"], (x,), {"exponent": y, "scale": 1})


def _extremum_rule(op: Op, args: tuple, attributes: dict) -> Tensor:
    """The larger or the smaller of two: each channel comes from the one that is chosen."""
    x, y = args
    compare = REGISTRY["ge" if op.name == "maximum" else "le"]
    chosen = apply(compare, part(x, ()), part(y, ()))
    return where_rule(REGISTRY["where"], (chosen, x, y), {})


_of_one_variable = unary_rule(_slopes, general_rule)
_BY_NAME: dict[str, Callable] = {
    "add": additive_rule,
    "sub": additive_rule,
    "mul": product_rule,
    "div": division_rule,
    "where": where_rule,
    "cat": join_rule,
    "linear": affine_rule,
    "matmul": affine_rule,
    "square": _square_rule,
    "exp": unary_rule(_exponential, general_rule),
    "pow": _power_rule,
    "maximum": _extremum_rule,
    "minimum": _extremum_rule,
}
_ELEMENTWISE_LINEAR = ("neg", "to", "to_device", "conj", "real", "imag")
_SMOOTH = frozenset({
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "elu", "erf",
    "erfc", "exp2", "expm1", "gelu", "gelu_tanh", "leaky_relu", "log", "log10", "log1p", "log2",
    "mish", "monomial", "reciprocal", "relu", "rsqrt", "sigmoid", "silu", "sin", "sinc", "sinh",
    "softplus", "sqrt", "tan", "tanh",
})
_BILINEAR = ("cross",)


def install() -> None:
    """Give every differentiable operation in the registry its Taylor rule."""
    for name, op in REGISTRY.items():
        if op.taylor is None and op.differentiable:
            op.taylor = _rule_of(name, op)


def _rule_of(name: str, op: Op) -> Callable:
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _BILINEAR:
        return bilinear_rule
    if op.linear:
        return elementwise_linear_rule if name in _ELEMENTWISE_LINEAR else linear_rule
    if name in _SMOOTH:
        return _of_one_variable
    return general_rule
