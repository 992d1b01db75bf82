"""Functions of each element: arithmetic, functions with and without kinks, comparisons, casts."""

from . import (
    activations,
    arithmetic,
    cast,
    compare,
    complex,
    integers,
    piecewise,
    quotient,
    representation,
    select,
    smooth,
    towers,
)

__all__ = [
    "activations",
    "arithmetic",
    "cast",
    "compare",
    "complex",
    "integers",
    "piecewise",
    "quotient",
    "representation",
    "select",
    "smooth",
    "towers",
]
