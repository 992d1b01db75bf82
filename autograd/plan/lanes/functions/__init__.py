"""Elementwise operations on vectors of points, as text for LLVM.

Each is a function of whole vectors, without branches (save for sines of huge numbers), of sums,
products, fused multiply-adds and selections: the machine's own vector instructions, and no call of
a library that would take the vector apart. Results are within one unit in the last place of the
exact ones over all finite numbers, and right at zeros, infinities and NaN; hardware with fused
multiply-add is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

from . import (
    arithmetic,
    choices,
    circular,
    error_function,
    exponentials,
    hyperbolic,
    inverse_circular,
    inverse_hyperbolic,
    logarithms,
    powers,
)
from .formats import FORMATS
from .huge_arguments import SCALARS
from .text import Function, Real, vector_intrinsics

_LANES = tuple(2**k for k in range(7))

_WRITERS: dict[str, Callable[..., Real]] = {
    "neg": arithmetic.neg,
    "conj": arithmetic.conj,
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "div": arithmetic.div,
    "square": arithmetic.square,
    "reciprocal": arithmetic.reciprocal,
    "sqrt": arithmetic.sqrt,
    "abs": arithmetic.absolute,
    "hypot": arithmetic.hypot,
    "maximum": arithmetic.maximum,
    "minimum": arithmetic.minimum,
    "exp": exponentials.exp,
    "expm1": exponentials.expm1,
    "tanh": exponentials.tanh,
    "log": logarithms.log,
    "log1p": logarithms.log1p,
    "log2": logarithms.log2,
    "log10": logarithms.log10,
    "sin": circular.sin,
    "cos": circular.cos,
    "tan": circular.tan,
    "asin": inverse_circular.asin,
    "acos": inverse_circular.acos,
    "atan": inverse_circular.atan,
    "atan2": inverse_circular.atan2,
    "exp2": exponentials.exp2,
    "pow": powers.pow,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "quotient": arithmetic.quotient,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "asinh": inverse_hyperbolic.asinh,
    "acosh": inverse_hyperbolic.acosh,
    "atanh": inverse_hyperbolic.atanh,
} | {
    name: getattr(choices, name)
    for name in (
        "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not", "where",
        "winner", "sign", "sgn", "signed", "floor", "ceil", "trunc", "round",
    )
}  # fmt: skip

_IN_DOUBLES = frozenset({
    "log2", "log10", "tan", "asin", "acos", "atan", "atan2", "pow", "erf",
    "erfc", "sinh", "cosh", "asinh", "acosh", "atanh",
})  # fmt: skip
"""Those whose single precision is computed in doubles, with shorter polynomials."""

HELD: frozenset[str] = frozenset(_WRITERS)
"""The names of the operations, as the registry has them, that can be written."""

# A function that would come to so many lines of a loop is called instead, if it has as many as a
# call is worth: the compiler takes as long as there are lines, and registers are few.
_MOST_LINES, _WORTH_A_CALL = 400, 25


def name(op: str, dtype: str, lanes: int) -> str:
    """Return the name of the function, without the @ that LLVM puts before it."""
    return f"{op}_{dtype}_{lanes}"


def function_text(op: str, dtype: str, lanes: int, calls: int = 1) -> str:
    """Return the definition of an operation on vectors, with private constants if it has any.

    op: one of HELD. dtype: float64 or float32. lanes: a power of two from 1 to 64. calls: how many
    there are in the module. Its parameters are %x, %y, %z, as many as the operation has; yes and no
    are 1 and 0. It uses what `declarations` lists. ValueError for anything else.
    """
    if op not in HELD:
        raise ValueError(
            f"function_text: no vector code for {op!r}; there is for {', '.join(sorted(HELD))}"
        )
    _check(dtype, lanes)
    form = FORMATS["float64" if op in _IN_DOUBLES else dtype]
    function = Function(form, lanes, name(op, dtype, lanes), FORMATS[dtype])
    writer = _WRITERS[op]
    arguments = list(signature(writer).parameters)
    result = writer(*(function.argument(argument) for argument in arguments))
    text = function.text(arguments, result, "alwaysinline nounwind")
    lines = text.count("\n")
    if lines < _WORTH_A_CALL or calls * lines <= _MOST_LINES:
        return text
    return text.replace("alwaysinline", "noinline")


def declarations(dtype: str, lanes: int) -> set[str]:
    """Return the declarations of all that functions on such vectors call, each once a module.

    Sets of several kinds of vectors can be joined. ValueError as of function_text.
    """
    _check(dtype, lanes)
    return vector_intrinsics(dtype, lanes) | vector_intrinsics("float64", lanes) | set(SCALARS)


def _check(dtype: str, lanes: int) -> None:
    if dtype not in FORMATS:
        raise ValueError(f"vector functions: expected {' or '.join(FORMATS)}, got {dtype!r}")
    if lanes not in _LANES:
        raise ValueError(f"vector functions: expected 1, 2, 4, ..., 64 lanes, got {lanes!r}")
