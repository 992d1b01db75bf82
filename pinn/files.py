"""Files that are either whole or not there: atomic writers, and a strict npz reader."""

from __future__ import annotations

import errno
import io
import json
import os
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np


class DamagedFile(OSError):
    """A file is there but cannot be read as what it should be."""


@contextmanager
def atomic_file(path: str | Path, keep_as: str | Path | None = None) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of `path` when the block ends without an error.

    The bytes go to a temporary name in the same folder; they are flushed and synced, then renamed
    over `path`, and the folder is synced. With `keep_as`, what `path` held before is first kept
    under that name (in the same folder); `path` itself is whole at every moment. After an error, or
    a crash at any step, the file that was there before is still there.

    Raises OSError, with the path in its message, when the disk refuses.
    """
    path = Path(path)
    temporary = _temporary_name(path)
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
        _remove_quietly(temporary)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write bytes atomically; OSError naming the path when the disk refuses."""
    with atomic_file(path) as file:
        file.write(data)


def write_text(path: str | Path, text: str) -> None:
    """Write text atomically as UTF-8; OSError naming the path when the disk refuses."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | Path, value: Any) -> None:
    """Write a value atomically as indented JSON; see `to_json` for what may be in it."""
    write_text(path, to_json(value, indent=2) + "\n")


def to_json(value: Any, indent: int | None = None) -> str:
    """Return strict JSON of dicts with text keys, sequences, text, numbers, booleans and None.

    numpy scalars and arrays become numbers and lists. JSON has no nan or inf: they become null.
    Raises TypeError, naming the place, for anything else.
    """
    return json.dumps(_plain(value, "value"), indent=indent, allow_nan=False, ensure_ascii=False)


def write_npz(
    path: str | Path, arrays: Mapping[str, Any], keep_as: str | Path | None = None
) -> None:
    """Write named arrays atomically to an uncompressed npz; equal arrays give equal bytes.

    arrays: name -> anything `numpy.asarray` takes, of any shape and any dtype but object.
    keep_as: a name in the same folder under which what was there before is kept.
    Raises TypeError for an array of objects, ValueError for an empty name, OSError naming the path.
    """
    members = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in members.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"{path}: an array's name must be non-empty text, got {name!r}")
        if array.dtype.hasobject:
            raise TypeError(
                f"{path}: array {name!r} holds Python objects; give it a numeric or text dtype"
            )
    with (
        atomic_file(path, keep_as=keep_as) as file,
        zipfile.ZipFile(file, "w", allowZip64=True) as archive,
    ):
        for name, array in members.items():
            # A ZipInfo of its own carries no date: equal arrays give equal bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_npz(path: str | Path, remedy: str = "restore it from a copy") -> dict[str, np.ndarray]:
    """Read all arrays of an npz file, checking every checksum and never unpickling.

    Raises FileNotFoundError when there is none, and DamagedFile, with the path and `remedy` in the
    message, when the file is truncated, altered, no npz at all, or holds pickled objects.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            return _arrays_in(file)
    except _SIGNS_OF_DAMAGE as error:
        cause: Exception = error
    except OSError as error:
        # Sizes that were altered send the reader to places that no file has.
        if error.errno != errno.EINVAL:
            advice = "check that it exists and may be read"
            raise disk_error(path, error, advice, "read") from error
        cause = error
    raise DamagedFile(
        f"{path}: expected a whole npz file of plain arrays, but it is damaged or truncated "
        f"({str(cause) or type(cause).__name__}); {remedy}"
    ) from cause


_SIGNS_OF_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    EOFError,
    KeyError,
    IndexError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
)


def _arrays_in(file: BinaryIO) -> dict[str, np.ndarray]:
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        # zipfile does not notice when an altered length makes one entry swallow the others.
        file.seek(-22 - len(archive.comment) + 10, os.SEEK_END)
        (expected,) = struct.unpack("<H", file.read(2))
        if len(names) != expected and expected != 0xFFFF:  # then there are more than fit there
            raise ValueError(f"{expected} entries are announced and {len(names)} are there")
        for name in names:
            # Reading the member whole checks its checksum before numpy parses it.
            member = io.BytesIO(archive.read(name))
            array = np.lib.format.read_array(member, allow_pickle=False)
            if member.read(1):
                raise ValueError(f"{name} has bytes after its array")
            arrays[name.removesuffix(".npy")] = array
    return arrays


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{place}: JSON needs text keys, got {key!r}")
        return {key: _plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    raise TypeError(
        f"{place}: expected a number, text, None, a list or a dict, got {type(value).__name__}"
    )


def _temporary_name(path: Path) -> Path:
    # Unique, so that two writers of one file cannot write into each other's bytes.
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _keep(path: Path, kept: Path) -> None:
    """Make `kept` name what `path` holds, without a moment in which either is missing."""
    temporary = _temporary_name(kept)
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
        _remove_quietly(temporary)


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


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        # Gone already, or the disk refuses: the error that matters is already on its way.
        pass


def disk_error(path: Path, error: OSError, advice: str, verb: str = "write") -> OSError:
    """Return an OSError of the same kind whose text names the path and says what to do."""
    message = f"cannot {verb} {path}: {error.strerror or error}; {advice}"
    return OSError(message) if error.errno is None else OSError(error.errno, message)
