"""Columns of numbers by name from a user's own file: CSV and other text, or numpy's npz."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
import zlib
from pathlib import Path

import numpy as np

from pinn.files.errors import sentence_of

_MOST_SHOWN = 20


class ColumnFile:
    """The columns of a file, each read as numbers when it is asked for.

    A text has a line of names first, which may begin with "#", and cells apart by commas,
    semicolons, tabs or blanks; empty lines and further lines that begin with "#" do not count. An
    npz has arrays. digest: SHA-256 of the file's bytes, as hexadecimal text. Raises ValueError,
    with the file and the line, for a file that is missing or of another form.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            data = self.path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            what = sentence_of(error) if isinstance(error, OSError) else str(error)
            raise ValueError(f"the file {self.path} cannot be read: {what}") from None
        self.digest = hashlib.sha256(data).hexdigest()
        self._lines: list[int] | None = None
        self._columns: dict[str, list[str] | np.ndarray] = {}
        if self.path.suffix.lower() == ".npz":
            self._read_npz(data)
        else:
            self._read_text(data)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the file's order."""
        return tuple(self._columns)

    def column(self, name: str) -> np.ndarray:
        """Return a column as numbers, float64 (n,).

        Raises ValueError for a name that is not there and a cell that is no number.
        """
        if name not in self._columns:
            shown = ", ".join(self.names[:_MOST_SHOWN]) + ", ..." * (len(self.names) > _MOST_SHOWN)
            raise ValueError(f"{self.path}: no column {name!r}; its columns are {shown}")
        cells = self._columns[name]
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind not in "biuf":
                raise ValueError(
                    f"{self.path}: column {name!r}: expected an array of numbers, got one of "
                    f"{cells.dtype}"
                )
            return cells.reshape(-1).astype(np.float64)
        try:
            return np.array(cells, dtype=np.float64)
        except ValueError:
            row, cell = next((i, c) for i, c in enumerate(cells) if not _is_number(c))
            got = repr(cell) if cell else "an empty cell"
            message = f"{self.place(row)}: column {name!r}: expected a number, got {got}"
            raise ValueError(message) from None

    def place(self, row: int) -> str:
        """Return where a row stands: "measured.csv:12", or "measured.npz, row 10"."""
        if self._lines is None:
            return f"{self.path}, row {row}"
        return f"{self.path}:{self._lines[row]}"

    def _read_npz(self, data: bytes) -> None:
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise ValueError(
                f"{self.path}: expected an npz file of plain arrays, as numpy.savez writes it: "
                f"{error}"
            ) from None
        self._columns.update(arrays)

    def _read_text(self, data: bytes) -> None:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise ValueError(f"{self.path}:{line}: expected a text in UTF-8") from None
        lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        body = [(n, line) for n, line in lines if not line.startswith("#")]
        if not body:
            raise ValueError(f"{self.path}: expected a line of names and lines of numbers")
        header, rows = body[0], body[1:]
        separator = _separator(header[1])
        if all(map(_is_number, _cells(header[1], separator))):
            # numpy.savetxt writes the names behind a "#".
            remarks = [(n, line.lstrip("# ")) for n, line in lines if n < header[0]]
            if not remarks:
                raise ValueError(
                    f"{self.path}:{header[0]}: expected the names of the columns in the first "
                    f"line, such as x,t,u, got {header[1][:60]!r}"
                )
            header, rows = remarks[-1], body
        names = _cells(header[1], separator)
        if len(set(names)) < len(names) or not all(names):
            raise ValueError(
                f"{self.path}:{header[0]}: expected a name of its own for each column, got "
                f"{', '.join(map(repr, names))}"
            )
        cells = [(n, _cells(line, separator)) for n, line in rows]
        for n, row in cells:
            if len(row) != len(names):
                raise ValueError(
                    f"{self.path}:{n}: expected {len(names)} cells, one for each of "
                    f"{', '.join(names)}, got {len(row)}"
                )
        self._lines = [n for n, _ in cells]
        columns = zip(*(row for _, row in cells), strict=True) if cells else ([] for _ in names)
        self._columns = dict(zip(names, map(list, columns), strict=True))


def _separator(line: str) -> str | None:
    return next((mark for mark in (",", ";", "\t") if mark in line), None)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    cells = next(csv.reader([line], delimiter=separator)) if '"' in line else line.split(separator)
    return [cell.strip() for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
