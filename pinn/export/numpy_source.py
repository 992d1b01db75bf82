"""A recorded program as lines of plain numpy, for any number of points."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from autograd.plan import Program
from autograd.plan.passes.common import share_common_subexpressions
from autograd.plan.passes.dead import remove_dead_code
from autograd.plan.passes.fold import fold_constants
from autograd.plan.program import CONSTANT, Instruction, Value
from pinn.export.operations import ATOM, HELPERS, PRODUCT, SUM, text_of

# A value that is used once is written where it is used, if its text has no more letters.
_LONGEST = 46

_WHY = {"pointwise": "it has a table of values, a spline, in a feature or a hard condition"}


class NoSource(ValueError):
    """A program has something in it that cannot be written down as numpy."""


class Source(NamedTuple):
    """A program as text, of a matrix `points`, (n, d), and of its columns, (n, 1) each.

    lines: assignments. results: the text of each output. arrays: what they call w["NAME"].
    helpers: the functions that they call. columns: whether they read the columns by name.
    counts: whether they need n, the number of points.
    """

    lines: list[str]
    results: list[str]
    arrays: dict[str, np.ndarray]
    helpers: list[str]
    columns: bool
    counts: bool


def numpy_source(
    programs: Sequence[Program],
    rows: Sequence[int],
    columns: Sequence[str],
    names: Mapping[str, np.ndarray],
) -> Source:
    """Return a program of one input, the points (n, d), as lines of numpy.

    programs: the same, recorded for two numbers of points; these, `rows`, tell what depends on
    them. columns: what the text calls the columns of the points. names: the arrays that have a
    name; they are recognised as the same objects. Raises NoSource, with the reason, for an
    operation that has no text, and for what is random or differs from one number of points to
    another in another way than in size.
    """
    called = _names_of(programs[0], names)
    first, second = (_simplified(program) for program in programs)
    if _wiring(first) != _wiring(second):
        raise NoSource("what is computed depends on how many points there are")
    return _Writer(first, second, _Rows(*rows), columns, called).source()


def _names_of(program: Program, names: Mapping[str, np.ndarray]) -> dict[Value, str]:
    """Return the names of constants that are arrays with a name."""
    read = {v for one in program.instructions for v in one.values()} | {*program.outputs}
    constants = sorted((v for v in read if v.kind == CONSTANT), key=lambda v: v.number)
    by_object = {id(array): name for name, array in names.items()}
    found = {
        value: by_object[id(captured.data)].split(".")
        for value, captured in zip(constants, program.captured, strict=True)
        if id(captured.data) in by_object
    }
    common = len(os.path.commonprefix([name[:-1] for name in found.values()]))
    return {value: ".".join(name[common:]) for value, name in found.items()}


def _wiring(program: Program) -> list[tuple[Any, ...]]:
    """Return which operation reads what, with values numbered as they come up."""
    numbers: dict[Value, int] = {}

    def number(argument: Any) -> int | None:
        known = isinstance(argument, Value)
        return numbers.setdefault(argument, len(numbers)) if known else None

    made = [(i.op.name, *map(number, (*i.inputs, *i.outputs))) for i in program.instructions]
    return [*made, ("results", *map(number, program.outputs))]


def _simplified(program: Program) -> Program:
    for run in (
        remove_dead_code, fold_constants, _without_joins, share_common_subexpressions,
        remove_dead_code,
    ):  # fmt: skip
        program = run(program)
    return program


def _without_joins(program: Program) -> Program:
    """Read columns straight from where they are, instead of from a matrix they were joined to."""
    joined: dict[Value, tuple[Value, ...]] = {}
    same: dict[Value, Value] = {}
    kept = []
    for one in program.instructions:
        inputs: tuple[Any, ...] = tuple(
            same.get(i, i) if isinstance(i, Value) else i for i in one.inputs
        )
        if one.op.name == "cat" and one.attributes["dim"] == 1:
            joined[one.outputs[0]] = inputs
        if one.op.name == "slice":
            pieces = joined.get(inputs[0], (inputs[0],))
            piece = _piece(pieces, one.attributes["index"])
            if piece is not None:
                same[one.outputs[0]] = piece
                continue
        kept.append(Instruction(one.op, inputs, one.attributes, one.outputs))
    return program.replaced(kept, [same.get(value, value) for value in program.outputs])


def _piece(pieces: Sequence[Value], index: tuple[Any, ...]) -> Value | None:
    """Return the one of matrices that stand side by side that an index takes just as it is."""
    matrices = all(len(piece.shape) == 2 for piece in pieces)
    if not matrices or len(index) != 2 or index[0] != slice(None) or type(index[1]) is not slice:
        return None
    taken, place = index[1].indices(sum(piece.shape[1] for piece in pieces)), 0
    for piece in pieces:
        if (place, place + piece.shape[1], 1) == taken:
            return piece
        place += piece.shape[1]
    return None


@dataclass(frozen=True)
class _Multiple:
    """A size that is so many times the number of points."""

    times: int

    def __str__(self) -> str:
        return "n" if self.times == 1 else f"{self.times} * n"


class _Rows(NamedTuple):
    """The numbers of points of two recordings."""

    first: int
    second: int

    def common(self, mine: Any, other: Any) -> Any:
        """Return an attribute for any number of points from what it is for two of them."""
        if isinstance(mine, slice):
            ends = ("start", "stop", "step")
            return slice(*(self.common(getattr(mine, e), getattr(other, e)) for e in ends))
        if isinstance(mine, tuple | list):
            return tuple(self.common(a, b) for a, b in zip(mine, other, strict=True))
        if not isinstance(mine, int | float) or mine == other or mine != mine:
            return mine
        whole = isinstance(mine, int) and not mine % self.first
        if not whole or other * self.first != mine * self.second:
            raise NoSource("a number in it depends on how many points there are")
        return _Multiple(int(mine // self.first))


class _Writer:
    """Writes down the first of two programs that are the same but for the number of points."""

    def __init__(
        self,
        first: Program,
        second: Program,
        rows: _Rows,
        columns: Sequence[str],
        called: dict[Value, str],
    ) -> None:
        self._first, self._second, self._rows, self._called = first, second, rows, called
        self._columns = {f"points[:, {k}:{k + 1}]": name for k, name in enumerate(columns)}
        self._uses = first.uses()
        self._texts: dict[Value, tuple[str, int]] = {first.inputs[0]: ("points", ATOM)}
        self._arrays: dict[str, np.ndarray] = {}
        self._lines: list[str] = []
        self._made = 0
        self._reads_columns = self._counts = False

    def source(self) -> Source:
        for mine, other in zip(self._first.instructions, self._second.instructions, strict=True):
            self._write(mine, other)
        results = [
            self._operand(mine, other, ATOM)
            for mine, other in zip(self._first.outputs, self._second.outputs, strict=True)
        ]
        text = "\n".join([*self._lines, *results])
        helpers = [function for name, function in HELPERS.items() if f"{name}(" in text]
        return Source(
            self._lines, results, self._arrays, helpers, self._reads_columns, self._counts
        )

    def _write(self, mine: Instruction, other: Instruction) -> None:
        def operand(k: int, level: int) -> str:
            return self._operand(mine.inputs[k], other.inputs[k], level)

        attributes = {
            name: self._common(value, other.attributes[name])
            for name, value in mine.attributes.items()
        }
        found = text_of(mine.op, operand, len(mine.inputs), attributes, _written)
        if found is None:
            name = mine.op.name
            raise NoSource(
                _WHY.get(name, f"its operation {name!r} has no counterpart in plain numpy")
            )
        text, level = found
        if len(mine.outputs) > 1:
            names = [self._name() for _ in mine.outputs]
            self._lines.append(f"{', '.join(names)} = {text}")
            self._texts |= {v: (n, ATOM) for v, n in zip(mine.outputs, names, strict=True)}
            return
        (value,) = mine.outputs
        if text in self._columns:
            text, self._reads_columns = self._columns[text], True
        elif self._uses[value] > 1 or len(text) > _LONGEST:
            name = self._name()
            self._lines.append(f"{name} = {text}")
            text, level = name, ATOM
        self._texts[value] = text, level

    def _common(self, mine: Any, other: Any) -> Any:
        found = self._rows.common(mine, other)
        self._counts |= found != mine
        return found

    def _name(self) -> str:
        self._made += 1
        return f"v{self._made}"

    def _operand(self, mine: Any, other: Any, level: int) -> str:
        """Return the text of an operand, in parentheses where it is looser than its place."""
        if not isinstance(mine, Value):
            text = _written(self._common(mine, other))
            own = SUM if text.startswith("-") else PRODUCT if "*" in text else ATOM
        elif mine.kind == CONSTANT:
            text, own = self._constant(mine, other)
        else:
            text, own = self._texts[mine]
        return text if own >= level else f"({text})"

    def _constant(self, mine: Value, other: Value) -> tuple[str, int]:
        data, again = np.asarray(mine.data), np.asarray(other.data)
        shape = self._common(data.shape, again.shape)
        if shape != data.shape:  # a row for each point: they have to be equal
            data, again = (_first_rows(array, shape) for array in (data, again))
        if data.tobytes() != again.tobytes():
            raise NoSource("it has numbers that are drawn anew whenever it is evaluated")
        if data.ndim == 0 and shape == ():
            text = _written(data.item())
            return text, SUM if text.startswith("-") else ATOM
        if mine not in self._called:
            taken, count = {*self._called.values()}, len(self._arrays)
            while f"constant{count}" in taken:
                count += 1
            self._called[mine] = f"constant{count}"
        name = self._called[mine]
        self._arrays[name] = data
        text = f"w[{json.dumps(name)}]"
        if shape == mine.shape:
            return text, ATOM
        return f"np.broadcast_to({text}, {_written(shape)})", ATOM


def _first_rows(array: np.ndarray, shape: tuple[Any, ...]) -> np.ndarray:
    """Return an array of which only the first of equal rows is left; NoSource for others."""
    index = tuple(slice(0, 1) if isinstance(size, _Multiple) else slice(None) for size in shape)
    row = np.ascontiguousarray(array[index])
    if np.broadcast_to(row, array.shape).tobytes() != np.ascontiguousarray(array).tobytes():
        raise NoSource("it has numbers that differ from point to point whatever the points are")
    return row


def _written(value: Any) -> str:
    """Return an attribute or a number as Python text; NoSource for what has none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _Multiple):
        return str(value)
    if isinstance(value, tuple):
        inner = ", ".join(map(_written, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "-np.inf" if value < 0 else "np.inf"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    raise NoSource(f"it has a {type(value).__name__}, which has no form in plain numpy")
