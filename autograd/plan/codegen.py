"""Source text of loops: Python for numba, the body of an ElementwiseKernel for cupy.

The text is made from the loop alone (operation names, positions, small literals): nothing a user
writes gets into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..ops.registry import REGISTRY
from .lanes.cuda.expressions import expression
from .passes.clusters import Loop, Operand


class KernelText(NamedTuple):
    """The arguments of `cupy.ElementwiseKernel`."""

    in_params: str
    out_params: str
    operation: str
    name: str


def python_source(loop: Loop, shared: tuple[tuple[int, int], ...] = (), *, cached: bool) -> str:
    """Return a module for numba whose `run(address)` computes the loop.

    shared  (input, output) pairs that lie at the same place; all other arrays must be apart.
    cached  whether the compiled code is kept on disk.
    The address is that of an int64 table: rows, columns, numbers, inputs not shared, outputs.
    """
    over = dict(shared)
    names = [f"x{k}" for k in range(len(loop.layouts)) if k not in over]
    names += [f"y{k}" for k in range(len(loop.outputs))]
    arrays = {k: f"y{over[k]}" if k in over else f"x{k}" for k in range(len(loop.layouts))}
    lines = [
        *_head(loop.dtype, cached),
        f"def loop(rows, columns, numbers, {', '.join(names)}):",
        *(f"    c{k} = numbers[{k}]" for k in range(loop.numbers)),
        *_loads(loop, arrays, "scalar", "0", "    "),
    ]
    if loop.flat:
        lines.append("    for i in range(rows * columns):")
        inner = " " * 8
    else:
        inner = " " * 12
        lines += [
            "    for row in range(rows):",
            *_loads(loop, arrays, "column", "row", "        "),
            "        for column in range(columns):",
            f"{inner}i = row * columns + column",
            *_loads(loop, arrays, "row", "column", inner),
        ]
    lines += _loads(loop, arrays, "full", "i", inner)
    for k, step in enumerate(loop.steps):
        operands = [_operand(o) for o in step.operands]
        lines.append(f"{inner}s{k} = {REGISTRY[step.op].code.python.format(*operands)}")
    lines += [f"{inner}y{k}[i] = s{step}" for k, step in enumerate(loop.outputs)]
    lines += _entry(["table[0]", "table[1]", "reals(table[2])"], len(names), cached)
    return "\n".join(lines) + "\n"


def python_row_sum_source(dtype: str, *, cached: bool) -> str:
    """Return a module for numba whose `run(address)` adds up the rows of a matrix.

    The table holds rows, columns, matrix, sum.  Four rows are added before they meet the sum, in an
    order that depends on the number of rows alone.
    """
    lines = [
        *_head(dtype, cached),
        "def loop(rows, columns, x0, y0):",
        "    for column in range(columns):",
        "        y0[column] = R(0.0)",
        "    whole = rows - rows % 4",
        "    for row in range(0, whole, 4):",
        "        i = row * columns",
        "        for column in range(columns):",
        "            k = i + column",
        "            low = x0[k] + x0[k + columns]",
        "            high = x0[k + 2 * columns] + x0[k + 3 * columns]",
        "            y0[column] += low + high",
        "    for row in range(whole, rows):",
        "        for column in range(columns):",
        "            y0[column] += x0[row * columns + column]",
    ]
    lines += _entry(["table[0]", "table[1]"], 2, cached)
    return "\n".join(lines) + "\n"


def cuda_kernel(loop: Loop) -> KernelText:
    """Return the loop as the text of a `cupy.ElementwiseKernel`.

    Its arguments are the inputs, the numbers, the outputs.  All inputs are read before anything is
    written, so an output may lie on a full input.
    """
    real = {"float32": "float", "float64": "double"}[loop.dtype]
    inputs = [f"x{k}" for k in range(len(loop.layouts))]
    inputs += [f"c{k}" for k in range(loop.numbers)]
    lines = [f"typedef {real} R;"]
    lines += [f"const R a{k} = x{k};" for k in range(len(loop.layouts))]
    for k, step in enumerate(loop.steps):
        operands = [_operand(o) for o in step.operands]
        lines.append(f"const R s{k} = {expression(step.op, operands)};")
    lines += [f"y{k} = s{step};" for k, step in enumerate(loop.outputs)]
    return KernelText(
        ", ".join(f"{loop.dtype} {name}" for name in inputs),
        ", ".join(f"{loop.dtype} y{k}" for k in range(len(loop.outputs))),
        "\n".join(lines),
        "autograd_loop",
    )


def _head(dtype: str, cached: bool) -> list[str]:
    return [
        '"""A loop of a recorded step, made by autograd.plan.codegen."""',
        "",
        "import numpy as np",
        f"from autograd.plan.executors.numba_support import {dtype}_at as reals",
        "from autograd.plan.executors.numba_support import entry, inner, int64_at",
        "",
        f"R = np.{dtype}",
        "",
        "",
        f"@inner(cache={cached})",
    ]


def _entry(first: list[str], arrays: int, cached: bool) -> list[str]:
    arguments = first + [f"reals(table[{len(first) + k}])" for k in range(arrays)]
    return [
        "",
        "",
        f"@entry(cache={cached})",
        "def run(address):",
        "    table = int64_at(address)",
        f"    loop({', '.join(arguments)})",
    ]


def _loads(
    loop: Loop, arrays: Mapping[int, str], layout: str, index: str, indent: str
) -> list[str]:
    return [
        f"{indent}a{k} = {arrays[k]}[{index}]"
        for k, one in enumerate(loop.layouts)
        if one == layout
    ]


def _operand(operand: Operand) -> str:
    if operand.kind == "literal":
        return f"R({operand.value!r})"
    return {"input": "a", "step": "s", "number": "c"}[operand.kind] + str(operand.value)
