"""Fused loops over whole arrays, and sums of the rows of a matrix, as modules for the compiler.

What tiles do not hold runs operation by operation; between matrix products a cluster of elementwise
operations is one loop over arrays of any length, whose last numbers are read and written by masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..passes.clusters import Loop, Operand
from . import functions
from .host import Host
from .library import module
from .lines import Lines, vector_constant

_REALS = {"float32": ("float", 4), "float64": ("double", 8)}


def numbers_at_a_time(host: Host, dtype: str, columns: int) -> int:
    """Return how many numbers of a row a loop takes at a time: two registers where they fill."""
    lanes = host.vector_bytes // _REALS[dtype][1]
    return 2 * lanes if columns % (2 * lanes) == 0 or columns >= 16 * lanes else lanes


def loop_module(loop: Loop, shared: Sequence[tuple[int, int]], wide: int) -> str:
    """Return the module of a loop, whose `run(table)` computes it.

    shared  (input, output) pairs that lie at the same place.
    wide    numbers at a time.
    The table holds rows, columns, the address of the numbers, those of the inputs that are not
    shared, and those of the outputs.  All of a place is read before anything is written there.
    """
    return _Text(loop.dtype, wide).loop(loop, dict(shared))


def row_sum_module(dtype: str, wide: int) -> str:
    """Return the module of the sum of a matrix' rows, as `run(table)`.

    The table holds rows, columns, and the addresses of the matrix and of the sum.  Four rows are
    added before they meet the sum, in an order that depends on the number of rows alone.
    """
    return _Text(dtype, wide).row_sum()


class _Text:
    """The text of one function `run`, while it is written."""

    def __init__(self, dtype: str, wide: int) -> None:
        self.dtype, self.wide = dtype, wide
        self.real, self.size = _REALS[dtype]
        self.vector, self.truths = f"<{wide} x {self.real}>", f"<{wide} x i1>"
        self.suffix = f"v{wide}f{8 * self.size}"
        self.out = ["define void @run(ptr %table) #0 {", "entry:"]
        self.lines = Lines(self.out, "v")
        self.read = 0

    # ---- pieces

    def entry(self, kind: str) -> str:
        """Return the next entry of the table."""
        place = self.lines.new(f"getelementptr i64, ptr %table, i64 {self.read}")
        self.read += 1
        return self.lines.new(f"load {kind}, ptr {place}, align 8")

    def place(self, array: str, index: str) -> str:
        return self.lines.new(f"getelementptr {self.real}, ptr {array}, i64 {index}")

    def splat(self, array: str, index: str) -> str:
        """Return a number of an array everywhere."""
        place = self.place(array, index)
        number = self.lines.new(f"load {self.real}, ptr {place}, align {self.size}")
        first = self.lines.new(f"insertelement {self.vector} poison, {self.real} {number}, i32 0")
        zeros = f"<{self.wide} x i32> zeroinitializer"
        return self.lines.new(
            f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}"
        )

    def mask(self, left: str) -> str:
        """Return yes for as many lanes as numbers are left."""
        integers = f"<{self.wide} x i64>"
        first = self.lines.new(f"insertelement {integers} poison, i64 {left}, i32 0")
        everywhere = self.lines.new(
            f"shufflevector {integers} {first}, {integers} poison, "
            f"<{self.wide} x i32> zeroinitializer"
        )
        counted = ", ".join(f"i64 {k}" for k in range(self.wide))
        return self.lines.new(f"icmp slt {integers} <{counted}>, {everywhere}")

    def load(self, place: str, mask: str | None) -> str:
        if mask is None:
            return self.lines.new(f"load {self.vector}, ptr {place}, align {self.size}")
        ones = vector_constant(self.real, self.wide, 1.0)
        return self.lines.new(
            f"call {self.vector} @llvm.masked.load.{self.suffix}.p0(ptr {place}, "
            f"i32 {self.size}, {self.truths} {mask}, {self.vector} {ones})"
        )

    def store(self, value: str, place: str, mask: str | None) -> None:
        if mask is None:
            self.out.append(f"  store {self.vector} {value}, ptr {place}, align {self.size}")
        else:
            self.out.append(
                f"  call void @llvm.masked.store.{self.suffix}.p0({self.vector} {value}, "
                f"ptr {place}, i32 {self.size}, {self.truths} {mask})"
            )

    def loads(self, places: Sequence[str], full: str, left: str) -> list[str]:
        """Return the numbers at some places, of which fewer than a vector may be left."""
        here, ends = [], {}
        self.out.append(f"  br i1 {full}, label %load, label %load_some")
        for block, masked in (("load", False), ("load_some", True)):
            self.out.append(f"{block}:")
            mask = self.mask(left) if masked else None
            ends[block] = [self.load(place, mask) for place in places]
            self.out.append("  br label %compute")
        self.out.append("compute:")
        for whole, some in zip(ends["load"], ends["load_some"], strict=True):
            here.append(self.lines.new(
                f"phi {self.vector} [{whole}, %load], [{some}, %load_some]"
            ))  # fmt: skip
        return here

    def stores(self, values: Sequence[str], places: Sequence[str], full: str, left: str) -> None:
        """Write to some places what `loads` has a counterpart of."""
        self.out.append(f"  br i1 {full}, label %store, label %store_some")
        for block, masked in (("store", False), ("store_some", True)):
            self.out.append(f"{block}:")
            mask = self.mask(left) if masked else None
            for value, place in zip(values, places, strict=True):
                self.store(value, place, mask)
            self.out.append("  br label %stored")
        self.out.append("stored:")

    def columns(self, columns: str, before: str) -> tuple[str, str]:
        """Begin the loop over columns: whether a vector is there in full, how much is left."""
        self.out += [
            "  br label %columns",
            "columns:",
            f"  %j = phi i64 [0, %{before}], [%jn, %stored]",
        ]
        left = self.lines.new(f"sub i64 {columns}, %j")
        return self.lines.new(f"icmp sge i64 {left}, {self.wide}"), left

    def end_of_columns(self, columns: str, after: str) -> None:
        self.out += [
            f"  %jn = add i64 %j, {self.wide}",
            f"  %jmore = icmp slt i64 %jn, {columns}",
            f"  br i1 %jmore, label %columns, label %{after}",
        ]

    def text(self, beside: Sequence[str]) -> str:
        masked = f"@llvm.masked.load.{self.suffix}.p0(ptr, i32, {self.truths}, {self.vector})"
        return module([
            f"declare {self.vector} {masked}",
            f"declare void @llvm.masked.store.{self.suffix}.p0({self.vector}, ptr, i32, "
            f"{self.truths})",
            *beside, *self.out,
        ])  # fmt: skip

    # ---- the functions

    def loop(self, loop: Loop, shared: dict[int, int]) -> str:
        rows, columns, numbers = self.entry("i64"), self.entry("i64"), self.entry("ptr")
        own = {k: self.entry("ptr") for k in range(len(loop.layouts)) if k not in shared}
        targets = [self.entry("ptr") for _ in loop.outputs]
        arrays = [targets[shared[k]] if k in shared else own[k] for k in range(len(loop.layouts))]
        kept = {("number", k): self.splat(numbers, str(k)) for k in range(loop.numbers)}
        kept |= self._splats(loop, arrays, "scalar", "0")
        self.out += [
            f"  %empty = icmp slt i64 {columns}, 1",
            "  br i1 %empty, label %done, label %row",
            "row:",
            "  %r = phi i64 [0, %entry], [%rn, %turn]",
            f"  %first = mul i64 %r, {columns}",
        ]
        kept |= self._splats(loop, arrays, "column", "%r")
        full, left = self.columns(columns, "row")
        self.out.append("  %i = add i64 %first, %j")
        read = {k: at for k, one in enumerate(loop.layouts)
                if (at := {"full": "%i", "row": "%j"}.get(one))}  # fmt: skip
        places = [self.place(arrays[k], at) for k, at in read.items()]
        found = self.loads(places, full, left)
        kept |= {("input", k): one for k, one in zip(read, found, strict=True)}
        for k, step in enumerate(loop.steps):
            kept["step", k] = self._step(step.op, [self._operand(kept, o) for o in step.operands])
        values = [kept["step", k] for k in loop.outputs]
        self.stores(values, [self.place(target, "%i") for target in targets], full, left)
        self.end_of_columns(columns, "turn")
        self.out += [
            "turn:",
            "  %rn = add i64 %r, 1",
            f"  %rmore = icmp slt i64 %rn, {rows}",
            "  br i1 %rmore, label %row, label %done",
            "done:",
            "  ret void",
            "}",
        ]
        ops = dict.fromkeys(step.op for step in loop.steps)
        texts = [functions.function_text(op, self.dtype, self.wide) for op in ops]
        return self.text([*sorted(functions.declarations(self.dtype, self.wide)), *texts])

    def _splats(
        self, loop: Loop, arrays: Sequence[str], layout: str, index: str
    ) -> dict[tuple[str, int], str]:
        return {
            ("input", k): self.splat(arrays[k], index)
            for k, one in enumerate(loop.layouts)
            if one == layout
        }

    def _operand(self, kept: dict[tuple[str, int], str], operand: Operand) -> str:
        if operand.kind == "literal":
            return vector_constant(self.real, self.wide, operand.value)
        return kept[operand.kind, int(operand.value)]

    def _step(self, op: str, operands: Sequence[Any]) -> str:
        given = ", ".join(f"{self.vector} {operand}" for operand in operands)
        name = functions.name(op, self.dtype, self.wide)
        return self.lines.new(f"call {self.vector} @{name}({given})")

    def row_sum(self) -> str:
        rows, columns = self.entry("i64"), self.entry("i64")
        matrix, total = self.entry("ptr"), self.entry("ptr")
        self.out += [
            f"  %bytes = mul i64 {columns}, {self.size}",
            f"  call void @llvm.memset.p0.i64(ptr {total}, i8 0, i64 %bytes, i1 false)",
            f"  %empty = icmp slt i64 {rows}, 1",
            "  br i1 %empty, label %done, label %row",
            "row:",
            "  %r = phi i64 [0, %entry], [%rn, %turn]",
            f"  %ahead = sub i64 {rows}, %r",
            "  %four = icmp sge i64 %ahead, 4",
            f"  %first = mul i64 %r, {columns}",
        ]
        full, left = self.columns(columns, "row")
        self.out.append("  %i = add i64 %first, %j")
        # of fewer rows one at a time, which is read four times
        at = ["%i"]
        for _ in range(3):
            further = self.lines.new(f"add i64 {at[-1]}, {columns}")
            at.append(self.lines.new(f"select i1 %four, i64 {further}, i64 {at[-1]}"))
        target = self.place(total, "%j")
        x = self.loads([*(self.place(matrix, one) for one in at), target], full, left)
        low, high = (self.lines.add(f"fadd {self.vector} ", a, b) for a, b in (x[:2], x[2:4]))
        four = self.lines.add(f"fadd {self.vector} ", low, high)
        some = self.lines.new(
            f"select i1 %four, {self.vector} {four}, {self.vector} {x[0]}"
        )
        self.stores([self.lines.add(f"fadd {self.vector} ", x[4], some)], [target], full, left)
        self.end_of_columns(columns, "turn")
        self.out += [
            "turn:",
            "  %step = select i1 %four, i64 4, i64 1",
            "  %rn = add i64 %r, %step",
            f"  %rmore = icmp slt i64 %rn, {rows}",
            "  br i1 %rmore, label %row, label %done",
            "done:",
            "  ret void",
            "}",
        ]
        return self.text(["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"])
