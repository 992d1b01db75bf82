"""npz files: they give back what was written, and refuse all else before they believe a size."""

import contextlib
import errno
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

from pinn.files import DamagedFile, read_npz, write_npz


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


def test_npz_refuses_empty_names_before_it_touches_the_disk(tmp_path):
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


def test_a_disk_that_fills_up_while_an_archive_is_written_leaves_nothing(tmp_path, monkeypatch):
    write_npz(tmp_path / "a.npz", {"a": np.zeros(3)})
    monkeypatch.setattr(np.lib.format, "write_array", refuse)
    with pytest.raises(OSError, match=r"cannot write .*a\.npz: No space left"):
        write_npz(tmp_path / "a.npz", {"a": np.ones(3)})
    assert os.listdir(tmp_path) == ["a.npz"]
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz")["a"], np.zeros(3))


def npy(header: str, data: bytes = b"") -> bytes:
    """An npy file with a header of our own making."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def write_archive(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def plain(shape: str, dtype: str = "<f8") -> str:
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"


def test_the_headers_of_these_tests_are_those_of_numpy(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    write_archive(tmp_path / "a.npz", {"a.npy": npy(plain("(2, 3)"), values.tobytes())})
    np.testing.assert_array_equal(read_npz(tmp_path / "a.npz")["a"], values, strict=True)


@pytest.mark.parametrize(
    "member",
    [
        npy(plain("(8,").replace("}", "")),
        npy(plain("(True,)"), bytes(8)),
        npy(plain("(-1,)"), bytes(8)),
        npy(plain("(1e0,)"), bytes(8)),
        npy(plain("(" * 5000 + ")" * 5000)),
        npy(plain("(2,)"), bytes(8)),
        npy(plain("()"), bytes(16)),
        npy(plain("(2, 500000000000)"), bytes(64)),
        npy(plain("(0, 999999999999999999, 999999999999999999)")),
        npy(plain("(1," * 100 + ")" * 100), bytes(8)),
        npy(plain("()", "|O"), bytes(8)),
        npy(plain("()", "<M8[s]"), bytes(8)),
        npy(plain("()", "|S8"), bytes(8)),
        npy(plain("()", "|V8"), bytes(8)),
        npy(plain("()", "<U2"), b"\xff" * 8),
        npy(plain("()", "|b1"), b"\x07"),
        npy(plain("()", "<f16"), bytes(16)),
        npy(plain("()").replace("<f8", "<f8', 'more': '"), bytes(8)),
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (), }\n", bytes(8)),
        b"\x93NUMPY\x09\x00" + npy(plain("()"), bytes(8))[8:],
        b"\x93NUMPY\x01\x00",
        b"",
    ],
)
def test_a_header_that_is_not_ours_is_refused(tmp_path, member):
    write_archive(tmp_path / "a.npz", {"a.npy": member})
    with pytest.raises(DamagedFile, match=r"a\.npz"):
        read_npz(tmp_path / "a.npz")


def test_sizes_that_are_only_declared_cost_no_memory(tmp_path):
    zeros = bytes(64_000_000)
    compressed = {"a.npy": npy(plain(f"({len(zeros) // 8},)"), zeros)}
    write_archive(tmp_path / "a.npz", compressed, zipfile.ZIP_DEFLATED)
    assert (tmp_path / "a.npz").stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(DamagedFile, match="is compressed"):
        read_npz(tmp_path / "a.npz")
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_entries_that_share_their_bytes_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(plain("(1000,)"), bytes(8000)))
        for i in range(50):
            copy = zipfile.ZipInfo("a.npy")
            vars_of = archive.infolist()[0]
            for name in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(copy, name, getattr(vars_of, name))
            archive.filelist.append(copy)
            copy.filename = f"b{i}.npy"
    with pytest.raises(DamagedFile, match="bytes are announced"):
        read_npz(path)


def test_two_entries_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for value in range(2):
            with pytest.warns() if value else contextlib.nullcontext():
                archive.writestr("a.npy", npy(plain("()"), bytes(8)))
    with pytest.raises(DamagedFile, match="one name"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "array", [np.array([{}]), np.datetime64("2001-01-01"), np.array(b"x"), np.zeros(2, "f8,i4")]
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, array):
    with pytest.raises(TypeError, match="array 'bad' has the dtype"):
        write_npz(tmp_path / "a.npz", {"bad": array})
    assert os.listdir(tmp_path) == []
