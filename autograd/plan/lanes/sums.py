"""Sums over points: products of rows with rows, and rows alone, added to totals."""

from __future__ import annotations

from .lines import Lines
from .shape import Shape


def contraction(shape: Shape) -> str:
    """Return `contract(m, n, o, a, b, arena, total)`: total += sum over o and points of a b^T.

    a, b  o offsets in the arena each, of m and of n rows that follow each other.
    total  (m, n) numbers.
    """
    high = shape.host.sum_rows
    sizes = [(h, w) for h in (high, 1) for w in (4, 1)]
    text = [_block(shape, h, w) for h, w in sizes]
    blocks = "\n".join(
        f"b{h}{w}:\n  call void @contract_{h}_{w}(i64 %i, i64 %j, i64 %n, i64 %o, ptr %a, "
        f"ptr %b, ptr %arena, ptr %p)\n  br label %turn"
        for h, w in sizes
    )
    head = _CONTRACTION.replace("REAL", shape.real).replace("HIGH", str(high))
    return "\n".join(text) + "\n" + head.replace("BLOCKS", blocks)


def _block(shape: Shape, height: int, width: int) -> str:
    v, real, size = shape.vector, shape.real, shape.size
    blocks = [(i, j) for i in range(height) for j in range(width)]
    out = [
        f"define internal void @contract_{height}_{width}(i64 %i, i64 %j, i64 %n, i64 %o, "
        "ptr noalias %a, ptr noalias %b, ptr noalias %arena, ptr noalias %total) #0 {",
        "entry:",
        f"  %ai = mul i64 %i, {shape.tile}", f"  %bj = mul i64 %j, {shape.tile}",
        "  br label %loop", "loop:", "  %k = phi i64 [0, %entry], [%next, %loop]",
    ]
    out += [
        f"  %a{i}.{j} = phi {v} [zeroinitializer, %entry], [%s{i}.{j}.{shape.steps}, %loop]"
        for i, j in blocks
    ]
    for side, shift in (("a", "%ai"), ("b", "%bj")):
        out += [
            f"  %t{side} = getelementptr i64, ptr %{side}, i64 %k",
            f"  %o{side} = load i64, ptr %t{side}, align 8",
            f"  %f{side} = add i64 %o{side}, {shift}",
            f"  %p{side} = getelementptr {real}, ptr %arena, i64 %f{side}",
        ]
    names = {(i, j): f"%a{i}.{j}" for i, j in blocks}
    for step in range(shape.steps):
        for side, count in (("a", height), ("b", width)):
            for i in range(count):
                at = i * shape.tile + step * shape.lanes
                out += [
                    f"  %q{side}{i}.{step} = getelementptr {real}, ptr %p{side}, i64 {at}",
                    f"  %v{side}{i}.{step} = load {v}, ptr %q{side}{i}.{step}, "
                    f"align {shape.host.vector_bytes}",
                ]
        for i, j in blocks:
            new = f"%s{i}.{j}.{step + 1}"
            out.append(
                f"  {new} = call {v} {shape.fma}({v} %va{i}.{step}, "
                f"{v} %vb{j}.{step}, {v} {names[i, j]})"
            )
            names[i, j] = new
    out += [
        "  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %o",
        "  br i1 %more, label %loop, label %done", "done:",
    ]
    totals = sums_inside(shape, Lines(out, "h"), [names[block] for block in blocks], width)
    kind = real if width == 1 else f"<{width} x {real}>"
    for i, total in enumerate(totals):
        out += [
            f"  %r{i} = mul i64 %n, {i}",
            f"  %rp{i} = getelementptr {real}, ptr %total, i64 %r{i}",
            f"  %old{i} = load {kind}, ptr %rp{i}, align {size}",
            f"  %new{i} = fadd {kind} %old{i}, {total}",
            f"  store {kind} %new{i}, ptr %rp{i}, align {size}",
        ]
    return "\n".join([*out, "  ret void", "}", ""])


