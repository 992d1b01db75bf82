"""Fused loops over rows, as CUDA C: a thread for each number of a row."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...passes.clusters import Operand
from ..instructions import Fused, Numbers
from ..memory import Arena
from .expressions import expression
from .form import Form
from .indices import index_text


def loop_text(
    call: Fused,
    form: Form,
    arena: Arena,
    table: Callable[[np.ndarray], str],
    number: Callable[[float], str],
) -> list[str]:
    """Return the lines of a loop.

    table   `(places) -> name` of an array of the kernel's text that holds them.
    number  `(value) -> name` of a number that is given at run time.
    """
    count = call.outs[0].count
    used = {int(o.value) for step in call.loop.steps for o in step.operands if o.kind == "input"}
    lines = [
        f"for (int e = threadIdx.x; e < {count} * TILE; e += THREADS) {{",
        "  const int r = e / TILE, t = e % TILE;",
    ]
    for k in sorted(used):
        operand = call.operands[k]
        if isinstance(operand, Numbers):
            source = f"n{operand.array}[{index_text(operand.places, call.inner, 'r', table)}]"
        else:
            places = arena.place(operand) * form.row
            source = f"arena[{index_text(places, call.inner, 'r', table)} + t]"
        lines.append(f"  const R a{k} = {source};")

    def text(operand: Operand) -> str:
        if operand.kind == "literal":
            if math.isfinite(operand.value):
                return f"R({float(operand.value)!r})"
            return number(operand.value)
        if operand.kind == "number":
            return number(call.numbers[int(operand.value)])
        return {"input": "a", "step": "s"}[operand.kind] + str(int(operand.value))

    for k, step in enumerate(call.loop.steps):
        found = expression(step.op, [text(o) for o in step.operands])
        lines.append(f"  const R s{k} = {found};")
    for out, step in zip(call.outs, call.loop.outputs, strict=True):
        first = int(arena.place(np.array(out.first))) * form.row
        lines.append(f"  arena[{first} + r * ROW + t] = s{step};")
    return [*lines, "}"]
