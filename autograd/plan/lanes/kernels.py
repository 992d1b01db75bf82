"""Texts of the functions that a compiled tile is made of: products, sums, loops and copies.

The values of a tile of T points lie as rows of T numbers, one row an element of the value; a
matrix of weights lies as it does elsewhere.  So a product with weights is, for each of its rows, a
sum of rows times numbers, and what is added over points is a sum inside of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..passes.clusters import Loop, Operand
from . import vector_functions
from .host import Host

ATTRIBUTES = (
    'nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" "no-trapping-math"="true"'
)


@dataclass(frozen=True)
class Kernels:
    """The functions for one dtype and size of tile.

    tile  the number of points T, a multiple of `step`.
    """

    host: Host
    dtype: np.dtype
    tile: int

    @property
    def real(self) -> str:
        """The number type's name."""
        return {"float32": "float", "float64": "double"}[str(self.dtype)]

    @property
    def lanes(self) -> int:
        """How many numbers a register holds."""
        return self.host.lanes(self.dtype)

    @cached_property
    def vector(self) -> str:
        """The type of a register."""
        return f"<{self.lanes} x {self.real}>"

    @property
    def suffix(self) -> str:
        """The end of the intrinsics' names."""
        return f"v{self.lanes}f{8 * self.dtype.itemsize}"

    # ---- products

    def product(self) -> str:
        """Return `product(m, k, w, row, column, x, stride, z)`: z = W x.

        W has m rows and k columns that lie `row` and `column` numbers apart; the k rows of x lie
        `stride` apart, the m rows of z one after the other.
        """
        most, wide = self.host.block
        heights = [h for h in (most, 2, 1) if h <= most]
        text = [self._product_block(height, wide) for height in heights]
        head = (
            "define internal void @product(i64 %m, i64 %k, ptr %w, i64 %row, i64 %column, ptr %x, "
            "i64 %stride, ptr %z) #0 {\nentry:\n  br label %try0\n"
        )
        body = []
        for number, height in enumerate(heights):
            last = number + 1 == len(heights)
            after = "done" if last else f"try{number + 1}"
            start = "0" if number == 0 else f"%left{number - 1}"
            before = "entry" if number == 0 else f"leave{number - 1}"
            n = number
            body.append(f"""try{n}:
  %start{n} = phi i64 [{start}, %{before}]
  br label %test{n}
test{n}:
  %i{n} = phi i64 [%start{n}, %try{n}], [%next{n}, %turn{n}]
  %next{n} = add i64 %i{n}, {height}
  %fits{n} = icmp sle i64 %next{n}, %m
  br i1 %fits{n}, label %block{n}, label %leave{n}
block{n}:
  %over{n} = mul i64 %i{n}, %row
  %wp{n} = getelementptr {self.real}, ptr %w, i64 %over{n}
  %down{n} = mul i64 %i{n}, {self.tile}
  %zp{n} = getelementptr {self.real}, ptr %z, i64 %down{n}
  br label %part{n}
part{n}:
  %j{n} = phi i64 [0, %block{n}], [%jn{n}, %part{n}]
  %xq{n} = getelementptr {self.real}, ptr %x, i64 %j{n}
  %zq{n} = getelementptr {self.real}, ptr %zp{n}, i64 %j{n}
  call void @product_{height}(i64 %k, ptr %wp{n}, i64 %row, i64 %column, ptr %xq{n}, i64 %stride, ptr %zq{n})
  %jn{n} = add i64 %j{n}, {wide * self.lanes}
  %more{n} = icmp slt i64 %jn{n}, {self.tile}
  br i1 %more{n}, label %part{n}, label %turn{n}
turn{n}:
  br label %test{n}
leave{n}:
  %left{n} = phi i64 [%i{n}, %test{n}]
  br label %{after}""")
        body.append("done:\n  ret void\n}")
        return "\n".join(text) + "\n" + head + "\n".join(body) + "\n"

    def _product_block(self, height: int, wide: int) -> str:
        """Return the function of a block of `height` rows and `wide` registers."""
        v, real = self.vector, self.real
        blocks = [(i, j) for i in range(height) for j in range(wide)]
        out = [
            f"define internal void @product_{height}(i64 %k, ptr noalias %w, i64 %row, "
            f"i64 %column, ptr noalias %x, i64 %stride, ptr noalias %z) #0 {{",
            "entry:",
        ]
        for i in range(height):
            out += [
                f"  %at{i} = mul i64 %row, {i}",
                f"  %w{i} = getelementptr {real}, ptr %w, i64 %at{i}",
            ]
        out += ["  br label %loop", "loop:", "  %n = phi i64 [0, %entry], [%next, %loop]"]
        out += [
            f"  %a{i}.{j} = phi {v} [zeroinitializer, %entry], [%c{i}.{j}, %loop]"
            for i, j in blocks
        ]
        out += ["  %xo = mul i64 %n, %stride", "  %wo = mul i64 %n, %column"]
        out.append(f"  %x0 = getelementptr {real}, ptr %x, i64 %xo")
        for j in range(wide):
            out += [
                f"  %xp{j} = getelementptr {real}, ptr %x0, i64 {j * self.lanes}",
                f"  %xv{j} = load {v}, ptr %xp{j}, align {self.host.vector_bytes}",
            ]
        for i in range(height):
            out.append(f"  %wp{i} = getelementptr {real}, ptr %w{i}, i64 %wo")
            out += self._splat(f"%wv{i}", f"%wp{i}")
        out += [
            f"  %c{i}.{j} = call {v} @llvm.fma.{self.suffix}({v} %wv{i}, {v} %xv{j}, {v} %a{i}.{j})"
            for i, j in blocks
        ]
        out += [
            "  %next = add i64 %n, 1", "  %more = icmp slt i64 %next, %k",
            "  br i1 %more, label %loop, label %done, !llvm.loop !0", "done:",
        ]
        for i, j in blocks:
            out += [
                f"  %z{i}.{j} = getelementptr {real}, ptr %z, i64 {i * self.tile + j * self.lanes}",
                f"  store {v} %c{i}.{j}, ptr %z{i}.{j}, align {self.host.vector_bytes}",
            ]
        return "\n".join([*out, "  ret void", "}", ""])

    def _splat(self, name: str, pointer: str) -> list[str]:
        """Return the lines that fill a register with the number at a pointer."""
        v, bare = self.vector, name[1:]
        return [
            f"  %{bare}.s = load {self.real}, ptr {pointer}, align {self.dtype.itemsize}",
            f"  %{bare}.i = insertelement {v} poison, {self.real} %{bare}.s, i32 0",
            f"  {name} = shufflevector {v} %{bare}.i, {v} poison, "
            f"<{self.lanes} x i32> zeroinitializer",
        ]

    # ---- sums over points

    def contraction(self) -> str:
        """Return `contract(m, n, o, a, b, arena, total)`: total += sum over o and points of a b^T.

        a, b  o offsets in the arena each, of m and of n rows that follow each other.
        total  (m, n) numbers.
        """
        high = self.host.sum_rows
        sizes = [(h, w) for h in (high, 1) for w in (4, 1)]
        text = [self._contraction_block(h, w) for h, w in sizes]
        blocks = "\n".join(
            f"b{h}{w}:\n  call void @contract_{h}_{w}(i64 %i, i64 %j, i64 %n, i64 %o, ptr %a, "
            f"ptr %b, ptr %arena, ptr %p)\n  br label %turn"
            for h, w in sizes
        )
        head = _CONTRACTION.replace("REAL", self.real).replace("HIGH", str(high))
        return "\n".join(text) + "\n" + head.replace("BLOCKS", blocks)

    def _contraction_block(self, height: int, width: int) -> str:
        v, real, size = self.vector, self.real, self.dtype.itemsize
        blocks = [(i, j) for i in range(height) for j in range(width)]
        out = [
            f"define internal void @contract_{height}_{width}(i64 %i, i64 %j, i64 %n, i64 %o, "
            "ptr noalias %a, ptr noalias %b, ptr noalias %arena, ptr noalias %total) #0 {",
            "entry:",
            f"  %ai = mul i64 %i, {self.tile}", f"  %bj = mul i64 %j, {self.tile}",
            "  br label %loop", "loop:", "  %k = phi i64 [0, %entry], [%next, %loop]",
        ]
        out += [
            f"  %a{i}.{j} = phi {v} [zeroinitializer, %entry], [%s{i}.{j}.{self._steps}, %loop]"
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
        for step in range(self._steps):
            for side, count in (("a", height), ("b", width)):
                for i in range(count):
                    at = i * self.tile + step * self.lanes
                    out += [
                        f"  %q{side}{i}.{step} = getelementptr {real}, ptr %p{side}, i64 {at}",
                        f"  %v{side}{i}.{step} = load {v}, ptr %q{side}{i}.{step}, "
                        f"align {self.host.vector_bytes}",
                    ]
            for i, j in blocks:
                new = f"%s{i}.{j}.{step + 1}"
                out.append(
                    f"  {new} = call {v} @llvm.fma.{self.suffix}({v} %va{i}.{step}, "
                    f"{v} %vb{j}.{step}, {v} {names[i, j]})"
                )
                names[i, j] = new
        out += [
            "  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %o",
            "  br i1 %more, label %loop, label %done", "done:",
        ]
        for i in range(height):
            out.append(f"  %r{i} = mul i64 %n, {i}")
            out.append(f"  %rp{i} = getelementptr {real}, ptr %total, i64 %r{i}")
            found = _Lines(out, f"h{i}.")
            total = self._sums_inside(found, [names[i, j] for j in range(width)])
            kind = real if width == 1 else f"<{width} x {real}>"
            out += [
                f"  %old{i} = load {kind}, ptr %rp{i}, align {size}",
                f"  %new{i} = fadd {kind} %old{i}, {total}",
                f"  store {kind} %new{i}, ptr %rp{i}, align {size}",
            ]
        return "\n".join([*out, "  ret void", "}", ""])

    @property
    def _steps(self) -> int:
        return self.tile // self.lanes

    def _sums_inside(self, lines: _Lines, names: list[str]) -> str:
        """Return the sums of registers: a number for one, a vector of four for four of them."""
        real, lanes = self.real, self.lanes
        while lanes > (4 if len(names) == 4 else 1):
            half = lanes // 2
            names = [
                lines.add(
                    f"fadd <{half} x {real}> ",
                    lines.shuffle(real, lanes, name, name, range(half)),
                    lines.shuffle(real, lanes, name, name, range(half, lanes)),
                )
                for name in names
            ]
            lanes = half
        if len(names) == 1:
            return lines.new(f"extractelement <1 x {real}> {names[0]}, i32 0")
        if lanes == 4:
            even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
            pairs = [
                lines.add(
                    f"fadd <4 x {real}> ",
                    lines.shuffle(real, 4, x, y, even), lines.shuffle(real, 4, x, y, odd),
                )
                for x, y in (names[:2], names[2:])
            ]
            low, high = (0, 1, 4, 5), (2, 3, 6, 7)
            return lines.add(
                f"fadd <4 x {real}> ",
                lines.shuffle(real, 4, *pairs, low), lines.shuffle(real, 4, *pairs, high),
            )
        pairs = [  # registers of two
            lines.add(
                f"fadd <2 x {real}> ",
                lines.shuffle(real, 2, x, y, (0, 2)), lines.shuffle(real, 2, x, y, (1, 3)),
            )
            for x, y in (names[:2], names[2:])
        ]
        return lines.shuffle(real, 2, *pairs, range(4))

    def row_sum(self) -> str:
        """Return `sum_rows(n, o, rows, arena, total)`: total += sums inside of rows.

        rows  (n, o) offsets in the arena; the sums over o and the points are added to n numbers.
        """
        v, real = self.vector, self.real
        out = [
            "define internal void @sum_rows(i64 %n, i64 %o, ptr %rows, ptr %arena, ptr %total) #0 {",
            "entry:", "  br label %each", "each:", "  %e = phi i64 [0, %entry], [%en, %store]",
            "  %first = mul i64 %e, %o", "  br label %loop", "loop:",
            "  %k = phi i64 [0, %each], [%next, %loop]",
            f"  %a = phi {v} [zeroinitializer, %each], [%s{self._steps}, %loop]",
            "  %at = add i64 %first, %k", "  %t = getelementptr i64, ptr %rows, i64 %at",
            "  %f = load i64, ptr %t, align 8", f"  %p = getelementptr {real}, ptr %arena, i64 %f",
        ]
        previous = "%a"
        for step in range(self._steps):
            out += [
                f"  %q{step} = getelementptr {real}, ptr %p, i64 {step * self.lanes}",
                f"  %v{step} = load {v}, ptr %q{step}, align {self.host.vector_bytes}",
                f"  %s{step + 1} = fadd {v} {previous}, %v{step}",
            ]
            previous = f"%s{step + 1}"
        out += [
            "  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %o",
            "  br i1 %more, label %loop, label %store", "store:",
        ]
        total = self._sums_inside(_Lines(out, "h"), [previous])
        out += [
            f"  %tp = getelementptr {real}, ptr %total, i64 %e",
            f"  %old = load {real}, ptr %tp, align {self.dtype.itemsize}",
            f"  %new = fadd {real} %old, {total}",
            f"  store {real} %new, ptr %tp, align {self.dtype.itemsize}",
            "  %en = add i64 %e, 1", "  %again = icmp slt i64 %en, %n",
            "  br i1 %again, label %each, label %done", "done:", "  ret void", "}", "",
        ]
        return "\n".join(out)

    # ---- sums and products point by point

    def gather(self) -> str:
        """Return `gather(n, o, rows, arena, z)`: n rows z, each the sum of o rows."""
        v, real = self.vector, self.real
        out = [
            "define internal void @gather(i64 %n, i64 %o, ptr %rows, ptr %arena, ptr %z) #0 {",
            "entry:", "  br label %each", "each:", "  %e = phi i64 [0, %entry], [%en, %store]",
            "  %first = mul i64 %e, %o", "  br label %loop", "loop:",
            "  %k = phi i64 [0, %each], [%next, %loop]",
        ]
        steps = range(self._steps)
        out += [f"  %a{s} = phi {v} [zeroinitializer, %each], [%s{s}, %loop]" for s in steps]
        out += [
            "  %at = add i64 %first, %k", "  %t = getelementptr i64, ptr %rows, i64 %at",
            "  %f = load i64, ptr %t, align 8", f"  %p = getelementptr {real}, ptr %arena, i64 %f",
        ]
        for s in steps:
            out += [
                f"  %q{s} = getelementptr {real}, ptr %p, i64 {s * self.lanes}",
                f"  %v{s} = load {v}, ptr %q{s}, align {self.host.vector_bytes}",
                f"  %s{s} = fadd {v} %a{s}, %v{s}",
            ]
        out += [
            "  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %o",
            "  br i1 %more, label %loop, label %store", "store:",
            f"  %down = mul i64 %e, {self.tile}", f"  %zp = getelementptr {real}, ptr %z, i64 %down",
        ]
        for s in steps:
            out += [
                f"  %w{s} = getelementptr {real}, ptr %zp, i64 {s * self.lanes}",
                f"  store {v} %s{s}, ptr %w{s}, align {self.host.vector_bytes}",
            ]
        out += [
            "  %en = add i64 %e, 1", "  %again = icmp slt i64 %en, %n",
            "  br i1 %again, label %each, label %done", "done:", "  ret void", "}", "",
        ]
        return "\n".join(out)

    def outer(self) -> str:
        """Return `outer(m, n, o, a, b, arena, z)`: (m, n) rows z, sums over o of a times b.

        a, b  o offsets in the arena each, of m and of n rows that follow each other.
        """
        v, real = self.vector, self.real
        out = [
            "define internal void @outer(i64 %m, i64 %n, i64 %o, ptr noalias %a, ptr noalias %b, "
            "ptr %arena, ptr noalias %z) #0 {", "entry:", "  br label %rows", "rows:",
            "  %i = phi i64 [0, %entry], [%in, %next]", f"  %ai = mul i64 %i, {self.tile}",
            "  %zi = mul i64 %i, %n", "  br label %columns", "columns:",
            "  %j = phi i64 [0, %rows], [%jn, %store]", f"  %bj = mul i64 %j, {self.tile}",
            "  br label %loop", "loop:", "  %k = phi i64 [0, %columns], [%kn, %loop]",
        ]
        steps = range(self._steps)
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
                    f"  %q.{side}{s} = getelementptr {real}, ptr %p.{side}, i64 {s * self.lanes}",
                    f"  %v.{side}{s} = load {v}, ptr %q.{side}{s}, "
                    f"align {self.host.vector_bytes}",
                ]
        out += [
            f"  %t{s} = call {v} @llvm.fma.{self.suffix}({v} %v.a{s}, {v} %v.b{s}, {v} %s{s})"
            for s in steps
        ]
        out += [
            "  %kn = add i64 %k, 1", "  %more = icmp slt i64 %kn, %o",
            "  br i1 %more, label %loop, label %store", "store:", "  %zj = add i64 %zi, %j",
            f"  %zo = mul i64 %zj, {self.tile}", f"  %zp = getelementptr {real}, ptr %z, i64 %zo",
        ]
        for s in steps:
            out += [
                f"  %w{s} = getelementptr {real}, ptr %zp, i64 {s * self.lanes}",
                f"  store {v} %t{s}, ptr %w{s}, align {self.host.vector_bytes}",
            ]
        out += [
            "  %jn = add i64 %j, 1", "  %jmore = icmp slt i64 %jn, %n",
            "  br i1 %jmore, label %columns, label %next", "next:",
            "  %in = add i64 %i, 1", "  %imore = icmp slt i64 %in, %m",
            "  br i1 %imore, label %rows, label %done", "done:", "  ret void", "}", "",
        ]
        return "\n".join(out)

    # ---- results

    def give(self) -> str:
        """Return `give(valid, n, rows, arena, target)`: (n,) rows as a matrix (points, n).

        Squares of as many rows and points as a register holds are turned over inside registers.
        """
        v, real, lanes = self.vector, self.real, self.lanes
        out = [
            "define internal void @give(i64 %valid, i64 %n, ptr noalias %rows, ptr noalias %arena, "
            "ptr noalias %target) #0 {", "entry:", f"  %whole = icmp sge i64 %valid, {self.tile}",
            f"  %over = urem i64 %n, {lanes}", "  %even = sub i64 %n, %over",
            "  %wide = select i1 %whole, i64 %even, i64 0", "  %some = icmp sgt i64 %wide, 0",
            "  br i1 %some, label %square, label %rest", "square:",
            "  %e = phi i64 [0, %entry], [%en, %leave]",
        ]
        for k in range(lanes):
            out += [
                f"  %i{k} = add i64 %e, {k}", f"  %t{k} = getelementptr i64, ptr %rows, i64 %i{k}",
                f"  %f{k} = load i64, ptr %t{k}, align 8",
                f"  %p{k} = getelementptr {real}, ptr %arena, i64 %f{k}",
            ]
        out += ["  br label %points", "points:", "  %j = phi i64 [0, %square], [%jn, %points]"]
        names = []
        for k in range(lanes):
            out += [
                f"  %q{k} = getelementptr {real}, ptr %p{k}, i64 %j",
                f"  %x{k} = load {v}, ptr %q{k}, align {self.host.vector_bytes}",
            ]
            names.append(f"%x{k}")
        names = self._turned_over(_Lines(out, "s"), names)
        for k in range(lanes):
            out += [
                f"  %r{k} = add i64 %j, {k}", f"  %m{k} = mul i64 %r{k}, %n",
                f"  %a{k} = add i64 %m{k}, %e", f"  %g{k} = getelementptr {real}, ptr %target, i64 %a{k}",
                f"  store {v} {names[k]}, ptr %g{k}, align {self.dtype.itemsize}",
            ]
        out += [
            f"  %jn = add i64 %j, {lanes}", f"  %jmore = icmp slt i64 %jn, {self.tile}",
            "  br i1 %jmore, label %points, label %leave", "leave:", f"  %en = add i64 %e, {lanes}",
            "  %emore = icmp slt i64 %en, %wide", "  br i1 %emore, label %square, label %rest",
        ]
        return "\n".join(out) + _GIVE_REST.replace("REAL", real).replace(
            "SIZE", str(self.dtype.itemsize)
        )

    def _turned_over(self, lines: _Lines, names: list[str]) -> list[str]:
        """Return the columns of a square of registers."""
        lanes, block = self.lanes, self.lanes // 2
        while block:
            low = [k if not k & block else lanes + (k ^ block) for k in range(lanes)]
            high = [k | block if not k & block else lanes + k for k in range(lanes)]
            new = list(names)
            for k in range(lanes):
                if not k & block:
                    pair = names[k], names[k | block]
                    new[k] = lines.shuffle(self.real, lanes, *pair, low)
                    new[k | block] = lines.shuffle(self.real, lanes, *pair, high)
            names, block = new, block // 2
        return names

    # ---- loops

    def loop(self, name: str, loop: Loop, sources: tuple[Source, ...]) -> str:
        """Return `name(outer, inner, numbers, operands..., outputs...)`: a fused loop over rows.

        sources  one an input: how its rows, or numbers, follow each other.
        """
        real, tile = self.real, self.tile
        wide = self.lanes * (2 if tile % (2 * self.lanes) == 0 else 1)
        v = f"<{wide} x {real}>"
        names = [f"ptr %x{k}" for k in range(len(sources))]
        for k, source in enumerate(sources):  # a table comes after the numbers that it leads to
            if source.kind == "number" and source.table:
                names[k] += f", ptr %t{k}"
        names += [f"ptr %y{k}" for k in range(len(loop.outputs))]
        out = [
            f"define internal void @{name}(i64 %outer, i64 %inner, ptr %arena, ptr %numbers, "
            f"{', '.join(names)}) #0 {{", "entry:",
        ]
        lines = _Lines(out, "v")

        def splat(scalar: str) -> str:
            first = lines.new(f"insertelement {v} poison, {real} {scalar}, i32 0")
            return lines.new(f"shufflevector {v} {first}, {v} poison, <{wide} x i32> zeroinitializer")

        def number(pointer: str, index: str) -> str:
            place = lines.new(f"getelementptr {real}, ptr {pointer}, i64 {index}")
            return splat(lines.new(f"load {real}, ptr {place}, align {self.dtype.itemsize}"))

        given = [number("%numbers", str(k)) for k in range(loop.numbers)]
        out += [
            "  br label %outer_loop", "outer_loop:", "  %o = phi i64 [0, %entry], [%on, %leave]",
            "  %first = mul i64 %o, %inner",
            "  br label %inner_loop", "inner_loop:", "  %i = phi i64 [0, %outer_loop], [%in, %turn]",
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
            lines.new(f"getelementptr {real}, ptr %y{k}, i64 {row}")
            for k in range(len(loop.outputs))
        ]
        out += ["  br label %points", "points:", "  %j = phi i64 [0, %inner_loop], [%jn, %points]"]
        align = self.host.vector_bytes
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
            function = vector_functions.name(step.op, str(self.dtype), wide)
            operands = ", ".join(f"{v} {operand(o)}" for o in step.operands)
            steps.append(lines.new(f"call {v} @{function}({operands})"))
        for target, step in zip(targets, loop.outputs, strict=True):
            place = lines.new(f"getelementptr {real}, ptr {target}, i64 %j")
            out.append(f"  store {v} {steps[step]}, ptr {place}, align {align}")
        out += [
            f"  %jn = add i64 %j, {wide}", f"  %jmore = icmp slt i64 %jn, {tile}",
            "  br i1 %jmore, label %points, label %turn", "turn:",
            "  %in = add i64 %i, 1", "  %imore = icmp slt i64 %in, %inner",
            "  br i1 %imore, label %inner_loop, label %leave", "leave:",
            "  %on = add i64 %o, 1", "  %omore = icmp slt i64 %on, %outer",
            "  br i1 %omore, label %outer_loop, label %done", "done:", "  ret void", "}", "",
        ]
        spec = "iiAc" + "".join(_SPEC[source.kind, source.table] for source in sources)
        out.append(self.entry(name, spec + "a" * len(loop.outputs)))
        return "\n".join(out)

    @property
    def wide(self) -> int:
        """How many numbers a loop takes at a time."""
        return self.lanes * (2 if self.tile % (2 * self.lanes) == 0 else 1)

    # ---- entries

    def entry(self, name: str, spec: str) -> str:
        """Return `call_name(context, table)`, which reads the arguments of `name` and calls it.

        spec  a letter an argument.  From the table: i, a number; a, a place in the arena; t, an
              address; n, an array of numbers and a place in it; c and s, a place among the loops'
              numbers and the sums; p, an array of points, its width and a column; r, a result and
              its width.  From the context: A, the arena; v, how many of the tile's points there are.
        """
        real = self.real
        out = [f"define void @call_{name}(ptr %context, ptr %table) #0 {{", "entry:"]
        lines = _Lines(out, "e")
        read = 0

        def field(position: int, kind: str = "ptr") -> str:
            place = lines.new(f"getelementptr i64, ptr %context, i64 {position}")
            return lines.new(f"load {kind}, ptr {place}, align 8")

        def given(kind: str = "i64") -> str:
            nonlocal read
            place = lines.new(f"getelementptr i64, ptr %table, i64 {read}")
            read += 1
            return lines.new(f"load {kind}, ptr {place}, align 8")

        def element(base: str, offset: str) -> str:
            return lines.new(f"getelementptr {real}, ptr {base}, i64 {offset}")

        def array(position: int) -> str:
            place = lines.new(f"getelementptr ptr, ptr {field(position)}, i64 {given()}")
            return lines.new(f"load ptr, ptr {place}, align 8")

        def argument(letter: str) -> str:
            if letter == "i":
                return f"i64 {given()}"
            if letter == "v":
                return f"i64 {field(VALID, 'i64')}"
            if letter == "t":
                return f"ptr {given('ptr')}"
            if letter == "A":
                return f"ptr {field(ARENA)}"
            if letter in "acs":
                base = field({"a": ARENA, "c": CONSTANTS, "s": SUMS}[letter])
                return f"ptr {element(base, given())}"
            if letter == "n":
                base = array(NUMBERS)
                return f"ptr {element(base, given())}"
            base = array(POINTS if letter == "p" else RESULTS)
            over = lines.new(f"mul i64 {field(START, 'i64')}, {given()}")
            if letter == "p":
                over = lines.new(f"add i64 {over}, {given()}")
            return f"ptr {element(base, over)}"

        arguments = ", ".join([argument(letter) for letter in spec])
        out += [f"  call void @{name}({arguments})", "  ret void", "}", ""]
        return "\n".join(out)

    def library(self) -> str:
        """Return the module of all functions but the loops, and of `work`, which goes through tiles.

        work(contexts, ends, lanes, next, arena, calls, n) takes lanes, the number `next`, until none
        is left; several threads may do so at once, each with an arena.  A lane goes from the start
        in its context to its end.  calls: n pairs of addresses, of an entry and of its table.
        """
        parts = [
            self.product(), self.contraction(), self.row_sum(), self.gather(), self.outer(),
            self.give(), self.copies(), *(self.entry(name, spec) for name, spec in ENTRIES.items()),
        ]
        return self.module("\n".join(parts) + _RUN.replace("TILE", str(self.tile)))

    def loop_module(self, loop: Loop, sources: tuple[Source, ...]) -> str:
        """Return the module of one loop, whose entry is `call_loop`."""
        declared = vector_functions.declarations(str(self.dtype), self.wide)
        functions = [
            vector_functions.function_text(op, str(self.dtype), self.wide)
            for op in dict.fromkeys(step.op for step in loop.steps)
        ]
        return self.module(
            "\n".join([*sorted(declared), *functions, self.loop("loop", loop, sources)]),
            declared=False,
        )

    def module(self, text: str, declared: bool = True) -> str:
        """Return a module of functions, with what they refer to."""
        head = [
            f"declare {self.vector} @llvm.fma.{self.suffix}"
            f"({self.vector}, {self.vector}, {self.vector})",
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        ] if declared else []
        tail = [
            f"attributes #0 = {{ {ATTRIBUTES} }}", "!0 = distinct !{!0, !1}",
            '!1 = !{!"llvm.loop.unroll.count", i32 4}', "",
        ]
        return "\n".join([*head, text, *tail])

    # ---- copies

    def copies(self) -> str:
        """Return the functions that take rows in and out, copy them and blank their ends.

        take(valid, source, stride, row)  a column of an array of points; the first point of the
            tile stands in for those that are missing.
        blank(valid, n, rows, arena)  zeros for the points that are missing.
        copy(n, rows, arena, target)  rows one after the other.
        """
        text = _COPIES.replace("REAL", self.real).replace("TILE", str(self.tile))
        text = text.replace("ROWBYTES", str(self.tile * self.dtype.itemsize))
        return text.replace("SIZE", str(self.dtype.itemsize))


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


