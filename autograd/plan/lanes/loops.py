"""Fused loops over rows."""

from __future__ import annotations

from dataclasses import dataclass

from ..passes.clusters import Loop, Operand
from . import functions
from .lines import Lines, vector_constant
from .shape import Shape


@dataclass(frozen=True)
class Source:
    """How a loop reads an operand.

    kind    "row": T numbers a row; "number": one, for all points.
    outer, inner  numbers between what follows along the two levels of the loop.
    table   the operand is a table of offsets in the arena instead, one a row.
    """

    kind: str
    outer: int = 0
    inner: int = 0
    table: bool = False


def loop_text(shape: Shape, name: str, loop: Loop, sources: tuple[Source, ...]) -> str:
    """Return `name(outer, inner, numbers, operands..., outputs...)`: a fused loop over rows.

    sources  one an input: how its rows, or numbers, follow each other.
    """
    real, tile = shape.real, shape.tile
    wide = shape.wide
    v = f"<{wide} x {real}>"
    names = [f"ptr %x{k}" for k in range(len(sources))]
    for k, source in enumerate(sources):  # a table comes after the numbers that it leads to
        if source.kind == "number" and source.table:
            names[k] += f", ptr %t{k}"
    names += [f"ptr %y{k}" for k in range(len(loop.outputs))]
    out = [
        f"define internal void @{name}(i64 %outer, i64 %inner, ptr %arena, ptr %numbers, "
        f"{', '.join(names)}) #0 {{",
        "entry:",
    ]
    lines = Lines(out, "v")

    def splat(scalar: str) -> str:
        first = lines.new(f"insertelement {v} poison, {real} {scalar}, i32 0")
        return lines.new(f"shufflevector {v} {first}, {v} poison, <{wide} x i32> zeroinitializer")

    def number(pointer: str, index: str) -> str:
        place = lines.new(f"getelementptr {real}, ptr {pointer}, i64 {index}")
        return splat(lines.new(f"load {real}, ptr {place}, align {shape.size}"))

    given = [number("%numbers", str(k)) for k in range(loop.numbers)]
    out += [
        "  br label %outer_loop",
        "outer_loop:",
        "  %o = phi i64 [0, %entry], [%on, %leave]",
        "  %first = mul i64 %o, %inner",
        "  br label %inner_loop",
        "inner_loop:",
        "  %i = phi i64 [0, %outer_loop], [%in, %turn]",
        "  %r = add i64 %first, %i",
    ]
    values: dict[int, str] = {}
    bases: dict[int, str] = {}
    for k, source in enumerate(sources):
        if source.table:
            of_points = source.kind == "row"
            table, base = (f"%x{k}", "%arena") if of_points else (f"%t{k}", f"%x{k}")
            place = lines.new(f"getelementptr i64, ptr {table}, i64 %r")
            offset = lines.new(f"load i64, ptr {place}, align 8")
        else:
            far = lines.new(f"mul i64 %o, {source.outer}")
            near = lines.new(f"mul i64 %i, {source.inner}")
            offset = lines.new(f"add i64 {far}, {near}")
            base = f"%x{k}"
        if source.kind == "number":
            values[k] = number(base, offset)
        else:
            bases[k] = lines.new(f"getelementptr {real}, ptr {base}, i64 {offset}")
    row = lines.new(f"mul i64 %r, {tile}")
    targets = [
        lines.new(f"getelementptr {real}, ptr %y{k}, i64 {row}") for k in range(len(loop.outputs))
    ]
    out += ["  br label %points", "points:", "  %j = phi i64 [0, %inner_loop], [%jn, %points]"]
    align = shape.host.vector_bytes
    inputs = {}
    for k in range(len(sources)):
        if k in values:
            inputs[k] = values[k]
            continue
        place = lines.new(f"getelementptr {real}, ptr {bases[k]}, i64 %j")
        inputs[k] = lines.new(f"load {v}, ptr {place}, align {align}")
    steps: list[str] = []

    def operand(one: Operand) -> str:
        if one.kind == "literal":
            return vector_constant(real, wide, one.value)
        return {"input": inputs, "step": steps, "number": given}[one.kind][int(one.value)]

    for step in loop.steps:
        function = functions.name(step.op, str(shape.dtype), wide)
        operands = ", ".join(f"{v} {operand(o)}" for o in step.operands)
        steps.append(lines.new(f"call {v} @{function}({operands})"))
    for target, step in zip(targets, loop.outputs, strict=True):
        place = lines.new(f"getelementptr {real}, ptr {target}, i64 %j")
        out.append(f"  store {v} {steps[step]}, ptr {place}, align {align}")
    out += [
        f"  %jn = add i64 %j, {wide}",
        f"  %jmore = icmp slt i64 %jn, {tile}",
        "  br i1 %jmore, label %points, label %turn",
        "turn:",
        "  %in = add i64 %i, 1",
        "  %imore = icmp slt i64 %in, %inner",
        "  br i1 %imore, label %inner_loop, label %leave",
        "leave:",
        "  %on = add i64 %o, 1",
        "  %omore = icmp slt i64 %on, %outer",
        "  br i1 %omore, label %outer_loop, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(out)
