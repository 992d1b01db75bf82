"""The text of the kernels of a program: from the calls of a tile to CUDA C.

pack      copies the weights of products to where a thread fetches several at once.
work      takes the tiles of a lane, one after the other, through all calls.
add       adds the sums of all lanes: those of each run of lanes in order, then the runs.
add_runs  adds those of some runs alone, which ranks exchange; `add` then takes runs for lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..instructions import (
    Blank,
    Buffer,
    Call,
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
from ..memory import Arena, rows_read, rows_written
from ..patterns import matrix
from .form import Form, form_of, lanes_of
from .functions import PADDED, functions, product_block, square_of
from .loops import loop_text

ADDED, RUNS = 32, 16
"""Sums that a block adds up over lanes, and the runs of lanes that it does so side by side."""


@dataclass(frozen=True)
class Kernels:
    """What is launched for a program.

    text       of a module with the kernel `work`, `add` and `add_runs` where `sums` is not 0, and
               `pack` where `packed` is not.
    form       its shape.
    arrays     the positions of the arrays without points that `work` and `pack` are given.
    products   blocks of `pack`: one a matrix.
    packed     numbers of packed weights.
    constants  the numbers that loops are given.
    arena      numbers of a tile.
    sums       numbers of a lane.
    lanes      at most.
    """

    text: str
    form: Form
    arrays: tuple[int, ...]
    products: int
    packed: int
    constants: np.ndarray
    arena: int
    sums: int
    lanes: int


def kernels_of(layout: Layout, points: int, placed: Sequence[int], shared: int) -> Kernels:
    """Return the kernels of a layout over so many arrays of points.

    placed  where each total over all lanes begins in the memory that `add` writes to.
    shared  bytes of shared memory that a block is given, at most.
    Raises CannotCompile for what they do not hold.
    """
    return _Writer(layout, points, placed, shared).kernels()


@dataclass
class _Writer:
    layout: Layout
    points: int
    placed: Sequence[int]
    shared: int
    body: list[str] = field(default_factory=list)
    packs: dict[tuple, tuple[int, list[str]]] = field(default_factory=dict)
    tables: dict[bytes, int] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    packed: int = 0

    def kernels(self) -> Kernels:
        layout = self.layout
        self.arena = Arena(layout)
        self.form = form_of(layout, self.arena, self.shared)
        self.starts = np.concatenate([[0], np.cumsum(layout.totals, dtype=np.int64)]).tolist()
        self.sums = self.starts[-1]
        read: set[int] = set()
        written: set[int] = set()
        for call in layout.calls:
            reads = self._places(rows_read(call))
            writes = self._places(rows_written(call))
            if (reads | writes) & written or writes & read:
                self.body.append("__syncthreads();")
                read, written = set(), set()
            read |= reads
            written |= writes
            getattr(self, f"_{type(call).__name__.lower()}")(call)
        arrays = sorted({n.array for c in layout.calls for n in _numbers(c)})
        text = "\n".join([
            functions(self.form), self._table_text(), *self._pack_text(arrays),
            *self._work_text(arrays), self._add_text(),
        ])  # fmt: skip
        return Kernels(
            text, self.form, tuple(arrays), len(self.packs), self.packed,
            np.array(self.constants or [0.0], layout.dtype),
            self.arena.rows * self.form.row, self.sums, lanes_of(self.sums),
        )  # fmt: skip

    def _places(self, rows: np.ndarray) -> set[int]:
        return set(self.arena.place(np.unique(rows)).tolist())

    # ---- texts

    def _work_text(self, arrays: list[int]) -> list[str]:
        form, results = self.form, range(len(self.layout.given))
        arguments = [f"const R *__restrict__ p{k}" for k in range(self.points)]
        arguments += [f"const R *__restrict__ n{k}" for k in arrays]
        arguments += ["const R *__restrict__ constants", "const R *__restrict__ packed"]
        arguments += [f"R *__restrict__ r{k}" for k in results]
        arguments += ["R *sums", "R *scratch", "long long count", "int lanes"]
        arguments += ["int begin", "int end"]
        memory = [] if form.shared else [
            f"  R *arena = scratch + (long long)blockIdx.x * {self.arena.rows * form.row};"
        ]  # fmt: skip
        return [
            f'extern "C" __global__ void __launch_bounds__(THREADS, {512 // form.threads})',
            f"work({', '.join(arguments)}) {{", *memory,
            "  for (int t = threadIdx.x; t < ROW; t += THREADS) arena[t] = R(0);",
            "  const long long tiles = (count + TILE - 1) / TILE;",
            "  for (int lane = begin + blockIdx.x; lane < end; lane += gridDim.x) {",
            f"    R *total = sums + (long long)(lane - begin) * {max(1, self.sums)};",
            "    const long long from = tiles * lane / lanes;",
            "    const long long to = tiles * (lane + 1) / lanes;",
            "    for (long long tile = from; tile < to; ++tile) {",
            "      const long long start = tile * TILE;",
            "      const int valid = count - start < TILE ? int(count - start) : TILE;",
            "      const bool first = tile == from;",
            "      __syncthreads();",
            *(f"      {line}" for line in self.body),
            "    }", "  }", "}", "",
        ]  # fmt: skip

    def _pack_text(self, arrays: list[int]) -> list[str]:
        if not self.packs:
            return []
        arguments = [f"const R *__restrict__ n{k}" for k in arrays] + ["R *__restrict__ packed"]
        lines = [f'extern "C" __global__ void pack({", ".join(arguments)}) {{']
        lines += ["  switch (blockIdx.y) {"]
        for number, (_, loop) in enumerate(self.packs.values()):
            lines += [f"  case {number}:", *(f"    {line}" for line in loop), "    break;"]
        return [*lines, "  }", "}", ""]

    def _add_text(self) -> str:
        if not self.sums:
            return ""
        ends = zip(self.starts[1:], self.starts[:-1], self.placed, strict=True)
        moved = [f"  if (k < {end}) return k + {place - start};" for end, start, place in ends]
        text = _ADD_TEXT.replace("MOVED", "\n".join(moved))
        return text.replace("SUMS", str(self.sums))

    def _table_text(self) -> str:
        if not self.places:
            return ""
        numbers = ", ".join(map(str, self.places))
        return f"__device__ const int places[{len(self.places)}] = {{{numbers}}};\n"

    def _table(self, places: np.ndarray) -> str:
        """Return the name of an array that holds places."""
        flat = np.asarray(places, np.int64).reshape(-1)
        key = flat.tobytes()
        if key not in self.tables:
            self.tables[key] = len(self.places)
            self.places += flat.tolist()
        return f"(places + {self.tables[key]})"

    def _rows(self, rows: np.ndarray) -> str:
        """Return the name of an array that says where rows lie."""
        return self._table(self.arena.place(rows) * self.form.row)

    def _row(self, out: Buffer) -> int:
        return int(self.arena.place(np.array(out.first))) * self.form.row

    def _number(self, value: float) -> str:
        self.constants.append(value)
        return f"constants[{len(self.constants) - 1}]"

    # ---- calls

    def _call(self, name: str, *arguments: object) -> None:
        self.body.append(f"{name}({', '.join(map(str, arguments))} IN);")

    def _take(self, call: Take) -> None:
        source = f"p{call.array} + start * {call.width} + {call.column}"
        self._call("take", source, call.width, self._row(call.out), "valid")

    def _product(self, call: Product) -> None:
        m, k = call.weights.places.shape
        lists = len(call.x)
        padded = -(-m // PADDED) * PADDED
        height, width = product_block(self.form, m, lists)
        first = self._packed(call.weights, m, k, padded)
        self._call(
            f"product<{height}, {width}>", m, k, padded, f"packed + {first}", lists,
            self._rows(call.x[:, 0]), self._rows(np.array([out.first for out in call.outs])),
        )  # fmt: skip

    def _packed(self, weights: Numbers, m: int, k: int, padded: int) -> int:
        """Return where packed weights lie."""
        place, row, column = matrix(weights)
        key = (weights.array, place, row, column, m, k)
        if key not in self.packs:
            self.packs[key] = (
                self.packed,
                [
                    f"for (int e = blockIdx.x * THREADS + threadIdx.x; e < {k * padded}; "
                    "e += gridDim.x * THREADS) {",
                    f"  const int i = e % {padded}, j = e / {padded};",
                    f"  packed[{self.packed} + e] = i < {m} ? "
                    f"n{weights.array}[{place} + i * {row} + j * {column}] : R(0);",
                    "}",
                ],
            )
            self.packed += k * padded
        return self.packs[key][0]

    def _blank(self, call: Blank) -> None:
        self.body += ["if (valid < TILE) {", "  __syncthreads();"]
        self._call("  blank", call.rows.size, self._rows(call.rows), "valid")
        self.body += ["  __syncthreads();", "}"]

    def _contraction(self, call: Contraction) -> None:
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._call(
            f"contract<{square_of(self.form, m, n)}>", m, n, o, self._rows(call.a[:, 0]),
            self._rows(call.b[:, 0]), f"total + {self.starts[call.total]}", "first",
        )  # fmt: skip

    def _rowsum(self, call: RowSum) -> None:
        n, o = call.rows.shape
        total = f"total + {self.starts[call.total]}"
        self._call("sum_rows", n, o, self._rows(call.rows), total, "first")

    def _gather(self, call: Gather) -> None:
        n, o = call.rows.shape
        self._call("gather", n, o, self._rows(call.rows), self._row(call.out))

    def _outer(self, call: Outer) -> None:
        (o, m), (_, n) = call.a.shape, call.b.shape
        self._call(
            "outer", m, n, o, self._rows(call.a[:, 0]), self._rows(call.b[:, 0]),
            self._row(call.out),
        )  # fmt: skip

    def _copy(self, call: Copy) -> None:
        self._call("copy", call.rows.size, self._rows(call.rows), self._row(call.out))

    def _give(self, call: Give) -> None:
        n = call.rows.size
        self._call("give", n, self._rows(call.rows), f"r{call.result} + start * {n}", "valid")

    def _fused(self, call: Fused) -> None:
        self.body += loop_text(call, self.form, self.arena, self._table, self._number)


def _numbers(call: Call) -> list[Numbers]:
    """Return the arrays without points that a call reads."""
    if isinstance(call, Product):
        return [call.weights]
    if isinstance(call, Fused):
        return [one for one in call.operands if isinstance(one, Numbers)]
    return []


_ADD_TEXT = f"""__shared__ R parts[{RUNS}][{ADDED}];

