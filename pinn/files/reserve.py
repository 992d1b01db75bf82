"""Room on a disk, kept from the start for what has to be written at the end."""

from __future__ import annotations

import errno
import os
import weakref
from pathlib import Path
from typing import BinaryIO

from pinn.files.atomic import remove_quietly, temporary_name
from pinn.files.errors import disk_error


class Reserve:
    """Takes `size` bytes of the disk beside `path` until `release`.

    The room is that of a temporary file of `path`, which `release`, and the end of the process in
    any orderly way, removes. Raises OSError, naming the path, where there is not so much room.
    """

    def __init__(self, path: str | Path, size: int) -> None:
        temporary = temporary_name(Path(path))
        self._release = weakref.finalize(self, remove_quietly, temporary)
        try:
            with open(temporary, "xb") as file:
                _take(file, size)
        except OSError as error:
            self.release()
            advice = f"{size / 1e6:.1f} MB are kept free for it, and are not there"
            raise disk_error(Path(path), error, advice) from error

    def release(self) -> None:
        """Give the room back; a second time it does nothing."""
        self._release()


def _take(file: BinaryIO, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
                raise
    # Not every file system can set room aside; bytes take it just as well.
    file.write(bytes(size))
