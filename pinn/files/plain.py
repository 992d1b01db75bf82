"""Plain files, opened for reading: never a pipe or a device, which may have no end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}  # fmt: skip


def open_plain(path: str | Path) -> BinaryIO:
    """Open a plain file to read its bytes; it may be reached through links.

    Raises OSError for a file that is not there, a folder, a pipe, a device or a socket, at once and
    without waiting for anybody at the other end of a pipe; ValueError for a zero byte in the path.
    """
    return open(path, "rb", opener=_opened)


def read_plain(path: str | Path, most: int) -> bytes:
    """Return the bytes of a plain file; errors are those of `open_plain`, and EFBIG above `most`.

    Never more than `most` + 1 bytes are read.
    """
    with open_plain(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise too_large(path, most)
    return data


def too_large(path: str | Path, most: int) -> OSError:
    """Return the error for a file of more bytes than `most`."""
    size = f"{most / 1e6:.3g} MB"
    return OSError(errno.EFBIG, f"expected a file of at most {size}, got a larger one", path)


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind in _KINDS:
        os.close(descriptor)
        raise OSError(errno.ENOTSUP, f"expected a plain file, got {_KINDS[kind]}", path)
    return descriptor