def sums_inside(shape: Shape, lines: Lines, names: list[str], width: int) -> list[str]:
    """Return the sums of registers, `width` at a time: numbers for one, vectors for more.

    names  a power of two of them, `width` too.  Two registers at a time become one, which holds the
    halves of both side by side, added: of 16 registers 15 additions are left instead of 16 times 4.
    """
    real, lanes, held = shape.real, shape.lanes, 1
    while held < lanes:
        part = lanes // held  # of each register that one holds now
        low = [k for k in range(lanes) if k % part < part // 2]
        high = [k + part // 2 for k in low]
        if len(names) == 1:
            names, length = 2 * names, lanes // 2
        else:
            low, high = ([*one, *(lanes + k for k in one)] for one in (low, high))
            held, length = 2 * held, lanes
        names = [
            lines.add(
                f"fadd <{length} x {real}> ",
                lines.shuffle(real, lanes, x, y, low), lines.shuffle(real, lanes, x, y, high),
            )
            for x, y in zip(names[::2], names[1::2], strict=True)
        ]  # fmt: skip
        lanes = length
    while lanes < width:
        pairs = zip(names[::2], names[1::2], strict=True)
        names = [lines.shuffle(real, lanes, x, y, range(2 * lanes)) for x, y in pairs]
        lanes *= 2
    if width == 1:
        return [
            lines.new(f"extractelement <{lanes} x {real}> {name}, i32 {k}")
            for name in names for k in range(lanes)
        ]  # fmt: skip
    starts = range(0, lanes, width)
    return [
        lines.shuffle(real, lanes, name, name, range(k, k + width))
        for name in names for k in starts
    ]


def row_sum(shape: Shape) -> str:
    """Return `sum_rows(n, o, rows, arena, total)`: total += sums inside of rows.

    rows  (n, o) offsets in the arena; the sums over o and the points are added to n numbers.
    """
    v, real = shape.vector, shape.real
    out = [
        "define internal void @sum_rows(i64 %n, i64 %o, ptr %rows, ptr %arena, ptr %total) #0 {",
        "entry:", "  br label %each", "each:", "  %e = phi i64 [0, %entry], [%en, %store]",
        "  %first = mul i64 %e, %o", "  br label %loop", "loop:",
        "  %k = phi i64 [0, %each], [%next, %loop]",
        f"  %a = phi {v} [zeroinitializer, %each], [%s{shape.steps}, %loop]",
        "  %at = add i64 %first, %k", "  %t = getelementptr i64, ptr %rows, i64 %at",
        "  %f = load i64, ptr %t, align 8", f"  %p = getelementptr {real}, ptr %arena, i64 %f",
    ]
    previous = "%a"
    for step in range(shape.steps):
        out += [
            f"  %q{step} = getelementptr {real}, ptr %p, i64 {step * shape.lanes}",
            f"  %v{step} = load {v}, ptr %q{step}, align {shape.host.vector_bytes}",
            f"  %s{step + 1} = fadd {v} {previous}, %v{step}",
        ]
        previous = f"%s{step + 1}"
    out += [
        "  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %o",
        "  br i1 %more, label %loop, label %store", "store:",
    ]
    (total,) = sums_inside(shape, Lines(out, "h"), [previous], 1)
    out += [
        f"  %tp = getelementptr {real}, ptr %total, i64 %e",
        f"  %old = load {real}, ptr %tp, align {shape.size}",
        f"  %new = fadd {real} %old, {total}",
        f"  store {real} %new, ptr %tp, align {shape.size}",
        "  %en = add i64 %e, 1", "  %again = icmp slt i64 %en, %n",
        "  br i1 %again, label %each, label %done", "done:", "  ret void", "}", "",
    ]
    return "\n".join(out)


_CONTRACTION = """define internal void @contract(i64 %m, i64 %n, i64 %o, ptr %a, ptr %b,
                               ptr %arena, ptr %total) #0 {
entry:
  br label %rows
rows:
  %i = phi i64 [0, %entry], [%in, %next]
  %il = sub i64 %m, %i
  %ifits = icmp sge i64 %il, HIGH
  %ih = select i1 %ifits, i64 HIGH, i64 1
  %in = add i64 %i, %ih
  br label %columns
columns:
  %j = phi i64 [0, %rows], [%jn, %turn]
  %jl = sub i64 %n, %j
  %jfits = icmp sge i64 %jl, 4
  %jh = select i1 %jfits, i64 4, i64 1
  %jn = add i64 %j, %jh
  %to = mul i64 %i, %n
  %at = add i64 %to, %j
  %p = getelementptr REAL, ptr %total, i64 %at
  br i1 %ifits, label %high, label %low
high:
  br i1 %jfits, label %bHIGH4, label %bHIGH1
low:
  br i1 %jfits, label %b14, label %b11
BLOCKS
turn:
  %jmore = icmp slt i64 %jn, %n
  br i1 %jmore, label %columns, label %next
next:
  %imore = icmp slt i64 %in, %m
  br i1 %imore, label %rows, label %done
done:
  ret void
}
"""
