"""Named columns of numbers from files: CSV with a header line, npz."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from pinn.checks import nearest
from pinn.files import disk_error, read_table


@dataclass(frozen=True)
class Columns:
    """Arrays by name, and where each of their elements stands.

    file: "" for arrays that come from none. lines: of a CSV file, that of each row. called: name ->
    what the file calls the array, where that differs.
    """

    arrays: Mapping[str, np.ndarray]
    file: str = ""
    lines: tuple[int, ...] | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def place(self, name: str, index: int) -> str:
        """Return where an element stands, for messages: "wind.csv:7: speed"."""
        column = self.called.get(name, name)
        if self.lines is not None:
            return f"{self.file}:{self.lines[index]}: {column}"
        element = f"{column}[{index}]"
        return f"{self.file}: {element}" if self.file else element

    def chosen(self, names: Mapping[str, str]) -> Columns:
        """Return columns under other names (new -> old); ValueError for one that is not there."""
        for old in names.values():
            if old not in self.arrays:
                raise ValueError(
                    f"expected the columns {', '.join(self.arrays)}, got {old!r}"
                    f"{nearest(old, self.arrays)}"
                )
        arrays = {new: self.arrays[old] for new, old in names.items()}
        called = {new: self.called.get(old, old) for new, old in names.items()}
        return Columns(arrays, self.file, self.lines, called)


def columns_of(arrays: Mapping[str, np.ndarray]) -> Columns:
    """Return arrays that come from no file; ValueError for one that holds no real numbers."""
    checked = {}
    for name, array in arrays.items():
        try:
            checked[name] = np.asarray(array, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name!r}: expected an array of numbers ({error})") from error
    return Columns(checked)


def read_columns(path: str | Path) -> Columns:
    """Read the columns of an .npz file, whose arrays may have any shapes, or of a text.

    A text is as `pinn.files.read_table` takes it. Raises OSError for no such file, and ValueError,
    naming file and line, for what is not such a file.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return _read_npz(path)
    table = read_table(path)
    return Columns(table.columns, table.source or "", tuple(table.lines.tolist()))


def _read_npz(path: Path) -> Columns:
    if not path.is_file():
        raise disk_error(path, FileNotFoundError("no such file"), "check its name", "read")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        for name, array in arrays.items():
            arrays[name] = np.asarray(array, dtype=np.float64)
    except (OSError, ValueError, LookupError, EOFError, BadZipFile, zlib.error) as error:
        raise ValueError(f"{path}: expected an npz file of arrays of numbers ({error})") from error
    return Columns(arrays, str(path))


def check_finite(columns: Columns) -> None:
    """Raise ValueError, naming the place, for the first number that is not finite."""
    for name, array in columns.arrays.items():
        flat = array.reshape(-1)
        bad = np.flatnonzero(~np.isfinite(flat))
        if bad.size:
            number = flat[bad[0]]
            what = "nan" if math.isnan(number) else f"{number}"
            raise ValueError(
                f"{columns.place(name, int(bad[0]))}: expected a finite number, got {what}"
            )
