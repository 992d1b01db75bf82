"""Tables that were made to do harm: refused in a sentence, in little time and memory."""

import io
import os
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pinn.files import Columns, DamagedFile, read_npz, write_npz

ROOT = Path(__file__).parents[3]


def refused(path, *names):
    with pytest.raises(ValueError) as caught:
        for name in names or Columns(path=path).names:
            Columns(path=path).column(name)
    said = str(caught.value)
    assert len(said) < 2000 and path.name in said
    return said


def archive(path, members, kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def npy(header, data=b""):
    header = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"


@pytest.mark.parametrize(
    "header",
    [
        HEADER % "1000000000000,", HEADER % "-1,", HEADER % "-2, -1", HEADER % "9" * 19 + ",",
        HEADER % "__import__('os').system('x'),", HEADER % "1,)*(9**9**9,", "(" * 1500,
        "-" * 1500 + "1", "{" * 300, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '|V8', 'fortran_order': False, 'shape': (2,), }", "[" * 1900,
        "{'descr': '<f9', 'fortran_order': False, 'shape': (2,), }", "", " ' \n\n(",
    ],
)  # fmt: skip
def test_headers_are_matched_and_never_evaluated(tmp_path, header):
    path = archive(tmp_path / "a.npz", {"x.npy": npy(header, bytes(16))})
    assert "a.npz: expected an npz file of plain arrays" in refused(path)
    with pytest.raises(DamagedFile, match=r"a\.npz"):
        read_npz(path)


@pytest.mark.parametrize(
    "header",
    [
        HEADER % "2,", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }" + " " * 50,
    ],
)  # fmt: skip
def test_headers_of_other_writers_are_read(tmp_path, header):
    data = np.array([1.0, 2.0]).tobytes()
    path = archive(tmp_path / "a.npz", {"x.npy": npy(header, data)})
    np.testing.assert_array_equal(Columns(path=path).column("x"), [1, 2])


def test_arrays_without_numbers_are_told_only_where_they_are_asked_for(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones(2), text=np.array(["a", "b"]), none=np.empty((0, 3)))
    np.testing.assert_array_equal(Columns(path=path).column("x"), [1, 1])
    assert "column 'text': expected an array of numbers" in refused(path, "text")
    with pytest.raises(ValueError, match="expected as many numbers in every column"):
        Columns(path=path).rows(["x"], ["none"])


def test_names_of_members_are_names_and_no_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    data = npy(HEADER % "1,", bytes(8))
    absolute = str(tmp_path / "absolute.npy")
    names = ("../out.npy", absolute, "in/../../out.npy")
    path = archive(tmp_path / "in" / "a.npz", dict.fromkeys(names, data))
    assert Columns(path=path).names == tuple(name.removesuffix(".npy") for name in names)
    assert Columns(path=path).column("../out") == 0
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["a.npz", "in"]


def test_two_arrays_of_one_name_are_refused(tmp_path):
    data = npy(HEADER % "1,", bytes(8))
    with pytest.warns(UserWarning, match="Duplicate name"), \
            zipfile.ZipFile(tmp_path / "a.npz", "w") as file:  # fmt: skip
        file.writestr("x.npy", data)
        file.writestr("x.npy", data)
    assert "two of its arrays have one name" in refused(tmp_path / "a.npz")


def test_every_truncation_of_an_archive_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.arange(50.0))
    data = (tmp_path / "a.npz").read_bytes()
    for size in range(0, len(data), 7):
        (tmp_path / "a.npz").write_bytes(data[:size])
        assert "a.npz: expected an npz file" in refused(tmp_path / "a.npz")


