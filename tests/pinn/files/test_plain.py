"""Only plain files are read: whatever else there is has no end, or nobody at the other end."""

import os
import socket
import time

import pytest

from pinn.files import Columns, DamagedFile, open_plain, read_npz, read_plain


def test_a_plain_file_is_read_through_links_too(tmp_path):
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "b").symlink_to("a")
    with open_plain(tmp_path / "b") as file:
        assert file.read() == b"text"
    assert read_plain(tmp_path / "a", 4) == b"text"
    with pytest.raises(OSError, match="expected a file of at most 3e-06 MB, got a larger one"):
        read_plain(tmp_path / "a", 3)


def pipe(path):
    os.mkfifo(path)
    return path


def folder(path):
    path.mkdir()
    return path


def listening(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return path


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (pipe, "expected a plain file, got a pipe"),
        (lambda path: "/dev/zero", "expected a plain file, got a device"),
        (folder, "Is a directory"),
        (listening, "No such device or address"),
        (lambda path: path, "No such file or directory"),
    ],
)
def test_anything_else_is_refused_at_once(tmp_path, monkeypatch, make, what):
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    path, began = make(tmp_path.joinpath("it").relative_to(tmp_path)), time.monotonic()
    with pytest.raises(OSError, match=what):
        open_plain(path)
    with pytest.raises(ValueError, match=f"cannot read .*: {what}"):
        Columns(path=tmp_path / path).names  # noqa: B018 - reads the file
    with pytest.raises(OSError, match=what) as caught:
        read_npz(path)
    assert not isinstance(caught.value, DamagedFile)
    assert time.monotonic() - began < 5
