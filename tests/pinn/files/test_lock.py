"""Locks: one holder at a time, and none that outlives its process."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from pinn.files import FileLock, lock

ROOT = Path(__file__).parents[3]
HOLD = """
import sys, time
from pinn.files import FileLock
held = FileLock(sys.argv[1], "somebody")
print("held", flush=True)
time.sleep(60)
"""


def test_one_holder_at_a_time(tmp_path):
    first = FileLock(tmp_path / "lock", "first")
    with pytest.raises(BlockingIOError):
        FileLock(tmp_path / "lock", "second")
    assert (tmp_path / "lock").read_text() == "first"
    first.release()
    first.release()
    second = FileLock(tmp_path / "lock", "second")
    assert (tmp_path / "lock").read_text() == "second"
    second.release()
    FileLock(tmp_path / "lock").release()
    assert (tmp_path / "lock").read_text() == "second"


def test_a_lock_that_nobody_knows_any_more_is_free(tmp_path):
    FileLock(tmp_path / "lock")
    FileLock(tmp_path / "lock").release()


def test_a_killed_process_holds_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    with process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            FileLock(tmp_path / "lock")
        process.kill()
        process.wait()
    FileLock(tmp_path / "lock").release()


def test_links_and_folders_are_no_locks(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "link").symlink_to("theirs")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(FileExistsError, match="plain file"):
            FileLock(tmp_path / name, "ours")
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_a_file_system_without_locks_is_said(tmp_path, monkeypatch):
    def no_locks(_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", no_locks)
    with pytest.warns(RuntimeWarning, match="this file system has no locks"):
        FileLock(tmp_path / "lock").release()
