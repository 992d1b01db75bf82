"""The calls of a tile as tables of addresses and numbers, which compiled code goes through.

Nothing of a program is compiled but its loops: equal ones share their code whatever the sizes, so
another width or another equation of the same kind starts at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .instructions import (
    Blank,
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
from .library import library, loop_module
from .loops import Source
from .memory import Arena
from .native import AS_WRITTEN, address
from .patterns import matrix, two_steps
from .places import CannotCompile
from .shape import Shape


@dataclass(frozen=True)
class Calls:
    """What is called for each tile.

    work       the address of the function that goes through the tiles (`library.library`).
    calls      (n, 2): the address of an entry, and of its table.
    tables     all tables, whose addresses stand in `calls` and in each other.
    constants  the numbers that loops are given.
    arena      numbers in it.
    sums       numbers in it.
    """

    work: int
    calls: np.ndarray
    tables: tuple[np.ndarray, ...]
    constants: np.ndarray
    arena: int
    sums: int


def calls_of(layout: Layout, shape: Shape, most_bytes: int) -> Calls:
    """Return the calls of a layout; CannotCompile where a tile takes more than `most_bytes`."""
    return _Tables(layout, shape, most_bytes).calls()


@dataclass
class _Tables:
    layout: Layout
    shape: Shape
    most_bytes: int
    made: list[tuple[int, np.ndarray]] = field(default_factory=list)
    rows: dict[bytes, np.ndarray] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)

    def calls(self) -> Calls:
        row_bytes = self.shape.tile * self.shape.size
        self.arena = Arena(self.layout, row_bytes)
        nbytes = self.arena.rows * row_bytes
        if nbytes > self.most_bytes:
            raise CannotCompile(f"a tile of {nbytes} bytes, where {self.most_bytes} are the most")
        self.starts = np.concatenate([[0], np.cumsum(self.layout.totals, dtype=np.int64)])
        self.library = library(self.shape)
        for call in self.layout.calls:
            getattr(self, f"_{type(call).__name__.lower()}")(call)
        calls = np.array([(entry, table.ctypes.data) for entry, table in self.made], np.int64)
        return Calls(
            address(self.library, "work", AS_WRITTEN), calls,
            (*(table for _, table in self.made), *self.rows.values()),
            np.array(self.constants or [0.0], self.shape.dtype),
            self.arena.rows * self.shape.tile, int(self.starts[-1]),
        )  # fmt: skip

    def _add(self, name: str, *arguments: int) -> None:
        self._enter(address(self.library, f"call_{name}", AS_WRITTEN), *arguments)

    def _enter(self, entry: int, *arguments: int) -> None:
        self.made.append((entry, np.array(arguments, np.int64)))

    # ---- the calls; their arguments are those of `library.ENTRIES`

    def _take(self, call: Take) -> None:
        self._add(
            "take", call.array, call.width, call.column, call.width, self._row(call.out.first)
        )

    def _product(self, call: Product) -> None:
        m, k = call.weights.places.shape
        first, row, column = matrix(call.weights)
        for rows, out in zip(call.x, call.outs, strict=True):
            self._add(
                "product", m, k, call.weights.array, first, row, column, self._row(int(rows[0])),
                self.shape.tile, self._row(out.first),
            )  # fmt: skip

    def _contraction(self, call: Contraction) -> None:
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._add("contract", m, n, o, self._table(call.a[:, 0]), self._table(call.b[:, 0]),
                  int(self.starts[call.total]))  # fmt: skip

    def _rowsum(self, call: RowSum) -> None:
        n, o = call.rows.shape
        self._add("sum_rows", n, o, self._table(call.rows), int(self.starts[call.total]))

    def _blank(self, call: Blank) -> None:
        self._add("blank", call.rows.size, self._table(call.rows))

    def _gather(self, call: Gather) -> None:
        n, o = call.rows.shape
        self._add("gather", n, o, self._table(call.rows), self._row(call.out.first))

    def _outer(self, call: Outer) -> None:
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._add("outer", m, n, o, self._table(call.a[:, 0]), self._table(call.b[:, 0]),
                  self._row(call.out.first))  # fmt: skip

    def _copy(self, call: Copy) -> None:
        self._add("copy", call.rows.size, self._table(call.rows), self._row(call.out.first))

    def _give(self, call: Give) -> None:
        n = call.rows.size
        self._add("give", n, self._table(call.rows), call.result, n)

    def _fused(self, call: Fused) -> None:
        count = call.outs[0].count
        patterns = [self._pattern(one, call.inner) for one in call.operands]
        sources = tuple(source for source, _ in patterns)
        flat = all(source.table or source.outer == source.inner * call.inner for source in sources)
        if flat:  # one level: how the other would go is the same for all sizes
            sources = tuple(Source(s.kind, 0, s.inner, s.table) for s in sources)
        outer, inner = (1, count) if flat else (count // call.inner, call.inner)
        at = len(self.constants)
        self.constants += call.numbers
        entry = address(loop_module(self.shape, call.loop, sources), "call_loop")
        self._enter(
            entry, outer, inner, at, *(a for _, arguments in patterns for a in arguments),
            *(self._row(out.first) for out in call.outs),
        )  # fmt: skip

    def _pattern(self, operand: np.ndarray | Numbers, inner: int) -> tuple[Source, tuple[int, ...]]:
        """Return how a loop goes through an operand, and the arguments that say where it starts."""
        of_points = isinstance(operand, np.ndarray)
        places = self.arena.place(operand) if of_points else operand.places
        size = self.shape.tile if of_points else 1
        steps = two_steps(places, inner)
        if steps is not None:
            first, far, near = (size * one for one in steps)
            where = (first,) if of_points else (operand.array, first)
            return Source("row" if of_points else "number", far, near), where
        if of_points:
            return Source("row", table=True), (self._table_of(places, size),)
        return Source("number", table=True), (operand.array, 0, self._table_of(places, size))

    def _row(self, row: int) -> int:
        return int(self.arena.place(np.array(row))) * self.shape.tile

    def _table(self, rows: np.ndarray) -> int:
        """Return the address of a table of where rows lie."""
        return self._table_of(self.arena.place(rows), self.shape.tile)

    def _table_of(self, places: np.ndarray, size: int) -> int:
        offsets = places.reshape(-1).astype(np.int64) * size
        return self.rows.setdefault(offsets.tobytes(), offsets).ctypes.data