__device__ int place_of_sum(int k) {{
MOVED
  return 0;
}}

extern "C" __global__ void add(const R *__restrict__ sums, R *__restrict__ memory, int lanes) {{
  const int column = threadIdx.x % {ADDED}, run = threadIdx.x / {ADDED};
  const int k = blockIdx.x * {ADDED} + column;
  const int from = lanes * run / {RUNS}, to = lanes * (run + 1) / {RUNS};
  R sum = R(0);
  if (k < SUMS) {{
    #pragma unroll 8
    for (int lane = from; lane < to; ++lane) sum += sums[(long long)lane * SUMS + k];
  }}
  parts[run][column] = sum;
  __syncthreads();
  if (run == 0 && k < SUMS) {{
    for (int r = 1; r < {RUNS}; ++r) sum += parts[r][column];
    memory[place_of_sum(k)] = sum;
  }}
}}

// of the lanes of the runs from `begin` on, whose sums come first: one run a row of blocks
extern "C" __global__ void add_runs(const R *__restrict__ sums, R *__restrict__ found, int lanes,
                                    int begin) {{
  const int k = blockIdx.x * THREADS + threadIdx.x, run = begin + blockIdx.y;
  const int known = lanes * begin / {RUNS};
  const int from = lanes * run / {RUNS}, to = lanes * (run + 1) / {RUNS};
  if (k >= SUMS) return;
  R sum = R(0);
  #pragma unroll 8
  for (int lane = from; lane < to; ++lane) sum += sums[(long long)(lane - known) * SUMS + k];
  found[(long long)blockIdx.y * SUMS + k] = sum;
}}
"""
