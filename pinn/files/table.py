"""Columns of numbers by name: from a CSV or npz file, or from arrays; every row knows its place."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np

from pinn.checks import nearest
from pinn.files.errors import disk_error


class TableError(ValueError):
    """A table does not hold what it should; the message has the file and the line."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of finite numbers, float64 (n,) each, n >= 1.

    source: the file they come from, None for arrays. lines: the line of each row of a text file.
    """

    columns: Mapping[str, np.ndarray]
    source: str | None = None
    lines: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) != 1 or not len(self):
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            self.refuse(f"expected columns of one length, not empty, got {shown or 'none'}")
        for name, column in self.columns.items():
            bad = np.flatnonzero(~np.isfinite(column))
            if bad.size:
                self.refuse(f"{name}: expected a finite number, got {column[bad[0]]}", int(bad[0]))

    def place(self, row: int | None = None) -> str:
        """Return where a row (or the whole) is: "points.csv:3", "points.npz: row 1", "row 1"."""
        if row is None:
            return self.source or "arrays"
        if self.lines is not None:
            return f"{self.source}:{self.lines[row]}"
        return f"{self.source}: row {row}" if self.source else f"row {row}"

    def refuse(self, message: str, row: int | None = None) -> NoReturn:
        """Raise TableError with the place of a row, counted from 0."""
        raise TableError(f"{self.place(row)}: {message}")

    def take(self, names: Iterable[str]) -> list[np.ndarray]:
        """Return some columns; TableError for one that is not there, with the nearest name."""
        for name in names:
            if name not in self.columns:
                self.refuse(
                    f"expected a column {name!r}; it has {', '.join(self.columns)}"
                    f"{nearest(name, self.columns)}"
                )
        return [self.columns[name] for name in names]


def table_of(columns: Mapping[str, object]) -> Table:
    """Return a table of arrays; TableError for one that is not of real numbers, (n,) or (n, 1)."""
    checked = {}
    for name, given in columns.items():
        array = np.asarray(given)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1 or array.dtype.kind not in "fiu":
            raise TableError(
                f"{name}: expected real numbers of shape (n,), got {array.dtype} of shape "
                f"{np.shape(given)}"
            )
        checked[name] = array.astype(np.float64)
    return Table(checked)


def read_table(path: str | Path) -> Table:
    """Read a table from a file.

    An .npz holds an array (n,) by name. Any other file is text: a line of names, then a line of
    numbers for each row, between commas, semicolons, tabs or spaces; what follows # is a comment.
    Raises TableError, with file and line, for anything else; OSError, naming the path, where there
    is no such file.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return _from_npz(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: expected a text in UTF-8 (or an .npz file): {error}") from error
    except OSError as error:
        raise disk_error(path, error, "check the name of the file", "read") from error
    return _from_text(path, text)


def _from_npz(path: Path) -> Table:
    try:
        # Whoever wrote it: compressed ones too. Nothing in it is ever evaluated.
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise TableError(f"{path}: expected arrays as numpy.savez writes them: {error}") from error
    except OSError as error:
        raise disk_error(path, error, "check the name of the file", "read") from error
    try:
        columns = table_of(arrays).columns
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    return Table(columns, str(path))


def _from_text(path: Path, text: str) -> Table:
    lines = [
        (number, line)
        for number, raw in enumerate(text.splitlines(), start=1)
        if (line := raw.partition("#")[0].strip())
    ]
    if not lines:
        raise TableError(f"{path}: expected a line of names and lines of numbers, got nothing")
    (number, head), *body = lines
    delimiter = next((mark for mark in (",", ";", "\t") if mark in head), None)
    names = [name.strip().strip('"') for name in _cells(head, delimiter)]
    if all(map(_is_number, names)):
        raise TableError(
            f"{path}:{number}: expected the names of the columns, such as x,t; got {head[:60]!r}"
        )
    repeated = [name for name in names if names.count(name) > 1 or not name]
    if repeated:
        raise TableError(
            f"{path}:{number}: expected a name of its own for each column, got {head[:60]!r}"
        )
    if not body:
        raise TableError(f"{path}:{number}: expected lines of numbers below the names, got none")
    rows = "\n".join(line for _, line in body)
    try:
        # numpy's own reader is a hundred times faster than a loop; what it refuses is looked at.
        array = np.loadtxt(io.StringIO(rows), delimiter=delimiter, ndmin=2, comments=None)
        if array.shape != (len(body), len(names)):
            raise ValueError(f"expected {len(names)} columns, got {array.shape}")
    except ValueError as error:
        _refuse_line(path, body, names, delimiter)
        raise TableError(f"{path}: {error}") from error
    columns = dict(zip(names, np.ascontiguousarray(array.T), strict=True))
    return Table(columns, str(path), np.array([number for number, _ in body]))


def _refuse_line(
    path: Path, body: Iterable[tuple[int, str]], names: list[str], delimiter: str | None
) -> None:
    """Raise TableError for the first line that does not hold a number for each name."""
    for number, line in body:
        cells = _cells(line, delimiter)
        if len(cells) != len(names):
            raise TableError(
                f"{path}:{number}: expected {len(names)} numbers ({', '.join(names)}), got "
                f"{len(cells)}"
            )
        for name, cell in zip(names, cells, strict=True):
            if not _is_number(cell):
                raise TableError(f"{path}:{number}: {name}: expected a number, got {cell!r}")


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [cell.strip() for cell in next(_rows(line, delimiter))]


def _rows(line: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader([line], delimiter=delimiter, skipinitialspace=True)


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.I)


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None
