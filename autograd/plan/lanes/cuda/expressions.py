"""Elementwise operations as expressions of CUDA C, whose functions are the language's own."""

from __future__ import annotations

from ....ops.registry import REGISTRY

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

_FURTHER = {name: f"R({{0}} {sign} {{1}})" for name, sign in _COMPARED.items()} | {
    "conj": "{0}",
    "where": "(({0} != R(0.0)) ? {1} : {2})",
    "winner": "(({1} == {2}) ? R(0.5) * {0} : ({1} < {2}) ? R(0.0) : {0})",
    "sgn": "R(({0} > R(0.0)) - ({0} < R(0.0)))",
    "signed": "(({1} != {1}) ? {1} : {0} * R(({1} > R(0.0)) - ({1} < R(0.0))))",
    "logical_and": "R({0} != R(0.0) && {1} != R(0.0))",
    "logical_or": "R({0} != R(0.0) || {1} != R(0.0))",
    "logical_not": "R({0} == R(0.0))",
    "pow": "pow({0}, {1})",
    "quotient": "(({1} == R(0.0)) ? R(0.0) : {0} / {1})",
    "erf": "erf({0})",
    "erfc": "erfc({0})",
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "trunc": "trunc({0})",
    "round": "rint({0})",
}
"""Those that loops over whole arrays do not have; yes and no are the numbers 1 and 0."""

HELD: frozenset[str] = frozenset(_FURTHER) | {
    name for name, op in REGISTRY.items() if op.code is not None
}
"""The names of the operations, as the registry has them, that can be written."""


def expression(op: str, operands: list[str]) -> str:
    """Return an operation on numbers of type R: names, or literals in parentheses."""
    text = _FURTHER.get(op) or REGISTRY[op].code.cuda
    return text.format(*operands)
