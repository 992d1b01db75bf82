"""Atomic files: whole or not there, whatever fails in between."""

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from pinn.files import atomic, is_leftover, read_npz, write_bytes, write_npz, write_text


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_file_stays_whole_when_a_step_fails(tmp_path, monkeypatch, step):
    path = tmp_path / "a.npz"
    write_npz(path, {"a": np.zeros(3)})
    before = path.read_bytes()
    monkeypatch.setattr(os, step, refuse)
    with pytest.raises(OSError, match=r"cannot write .*a\.npz: No space left.*unchanged") as caught:
        write_npz(path, {"a": np.ones(3)})
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the full device of Linux")
def test_a_device_that_is_really_full_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "temporary_name", lambda path: tmp_path / "full")
    os.symlink("/dev/full", tmp_path / "full")
    really_open = open
    monkeypatch.setattr(atomic, "open", lambda p, mode: really_open(p, "wb"), raising=False)
    with pytest.raises(OSError, match=r"cannot write .*a\.txt: No space left"):
        write_text(tmp_path / "a.txt", "x" * 100_000)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_synced_is_reported_with_the_new_file_in_place(
    tmp_path, monkeypatch
):
    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")

    write_bytes(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="new file is in place"):
        write_bytes(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_bytes_are_synced_before_the_rename_and_the_folder_after(tmp_path, monkeypatch):
    done = []

    def fsync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if folder else f"file of {os.fstat(descriptor).st_size}")

    replace = os.replace
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    write_bytes(tmp_path / "a.txt", b"12345")
    assert done == ["file of 5", "rename", "folder"]


def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    write_bytes(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a.txt", b"new")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"old"


def test_a_missing_or_wrong_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*gone.a\.txt"):
        write_bytes(tmp_path / "gone" / "a.txt", b"")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"cannot write .*file.a\.txt"):
        write_bytes(tmp_path / "file" / "a.txt", b"")


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_new_file_has_the_usual_permissions(tmp_path):
    mask = os.umask(0o022)
    try:
        write_bytes(tmp_path / "a.txt", b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


def test_keeping_works_without_hard_links(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", refuse)
    for value in range(3):
        write_npz(tmp_path / "a.npz", {"v": np.int64(value)}, keep_as=tmp_path / "b.npz")
    assert read_npz(tmp_path / "a.npz")["v"] == 2
    assert read_npz(tmp_path / "b.npz")["v"] == 1
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "b.npz"]


def test_a_link_is_replaced_and_never_followed(tmp_path):
    (tmp_path / "theirs.txt").write_text("theirs")
    (tmp_path / "a.txt").symlink_to("theirs.txt")
    write_bytes(tmp_path / "a.txt", b"ours")
    assert (tmp_path / "theirs.txt").read_text() == "theirs"
    assert not (tmp_path / "a.txt").is_symlink()


def test_temporary_files_are_known_by_their_names():
    name = atomic.temporary_name(Path("run/solution.npz")).name
    assert is_leftover(name) == "solution.npz"
    for other in ("solution.npz", ".solution.npz", ".a.tmp", "a.1-00000000.tmp", ".a.x-00.tmp"):
        assert is_leftover(other) is None
