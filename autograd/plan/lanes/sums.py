"""Sums over points: products of rows with rows, and rows alone, added to totals."""

from __future__ import annotations

from . import heights
from .lines import Lines
from .shape import Shape

_PANEL_BYTES = 16384
"""Rows of b that are met by all of a before the next: half of the first cache or less."""


def contraction(shape: Shape) -> str:
    """Return `contract(m, n, o, a, b, arena, total)`: total += sum over o and points of a b^T.

    a, b  o offsets in the arena each, of m and of n rows that follow each other.
    total  (m, n) numbers.
    """
    high = shape.host.sum_rows
    sizes = [(h, w) for h in range(1, high + 1) for w in (4, 1)]
    text = [_block(shape, h, w) for h, w in sizes]
    blocks = "\n".join(
        f"b{h}.{w}:\n  call void @contract_{h}_{w}(i64 %i, i64 %j, i64 %n, i64 %o, ptr %a, "
        f"ptr %b, ptr %arena, ptr %p)\n  br label %turn"
        for h, w in sizes
    )
    named = {
        "REAL": shape.real, "BLOCKS": blocks, "FOUND": heights.found(high),
        "ROWS": heights.rows("panels"),
        "PANEL": str(_PANEL_BYTES // (4 * shape.tile * shape.size)),
        "CHOICE4": " ".join(f"i64 {h}, label %b{h}.4" for h in range(1, high + 1)),
        "CHOICE1": " ".join(f"i64 {h}, label %b{h}.1" for h in range(1, high + 1)),
    }  # fmt: skip
    head = _CONTRACTION
    for name, value in named.items():
        head = head.replace(name, value)
    return "\n".join(text) + "\n" + head


def _block(shape: Shape, height: int, width: int) -> str:
    v, real, size = shape.vector, shape.real, shape.size
    blocks = [(i, j) for i in range(height) for j in range(width)]
    out = [
        f"define internal void @contract_{height}_{width}(i64 %i, i64 %j, i64 %n, i64 %o, "
        "ptr noalias %a, ptr noalias %b, ptr noalias %arena, ptr noalias %total) #0 {",
        "entry:",
        f"  %ai = mul i64 %i, {shape.tile}",
        f"  %bj = mul i64 %j, {shape.tile}",
        "  br label %loop",
        "loop:",
        "  %k = phi i64 [0, %entry], [%next, %loop]",
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
        rows = [("a", i) for i in range(height)]
        for side, i in [*rows, *(("b", j) for j in range(width))]:
            at = i * shape.tile + step * shape.lanes
            out += [
                f"  %q{side}{i}.{step} = getelementptr {real}, ptr %p{side}, i64 {at}",
                f"  %v{side}{i}.{step} = load {v}, ptr %q{side}{i}.{step}, "
                f"align {shape.host.vector_bytes}",
            ]
            for k in range(height if side == "b" else 0):
                new = f"%s{k}.{i}.{step + 1}"
                out.append(
                    f"  {new} = call {v} {shape.fma}({v} %va{k}.{step}, "
                    f"{v} %vb{i}.{step}, {v} {names[k, i]})"
                )
                names[k, i] = new
    out += [
        "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %o",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]
    lines, ordered = Lines(out, "h"), [names[block] for block in blocks]
    together = len(blocks) if height & (height - 1) == 0 else width  # powers of two
    totals = [
        total
        for k in range(0, len(blocks), together)
        for total in sums_inside(shape, lines, ordered[k : k + together], width)
    ]
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

    names  a power of two of them, `width` too.  Two registers at a time become one, which holds
           what both have left to add side by side: of 16 registers 15 additions are left instead
           of 16 times 4.  First inside of 128 bits, where numbers change places in one cycle.
    """
    real, lanes = shape.real, shape.lanes
    inside = 16 // shape.size
    held = 1  # sums of which each 128 bits have a share
    while held < inside and len(names) > 1:
        first = [
            (block + place, held)
            for block in range(0, lanes, inside) for place in range(0, inside // 2, held)
        ]  # fmt: skip
        names = _merged(real, lanes, lines, names, first, inside // 2)
        held *= 2
    parts = 1  # of a register, each with sums of its own
    while parts * inside < lanes and len(names) > 1:
        half = lanes // parts // 2
        first = [(part, half) for part in range(0, lanes, 2 * half)]
        names = _merged(real, lanes, lines, names, first, half, together=True)
        parts *= 2
    while parts * held < lanes:
        half = lanes // parts // 2
        low = [part + k for part in range(0, lanes, 2 * half) for k in range(half)]
        names = [
            lines.add(
                f"fadd <{lanes // 2} x {real}> ", lines.shuffle(real, lanes, x, x, low),
                lines.shuffle(real, lanes, x, x, [k + half for k in low]),
            )
            for x in names
        ]  # fmt: skip
        lanes //= 2
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
        for name in names
        for k in starts
    ]


def _merged(
    real: str,
    lanes: int,
    lines: Lines,
    names: list[str],
    first: list[tuple[int, int]],
    far: int,
    together: bool = False,
) -> list[str]:
    """Return half as many registers: of each pair the runs `first`, added to those `far` behind.

    first  place and length of runs.  Those of the two alternate, or, if together, all of the first
           register's come before all of the second's.
    """
    runs = [range(place, place + length) for place, length in first]
    both = [[*run, *(lanes + k for k in run)] for run in runs]
    if together:
        low = [k for run in runs for k in run]
        both = [[*low, *(lanes + k for k in low)]]
    low = [k for run in both for k in run]
    high = [k + far for k in low]
    return [
        lines.add(
            f"fadd <{lanes} x {real}> ",
            lines.shuffle(real, lanes, x, y, low), lines.shuffle(real, lanes, x, y, high),
        )
        for x, y in zip(names[::2], names[1::2], strict=True)
    ]  # fmt: skip


def row_sum(shape: Shape) -> str:
    """Return `sum_rows(n, o, rows, arena, total)`: total += sums inside of rows.

    rows  (n, o) offsets in the arena; the sums over o and the points are added to n numbers.
    """
    v, real = shape.vector, shape.real
    out = [
        "define internal void @sum_rows(i64 %n, i64 %o, ptr %rows, ptr %arena, ptr %total) #0 {",
        "entry:",
        "  br label %each",
        "each:",
        "  %e = phi i64 [0, %entry], [%en, %store]",
        "  %first = mul i64 %e, %o",
        "  br label %loop",
        "loop:",
        "  %k = phi i64 [0, %each], [%next, %loop]",
        f"  %a = phi {v} [zeroinitializer, %each], [%s{shape.steps}, %loop]",
        "  %at = add i64 %first, %k",
        "  %t = getelementptr i64, ptr %rows, i64 %at",
        "  %f = load i64, ptr %t, align 8",
        f"  %p = getelementptr {real}, ptr %arena, i64 %f",
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
        "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %o",
        "  br i1 %more, label %loop, label %store",
        "store:",
    ]
    (total,) = sums_inside(shape, Lines(out, "h"), [previous], 1)
    out += [
        f"  %tp = getelementptr {real}, ptr %total, i64 %e",
        f"  %old = load {real}, ptr %tp, align {shape.size}",
        f"  %new = fadd {real} %old, {total}",
        f"  store {real} %new, ptr %tp, align {shape.size}",
        "  %en = add i64 %e, 1",
        "  %again = icmp slt i64 %en, %n",
        "  br i1 %again, label %each, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(out)


_CONTRACTION = """define internal void @contract(i64 %m, i64 %n, i64 %o, ptr %a, ptr %b,
                               ptr %arena, ptr %total) #0 {
entry:
FOUND
  %fits = udiv i64 PANEL, %o
  %some = call i64 @llvm.umax.i64(i64 %fits, i64 1)
  %panel = mul i64 %some, 4
  br label %panels
panels:
  %from = phi i64 [0, %entry], [%to, %turned]
  %far = add i64 %from, %panel
  %to = call i64 @llvm.smin.i64(i64 %far, i64 %n)
  br label %rows
ROWS
  br label %columns
columns:
  %j = phi i64 [%from, %rows], [%jn, %turn]
  %jl = sub i64 %to, %j
  %jfits = icmp sge i64 %jl, 4
  %jh = select i1 %jfits, i64 4, i64 1
  %jn = add i64 %j, %jh
  %over = mul i64 %i, %n
  %at = add i64 %over, %j
  %p = getelementptr REAL, ptr %total, i64 %at
  br i1 %jfits, label %wide, label %narrow
wide:
  switch i64 %height, label %b1.4 [CHOICE4]
narrow:
  switch i64 %height, label %b1.1 [CHOICE1]
BLOCKS
turn:
  %jmore = icmp slt i64 %jn, %to
  br i1 %jmore, label %columns, label %next
next:
  %imore = icmp slt i64 %in, %m
  br i1 %imore, label %rows, label %turned
turned:
  %left = icmp slt i64 %to, %n
  br i1 %left, label %panels, label %done
done:
  ret void
}
"""
