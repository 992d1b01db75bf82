"""Constant folding: what depends on constants and shapes alone is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import devices
from ..program import CONSTANT, Argument, Instruction, Program, Value
from .rewriting import Rewriter, rewrite


def fold_constants(program: Program) -> Program:
    """Evaluate instructions whose inputs are known."""
    return rewrite(program, _fold, changes=False)


def _positions(index: Any) -> list[Any]:
    """Return the arrays of an index."""
    items = index if isinstance(index, tuple) else (index,)
    return [item for item in items if type(item) in devices._by_array_type]


def _fold(rewriter: Rewriter, instruction: Instruction) -> Sequence[Argument] | None:
    values = list(instruction.values())
    if not instruction.op.reads_values:
        like = [np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in values]
        data = instruction.op.forward(np, *like, **instruction.attributes)
        return [rewriter.program.new_constant(data)]
    if not values or any(v.kind != CONSTANT for v in values):
        return None
    met = [*(v.data for v in values), *_positions(instruction.attributes.get("index", ()))]
    if len(set(map(type, met))) > 1:
        return None  # what is of the device and what is of the host meet at replay
    arrays = [i.data if isinstance(i, Value) else i for i in instruction.inputs]
    with np.errstate(all="ignore"):
        result = instruction.op.forward(
            devices.namespace_of(values[0].data), *arrays, **instruction.attributes
        )
    results = result if isinstance(result, tuple) else (result,)
    return [
        rewriter.program.new_constant(np.asarray(r) if isinstance(r, np.generic) else r)
        for r in results
    ]
