"""Named columns of numbers as a CSV or npz file, which other programs read."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pinn.files import write_npz, write_text


def csv_text(columns: Mapping[str, np.ndarray]) -> str:
    """Return columns (n,) as lines of cells, the names first; numbers read back to the bit."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(columns)
    rows = np.stack([np.asarray(column, dtype=np.float64) for column in columns.values()], axis=1)
    np.savetxt(stream, rows, fmt="%.17g", delimiter=",")
    return stream.getvalue()


def write_columns(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns (n,) by name to a file that ends in .npz, or in .csv."""
    if path.suffix == ".npz":
        write_npz(path, columns)
    else:
        write_text(path, csv_text(columns))
