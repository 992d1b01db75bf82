"""Products of weights with rows: the code of W x, with a block of W x in registers at a time."""

from __future__ import annotations

from . import heights
from .shape import Shape

_PANEL = 64
"""Rows of x that are met at a time: they stay in the first cache while all of z goes by."""


def product(shape: Shape) -> str:
    """Return `product(m, k, w, row, column, x, stride, z)`: z = W x.

    W has m rows and k columns that lie `row` and `column` numbers apart; the k rows of x lie
    `stride` apart, the m rows of z one after the other.
    """
    most, wide = shape.host.block
    all_heights = range(1, most + 1)
    panel = _PANEL_OF_ROWS
    for name, value in {
        "HEIGHTS": " ".join(f"i64 {h}, label %block{h}" for h in all_heights),
        "BLOCKS": "\n".join(
            f"block{h}:\n  call void @product_{h}(i64 %k, ptr %wp, i64 %row, i64 %column, "
            "ptr %xq, i64 %stride, ptr %zq, i1 %first)\n  br label %turn"
            for h in all_heights
        ),
        "REAL": shape.real, "TILE": str(shape.tile),
        "WIDE": str(wide * shape.lanes), "FOUND": heights.found(most),
        "ROWS": heights.rows("entry"),
    }.items():  # fmt: skip
        panel = panel.replace(name, value)
    panels = _PANELS.replace("REAL", shape.real).replace("PANEL", str(_PANEL))
    return "\n".join([*(_block(shape, height, wide) for height in all_heights), panel, panels])


def _block(shape: Shape, height: int, wide: int) -> str:
    """Return the function of a block of `height` rows and `wide` registers."""
    v, real = shape.vector, shape.real
    blocks = [(i, j) for i in range(height) for j in range(wide)]
    out = [
        f"define internal void @product_{height}(i64 %k, ptr noalias %w, i64 %row, "
        f"i64 %column, ptr noalias %x, i64 %stride, ptr noalias %z, i1 %first) #0 {{",
        "entry:",
    ]
    for i, j in blocks:
        at = i * shape.tile + j * shape.lanes
        out.append(f"  %z{i}.{j} = getelementptr {real}, ptr %z, i64 {at}")
    for i in range(height):
        out += [
            f"  %at{i} = mul i64 %row, {i}",
            f"  %w{i} = getelementptr {real}, ptr %w, i64 %at{i}",
        ]
    out += ["  br i1 %first, label %loop, label %again", "again:"]
    out += [
        f"  %b{i}.{j} = load {v}, ptr %z{i}.{j}, align {shape.host.vector_bytes}" for i, j in blocks
    ]
    out += [
        "  br label %loop",
        "loop:",
        "  %n = phi i64 [0, %entry], [0, %again], [%next, %loop]",
    ]
    out += [
        f"  %a{i}.{j} = phi {v} [zeroinitializer, %entry], [%b{i}.{j}, %again], [%c{i}.{j}, %loop]"
        for i, j in blocks
    ]
    out += ["  %xo = mul i64 %n, %stride", "  %wo = mul i64 %n, %column"]
    out.append(f"  %x0 = getelementptr {real}, ptr %x, i64 %xo")
    for j in range(wide):
        out += [
            f"  %xp{j} = getelementptr {real}, ptr %x0, i64 {j * shape.lanes}",
            f"  %xv{j} = load {v}, ptr %xp{j}, align {shape.host.vector_bytes}",
        ]
    for i in range(height):
        out.append(f"  %wp{i} = getelementptr {real}, ptr %w{i}, i64 %wo")
        out += _splat(shape, f"%wv{i}", f"%wp{i}")
    out += [
        f"  %c{i}.{j} = call {v} {shape.fma}({v} %wv{i}, {v} %xv{j}, {v} %a{i}.{j})"
        for i, j in blocks
    ]
    out += [
        "  %next = add i64 %n, 1",
        "  %more = icmp slt i64 %next, %k",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]
    for i, j in blocks:
        out.append(f"  store {v} %c{i}.{j}, ptr %z{i}.{j}, align {shape.host.vector_bytes}")
    return "\n".join([*out, "  ret void", "}", ""])


def _splat(shape: Shape, name: str, pointer: str) -> list[str]:
    """Return the lines that fill a register with the number at a pointer."""
    v, bare = shape.vector, name[1:]
    return [
        f"  %{bare}.s = load {shape.real}, ptr {pointer}, align {shape.size}",
        f"  %{bare}.i = insertelement {v} poison, {shape.real} %{bare}.s, i32 0",
        f"  {name} = shufflevector {v} %{bare}.i, {v} poison, "
        f"<{shape.lanes} x i32> zeroinitializer",
    ]


_PANEL_OF_ROWS = """
define internal void @product_panel(i64 %m, i64 %k, ptr %w, i64 %row, i64 %column, ptr %x,
                                    i64 %stride, ptr %z, i1 %first) #0 {
entry:
FOUND
  br label %rows
ROWS
  %over = mul i64 %i, %row
  %wp = getelementptr REAL, ptr %w, i64 %over
  %down = mul i64 %i, TILE
  %zp = getelementptr REAL, ptr %z, i64 %down
  br label %part
part:
  %j = phi i64 [0, %rows], [%jn, %turn]
  %xq = getelementptr REAL, ptr %x, i64 %j
  %zq = getelementptr REAL, ptr %zp, i64 %j
  switch i64 %height, label %block1 [HEIGHTS]
BLOCKS
turn:
  %jn = add i64 %j, WIDE
  %more = icmp slt i64 %jn, TILE
  br i1 %more, label %part, label %next
next:
  %again = icmp slt i64 %rn, %count
  br i1 %again, label %rows, label %done
done:
  ret void
}
"""

_PANELS = """
define internal void @product(i64 %m, i64 %k, ptr %w, i64 %row, i64 %column, ptr %x, i64 %stride,
                              ptr %z) #0 {
entry:
  br label %panel
panel:
  %at = phi i64 [0, %entry], [%end, %panel]
  %end = add i64 %at, PANEL
  %over = icmp sgt i64 %end, %k
  %last = select i1 %over, i64 %k, i64 %end
  %count = sub i64 %last, %at
  %wo = mul i64 %at, %column
  %wp = getelementptr REAL, ptr %w, i64 %wo
  %xo = mul i64 %at, %stride
  %xp = getelementptr REAL, ptr %x, i64 %xo
  %first = icmp eq i64 %at, 0
  call void @product_panel(i64 %m, i64 %count, ptr %wp, i64 %row, i64 %column, ptr %xp,
                           i64 %stride, ptr %z, i1 %first)
  %more = icmp slt i64 %end, %k
  br i1 %more, label %panel, label %done
done:
  ret void
}
"""
