"""Columns of numbers: what is read from texts and npz, and mistakes with file and line."""

import hashlib
import re
import zipfile

import numpy as np
import pytest

from pinn.files import Columns, columns, numbers_of

TEXTS = {
    "commas": "x,t,u\n0,1,2.5\n-1e-3, 2 ,3\n",
    "semicolons": "x;t;u\n0;1;2.5\n-1e-3;2;3\n",
    "tabs": "x\tt\tu\n0\t1\t2.5\n-1e-3\t2\t3\n",
    "blanks": "x  t u\n  0 1   2.5\n-1e-3 2 3",
    "quotes": '"x","t", "u"\n0,"1",2.5\n-1e-3,2,3\n',
    "remarks": "# measured in June\n\nx,t,u # names\n# and so on\n0,1,2.5\n\n-.001,2,3 # last\n",
    "names behind a mark": "# x,t,u\n0,1,2.5\n-1e-3,2,3\n",
    "names behind a percent sign": "% Version 3\n% x   t  u\n0 1 2.5\n-1e-3 2 3\n",
    "a byte order mark": "\ufeffx,t,u\r\n0,1,2.5\r\n-1e-3,2,3\r\n",
    "a column of texts": "x,t,u,note\n0,1,2.5,first\n-1e-3,2,3,50% of it\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_columns_of_a_text(tmp_path, kind):
    path = tmp_path / "data.csv"
    path.write_bytes(TEXTS[kind].encode())
    file = Columns(path=path)
    assert file.names[:3] == ("x", "t", "u") and not file.by_position
    assert [file.column(name).tolist() for name in "xtu"] == [[0, -1e-3], [1, 2], [2.5, 3]]
    assert file.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    line = 1 + next(i for i, s in enumerate(TEXTS[kind].splitlines()) if s.startswith("-"))
    assert file.place(1) == f"{path}:{line}"


@pytest.mark.parametrize("text", ["0,1\n2,3\n", "# measured\n0,1\n2,3\n", "0 1\n2 3"])
def test_numbers_alone_are_columns_without_names(tmp_path, text):
    (tmp_path / "data.txt").write_text(text)
    file = Columns(path=tmp_path / "data.txt")
    assert file.by_position and file.names == ("0", "1")
    named = file.named(("x", "t"))
    assert named.column("x").tolist() == [0, 2] and named.column("t").tolist() == [1, 3]
    with pytest.raises(ValueError, match="data.txt: expected rows of 3 numbers, x, y, t, got 2"):
        file.named(("x", "y", "t"))
    assert Columns.of_rows(np.array([[0.0, 1], [2, 3]])).named("xt") == Columns(
        {"x": np.array([0.0, 2]), "t": np.array([1.0, 3])}
    )


def test_what_savetxt_and_savez_write(tmp_path):
    table = np.random.default_rng(0).standard_normal((5, 2))
    np.savetxt(tmp_path / "a.txt", table, fmt="%.17g", header="x temperature")
    np.savez_compressed(tmp_path / "a.npz", x=table[:, 0], temperature=table[:, 1:])
    np.savez(tmp_path / "b.npz", x=np.float32(table[:, 0]), temperature=np.asfortranarray(table))
    for name in ("a.txt", "a.npz"):
        found = Columns(path=tmp_path / name).rows(["x"], ["temperature"])
        np.testing.assert_array_equal(found["x"], table[:, 0])
        np.testing.assert_array_equal(found["temperature"], table[:, 1])
    other = Columns(path=tmp_path / "b.npz")
    np.testing.assert_array_equal(other.column("temperature"), table)
    assert other.column("x").dtype == np.float64
    assert other.place(3, "temperature") == f"{tmp_path / 'b.npz'}: temperature[1, 1]"
    assert other.place(3, "x") == f"{tmp_path / 'b.npz'}: row 3: column 'x'"


WRONG = [
    ("", "data.csv: expected a line of names and lines of numbers, got nothing"),
    ("x,u\n", "data.csv:1: expected lines of numbers below the names, got none"),
    ("0,1\n2,3\n", "data.csv:1: expected the names of the columns in the first line, such as"),
    ("x,u\n0,1\n\n2\n", "data.csv:4: expected 2 cells, one for each of x, u, got 1"),
    ("x,u\n0,1,2\n", "data.csv:2: expected 2 cells, one for each of x, u, got 3"),
    ("x,x\n0,1\n", "data.csv:1: expected a name of its own for each column, got 'x', 'x'"),
    ("x,\n0,1\n", "data.csv:1: expected a name of its own for each column"),
    ("x,u\n0,1\n#\n2,one\n", "data.csv:4: column 'u': expected a number, got 'one'"),
    ("x;u\n0;0,1\n", "data.csv:2: column 'u': expected a number, got '0,1'; a number has a"),
    ("x,u\n0,1\n2,\n", "data.csv:3: column 'u': expected a number, got an empty cell"),
    ("x,u\n0,1\n2,nan\n", "data.csv:3: column 'u': expected a finite number, got nan"),
    ("x,u\n0,1e999\n", "data.csv:2: column 'u': expected a finite number, got inf"),
    ("x,u\n0,1_0\n", "data.csv:2: column 'u': expected a number, got '1_0'"),
    ("x,temp\n0,1\n", "data.csv: no column 'u'; its columns are x, temp"),
    (b"x,u\n0,\xff\n", "data.csv:2: expected a text in UTF-8"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_no_table_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=re.escape(message)):
        Columns(path=path).column("u")


def test_the_nearest_name_is_told():
    with pytest.raises(ValueError, match="no column 'tempo'; its columns are x, temp; did you m"):
        Columns({"x": np.zeros(1), "temp": np.ones(1)}).column("tempo")


def test_files_that_hold_other_things_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match="a.npz: expected an npz file of plain arrays"):
        Columns(path=tmp_path / "a.npz").column("x")
    np.savez(tmp_path / "b.npz", x=np.array([1j]), y=np.ones(1))
    assert Columns(path=tmp_path / "b.npz").column("y") == 1
    with pytest.raises(ValueError, match="column 'x': expected an array of numbers, got one of"):
        Columns(path=tmp_path / "b.npz").column("x")
    for data in (b"no archive", b"PK no archive", b""):
        (tmp_path / "c.npz").write_bytes(data)
        with pytest.raises(ValueError, match="c.npz: expected an npz file"):
            Columns(path=tmp_path / "c.npz").column("x")
    with pytest.raises(ValueError, match="cannot read .*d.npz: No such file"):
        Columns(path=tmp_path / "d.npz").column("x")


def test_sizes_are_compared_with_what_is_there(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", x=np.zeros(1000))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        data = archive.read("x.npy").replace(b"(1000,), ", b"(10**9,),"[:9])
        data = data.replace(b"(10**9,),", b"(9999,), ")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("x.npy", data)
    with pytest.raises(ValueError, match=r"b.npz: .*x.npy declares shape \(9999,\) of float64"):
        Columns(path=tmp_path / "b.npz").column("x")
    np.savez_compressed(tmp_path / "c.npz", x=np.zeros(10_000))
    monkeypatch.setattr(columns, "MOST_BYTES", 9_000)
    with pytest.raises(ValueError, match="a.npz|c.npz: .*its arrays have"):
        Columns(path=tmp_path / "c.npz").column("x")
    monkeypatch.setattr(columns, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="a.npz: expected 2 GiB at most"):
        Columns(path=tmp_path / "a.npz").column("x")


def test_rows_of_columns_of_numbers_and_of_grids():
    x, t = np.linspace(0, 1, 4), np.linspace(0, 2, 3)
    u = x[:, None] + 10 * t
    grid = Columns({"x": x, "t": t[:, None], "u": u, "v": -u}).rows(["x", "t"], ["u", "v"])
    np.testing.assert_array_equal(grid["x"] + 10 * grid["t"], grid["u"])
    np.testing.assert_array_equal(grid["v"], -u.reshape(-1))
    one = Columns({"x": x, "t": np.array(0.5), "u": u[:, 0]}).rows(["x", "t"], ["u"])
    np.testing.assert_array_equal(one["t"], [0.5] * 4)
    with pytest.raises(ValueError, match=r"got \(3, 4\): transposed"):
        Columns({"x": x, "t": t, "u": u.T}).rows(["x", "t"], ["u"])


def test_what_are_no_numbers():
    for value in (["a"], [], [[1], [1, 2]], None, [1j]):
        with pytest.raises(ValueError, match="expected an array of numbers, got"):
            numbers_of(value)
    with pytest.raises(ValueError, match="^row 1: column 'x': expected a finite number, got nan"):
        Columns({"x": np.array([0.0, np.nan])}).column("x")


def test_values_of_a_grid_that_are_transposed_are_told():
    columns = Columns({"x": np.arange(5.0), "t": np.arange(4.0), "u": np.zeros((4, 5))})
    with pytest.raises(ValueError, match=r"shape \(5, 4\).* got \(4, 5\): transposed\?"):
        columns.rows(["x", "t"], ["u"])
