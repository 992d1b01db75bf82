"""Columns of numbers, written and read again."""

import numpy as np

from pinn.export import csv_text, write_columns
from pinn.files import Columns

COLUMNS = {"x": np.array([1 / 3, -1e-300, 5e22]), "at(u, x=0)": np.array([np.pi, 0.1, -0.0])}


def test_a_csv_holds_every_bit(tmp_path):
    write_columns(tmp_path / "a.csv", COLUMNS)
    table = Columns(path=tmp_path / "a.csv")
    assert table.names == ("x", "at(u, x=0)")
    assert all(table.column(name).tobytes() == COLUMNS[name].tobytes() for name in COLUMNS)


def test_an_npz_needs_no_pickle(tmp_path):
    write_columns(tmp_path / "a.npz", COLUMNS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as found:
        assert all(found[name].tobytes() == COLUMNS[name].tobytes() for name in COLUMNS)


def test_the_first_line_has_the_names():
    assert csv_text({"x": np.array([1.0]), "u": np.array([np.nan])}) == "x,u\n1,nan\n"