class _Lines:
    """Adds lines that make new names."""

    def __init__(self, out: list[str], prefix: str) -> None:
        self.out = out
        self.prefix = prefix
        self.count = 0

    def new(self, text: str) -> str:
        self.count += 1
        name = f"%{self.prefix}{self.count}"
        self.out.append(f"  {name} = {text}")
        return name

    def add(self, what: str, x: str, y: str) -> str:
        return self.new(f"{what}{x}, {y}")

    def shuffle(self, real: str, lanes: int, x: str, y: str, places: object) -> str:
        indices = ", ".join(f"i32 {k}" for k in places)
        count = indices.count("i32")
        return self.new(
            f"shufflevector <{lanes} x {real}> {x}, <{lanes} x {real}> {y}, "
            f"<{count} x i32> <{indices}>"
        )


def number(real: str, value: float) -> str:
    """Return a constant's text, exact: LLVM writes floats too by the bits of a double."""
    single = np.float32(value) if real == "float" else value
    return f"0x{np.float64(single).view(np.uint64):016X}"


def vector_constant(real: str, lanes: int, value: float) -> str:
    """Return a vector of one constant."""
    return f"<{', '.join([f'{real} {number(real, value)}'] * lanes)}>"


POINTS, NUMBERS, CONSTANTS, RESULTS, ARENA, SUMS, START, VALID = range(8)
"""The fields of the context."""

