"""The text of a compiled tile: its calls one after the other, in a loop over tiles.

`run(points, numbers, constants, results, arena, sums, start, stop)` computes the points from start
to stop: `points`, `numbers` and `results` are tables of addresses, `constants` the loops' numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import vector_functions
from .kernels import ATTRIBUTES, Kernels, Source
from .layout import (
    Contraction,
    Copy,
    Fused,
    Gather,
    Give,
    Layout,
    Numbers,
    Outer,
    Product,
    RowSum,
    Take,
)
from .memory import Arena
from .places import CannotCompile


@dataclass
class Text:
    """A module for LLVM.

    text       of the whole module.
    constants  the numbers that loops are given at run time.
    arena      numbers in it.
    sums       numbers in it.
    """

    text: str
    constants: np.ndarray
    arena: int
    sums: int


def emit(layout: Layout, kernels: Kernels) -> Text:
    """Return the module of a layout."""
    return _Emitter(layout, kernels).text()


@dataclass
class _Emitter:
    layout: Layout
    kernels: Kernels
    lines: list[str] = field(default_factory=list)
    tables: list[int] = field(default_factory=list)
    known: dict[bytes, int] = field(default_factory=dict)
    loops: dict[tuple, str] = field(default_factory=dict)
    functions: set[tuple[str, int]] = field(default_factory=set)
    constants: list[float] = field(default_factory=list)
    count: int = 0

    def text(self) -> Text:
        self.arena = Arena(self.layout)
        self.starts = np.concatenate([[0], np.cumsum(self.layout.totals, dtype=np.int64)])
        for call in self.layout.calls:
            getattr(self, f"_{type(call).__name__.lower()}")(call)
        k = self.kernels
        texts = [
            k.product(), k.contraction(), k.row_sum(), k.gather(), k.outer(), k.copies(),
            *self.loops.values(),
        ]
        declared = {
            f"declare {k.vector} @llvm.fma.{k.suffix}({k.vector}, {k.vector}, {k.vector})",
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
            *vector_functions.declarations(str(k.dtype), k.wide),
        }
        texts += [
            vector_functions.function_text(op, str(k.dtype), lanes)
            for op, lanes in sorted(self.functions)
        ]
        table = ", ".join(f"i64 {one}" for one in self.tables) or "i64 0"
        head = [
            *sorted(declared),
            f"@tables = private unnamed_addr constant [{max(1, len(self.tables))} x i64] [{table}]",
        ]
        main = [
            "define void @run(ptr %points, ptr %numbers, ptr %constants, ptr %results, "
            "ptr %arena, ptr %sums, i64 %from, i64 %to) #0 {", "entry:", "  br label %tile",
            "tile:", "  %start = phi i64 [%from, %entry], [%stop, %tile]",
            f"  %stop = add i64 %start, {k.tile}", "  %short = icmp sgt i64 %stop, %to",
            "  %end = select i1 %short, i64 %to, i64 %stop", "  %valid = sub i64 %end, %start",
            *self.lines,
            "  %more = icmp slt i64 %stop, %to", "  br i1 %more, label %tile, label %done",
            "done:", "  ret void", "}",
        ]
        tail = [
            f"attributes #0 = {{ {ATTRIBUTES} }}", "!0 = distinct !{!0, !1}",
            '!1 = !{!"llvm.loop.unroll.count", i32 4}', "",
        ]
        return Text(
            "\n".join([*head, *texts, *main, *tail]),
            np.array(self.constants or [0.0], k.dtype),
            self.arena.rows * k.tile,
            int(self.starts[-1]),
        )

    # ---- the calls

    def _take(self, call: Take) -> None:
        source = self._address("%points", call.array)
        over = self._new(f"mul i64 %start, {call.width}")
        at = self._new(f"add i64 {over}, {call.column}")
        source = self._new(f"getelementptr {self.kernels.real}, ptr {source}, i64 {at}")
        self._call("take", "i64 %valid", f"ptr {source}", f"i64 {call.width}",
                   self._row(call.out.first))

    def _product(self, call: Product) -> None:
        weights = call.weights.places
        m, k = weights.shape
        row = int(weights[1, 0] - weights[0, 0]) if m > 1 else 0
        column = int(weights[0, 1] - weights[0, 0]) if k > 1 else 0
        base = self._address("%numbers", call.weights.array)
        for number, rows in enumerate(call.x):
            self._call(
                "product", f"i64 {m}", f"i64 {k}", f"ptr {base}", f"i64 {row}", f"i64 {column}",
                self._row(int(rows[0])), f"i64 {self.kernels.tile}",
                self._row(call.out.first + number * m),
            )

    def _contraction(self, call: Contraction) -> None:
        for rows in (call.a, call.b):
            self._blank(rows)
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._call(
            "contract", f"i64 {m}", f"i64 {n}", f"i64 {o}", self._table(call.a[:, 0]),
            self._table(call.b[:, 0]), "ptr %arena", self._total(call.total),
        )

    def _rowsum(self, call: RowSum) -> None:
        self._blank(call.rows)
        n, o = call.rows.shape
        self._call("sum_rows", f"i64 {n}", f"i64 {o}", self._table(call.rows), "ptr %arena",
                   self._total(call.total))

    def _blank(self, rows: np.ndarray) -> None:
        """Put zeros where points are missing, so that they do not count."""
        flat = np.unique(rows)
        self._call("blank", "i64 %valid", f"i64 {flat.size}", self._table(flat), "ptr %arena")

    def _gather(self, call: Gather) -> None:
        n, o = call.rows.shape
        self._call("gather", f"i64 {n}", f"i64 {o}", self._table(call.rows), "ptr %arena",
                   self._row(call.out.first))

    def _outer(self, call: Outer) -> None:
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._call(
            "outer", f"i64 {m}", f"i64 {n}", f"i64 {o}", self._table(call.a[:, 0]),
            self._table(call.b[:, 0]), "ptr %arena", self._row(call.out.first),
        )

    def _copy(self, call: Copy) -> None:
        self._call("copy", f"i64 {call.rows.size}", self._table(call.rows), "ptr %arena",
                   self._row(call.out.first))

    def _give(self, call: Give) -> None:
        target = self._address("%results", call.result)
        at = self._new(f"mul i64 %start, {call.rows.size}")
        target = self._new(f"getelementptr {self.kernels.real}, ptr {target}, i64 {at}")
        self._call("give", "i64 %valid", f"i64 {call.rows.size}", self._table(call.rows),
                   "ptr %arena", f"ptr {target}")

    def _fused(self, call: Fused) -> None:
        kernels = self.kernels
        count = call.outs[0].count
        patterns = [self._pattern(one, call.inner) for one in call.operands]
        flat = all(_is_flat(source, call.inner) for source, _ in patterns)
        outer, inner = (1, count) if flat else (count // call.inner, call.inner)
        sources = tuple(source for source, _ in patterns)
        key = (call.loop, sources)
        if key not in self.loops:
            name = f"loop{len(self.loops)}"
            self.loops[key] = kernels.loop(name, call.loop, sources)
            self.functions |= {(step.op, kernels.wide) for step in call.loop.steps}
        name = f"loop{list(self.loops).index(key)}"
        at = len(self.constants)
        self.constants += call.numbers
        numbers = self._new(f"getelementptr {kernels.real}, ptr %constants, i64 {at}")
        self._call(
            name, f"i64 {outer}", f"i64 {inner}", "ptr %arena", f"ptr {numbers}",
            *(base for _, base in patterns), *(self._row(out.first) for out in call.outs),
        )

    def _pattern(self, operand: np.ndarray | Numbers, inner: int) -> tuple[Source, str]:
        """Return how a loop goes through an operand, and the argument it starts from."""
        of_points = isinstance(operand, np.ndarray)
        places = self.arena.place(operand) if of_points else operand.places
        size = self.kernels.tile if of_points else 1
        kind = "row" if of_points else "number"
        grid = places.reshape(-1, inner)
        far = int(grid[1, 0] - grid[0, 0]) if len(grid) > 1 else int(grid[0, -1] - grid[0, 0]) + 1
        near = int(grid[0, 1] - grid[0, 0]) if inner > 1 else 0
        if len(grid) == 1:
            far = near * inner
        elif inner == 1:
            near = far
        expected = grid[0, 0] + far * np.arange(len(grid))[:, None] + near * np.arange(inner)
        if np.array_equal(grid, expected):
            first = int(grid[0, 0]) * size
            if of_points:
                base = self._pointer("%arena", first)
            else:
                base = self._pointer(self._address("%numbers", operand.array), first)
            return Source(kind, far * size, near * size), f"ptr {base}"
        if not of_points:
            raise CannotCompile("numbers that do not follow each other")
        return Source(kind, table=True), self._table_of(places)

    # ---- arguments

    def _new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def _call(self, name: str, *arguments: str) -> None:
        self.lines.append(f"  call void @{name}({', '.join(arguments)})")

    def _pointer(self, base: str, numbers: int) -> str:
        return self._new(f"getelementptr {self.kernels.real}, ptr {base}, i64 {numbers}")

    def _address(self, table: str, position: int) -> str:
        place = self._new(f"getelementptr ptr, ptr {table}, i64 {position}")
        return self._new(f"load ptr, ptr {place}, align 8")

    def _row(self, row: int) -> str:
        at = int(self.arena.place(np.array(row))) * self.kernels.tile
        return f"ptr {self._pointer('%arena', at)}"

    def _total(self, number: int) -> str:
        return f"ptr {self._pointer('%sums', int(self.starts[number]))}"

    def _table(self, rows: np.ndarray) -> str:
        """Return the argument of a table of where rows lie."""
        return self._table_of(self.arena.place(rows))

    def _table_of(self, places: np.ndarray) -> str:
        offsets = places.reshape(-1).astype(np.int64) * self.kernels.tile
        key = offsets.tobytes()
        if key not in self.known:
            self.known[key] = len(self.tables)
            self.tables += offsets.tolist()
        at = self.known[key]
        return f"ptr getelementptr (i64, ptr @tables, i64 {at})"


def _is_flat(source: Source, inner: int) -> bool:
    return source.table or source.outer == source.inner * inner
