"""Room that is kept on a disk."""

import errno
import os

import pytest

from pinn.files import Reserve, is_leftover


def test_room_is_taken_and_given_back(tmp_path):
    reserve = Reserve(tmp_path / "a.npz", 100_000)
    (name,) = os.listdir(tmp_path)
    assert is_leftover(name) == "a.npz"
    assert os.stat(tmp_path / name).st_blocks * 512 >= 100_000
    reserve.release()
    reserve.release()
    assert os.listdir(tmp_path) == []


def test_room_that_nobody_knows_any_more_is_given_back(tmp_path):
    Reserve(tmp_path / "a.npz", 1000)
    assert os.listdir(tmp_path) == []


def test_a_disk_without_the_room_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(OSError, match=r"cannot write .*a\.npz: No space left on device; 2\.0 MB"):
        Reserve(tmp_path / "a.npz", 2_000_000)
    assert os.listdir(tmp_path) == []
