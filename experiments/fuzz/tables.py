"""Tables of numbers: CSV and npz files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.fuzz.attempts import attempt
from experiments.fuzz.garble import changed_arrays, garbled
from pinn.files import Columns

_CELLS = (
    "0", "1.5", "-2e3", "nan", "inf", "1e999", "", " ", "x", "u", "t", "one", "1_0", "0x10", '"1"',
    '"a,b"', '"', '""', "'1'", "=1+1", "=cmd|' /C calc'!A0", "@SUM(1)", "#", "%", "# 1", "\u0661",
    "\x00", "\x1b[31m", "1" * 400, "x" * 3000, "1,5", "1;5", "+", ".", "1.", ".5", "\ufeff",
    "\u2028",
)  # fmt: skip
_SEPARATORS = (",", ";", "\t", " ", ", ", "  ", "|")
_ENDS = ("\n", "\r\n", "\r", "\n\n", "\x0b", "\x0c")
_GOOD = (
    "x,t,u\n0,0,1\n0.5,0.1,2\n1,0.2,3\n", "# x t u\n0 0 1\n1 1 2\n", "0;1;2\n3;4;5\n",
    "% made by hand\nx\tu\n1\t2\n\n3\t4 # five\n",
)  # fmt: skip


def make_text(rng: np.random.Generator) -> bytes:
    """Return a table in text with some cells of other kinds, ragged or garbled."""
    if rng.random() < 0.5:
        text = _GOOD[rng.integers(len(_GOOD))]
        return garbled(text.encode(), rng)
    width, separator = int(rng.integers(1, 5)), _SEPARATORS[rng.integers(len(_SEPARATORS))]
    end = _ENDS[rng.integers(len(_ENDS))]
    rows = ["x t u v".split()[:width]] if rng.random() < 0.7 else []
    for _ in range(int(rng.integers(0, 6))):
        ragged = width + int(rng.integers(-1, 2)) * (rng.random() < 0.1)
        row = [f"{number:.3g}" for number in rng.normal(size=ragged)]
        if row and rng.random() < 0.4:
            row[rng.integers(ragged)] = _CELLS[rng.integers(len(_CELLS))]
        rows.append(row)
    data = end.join(separator.join(row) for row in rows).encode()
    return b"\xef\xbb\xbf" * (rng.random() < 0.1) + data


_ARRAYS = {"x": np.linspace(0, 1, 4), "t": np.arange(4.0), "u": np.ones((4, 1)), "k": np.float64(2)}


def make_arrays(rng: np.random.Generator) -> bytes:
    """Return an archive of arrays of which some are of other kinds or damaged."""
    return changed_arrays(_ARRAYS, rng)


def try_columns(data: bytes, path: Path) -> bool:
    """Read a table, each of its columns, and all as rows."""
    path.write_bytes(data)

    def read_it() -> None:
        columns = Columns(path=path)
        for name in columns.names:
            columns.column(name)
        columns.rows(columns.names[:1], columns.names[1:])

    return attempt(read_it, ValueError)
