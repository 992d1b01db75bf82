"""Common subexpressions: the same operation on the same values is done once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program import Argument, Instruction, Program, Value
from .rewriting import Rewriter, rewrite


def share_common_subexpressions(program: Program) -> Program:
    """Replace repeated computations by the first."""
    known: dict[Any, tuple[Value, ...]] = {}
    constants: dict[Any, Value] = {}

    def rule(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument] | None:
        inputs = [_identity(i, constants) for i in instruction.inputs]
        if instruction.op.commutative:
            inputs.sort(key=repr)
        key = (instruction.op.name, tuple(inputs), _frozen(instruction.attributes))
        if key in known:
            return known[key]
        known[key] = instruction.outputs
        return None

    return rewrite(program, rule, changes=False)


def _identity(argument: Argument, constants: dict) -> Any:
    if not isinstance(argument, Value):
        return ("number", type(argument).__name__, repr(argument))  # -0.0 is not 0.0
    if argument.data is not None and isinstance(argument.data, np.ndarray) and argument.size < 4096:
        key = (argument.data.tobytes(), argument.shape, str(argument.dtype))
        argument = constants.setdefault(key, argument)
    return ("value", argument.number)


def _frozen(value: Any) -> Any:
    """Return attributes as something hashable; arrays by identity."""
    if isinstance(value, dict):
        return tuple([(k, _frozen(v)) for k, v in sorted(value.items())]) if value else ()
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_frozen(v) for v in value))
    if isinstance(value, slice):
        return ("slice", value.start, value.stop, value.step)
    try:
        hash(value)
    except TypeError:
        return ("object", id(value))
    return (type(value).__name__, value)
