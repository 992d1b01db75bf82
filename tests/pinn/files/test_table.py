"""Tables: what is read from CSV and npz, and that mistakes are told with file and line."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pinn.files import TableError, read_table, table_of


@pytest.mark.parametrize(
    "text",
    [
        "x,t\n1,0.5\n-2e3,.25\n",
        "\ufeffx;t\r\n1;0.5\r\n-2e3;.25\r\n",
        '# measured\n\n"x", "t"  # names\n 1 , 0.5\n\n-2e3,.25 # last',
        "x\tt\n1\t0.5\n-2e3\t.25",
        "x t\n  1   0.5\n-2e3 .25\n",
    ],
)
def test_texts_of_several_kinds(tmp_path, text):
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8", newline="")
    table = read_table(path)
    assert list(table.columns) == ["x", "t"] and len(table) == 2
    x, t = table.take(["x", "t"])
    np.testing.assert_array_equal(x, [1, -2000])
    np.testing.assert_array_equal(t, [0.5, 0.25])
    lines = text.splitlines()
    assert table.place(1) == f"{path}:{1 + next(i for i, s in enumerate(lines) if '.25' in s)}"


def test_one_column_and_one_row(tmp_path):
    path = tmp_path / "points.txt"
    path.write_text("x\n3\n")
    (x,) = read_table(path).take(["x"])
    np.testing.assert_array_equal(x, [3])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_holds_columns_by_name(tmp_path, save):
    path = tmp_path / "points.npz"
    save(path, x=np.arange(3), t=np.ones((3, 1), np.float32))
    table = read_table(path)
    assert table.columns["x"].dtype == table.columns["t"].dtype == np.float64
    np.testing.assert_array_equal(table.columns["t"], 1)
    assert table.place(2) == f"{path}: row 2"


WRONG = [
    ("", "<file>: expected a line of names and lines of numbers, got nothing"),
    ("x,t\n", "<file>:1: expected lines of numbers below the names, got none"),
    ("1,2\n3,4\n", "<file>:1: expected the names of the columns, such as x,t; got '1,2'"),
    ("x,x\n3,4\n", "<file>:1: expected a name of its own for each column"),
    ("x,\n3,4\n", "<file>:1: expected a name of its own for each column"),
    ("x,t\n1,2\n# c\n\n3\n", "<file>:5: expected 2 numbers (x, t), got 1"),
    ("x,t\n1,2\n3,4,5\n", "<file>:3: expected 2 numbers (x, t), got 3"),
    ("x,t\n1,2\n3,abc\n", "<file>:3: t: expected a number, got 'abc'"),
    ("x,t\n1,2\n3,\n", "<file>:3: t: expected a number, got ''"),
    ("x,t\n1,2\n3,nan\n", "<file>:3: t: expected a finite number, got nan"),
    ("x,t\n1,1e999\n", "<file>:2: t: expected a finite number, got inf"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_mistake_is_told_with_file_and_line(tmp_path, text, said):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=re.escape(said.replace("<file>", str(path)))):
        read_table(path)


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(OSError, match="cannot read .*gone.csv"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(OSError, match="cannot read .*gone.npz"):
        read_table(tmp_path / "gone.npz")
    for name, data in [("a.npz", b"PK no archive"), ("b.csv", b"\xff\xfe\x00x"), ("c.npz", b"")]:
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError, match=name):
            read_table(tmp_path / name)
    np.savez(tmp_path / "d.npz", x=np.array([{}], dtype=object))
    with pytest.raises(TableError, match="d.npz"):
        read_table(tmp_path / "d.npz")


def test_arrays_that_are_no_columns(tmp_path):
    with pytest.raises(TableError, match=r"x: expected real numbers of shape \(n,\), got"):
        table_of({"x": np.ones((2, 2))})
    with pytest.raises(TableError, match="x: expected real numbers"):
        table_of({"x": ["a"]})
    with pytest.raises(TableError, match="columns of one length, not empty, got x 2, t 3"):
        table_of({"x": np.ones(2), "t": np.ones(3)})
    with pytest.raises(TableError, match="row 1: x: expected a finite number, got nan"):
        table_of({"x": [0.0, np.nan]})
    with pytest.raises(TableError, match="expected a column 'temp'; it has x, temperature"):
        table_of({"x": [0.0], "temperature": [1.0]}).take(["temp"])
    np.savez(tmp_path / "e.npz", x=np.ones((2, 2)))
    with pytest.raises(TableError, match="e.npz: x: expected real numbers"):
        read_table(tmp_path / "e.npz")
