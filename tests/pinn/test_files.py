"""Atomic files: whole or not there, whatever fails in between."""

import errno
import json
import os
import stat
import zipfile

import numpy as np
import pytest

from pinn import files
from pinn.files import DamagedFile, read_npz, write_bytes, write_json, write_npz, write_text


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


ARRAYS = {
    "weights/0": np.arange(12.0).reshape(3, 4),
    "step": np.int64(7),
    "name": np.array("adam"),
    "mask": np.array([True, False]),
    "empty": np.empty((0, 3), dtype=np.float32),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "file": np.array([1 + 2j]),  # a name that numpy.savez itself cannot take
}


def test_npz_gives_back_names_shapes_dtypes_and_bits(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    back = read_npz(tmp_path / "a.npz")
    assert list(back) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert back[name].dtype == np.asarray(array).dtype
        np.testing.assert_array_equal(back[name], array, strict=True)


def test_npz_is_read_by_numpy_and_has_the_same_bytes_each_time(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    write_npz(tmp_path / "b.npz", ARRAYS)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["weights/0"], ARRAYS["weights/0"])


def test_npz_refuses_objects_and_empty_names_before_it_touches_the_disk(tmp_path):
    with pytest.raises(TypeError, match="'bad' holds Python objects"):
        write_npz(tmp_path / "a.npz", {"bad": np.array([{}])})
    with pytest.raises(ValueError, match="non-empty text"):
        write_npz(tmp_path / "a.npz", {"": np.zeros(1)})
    assert os.listdir(tmp_path) == []


def test_every_truncation_is_reported_with_path_and_remedy(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, ARRAYS)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFile, match=r"a\.npz: .*; try the other one"):
            read_npz(path, remedy="try the other one")


def test_a_flipped_byte_is_reported_or_harmless(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, ARRAYS)
    whole = path.read_bytes()
    reported = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :])
        try:
            back = read_npz(path)
        except DamagedFile:
            reported += 1
            continue
        # Dates and the like carry no data: what is read must be what was written.
        assert list(back) == list(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(back[name], array, strict=True)
    assert reported > 0.5 * len(whole)


def test_pickled_arrays_and_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "pickled.npz", a=np.array([{}]))
    np.save(tmp_path / "bare.npy", np.zeros(3))
    (tmp_path / "text.npz").write_text("not an archive")
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("a.npy", b"no array")
    for name in ("pickled.npz", "bare.npy", "text.npz", "other.npz"):
        with pytest.raises(DamagedFile, match=name):
            read_npz(tmp_path / name)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot read .*none\.npz"):
        read_npz(tmp_path / "none.npz")


def test_text_and_json_are_written_as_utf8(tmp_path):
    write_text(tmp_path / "a.txt", "∂u/∂t\n")
    assert (tmp_path / "a.txt").read_bytes() == "∂u/∂t\n".encode()
    value = {"loss": np.float64(0.5), "n": np.int32(3), "v": np.arange(2), "ok": True}
    write_json(tmp_path / "a.json", value | {"bad": {"nan": np.nan, "inf": [np.inf, (1, None)]}})
    back = {"loss": 0.5, "n": 3, "v": [0, 1], "ok": True}
    back["bad"] = {"nan": None, "inf": [None, [1, None]]}
    assert json.loads((tmp_path / "a.json").read_text()) == back


@pytest.mark.parametrize(
    "value, message",
    [({"a": [1, {2}]}, r"value\['a'\]\[1\].*set"), ({1: 2}, "text keys"), (1j, "complex")],
)
def test_json_names_the_place_it_cannot_write(tmp_path, value, message):
    with pytest.raises(TypeError, match=message):
        write_json(tmp_path / "a.json", value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_old_file_stays_whole_when_a_step_fails(tmp_path, monkeypatch, step):
    path = tmp_path / "a.npz"
    write_npz(path, {"a": np.zeros(3)})
    before = path.read_bytes()
    monkeypatch.setattr(files.os, step, refuse)
    with pytest.raises(OSError, match=r"cannot write .*a\.npz: No space left.*unchanged") as caught:
        write_npz(path, {"a": np.ones(3)})
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


def test_a_disk_that_fills_up_while_an_archive_is_written_leaves_nothing(tmp_path, monkeypatch):
    write_npz(tmp_path / "a.npz", {"a": np.zeros(3)})
    monkeypatch.setattr(np.lib.format, "write_array", refuse)
    with pytest.raises(OSError, match=r"cannot write .*a\.npz: No space left"):
        write_npz(tmp_path / "a.npz", {"a": np.ones(3)})
    assert os.listdir(tmp_path) == ["a.npz"]
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz")["a"], np.zeros(3))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the full device of Linux")
def test_a_device_that_is_really_full_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_temporary_name", lambda path: tmp_path / "full")
    os.symlink("/dev/full", tmp_path / "full")
    really_open = open
    monkeypatch.setattr(files, "open", lambda p, mode: really_open(p, "wb"), raising=False)
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
    monkeypatch.setattr(files.os, "fsync", fsync)
    with pytest.raises(OSError, match="new file is in place"):
        write_bytes(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_bytes_are_synced_before_the_rename_and_the_folder_after(tmp_path, monkeypatch):
    done = []

    def fsync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        done.append("folder" if folder else f"file of {os.fstat(descriptor).st_size}")

    replace = os.replace
    monkeypatch.setattr(files.os, "fsync", fsync)
    monkeypatch.setattr(files.os, "replace", lambda a, b: (done.append("rename"), replace(a, b)))
    write_bytes(tmp_path / "a.txt", b"12345")
    assert done == ["file of 5", "rename", "folder"]


def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    write_bytes(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(files.os, "replace", interrupt)
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
    monkeypatch.setattr(files.os, "link", refuse)
    for value in range(3):
        write_npz(tmp_path / "a.npz", {"v": np.int64(value)}, keep_as=tmp_path / "b.npz")
    assert read_npz(tmp_path / "a.npz")["v"] == 2
    assert read_npz(tmp_path / "b.npz")["v"] == 1
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "b.npz"]
