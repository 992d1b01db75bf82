"""A lock on a file, held until it is released or the process ends, however it ends."""

from __future__ import annotations

import errno
import os
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path

from pinn.files.errors import sentence_of

_BUSY = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
# Windows locks bytes, and nobody may read those: one far behind the text.
_LOCKED_BYTE = 2**30


class FileLock:
    """An exclusive lock on a file, which is made where it is missing and stays afterwards.

    The lock belongs to the system, not to the file's text: when the process ends or is killed the
    lock is gone, so there are no stale ones. `text` says in the file who holds it, for people only;
    None leaves the file as it is.

    Raises BlockingIOError when somebody else holds the lock (another FileLock of this process
    counts), FileExistsError where the path is a link or no file, other OSErrors from the disk. A
    file system that has no locks gives a warning, and no protection.
    """

    def __init__(self, path: str | Path, text: str | None = None) -> None:
        self.path = Path(path)
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_file()):
            raise FileExistsError(
                errno.EEXIST, "expected a plain file to lock, got a link or a folder", str(path)
            )
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.path, flags, 0o666)
        self._close: Callable[[], object] = weakref.finalize(self, os.close, descriptor)
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno in _BUSY:
                self._close()
                raise BlockingIOError(error.errno, "locked", str(path)) from error
            warnings.warn(
                f"{path}: this file system has no locks ({sentence_of(error)}); "
                "two programs that write here would not notice each other",
                RuntimeWarning,
                stacklevel=2,
            )
        if text is None:
            return
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, text.encode("utf-8"))
        except OSError:
            pass  # the lock holds without its text, which a full disk may refuse

    def release(self) -> None:
        """Give the lock back; a second time it does nothing."""
        self._close()


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return
    import fcntl

    # Not lockf: its locks belong to the process, and closing any other descriptor frees them.
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
