"""Columns of numbers from files of a user's own."""

import hashlib

import numpy as np
import pytest

from pinn.files.columns import ColumnFile

TEXTS = {
    "commas": "x,t,u\n0,1,2.5\n-1e-3, 2 ,3\n",
    "semicolons": "x;t;u\n0;1;2.5\n-1e-3;2;3\n",
    "tabs": "x\tt\tu\n0\t1\t2.5\n-1e-3\t2\t3\n",
    "blanks": "x  t u\n0 1   2.5\n-1e-3 2 3",
    "quotes": '"x","t","u"\n0,"1",2.5\n-1e-3,2,3\n',
    "remarks": "# measured in June\n\nx,t,u\n# and so on\n0,1,2.5\n\n-1e-3,2,3\n",
    "names behind a mark": "# x,t,u\n0,1,2.5\n-1e-3,2,3\n",
    "a byte order mark": "\ufeffx,t,u\r\n0,1,2.5\r\n-1e-3,2,3\r\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_columns_of_a_text(tmp_path, kind):
    path = tmp_path / "data.csv"
    path.write_bytes(TEXTS[kind].encode())
    file = ColumnFile(path)
    assert file.names == ("x", "t", "u")
    assert [file.column(name).tolist() for name in "xtu"] == [[0, -1e-3], [1, 2], [2.5, 3]]
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_savetxt_and_savez_write(tmp_path):
    columns = np.random.default_rng(0).standard_normal((5, 2))
    np.savetxt(tmp_path / "a.txt", columns, fmt="%.17g", header="x temperature")
    np.savez_compressed(tmp_path / "a.npz", x=columns[:, 0], temperature=columns[:, 1:])
    for name in ("a.txt", "a.npz"):
        file = ColumnFile(tmp_path / name)
        np.testing.assert_array_equal(file.column("x"), columns[:, 0])
        np.testing.assert_array_equal(file.column("temperature"), columns[:, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "data.csv: expected a line of names and lines of numbers"),
        ("0,1\n2,3\n", "data.csv:1: expected the names of the columns in the first line"),
        ("x,u\n0,1\n\n2\n", "data.csv:4: expected 2 cells, one for each of x, u, got 1"),
        ("x,x\n0,1\n", "data.csv:1: expected a name of its own for each column, got 'x', 'x'"),
        ("x,\n0,1\n", "data.csv:1: expected a name of its own"),
        ("x,u\n0,1\n#\n2,one\n", "data.csv:4: column 'u': expected a number, got 'one'"),
        ("x,u\n0,1\n2,\n", "data.csv:3: column 'u': expected a number, got an empty cell"),
        ("x,t\n0,1\n", "data.csv: no column 'u'; its columns are x, t"),
        (b"x,u\n0,\xff\n", "data.csv:2: expected a text in UTF-8"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        ColumnFile(path).column("u")


def test_a_column_that_nobody_asks_for_may_hold_anything(tmp_path):
    (tmp_path / "data.csv").write_text("x,remark\n0,fine\n1,late\n")
    assert ColumnFile(tmp_path / "data.csv").column("x").tolist() == [0, 1]


def test_an_npz_of_other_things_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match="a.npz: expected an npz file of plain arrays"):
        ColumnFile(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=np.array([1j]), y=np.ones(1))
    assert ColumnFile(tmp_path / "b.npz").column("y") == 1
    with pytest.raises(ValueError, match="column 'x': expected an array of numbers, got one of"):
        ColumnFile(tmp_path / "b.npz").column("x")
    (tmp_path / "c.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="c.npz: expected an npz file"):
        ColumnFile(tmp_path / "c.npz")
    with pytest.raises(ValueError, match="d.npz cannot be read: No such file"):
        ColumnFile(tmp_path / "d.npz")
