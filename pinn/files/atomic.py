"""Files that take the place of an older one as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pinn.files.errors import disk_error


@contextmanager
def atomic_file(path: str | Path, keep_as: str | Path | None = None) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of `path` when the block ends without an error.

    The bytes go to a temporary name in the same folder; they are flushed and synced, then renamed
    over `path`, and the folder is synced. With `keep_as`, what `path` held before is first kept
    under that name (in the same folder); `path` itself is whole at every moment. After an error, or
    a crash at any step, the file that was there before is still there. Where `path` is a link, the
    link is replaced, never what it points to.

    Raises OSError, with the path in its message, when the disk refuses.
    """
    path = Path(path)
    temporary = temporary_name(path)
    renamed = False
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if keep_as is not None and path.exists():
            _keep(path, Path(keep_as))
        os.replace(temporary, path)
        renamed = True
        _sync_folder(path.parent)
    except OSError as error:
        state = (
            "the new file is in place but may not survive a power failure"
            if renamed
            else "what was there before is unchanged; check the folder and the free space"
        )
        raise disk_error(path, error, state) from error
    finally:
        # After a successful rename there is nothing under this name.
        remove_quietly(temporary)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write bytes atomically; OSError naming the path when the disk refuses."""
    with atomic_file(path) as file:
        file.write(data)


def write_text(path: str | Path, text: str) -> None:
    """Write text atomically as UTF-8; OSError naming the path when the disk refuses."""
    write_bytes(path, text.encode("utf-8"))


_LEFTOVER = re.compile(r"\.(.+)\.\d+-[0-9a-f]{8}\.tmp")


def is_leftover(name: str) -> str | None:
    """Return the name of the file that a killed writer's temporary file was to become, or None."""
    found = _LEFTOVER.fullmatch(name)
    return found and found[1]


def temporary_name(path: Path) -> Path:
    """Return the name of a file beside `path` that nobody else writes; see `is_leftover`."""
    # Unique, so that two writers of one file cannot write into each other's bytes.
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _keep(path: Path, kept: Path) -> None:
    """Make `kept` name what `path` holds, without a moment in which either is missing."""
    temporary = temporary_name(kept)
    try:
        try:
            os.link(path, temporary)
        except OSError:
            # Some file systems have no hard links; a synced copy has the same effect.
            with open(path, "rb") as old, open(temporary, "wb") as copy:
                shutil.copyfileobj(old, copy)
                copy.flush()
                os.fsync(copy.fileno())
        os.replace(temporary, kept)
    finally:
        # Renaming one link of a file over another does nothing and leaves both names.
        remove_quietly(temporary)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder to sync it
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Network file systems may not support this; the file itself is synced.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def remove_quietly(path: Path) -> None:
    """Remove a file, if that can be done."""
    try:
        os.unlink(path)
    except OSError:
        # Gone already, or the disk refuses: the error that matters is already on its way.
        pass
