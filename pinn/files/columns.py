"""Columns of numbers by name: from a CSV or npz file, or arrays; every number knows its place."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from pinn.checks import nearest
from pinn.files.errors import sentence_of
from pinn.files.npz import array_of, check_directory
from pinn.files.plain import open_plain

# Of a file, and of the arrays of an npz together: so much is read into memory at once.
MOST_BYTES = 2**31
# What the names of such files end in; a name that ends otherwise is taken for a text as well.
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".npz")
# Compressed arrays may be so large, or so many times the file; zeros may be a thousand times.
_MOST_GROWN, _MOST_GROWTH = 2**26, 100
_LONGEST_LINE = 1_000_000
_MOST_SHOWN, _LONGEST_SHOWN = 20, 60
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.I | re.ASCII
)
_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
_NO_UTF8 = re.compile("[\udc80-\udcff]")


class Columns:
    """Named arrays of numbers, given as arrays or by the path of a file.

    A file is read once, when its numbers are first asked for. One that ends in .npz has arrays by
    name, as numpy.savez and savez_compressed write them. Any other is a text in UTF-8: a line of
    names, then lines of cells, apart by commas, semicolons, tabs or blanks. What follows # is a
    remark, and so is a line that begins with %. Where the first line has numbers alone, the last
    remark above it has the names (numpy.savetxt), if it has as many; else the columns have no
    names, as rows of numbers have none, and are called "0", "1", ... by their position. A column
    that nobody asks for may hold anything.

    is_stored: the path comes from a file that pinn wrote, so nobody may look for it before its
    numbers are needed. Every method raises ValueError, with file and line, for a file that is not
    there, is larger than 2 GiB or is of another form.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any] | None = None,
        *,
        path: Path | None = None,
        is_stored: bool = False,
    ) -> None:
        self.path = path
        self.is_stored = is_stored
        if path is None:
            self._content = _Content(dict(arrays or {}))

    @classmethod
    def of_rows(cls, rows: np.ndarray) -> Columns:
        """Return the columns of rows of numbers (n, d), which have no names."""
        return cls._of(_Content({str(k): c for k, c in enumerate(rows.T)}, by_position=True))

    @classmethod
    def _of(cls, content: _Content) -> Columns:
        made = cls()
        made._content = content
        return made

    @cached_property
    def _content(self) -> _Content:
        return _read(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the file."""
        return tuple(self._content.cells)

    @property
    def by_position(self) -> bool:
        """Whether the columns have no names of their own."""
        return self._content.by_position

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file, or of the arrays with their names and shapes; hexadecimal text."""
        if self._content.digest:
            return self._content.digest
        found = hashlib.sha256()
        for name, array in self._content.cells.items():
            found.update(f"{name} {np.shape(array)}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def column(self, name: str) -> np.ndarray:
        """Return a column as finite numbers, float64; of a text (n,), of an npz of any shape.

        Raises ValueError, with the place, for a name that is not there, a cell that is no number
        and a number that is not finite.
        """
        content = self._content
        if name not in content.cells:
            self._refuse_name(name)
        numbers = content.numbers(name)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            got = numbers.reshape(-1)[bad[0]]
            self.refuse(f"expected a finite number, got {got}", int(bad[0]), name)
        return numbers

    def rows(self, places: Sequence[str], values: Sequence[str]) -> dict[str, np.ndarray]:
        """Return columns that belong together, by name, as rows: each (n,), n >= 1.

        A single number stands for one in every row. Where the places are the axes of a grid and
        all values have its shape, (n_1, ..., n_d) in the order of `places`, it has a row for each
        node. Raises ValueError for lengths that differ.
        """
        found = {name: _line(self.column(name)) for name in dict.fromkeys((*places, *values))}
        axes = [found[name] for name in places]
        shape = tuple(axis.size for axis in axes)
        gridded = [found[name].shape == shape for name in values]
        if len(axes) > 1 and gridded and all(gridded) and all(axis.ndim == 1 for axis in axes):
            nodes = np.meshgrid(*axes, indexing="ij")
            found = {**dict(zip(places, nodes, strict=True)), **{n: found[n] for n in values}}
        elif len(axes) > 1 and all(axis.ndim == 1 for axis in axes):
            for name in values:
                if found[name].ndim == len(axes):
                    turned = found[name].shape == shape[::-1]
                    self.refuse(
                        f"expected values of shape {shape}, one for each of {', '.join(places)}, "
                        f"got {found[name].shape}{': transposed?' if turned else ''}",
                        name=name,
                    )
        return self.equally_long({name: array.reshape(-1) for name, array in found.items()})

    def equally_long(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return arrays (n,) with single numbers spread; ValueError for lengths that differ."""
        counts = {name: len(array) for name, array in arrays.items() if len(array) != 1}
        if len(set(counts.values())) > 1 or 0 in counts.values():
            shown = ", ".join(f"{count} of {name}" for name, count in counts.items())
            self.refuse(f"expected as many numbers in every column, one or more, got {shown}")
        n = max(counts.values(), default=1)
        return {name: np.broadcast_to(array, (n,)) for name, array in arrays.items()}

    def chosen(self, names: Mapping[str, str]) -> Columns:
        """Return some columns as numbers under other names, new -> old."""
        arrays = {new: self.column(old) for new, old in names.items()}
        called = {new: self._content.called.get(old, old) for new, old in names.items()}
        return self._of(replace(self._content, cells=arrays, called=called, digest=""))

    def named(self, names: Sequence[str]) -> Columns:
        """Return the columns under these names, where they have none; ValueError for a count."""
        if not self.by_position:
            return self
        if len(names) != len(self.names):
            self.refuse(
                f"expected rows of {len(names)} numbers, {', '.join(names)}, got "
                f"{len(self.names)}"
            )
        cells = dict(zip(names, self._content.cells.values(), strict=True))
        return self._of(replace(self._content, cells=cells, by_position=False))

    def place(self, row: int | None = None, name: str | None = None) -> str:
        """Return where a number is: "points.csv:3: column 'x'", "points.npz: row 1", "row 1".

        row: of a column, None for the whole; of an array of more dimensions counted through all.
        """
        content = self._content
        found = [content.source] if content.source else []
        if row is not None and content.lines is not None:
            found = [f"{content.source}:{content.lines[row]}"]
        called = None if name is None else content.called.get(name, name)
        shape = np.shape(content.cells[name]) if name in content.cells else ()
        if called is not None and len(shape) > 1 and row is not None:
            index = ", ".join(map(str, np.unravel_index(row, shape)))
            return ": ".join([*found, f"{called}[{index}]"])
        if row is not None and content.lines is None:
            found.append(f"row {row}")
        return ": ".join([*found, *([f"column {called!r}"] if called else [])])

    def refuse(self, message: str, row: int | None = None, name: str | None = None) -> NoReturn:
        """Raise ValueError with the place of a number before the message."""
        place = self.place(row, name)
        raise ValueError(f"{place}: {message}" if place else message)

    def _refuse_name(self, name: str) -> NoReturn:
        content = self._content
        if content.by_position:
            where = 0 if content.lines else None
            self.refuse(
                "expected the names of the columns in the first line, such as x,t,u, got numbers "
                "alone", where,
            )
        names = self.names
        self.refuse(f"no column {name!r}; its columns are {_some(names)}{nearest(name, names)}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns):
            return NotImplemented
        if self.path is not None or other.path is not None:
            return self.path == other.path
        return self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest if self.path is None else self.path)

    def __repr__(self) -> str:
        return f"<columns {', '.join(self.names)}>" if self.path is None else repr(str(self.path))


@dataclass(frozen=True)
class _Content:
    """cells: a column's texts or numbers. called: name -> what the file calls the column."""

    cells: Mapping[str, np.ndarray | Sequence[str]]
    source: str = ""
    lines: Sequence[int] | None = None
    called: Mapping[str, str] = field(default_factory=dict)
    by_position: bool = False
    digest: str = ""

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as float64; ValueError, with the place, for what is no number."""
        cells = self.cells[name]
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind not in "biuf":
                where = f"{self.source}: " if self.source else ""
                raise ValueError(
                    f"{where}column {name!r}: expected an array of numbers, got one of "
                    f"{cells.dtype}"
                )
            return cells.astype(np.float64, copy=False)
        for row, cell in enumerate(cells):
            if not _NUMBER.fullmatch(cell):
                got = _shortened(repr(cell)) if cell else "an empty cell"
                comma = "; a number has a decimal point" if _COMMA.fullmatch(cell) else ""
                raise ValueError(
                    f"{self.source}:{self.lines[row]}: column {name!r}: expected a number, got "
                    f"{got}{comma}"
                )
        return np.array(cells, dtype=np.float64)


def numbers_of(value: Any) -> np.ndarray:
    """Return numbers of Python or numpy as an array, float64; ValueError for anything else."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(f"expected an array of numbers, got {type(value).__name__} {array.dtype}")
    return np.array(array, dtype=np.float64, order="C")


def _some(names: Iterable[str]) -> str:
    """Return names for a message, the first of many."""
    names = list(itertools.islice(names, _MOST_SHOWN + 1))
    more = ["..."] if len(names) > _MOST_SHOWN else []
    return ", ".join([*map(_shortened, names[:_MOST_SHOWN]), *more])


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _line(array: np.ndarray) -> np.ndarray:
    """Return a column of a matrix, or a number, as a line."""
    return array.reshape(-1) if array.ndim == 0 or array.shape[1:] == (1,) else array


def _read(path: Path) -> _Content:
    shown = _shown(path)
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                much = f"{size / 2**30:.1f} GiB"
                raise _Refused(f"{shown}: expected 2 GiB at most, got {much}; thin it out")
            content = (_of_npz if path.suffix.lower() == ".npz" else _of_text)(shown, file)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except _Refused:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        what = sentence_of(error) if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot read {shown}: {what}") from None
    return replace(content, source=shown, digest=digest)


class _Refused(ValueError):
    """A sentence that already has the file's name."""


def _shown(path: Path) -> str:
    """Return a path as messages show it: from the working directory, where it lies below that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def _of_npz(path: str, file: BinaryIO) -> _Content:
    size = os.fstat(file.fileno()).st_size
    try:
        check_directory(file)
        with zipfile.ZipFile(file) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".npy")]
            if len({member.filename for member in members}) < len(members):
                raise ValueError("two of its arrays have one name")
            declared = sum(member.file_size for member in members)
            if declared > MOST_BYTES:
                raise ValueError(f"its arrays have {declared / 2**30:.1f} GiB, more than 2 GiB")
            if declared > max(_MOST_GROWN, _MOST_GROWTH * size):
                raise ValueError(
                    f"its arrays have {declared / 2**20:.0f} MiB, more than {_MOST_GROWTH} times "
                    "as much as the file; write it with numpy.savez, which compresses nothing"
                )
            arrays = {
                member.filename.removesuffix(".npy"): array_of(
                    member.filename, archive.read(member)
                )
                for member in members
            }
    except _SIGNS_OF_DAMAGE as error:
        raise _Refused(
            f"{path}: expected an npz file of plain arrays, as numpy.savez writes it: {error}"
        ) from None
    return _Content(arrays)


_SIGNS_OF_DAMAGE = (
    ValueError, LookupError, EOFError, OSError, RuntimeError, OverflowError, zipfile.BadZipFile,
    zlib.error, struct.error, MemoryError,
)  # fmt: skip


def _of_text(path: str, file: BinaryIO) -> _Content:
    lines, remark = [], ""
    for number, raw in _lines(path, file):
        line = raw.strip()
        line = "" if line.startswith("%") else line.partition("#")[0].strip()
        if line:
            lines.append((number, line))
        elif not lines:
            remark = raw.strip().lstrip("#% ") or remark
    if not lines:
        raise _Refused(f"{path}: expected a line of names and lines of numbers, got nothing")
    (first, head), *rows = lines
    separator = next((mark for mark in (",", ";", "\t") if mark in head), None)
    names, by_position = _cells(head, separator), False
    if all(map(_NUMBER.fullmatch, names)):
        rows, above = lines, _cells(remark, separator)
        by_position = len(above) != len(names)  # numpy.savetxt writes the names behind a "#"
        names = [str(k) for k in range(len(names))] if by_position else above
    if len(set(names)) < len(names) or not all(names):
        raise _Refused(
            f"{path}:{first}: expected a name of its own for each column, got "
            f"{_some(map(repr, names))}"
        )
    if not rows:
        raise _Refused(f"{path}:{first}: expected lines of numbers below the names, got none")
    columns = _columns(path, rows, names, separator)
    cells = dict(zip(names, columns, strict=True))
    return _Content(cells, lines=[number for number, _ in rows], by_position=by_position)


def _lines(path: str, file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Give the lines of a text in UTF-8 with their numbers, whatever their ends are.

    A byte that is no UTF-8 comes as half of a surrogate, so that its line is known.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape")
    try:
        number = 0
        while raw := text.readline(_LONGEST_LINE + 1):
            number += 1
            if len(raw) > _LONGEST_LINE:
                raise _Refused(
                    f"{path}:{number}: expected lines of at most {_LONGEST_LINE:,} characters, got "
                    "a longer one"
                )
            if not raw.isascii() and _NO_UTF8.search(raw):
                raise _Refused(
                    f"{path}:{number}: expected a text in UTF-8, or a file that ends in .npz"
                )
            yield number, raw
    finally:
        text.detach()  # it would close the file


def _columns(
    path: str, rows: Sequence[tuple[int, str]], names: Sequence[str], separator: str | None
) -> Iterable[np.ndarray | list[str]]:
    """Return the columns of lines: as numbers where all of them are, else as texts."""
    text = io.StringIO("\n".join(line for _, line in rows))
    try:
        # A hundred times faster than a loop over the cells, which comes where this fails.
        array = np.loadtxt(text, delimiter=separator, ndmin=2, comments=None, quotechar='"')
        if array.shape == (len(rows), len(names)):
            return np.ascontiguousarray(array.T)
    except ValueError:
        pass
    cells = [(number, _cells_at(path, number, line, separator)) for number, line in rows]
    for number, row in cells:
        if len(row) != len(names):
            raise _Refused(
                f"{path}:{number}: expected {len(names)} cells, one for each of "
                f"{_some(names)}, got {len(row)}"
            )
    return map(list, zip(*(row for _, row in cells), strict=True))


def _cells_at(path: str, number: int, line: str, separator: str | None) -> list[str]:
    try:
        return _cells(line, separator)
    except csv.Error as error:
        raise _Refused(f"{path}:{number}: a cell in quotes cannot be read: {error}") from None


def _cells(line: str, separator: str | None) -> list[str]:
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    reader = csv.reader([line], delimiter=separator or " ", skipinitialspace=True)
    return [cell.strip() for cell in next(reader)]