ENTRIES = {
    "product": "iiniiaia", "contract": "iiittAs", "sum_rows": "iitAs", "gather": "iitAa",
    "outer": "iiittAa", "take": "vpia", "give": "vitAr", "blank": "vitA", "copy": "itAa",
}  # fmt: skip
"""The arguments of the library's functions: see `Kernels.entry`."""

_SPEC = {
    ("row", False): "a", ("row", True): "t", ("number", False): "n", ("number", True): "nt",
}  # fmt: skip

_RUN = """
define void @work(ptr %contexts, ptr %ends, i64 %lanes, ptr %next, ptr %arena, ptr %calls, i64 %n) #0 {
entry:
  br label %take
take:
  %lane = atomicrmw add ptr %next, i64 1 seq_cst
  %left = icmp slt i64 %lane, %lanes
  br i1 %left, label %run, label %done
run:
  %at = mul i64 %lane, 8
  %context = getelementptr i64, ptr %contexts, i64 %at
  %place = getelementptr ptr, ptr %context, i64 4
  store ptr %arena, ptr %place, align 8
  %e = getelementptr i64, ptr %ends, i64 %lane
  %to = load i64, ptr %e, align 8
  call void @run(ptr %context, ptr %calls, i64 %n, i64 %to)
  br label %take
done:
  ret void
}
define internal void @run(ptr %context, ptr %calls, i64 %n, i64 %to) #0 {
entry:
  %startp = getelementptr i64, ptr %context, i64 6
  %validp = getelementptr i64, ptr %context, i64 7
  %from = load i64, ptr %startp, align 8
  br label %tile
tile:
  %start = phi i64 [%from, %entry], [%stop, %turn]
  %stop = add i64 %start, TILE
  %short = icmp sgt i64 %stop, %to
  %end = select i1 %short, i64 %to, i64 %stop
  %valid = sub i64 %end, %start
  store i64 %start, ptr %startp, align 8
  store i64 %valid, ptr %validp, align 8
  br label %each
each:
  %k = phi i64 [0, %tile], [%next, %each]
  %two = mul i64 %k, 2
  %f = getelementptr ptr, ptr %calls, i64 %two
  %function = load ptr, ptr %f, align 8
  %t = getelementptr ptr, ptr %f, i64 1
  %table = load ptr, ptr %t, align 8
  call void %function(ptr %context, ptr %table)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %turn
turn:
  %again = icmp slt i64 %stop, %to
  br i1 %again, label %tile, label %done
done:
  ret void
}
"""

_CONTRACTION = """define internal void @contract(i64 %m, i64 %n, i64 %o, ptr %a, ptr %b, ptr %arena, ptr %total) #0 {
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
