"""Rows that are taken in, given out as matrices, copied, and blanked at their ends."""

from __future__ import annotations

from .lines import Lines
from .shape import Shape


def copies(shape: Shape) -> str:
    """Return the functions that take rows in and out, copy them and blank their ends.

    take(valid, source, stride, row)  a column of an array of points; the first point of the
        tile stands in for those that are missing.
    blank(valid, n, rows, arena)  zeros for the points that are missing.
    copy(n, rows, arena, target)  rows one after the other.
    """
    text = _COPIES.replace("REAL", shape.real).replace("TILE", str(shape.tile))
    text = text.replace("ROWBYTES", str(shape.tile * shape.size))
    return text.replace("SIZE", str(shape.size))


def give(shape: Shape) -> str:
    """Return `give(valid, n, rows, arena, target)`: (n,) rows as a matrix (points, n).

    Squares of as many rows and points as a register holds are turned over inside registers.
    """
    v, real, lanes = shape.vector, shape.real, shape.lanes
    out = [
        "define internal void @give(i64 %valid, i64 %n, ptr noalias %rows, ptr noalias %arena, "
        "ptr noalias %target) #0 {",
        "entry:",
        f"  %whole = icmp sge i64 %valid, {shape.tile}",
        f"  %over = urem i64 %n, {lanes}",
        "  %even = sub i64 %n, %over",
        "  %wide = select i1 %whole, i64 %even, i64 0",
        "  %some = icmp sgt i64 %wide, 0",
        "  br i1 %some, label %square, label %rest",
        "square:",
        "  %e = phi i64 [0, %entry], [%en, %leave]",
    ]
    for k in range(lanes):
        out += [
            f"  %i{k} = add i64 %e, {k}",
            f"  %t{k} = getelementptr i64, ptr %rows, i64 %i{k}",
            f"  %f{k} = load i64, ptr %t{k}, align 8",
            f"  %p{k} = getelementptr {real}, ptr %arena, i64 %f{k}",
        ]
    out += ["  br label %points", "points:", "  %j = phi i64 [0, %square], [%jn, %points]"]
    names = []
    for k in range(lanes):
        out += [
            f"  %q{k} = getelementptr {real}, ptr %p{k}, i64 %j",
            f"  %x{k} = load {v}, ptr %q{k}, align {shape.host.vector_bytes}",
        ]
        names.append(f"%x{k}")
    names = _turned_over(shape, Lines(out, "s"), names)
    for k in range(lanes):
        out += [
            f"  %r{k} = add i64 %j, {k}",
            f"  %m{k} = mul i64 %r{k}, %n",
            f"  %a{k} = add i64 %m{k}, %e",
            f"  %g{k} = getelementptr {real}, ptr %target, i64 %a{k}",
            f"  store {v} {names[k]}, ptr %g{k}, align {shape.size}",
        ]
    out += [
        f"  %jn = add i64 %j, {lanes}",
        f"  %jmore = icmp slt i64 %jn, {shape.tile}",
        "  br i1 %jmore, label %points, label %leave",
        "leave:",
        f"  %en = add i64 %e, {lanes}",
        "  %emore = icmp slt i64 %en, %wide",
        "  br i1 %emore, label %square, label %rest",
    ]
    return "\n".join(out) + _GIVE_REST.replace("REAL", real).replace("SIZE", str(shape.size))


def _turned_over(shape: Shape, lines: Lines, names: list[str]) -> list[str]:
    """Return the columns of a square of registers."""
    lanes, block = shape.lanes, shape.lanes // 2
    while block:
        low = [k if not k & block else lanes + (k ^ block) for k in range(lanes)]
        high = [k | block if not k & block else lanes + k for k in range(lanes)]
        new = list(names)
        for k in range(lanes):
            if not k & block:
                pair = names[k], names[k | block]
                new[k] = lines.shuffle(shape.real, lanes, *pair, low)
                new[k | block] = lines.shuffle(shape.real, lanes, *pair, high)
        names, block = new, block // 2
    return names


_GIVE_REST = """
rest:
  %first = phi i64 [0, %entry], [%wide, %leave]
  %none = icmp sge i64 %first, %n
  br i1 %none, label %done, label %each
each:
  %one = phi i64 [%first, %rest], [%next, %turn]
  %t = getelementptr i64, ptr %rows, i64 %one
  %f = load i64, ptr %t, align 8
  %p = getelementptr REAL, ptr %arena, i64 %f
  br label %loop
loop:
  %k = phi i64 [0, %each], [%kn, %loop]
  %q = getelementptr REAL, ptr %p, i64 %k
  %v = load REAL, ptr %q, align SIZE
  %kr = mul i64 %k, %n
  %ke = add i64 %kr, %one
  %g = getelementptr REAL, ptr %target, i64 %ke
  store REAL %v, ptr %g, align SIZE
  %kn = add i64 %k, 1
  %more = icmp slt i64 %kn, %valid
  br i1 %more, label %loop, label %turn
turn:
  %next = add i64 %one, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %each, label %done
done:
  ret void
}
"""


_COPIES = """define internal void @take(i64 %valid, ptr %source, i64 %stride, ptr %row) #0 {
entry:
  br label %loop
loop:
  %t = phi i64 [0, %entry], [%n, %loop]
  %inside = icmp slt i64 %t, %valid
  %from = select i1 %inside, i64 %t, i64 0
  %f = mul i64 %from, %stride
  %p = getelementptr REAL, ptr %source, i64 %f
  %v = load REAL, ptr %p, align SIZE
  %q = getelementptr REAL, ptr %row, i64 %t
  store REAL %v, ptr %q, align SIZE
  %n = add i64 %t, 1
  %more = icmp slt i64 %n, TILE
  br i1 %more, label %loop, label %done
done:
  ret void
}
define internal void @blank(i64 %valid, i64 %n, ptr %rows, ptr %arena) #0 {
entry:
  %none = icmp sge i64 %valid, TILE
  br i1 %none, label %done, label %each
each:
  %e = phi i64 [0, %entry], [%en, %turn]
  %t = getelementptr i64, ptr %rows, i64 %e
  %f = load i64, ptr %t, align 8
  %p = getelementptr REAL, ptr %arena, i64 %f
  br label %loop
loop:
  %k = phi i64 [%valid, %each], [%kn, %loop]
  %q = getelementptr REAL, ptr %p, i64 %k
  store REAL zeroinitializer, ptr %q, align SIZE
  %kn = add i64 %k, 1
  %more = icmp slt i64 %kn, TILE
  br i1 %more, label %loop, label %turn
turn:
  %en = add i64 %e, 1
  %again = icmp slt i64 %en, %n
  br i1 %again, label %each, label %done
done:
  ret void
}
define internal void @copy(i64 %n, ptr %rows, ptr %arena, ptr %target) #0 {
entry:
  br label %each
each:
  %e = phi i64 [0, %entry], [%en, %each]
  %t = getelementptr i64, ptr %rows, i64 %e
  %f = load i64, ptr %t, align 8
  %p = getelementptr REAL, ptr %arena, i64 %f
  %to = mul i64 %e, TILE
  %q = getelementptr REAL, ptr %target, i64 %to
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 ROWBYTES, i1 false)
  %en = add i64 %e, 1
  %again = icmp slt i64 %en, %n
  br i1 %again, label %each, label %done
done:
  ret void
}
"""