def test_a_list_of_entries_without_end_is_refused_before_it_is_read(tmp_path):
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as file:
        for number in range(30_000):
            file.writestr(f"{number:060}.npy", b"")
    for name in ("a.npz", "b.npz"):
        (tmp_path / name).write_bytes(empty.getvalue())
    assert "its list of entries has 3" in refused(tmp_path / "a.npz")
    with pytest.raises(DamagedFile, match="its list of entries has 3"):
        read_npz(tmp_path / "b.npz")
    with pytest.raises(ValueError, match="30000 arrays are more than one file can list"):
        write_npz(tmp_path / "c.npz", {f"{number}": np.zeros(0) for number in range(30_000)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,u\n1,=cmd|' /C calc'!A0\n", "data.csv:2: column 'u': expected a number, got"),
        ("x,u\n1,@SUM(A1)\n", "data.csv:2: column 'u': expected a number, got '@SUM(A1)'"),
        ("x,u\n1,\u0661\n", "data.csv:2: column 'u': expected a number, got '\u0661'"),
        ("x,u\n1,0x10\n", "data.csv:2: column 'u': expected a number, got '0x10'"),
        ("x,u\n1,\x1b[31m2\n", r"column 'u': expected a number, got '\x1b[31m2'"),
        ("x,u\n1,\x002\n", r"column 'u': expected a number, got '\x002'"),
        ("x,u\n1," + "y" * 500_000, "column 'u': expected a number, got 'yyyyyyyyyyyyyyyyyyyyyy"),
        ('x,u\n1,"' + "a" * 200_000 + '"\n', "data.csv:2: a cell in quotes cannot be read"),
        ("x,u\n1,2\n" + "1," * 100_000, "data.csv:3: expected 2 cells, one for each of x, u, got"),
        (",".join(map(str, range(100_000))) + "\n1\n", "data.csv:2: expected 100000 cells, one"),
        (",".join(f"c{k}" for k in range(100_000)) + "\n1\n", "one for each of c0, c1, c2, c3"),
        (",".join("cc" for k in range(100_000)) + "\n1\n", "expected a name of its own for each"),
        ("x|u\n1|2\n", "data.csv: no column 'u'; its columns are x|u"),
        ("x,u\r1,a\r", "data.csv:2: column 'u': expected a number, got 'a'"),
    ],
    ids=range(14),
)
def test_cells_that_are_no_numbers_are_told_in_short(tmp_path, text, said):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert said in refused(path, "u")


def test_all_ends_of_lines_and_a_byte_order_mark_are_read(tmp_path):
    for number, end in enumerate(("\n", "\r\n", "\r")):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(b"\xef\xbb\xbf" + end.join(("x;u", "1;2", "", "3;4")).encode())
        np.testing.assert_array_equal(Columns(path=path).column("u"), [2, 4])
        assert Columns(path=path).place(1, "u").endswith(":4: column 'u'")


_BOUNDED = """
import resource, sys, time
from pathlib import Path
from pinn.files import Columns
import numpy
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, began = peak(), time.process_time()
try:
    Columns(path=Path(sys.argv[1])).column("u")
except ValueError as error:
    print(error)
print(peak() - before, time.process_time() - began)
"""


def bomb(path):
    """2 GB of zeros in 2 MB."""
    zeros = npy(HEADER % "16000000,", bytes(128_000_000))
    archive(path, {f"{name}.npy": zeros for name in "uvwxyz"}, zipfile.ZIP_DEFLATED)


def endless_line(path):
    with path.open("wb") as file:
        file.write(b"x,u\n")
        for _ in range(100):
            file.write(b"1" * 1_000_000)


def columns_without_end(path):
    path.write_text(",".join(f"c{k}" for k in range(1_000_000)) + "\n1\n")


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (bomb, "u.npz", "its arrays have 732 MiB, more than 100 times as much as the file"),
        (endless_line, "u.csv", "u.csv:2: expected lines of at most 1,000,000 characters"),
        (columns_without_end, "u.csv", "u.csv:1: expected lines of at most 1,000,000 characters"),
    ],
)
def test_bombs_take_neither_memory_nor_time(tmp_path, make, name, said):
    make(tmp_path / name)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    limit = 2**31  # beside the program's own
    ended = subprocess.run(
        [sys.executable, "-c", _BOUNDED, str(tmp_path / name)], env=environment, text=True,
        capture_output=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    told, measured = ended.stdout.splitlines()
    mebibytes, seconds = map(float, measured.split())
    assert said in told
    assert mebibytes < 100 and seconds < 2
