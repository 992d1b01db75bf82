"""Sums and products of rows that stay rows: point by point."""

from __future__ import annotations

from .shape import Shape


def gather(shape: Shape) -> str:
    """Return `gather(n, o, rows, arena, z)`: n rows z, each the sum of o rows."""
    v, real = shape.vector, shape.real
    out = [
        "define internal void @gather(i64 %n, i64 %o, ptr %rows, ptr %arena, ptr %z) #0 {",
        "entry:",
        "  br label %each",
        "each:",
        "  %e = phi i64 [0, %entry], [%en, %store]",
        "  %first = mul i64 %e, %o",
        "  br label %loop",
        "loop:",
        "  %k = phi i64 [0, %each], [%next, %loop]",
    ]
    steps = range(shape.steps)
    out += [f"  %a{s} = phi {v} [zeroinitializer, %each], [%s{s}, %loop]" for s in steps]
    out += [
        "  %at = add i64 %first, %k",
        "  %t = getelementptr i64, ptr %rows, i64 %at",
        "  %f = load i64, ptr %t, align 8",
        f"  %p = getelementptr {real}, ptr %arena, i64 %f",
    ]
    for s in steps:
        out += [
            f"  %q{s} = getelementptr {real}, ptr %p, i64 {s * shape.lanes}",
            f"  %v{s} = load {v}, ptr %q{s}, align {shape.host.vector_bytes}",
            f"  %s{s} = fadd {v} %a{s}, %v{s}",
        ]
    out += [
        "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %o",
        "  br i1 %more, label %loop, label %store",
        "store:",
        f"  %down = mul i64 %e, {shape.tile}",
        f"  %zp = getelementptr {real}, ptr %z, i64 %down",
    ]
    for s in steps:
        out += [
            f"  %w{s} = getelementptr {real}, ptr %zp, i64 {s * shape.lanes}",
            f"  store {v} %s{s}, ptr %w{s}, align {shape.host.vector_bytes}",
        ]
    out += [
        "  %en = add i64 %e, 1",
        "  %again = icmp slt i64 %en, %n",
        "  br i1 %again, label %each, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(out)


def outer(shape: Shape) -> str:
    """Return `outer(m, n, o, a, b, arena, z)`: (m, n) rows z, sums over o of a times b.

    a, b  o offsets in the arena each, of m and of n rows that follow each other.
    """
    v, real = shape.vector, shape.real
    out = [
        "define internal void @outer(i64 %m, i64 %n, i64 %o, ptr noalias %a, ptr noalias %b, "
        "ptr %arena, ptr noalias %z) #0 {",
        "entry:",
        "  br label %rows",
        "rows:",
        "  %i = phi i64 [0, %entry], [%in, %next]",
        f"  %ai = mul i64 %i, {shape.tile}",
        "  %zi = mul i64 %i, %n",
        "  br label %columns",
        "columns:",
        "  %j = phi i64 [0, %rows], [%jn, %store]",
        f"  %bj = mul i64 %j, {shape.tile}",
        "  br label %loop",
        "loop:",
        "  %k = phi i64 [0, %columns], [%kn, %loop]",
    ]
    steps = range(shape.steps)
    out += [f"  %s{s} = phi {v} [zeroinitializer, %columns], [%t{s}, %loop]" for s in steps]
    for side, shift in (("a", "%ai"), ("b", "%bj")):
        out += [
            f"  %t.{side} = getelementptr i64, ptr %{side}, i64 %k",
            f"  %o.{side} = load i64, ptr %t.{side}, align 8",
            f"  %f.{side} = add i64 %o.{side}, {shift}",
            f"  %p.{side} = getelementptr {real}, ptr %arena, i64 %f.{side}",
        ]
        for s in steps:
            out += [
                f"  %q.{side}{s} = getelementptr {real}, ptr %p.{side}, i64 {s * shape.lanes}",
                f"  %v.{side}{s} = load {v}, ptr %q.{side}{s}, align {shape.host.vector_bytes}",
            ]
    out += [f"  %t{s} = call {v} {shape.fma}({v} %v.a{s}, {v} %v.b{s}, {v} %s{s})" for s in steps]
    out += [
        "  %kn = add i64 %k, 1",
        "  %more = icmp slt i64 %kn, %o",
        "  br i1 %more, label %loop, label %store",
        "store:",
        "  %zj = add i64 %zi, %j",
        f"  %zo = mul i64 %zj, {shape.tile}",
        f"  %zp = getelementptr {real}, ptr %z, i64 %zo",
    ]
    for s in steps:
        out += [
            f"  %w{s} = getelementptr {real}, ptr %zp, i64 {s * shape.lanes}",
            f"  store {v} %t{s}, ptr %w{s}, align {shape.host.vector_bytes}",
        ]
    out += [
        "  %jn = add i64 %j, 1",
        "  %jmore = icmp slt i64 %jn, %n",
        "  br i1 %jmore, label %columns, label %next",
        "next:",
        "  %in = add i64 %i, 1",
        "  %imore = icmp slt i64 %in, %m",
        "  br i1 %imore, label %rows, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(out)
