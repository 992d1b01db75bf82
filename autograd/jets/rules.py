"""The Taylor rules that an operation can name: what `taylor=` says where it is registered.

Linear operations act on each channel; products follow Leibniz; smooth functions of one variable
follow Faa di Bruno with their tower of derivatives (ops/elementwise/towers.py); "nested" is the
general rule (general.py), for what has no cheaper one.
"""

from __future__ import annotations

from ..engine import grad
from ..modes import enable_grad
from ..ops.registry import REGISTRY, Op, apply
from ..tensor import Tensor
from .general import general_rule
from .jet import (
    TAYLOR_RULES,
    additive_rule,
    affine_rule,
    bilinear_rule,
    constant_rule,
    division_rule,
    join_rule,
    linear_rule,
    part,
    product_rule,
    unary_rule,
    where_rule,
)


def _slopes(
    op: Op, x: Tensor, rest: tuple, y: Tensor, attributes: dict, order: int
) -> list[Tensor]:
    """Return f', f'', ... of an elementwise function at x: each is one reverse step from the last.

    The operations keep towers (ops/elementwise/towers.py): order n costs about n cheap passes.
    """
    linked = y.requires_grad and x.requires_grad  # not in no_grad mode, whatever x says
    slopes = []
    with enable_grad():
        point = x if linked else x.detach().requires_grad_()
        current = y if linked else apply(op, point, *rest, **attributes)
        for _ in range(order):
            if current.requires_grad:
                ones = REGISTRY["ones_like"](current)
                (found,) = grad(current, point, ones, create_graph=True, allow_unused=True)
                if found is not None and found.dtype.kind == "c":
                    found = REGISTRY["conj"](found)  # gradients are conjugates of slopes
            else:
                found = None
            current = REGISTRY["zeros_like"](current) if found is None else found
            slopes.append(current if linked else current.detach())
    return slopes


def _exponential(
    op: Op, x: Tensor, rest: tuple, y: Tensor, attributes: dict, order: int
) -> list[Tensor]:
    return [y] * order


def _real_rule(op: Op, args: tuple, attributes: dict) -> Tensor:
    """A function of one variable that has a derivative for real numbers only, |x| say."""
    complex_ = args[0].dtype.kind == "c"
    return (general_rule if complex_ else _of_one_variable)(op, args, attributes)


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
TAYLOR_RULES.update(
    {
        "affine": affine_rule,
        "bilinear": bilinear_rule,
        "constant": constant_rule,
        "exponential": unary_rule(_exponential, general_rule),
        "extremum": _extremum_rule,
        "join": join_rule,
        "linear": linear_rule,
        "nested": general_rule,
        "power": _power_rule,
        "product": product_rule,
        "division": division_rule,
        "real smooth": _real_rule,
        "selection": where_rule,
        "smooth": _of_one_variable,
        "square": _square_rule,
        "sum": additive_rule,
    }
)
