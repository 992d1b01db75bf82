"""The words of the language: constants, functions, operators, and how strongly they bind."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi, "e": math.e})

# Name -> (fewest, most) arguments; None means any number.
FUNCTIONS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sech",
                "exp", "log", "sqrt", "erf", "abs", "sign", "floor", "gamma", "lgamma", "digamma",
            ),
            (1, 1),
        ),
        **dict.fromkeys(("min", "max", "atan2", "hypot", "polygamma"), (2, 2)),
        "where": (3, 3),
    }
)

# Calls that pinn.equations gives a meaning to; they have no value of their own. Name -> (fewest,
# most) arguments without a keyword.
OPERATORS: Mapping[str, tuple[int, int | None]] = MappingProxyType(
    {
        "diff": (2, None),
        "laplacian": (1, 1),
        "grad": (1, 1),
        "div": (1, 1),
        "dot": (2, 2),
        "vec": (1, None),
        "curl": (1, 1),
        "abs2": (1, None),
        "at": (1, 1),
        "dn": (1, 1),
        "integral": (4, 4),
        "fractional_laplacian": (2, 2),
        "riemann_liouville": (3, 3),
        "variation": (2, 2),
        "natural": (2, 3),
    }
)

# What an operator takes as `name=expression`, after its other arguments; None: any name, and one at
# least.
KEYWORDS: Mapping[str, tuple[str, ...] | None] = MappingProxyType(
    {
        "at": None,
        "integral": ("nodes",),
        "fractional_laplacian": ("nodes", "steps", "directions"),
        "riemann_liouville": ("nodes", "steps"),
    }
)

LOGICAL = ("and", "or", "not")

# Functions whose names are letters of the alphabet: without a parenthesis they are names like any.
LETTERS = frozenset({"gamma"})

RESERVED = frozenset((*FUNCTIONS, *CONSTANTS, *OPERATORS, *LOGICAL)) - LETTERS


def _sech(x: float) -> float:
    tail = math.exp(-abs(x))
    return 2 * tail / (1 + tail * tail)


def _polygamma(n: float, x: float) -> float:
    from scipy.special import polygamma  # slow to import, and seldom asked for

    if n < 0 or n != math.floor(n):
        raise ValueError("expected an order of 0, 1, 2, ...")
    return float(polygamma(int(n), x))


FLOAT_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **{name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name)},
        "abs": abs,
        "sech": _sech,
        "digamma": lambda x: _polygamma(0.0, x),
        "polygamma": _polygamma,
        "sign": lambda x: float((x > 0) - (x < 0)),
        "floor": lambda x: float(math.floor(x)),
        "min": min,
        "max": max,
        "where": lambda condition, yes, no: yes if condition else no,
    }
)

def _both(a: Any, b: Any) -> Any:
    if type(a) is bool or type(b) is bool:
        known, other = (a, b) if type(a) is bool else (b, a)
        return other if known else False
    return a & b


def _either(a: Any, b: Any) -> Any:
    if type(a) is bool or type(b) is bool:
        known, other = (a, b) if type(a) is bool else (b, a)
        return True if known else other
    return a | b


# "x=0", of the faces of a domain only: it has no value.
EQUALITY = "="
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    **COMPARISONS,
    "and": _both,
    "or": _either,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "not": lambda a: not a if type(a) is bool else ~a,
}
PRECEDENCE = {
    "or": -3, "and": -2, **dict.fromkeys((*COMPARISONS, EQUALITY), 0), "+": 1, "-": 1,
    "*": 2, "/": 2, "**": 4,
}  # fmt: skip
UNARY_PRECEDENCE = {"not": -1, "-": 3, "+": 3}
ATOM_PRECEDENCE = 5
