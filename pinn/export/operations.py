"""The operations of recorded programs as text of numpy.

A program that has an operation without an entry here cannot be written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograd.ops.registry import Op

# How tightly a text holds together: what binds more loosely than its place asks for is put in
# parentheses.
LOOSE, COMPARISON, SUM, PRODUCT, ATOM = range(5)

OPERATORS: dict[str, tuple[str, int]] = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "lt": ("<", COMPARISON),
    "le": ("<=", COMPARISON),
    "gt": (">", COMPARISON),
    "ge": (">=", COMPARISON),
    "eq": ("==", COMPARISON),
    "ne": ("!=", COMPARISON),
}
"""Operations of two operands, with how tightly the result holds together."""

CALLS: dict[str, str] = {
    "amax": "np.max({0}, axis={axes}, keepdims={keepdims})",
    "amin": "np.min({0}, axis={axes}, keepdims={keepdims})",
    "bspline": "bspline({0}, {degree})",
    "ceil": "np.ceil({0})",
    "clamp": "np.clip({0}, {low}, {high})",
    "clone": "np.copy({0})",
    "digamma": "special.digamma({0})",
    "erf": "special.erf({0})",
    "erfc": "special.erfc({0})",
    "expand": "np.broadcast_to({0}, {shape})",
    "flip": "np.flip({0}, {axes})",
    "floor": "np.floor({0})",
    "fmod": "np.fmod({0}, {1})",
    "gelu": "gelu({0})",
    "isfinite": "np.isfinite({0})",
    "isnan": "np.isnan({0})",
    "lgamma": "special.gammaln({0})",
    "logical_and": "np.logical_and({0}, {1})",
    "logical_not": "np.logical_not({0})",
    "logical_or": "np.logical_or({0}, {1})",
    "logical_xor": "np.logical_xor({0}, {1})",
    "masked_fill": "np.where({1}, {2}, {0})",
    "mean": "np.mean({0}, axis={axes}, keepdims={keepdims})",
    "mish": "mish({0})",
    "permute": "np.transpose({0}, {axes})",
    "polygamma": "special.polygamma({order}, {0})",
    "prod": "np.prod({0}, axis={dim}, keepdims={keepdims})",
    "relu": "np.maximum({0}, 0)",
    "remainder": "np.remainder({0}, {1})",
    "reshape": "np.reshape({0}, {shape})",
    "round": "np.round({0}, {decimals})",
    "rsqrt": "(1 / np.sqrt({0}))",
    "sigmoid": "sigmoid({0})",
    "silu": "silu({0})",
    "sinc": "np.sinc({0})",
    "softplus": "np.logaddexp(0, {0})",
    "split": "np.split({0}, np.cumsum({sizes})[:-1], axis={dim})",
    "sum": "np.sum({0}, axis={axes}, keepdims={keepdims})",
    "trunc": "np.trunc({0})",
    "where": "np.where({0}, {1}, {2})",
}
"""The other operations; what stands in braces is an operand or an attribute."""

JOINS: dict[str, str] = {"cat": "np.concatenate", "stack": "np.stack"}
"""Operations of any number of operands, along the attribute `dim`."""

HELPERS: dict[str, str] = {
    "bspline": """\
def bspline(x, degree):
    distance = (degree + 1) / 2 - np.abs(x)
    return sum(
        (-1) ** j * math.comb(degree + 1, j) / math.factorial(degree)
        * np.maximum(distance - j, 0) ** degree
        for j in range((degree + 1) // 2 + 1)
    )
""",
    "gelu": """\
def gelu(x):
    return x * (special.erfc(-math.sqrt(0.5) * x) * 0.5)
""",
    "mish": """\
def mish(x):
    return x * np.tanh(np.logaddexp(0, x))
""",
    "sigmoid": """\
def sigmoid(x):
    return 1 / (1 + np.exp(-x))
""",
    "silu": """\
def silu(x):
    return x / (1 + np.exp(-x))
""",
}
"""Functions that texts call, and what they are."""


def text_of(
    op: Op,
    operand: Callable[[int, int], str],
    count: int,
    attributes: Mapping[str, Any],
    write: Callable[[Any], str],
) -> tuple[str, int] | None:
    """Return the text of one operation and how tightly it holds together; None for an unknown one.

    operand(k, level): the text of operand k, in parentheses where it is looser than the level.
    count: of operands. write(attribute): its text.
    """
    name = op.name
    if name in OPERATORS:
        sign, level = OPERATORS[name]
        left = level + (level == COMPARISON)  # Python would join a < b < c
        return f"{operand(0, left)} {sign} {operand(1, level + 1)}", level
    if name == "neg":
        return f"-{operand(0, PRODUCT)}", SUM
    if name == "pow":
        return f"{operand(0, ATOM)} ** {operand(1, ATOM)}", PRODUCT
    if name == "monomial":
        return _monomial(operand(0, ATOM), attributes["exponent"], attributes["scale"], write)
    if name == "linear":
        product = f"{operand(0, PRODUCT)} @ {operand(1, ATOM)}.T"
        bias = operand(2, PRODUCT)
        return (product, PRODUCT) if bias == "None" else (f"{product} + {bias}", SUM)
    if name == "matmul":
        turned = [
            ".swapaxes(-1, -2)" if attributes[f"transpose_{which}"] else "" for which in "xy"
        ]
        return f"{operand(0, ATOM)}{turned[0]} @ {operand(1, ATOM)}{turned[1]}", PRODUCT
    if name == "slice":
        return f"{operand(0, ATOM)}[{_index(attributes['index'], write)}]", ATOM
    if name == "to":
        return f"{operand(0, ATOM)}.astype(np.{np.dtype(attributes['dtype'])})", ATOM
    if name == "bspline" and attributes["order"]:
        return None
    operands = [operand(k, LOOSE) for k in range(count)]
    if name in JOINS:
        return f"{JOINS[name]}([{', '.join(operands)}], axis={write(attributes['dim'])})", ATOM
    if op.ufunc is not None:
        return f"np.{op.ufunc}({', '.join(operands)})", ATOM
    if name in CALLS:
        call = CALLS[name]
        asked = {key: write(one) for key, one in attributes.items() if f"{{{key}}}" in call}
        return call.format(*operands, **asked), ATOM
    return None


def _monomial(
    of: str, exponent: float, scale: float, write: Callable[[Any], str]
) -> tuple[str, int]:
    if exponent == -1:
        return f"{write(scale)} / {of}", PRODUCT
    power = f"{of} ** {write(exponent)}"
    return (power if scale == 1 else f"{power} * {write(scale)}"), PRODUCT


def _index(index: tuple[Any, ...], write: Callable[[Any], str]) -> str:
    """Return an index of slices, numbers, None and ... as it is written."""

    def one(item: Any) -> str:
        if not isinstance(item, slice):
            return "..." if item is Ellipsis else write(item)
        ends = ["" if end is None else write(end) for end in (item.start, item.stop)]
        return ":".join(ends) + ("" if item.step in (None, 1) else f":{write(item.step)}")

    return ", ".join(map(one, index))
