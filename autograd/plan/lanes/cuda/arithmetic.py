"""Programs over numbers that know no point, as one kernel of one block: before tiles and after.

All values lie in one memory, and so does what is made of them.  What only moves elements makes no
code where its result can be read from where it lies; and what an output is put together from is
written to its place in the output at once, whatever made it: a kernel before this one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...program import CONSTANT, Instruction, Program, Value
from ..places import CannotCompile, broadcast, factors, moved, moves, summed_dimensions
from .expressions import HELD, expression
from .indices import index_text

THREADS = 512
_MEMORY = 0
"""The buffer that is written; the others are read."""

_FAR = 1 << 40  # a place's code is its buffer times this, and the place
_MOST = 1 << 18
"""Numbers that one block makes or multiplies: in 512 rounds, as long as some ten launches take."""

_MOST_PLACES = 1 << 14


@dataclass(frozen=True)
class Arithmetic:
    """A kernel, and where its results lie.

    text       of the kernel; empty where nothing is left to do.
    numbers    of the memory.
    arrays     positions of the inputs that the kernel is given; after them come the constants.
    constants  what it reads besides.
    placed     where in the memory each of the first inputs begins, which are written there before.
    outputs    where each output begins: (None, place) in the memory, (k, place) in input or, after
               all inputs, constant k.
    """

    text: str
    numbers: int
    arrays: tuple[int, ...]
    constants: tuple[np.ndarray, ...]
    placed: tuple[int, ...]
    outputs: tuple[tuple[int | None, int], ...]


def arithmetic(name: str, program: Program, dtype: np.dtype, placed: int, own: bool) -> Arithmetic:
    """Return the kernel `name` of a program.

    dtype   of all of its values.
    placed  so many inputs, the first, are not arrays: they lie in the memory.
    own     whether each output has to lie in the memory, apart from the others.
    Raises CannotCompile for what one block does not hold or should not do alone.
    """
    return _Writer(name, program, dtype, placed, own).written()


@dataclass
class _Writer:
    name: str
    program: Program
    dtype: np.dtype
    placed: int
    own: bool
    lines: list[str] = field(default_factory=list)
    where: dict[Value, np.ndarray] = field(default_factory=dict)  # codes of places
    target: dict[Value, np.ndarray] = field(default_factory=dict)  # places in the memory
    constants: list[np.ndarray] = field(default_factory=list)
    tables: list[int] = field(default_factory=list)
    fresh: set[int] = field(default_factory=set)  # places written since the last barrier
    numbers: int = 0
    made: int = 0

    def written(self) -> Arithmetic:
        program = self.program
        self._check()
        regions = [self._region(v) if self._needs_region(v) else None for v in program.outputs]
        self._aim(regions)
        for position, value in enumerate(program.inputs):
            if position < self.placed:
                self.where[value] = self._place_for(value)
            else:
                self.where[value] = (1 + position) * _FAR + _all(value)
        for instruction in program.instructions:
            self._write(instruction)
        outputs = []
        for value, region in zip(program.outputs, regions, strict=True):
            codes = self._where(value)
            if region is None and not _is_run(codes):
                region = self._region(value)
            if region is not None:
                self._copy(codes, region)
                codes = region
            buffer, place = divmod(int(codes.flat[0]), _FAR)
            outputs.append((buffer - 1 if buffer else None, place))
        return Arithmetic(
            self._text(), self.numbers, self.arrays, tuple(self.constants),
            tuple(int(self.where[v].flat[0]) for v in program.inputs[: self.placed]),
            tuple(outputs),
        )  # fmt: skip

    def _check(self) -> None:
        values = list(self.program.outputs)
        values += [v for i in self.program.instructions for v in (*i.values(), *i.outputs)]
        used = set(values)
        self.arrays = tuple(
            k for k, v in enumerate(self.program.inputs) if k >= self.placed and v in used
        )
        for value in values:
            if value.dtype not in (self.dtype, bool):
                raise CannotCompile(f"values of dtype {value.dtype} beside {self.dtype}")
            if not value.size:
                raise CannotCompile("an empty value")
        if any(v.dtype == bool for v in (*self.program.inputs, *self.program.outputs)):
            raise CannotCompile("an array of dtype bool")

    # ---- places

    def _needs_region(self, value: Value) -> bool:
        return self.own or value in self._computed and not moves(self._computed[value])

    @property
    def _computed(self) -> dict[Value, Instruction]:
        return {o: i for i in self.program.instructions for o in i.outputs}

    def _region(self, value: Value) -> np.ndarray:
        """Return places in the memory that nothing else has."""
        first = self.numbers
        self.numbers += value.size
        return first + _all(value)

    def _place_for(self, value: Value) -> np.ndarray:
        found = self.target.get(value)
        return self._region(value) if found is None else found

    def _aim(self, regions: Sequence[np.ndarray | None]) -> None:
        """Find what can be written straight to its place in an output, from last to first."""
        here = {*self._computed, *self.program.inputs[: self.placed]}
        for value, region in zip(self.program.outputs, regions, strict=True):
            if region is not None and value in here:
                self.target.setdefault(value, region)
        for instruction in reversed(self.program.instructions):
            aimed = [o for o in instruction.outputs if o in self.target]
            if not moves(instruction) or not aimed:
                continue
            values = list(instruction.values())
            codes = [k * _FAR + _all(v) for k, v in enumerate(values)]
            results = dict(zip(instruction.outputs, moved(instruction, codes), strict=True))
            for k, value in enumerate(values):
                if value not in here or value in self.target:
                    continue
                places = np.full(value.size, -1)
                for output in aimed:
                    mine = results[output] // _FAR == k
                    places[results[output][mine] % _FAR] = self.target[output][mine]
                if places[0] >= 0 and _is_run(places):
                    self.target[value] = places.reshape(value.shape)

    def _where(self, value: Value) -> np.ndarray:
        if value not in self.where:
            assert value.kind == CONSTANT
            self.constants.append(np.ascontiguousarray(value.data, self.dtype))
            buffer = len(self.program.inputs) + len(self.constants)
            self.where[value] = buffer * _FAR + _all(value)
        return self.where[value]

    # ---- operations

    def _write(self, instruction: Instruction) -> None:
        name = instruction.op.name
        if moves(instruction):
            self._move(instruction)
        elif name in ("to", "clone") and instruction.outputs[0].dtype == self.dtype:
            (value,) = instruction.values()
            self._copy_or_look(instruction.outputs[0], self._where(value))
        elif name == "matmul":
            self._matmul(instruction)
        elif name in ("sum", "sum_to", "mean"):
            self._sum(instruction)
        elif instruction.op.elementwise and name in HELD and not instruction.attributes:
            self._elementwise(instruction)
        else:
            raise CannotCompile(f"operation '{name}' on numbers that know no point")

    def _move(self, instruction: Instruction) -> None:
        codes = [self._where(v) for v in instruction.values()]
        results = moved(instruction, codes)
        for output, found in zip(instruction.outputs, results, strict=True):
            self._copy_or_look(output, found)

    def _copy_or_look(self, output: Value, codes: np.ndarray) -> None:
        """Let a value be elements that lie elsewhere, of one buffer, or copy them."""
        codes = codes.reshape(output.shape)
        one_buffer = codes.min() >= 0 and len(np.unique(codes // _FAR)) == 1
        if one_buffer and output not in self.target:
            self.where[output] = codes
            return
        self.where[output] = places = self._place_for(output)
        self._copy(codes, places)

    def _copy(self, codes: np.ndarray, places: np.ndarray) -> None:
        codes, places = codes.reshape(-1), places.reshape(-1)
        away = codes != places
        self._count(int(away.sum()))
        for buffer in np.unique(codes[away] // _FAR):
            mine = away & (codes // _FAR == buffer)
            source = "R(0.0)" if buffer < 0 else self._read(codes[mine], codes[mine].size)
            self._loop(places[mine], [source], lambda values: values[0])

    def _elementwise(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        self._count(output.size)
        operands = []
        for argument in instruction.inputs:
            if isinstance(argument, Value):
                codes = np.ascontiguousarray(broadcast(self._where(argument), output))
                inner = output.shape[-1] if output.shape else 1
                operands.append(self._read(codes.reshape(-1), inner))
            elif argument is None or not np.isfinite(argument):
                raise CannotCompile(f"the number {argument}")
            else:
                operands.append(f"R({float(argument)!r})")
        self.where[output] = places = self._place_for(output)
        self._loop(
            places.reshape(-1), operands, lambda values: expression(instruction.op.name, values)
        )

    def _matmul(self, instruction: Instruction) -> None:
        (output,) = instruction.outputs
        x, y = factors(*(self._where(v) for v in instruction.values()), instruction.attributes)
        if x.ndim != 2 or y.ndim != 2:
            raise CannotCompile("a product of several matrices that know no point")
        (m, k), n = x.shape, y.shape[1]
        self._count(m * n * k)
        left = np.broadcast_to(x[:, None, :], (m, n, k)).reshape(-1)
        right = np.broadcast_to(y.T[None, :, :], (m, n, k)).reshape(-1)
        self._accumulate(output, k, f"{self._grid(left, m, n, k)} * {self._grid(right, m, n, k)}")

    def _sum(self, instruction: Instruction) -> None:
        (x,), (output,) = instruction.values(), instruction.outputs
        axes = summed_dimensions(instruction)
        codes = self._where(x)
        self._count(x.size)
        kept = tuple(j for j in range(codes.ndim) if j not in axes)
        lists = codes.transpose(*kept, *axes).reshape(output.size, -1)
        count = lists.shape[1]
        share = count if instruction.op.name == "mean" else 1
        term = self._grid(lists.reshape(-1), output.size, 1, count)
        self._accumulate(output, count, term, share)

    def _accumulate(self, output: Value, count: int, term: str, share: int = 1) -> None:
        self.where[output] = places = self._place_for(output)
        lines = [
            "R sum = R(0.0);", f"for (int k = 0; k < {count}; ++k) sum += {term};",
        ]  # fmt: skip
        total = "sum" if share == 1 else f"sum / R({share})"
        self._loop(places.reshape(-1), [total], lambda values: values[0], lines)

    # ---- texts

    def _grid(self, codes: np.ndarray, m: int, n: int, count: int) -> str:
        """Return what reads element k of the list of output e = i n + j."""
        buffer, places = self._noted(codes)
        grid = places.reshape(m, n, count)
        steps = [
            int(grid[tuple(int(a == axis) for a in range(3))] - grid[0, 0, 0]) if size > 1 else 0
            for axis, size in enumerate(grid.shape)
        ]
        even = grid[0, 0, 0] + sum(
            step * np.arange(size).reshape([-1 if a == axis else 1 for a in range(3)])
            for axis, (step, size) in enumerate(zip(steps, grid.shape, strict=True))
        )
        if np.array_equal(grid, even):
            down, across, along = steps
            start = f"{grid[0, 0, 0]} + e / {n} * {down} + e % {n} * {across}"
            return f"{buffer}[{start} + k * {along}]"
        return f"{buffer}[{self._table(places)}[e * {count} + k]]"

    def _read(self, codes: np.ndarray, inner: int) -> str:
        """Return what reads element e; they go by in runs of `inner`."""
        buffer, places = self._noted(codes)
        return f"{buffer}[{index_text(places, inner, 'e', self._table)}]"

    def _table(self, places: np.ndarray) -> str:
        """Return the name of an array that holds places."""
        first = len(self.tables)
        self.tables += places.tolist()
        if len(self.tables) > _MOST_PLACES:
            raise CannotCompile("numbers that lie unevenly")
        return f"(places_{self.name} + {first})"

    def _count(self, numbers: int) -> None:
        """Count numbers that are made, or multiplied."""
        self.made += numbers
        if self.made > _MOST:
            raise CannotCompile(f"more than {_MOST} numbers that know no point")

    def _noted(self, codes: np.ndarray) -> tuple[str, np.ndarray]:
        """Return the name and the places of what is read, after a barrier where it needs one."""
        buffers = np.unique(codes // _FAR)
        if len(buffers) > 1 or buffers[0] < 0:
            raise CannotCompile("numbers of several arrays that know no point, joined")
        places = codes % _FAR
        if buffers[0] == _MEMORY and self.fresh.intersection(np.unique(places).tolist()):
            self.lines.append("__syncthreads();")
            self.fresh.clear()
        return "memory" if buffers[0] == _MEMORY else f"b{buffers[0] - 1}", places

    def _loop(
        self,
        places: np.ndarray,
        operands: list[str],
        term: Callable[[list[str]], str],
        before: Sequence[str] = (),
    ) -> None:
        count = len(places)
        names = [f"x{k}" for k in range(len(operands))]
        self.lines += [
            f"for (int e = threadIdx.x; e < {count}; e += {THREADS}) {{",
            *(f"  {line}" for line in before),
            *(f"  const R {a} = {text};" for a, text in zip(names, operands, strict=True)),
            f"  memory[{index_text(places, count, 'e', self._table)}] = {term(names)};",
            "}",
        ]
        self.fresh.update(places.tolist())

    def _text(self) -> str:
        if not self.lines:
            return ""
        table = ""
        if self.tables:
            numbers = ", ".join(map(str, self.tables))
            name = f"places_{self.name}[{len(self.tables)}]"
            table = f"__device__ const int {name} = {{{numbers}}};\n"
        inputs = len(self.program.inputs)
        read = [*self.arrays, *(inputs + k for k in range(len(self.constants)))]
        arguments = [*(f"const R *__restrict__ b{k}" for k in read), "R *memory"]
        head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {self.name}('
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"{table}{head}{', '.join(arguments)}) {{\n{body}\n}}\n"


def _all(value: Value) -> np.ndarray:
    return np.arange(value.size).reshape(value.shape)


def _is_run(codes: np.ndarray) -> bool:
    """Return whether elements follow each other in one buffer."""
    flat = codes.reshape(-1)
    return flat[0] >= 0 and bool(np.all(flat == flat[0] + np.arange(flat.size)))
