"""Named arrays in one file: npz archives of plain numbers and texts, written and read strictly.

The reader takes only what the writer makes: members that are stored as they are, and headers as
numpy writes them. So every size that a file declares is compared with the bytes that are there
before any memory is asked for, and nothing in a file is ever evaluated.
"""

from __future__ import annotations

import errno
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pinn.files.atomic import atomic_file
from pinn.files.errors import DamagedFile, disk_error
from pinn.files.plain import open_plain

_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(?:8|16)|[<>]U[1-9]\d{0,8}")
_HEADER = re.compile(
    rb"\{'descr': '([^']{1,12})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\),? ?\} *\n?"
)
_MOST_HEADER = 2000
# Of version 1.0, the only one that such short headers ever need; then the header's length.
_MAGIC = b"\x93NUMPY\x01\x00"
# The list of entries at the end of an archive; it ends within so many bytes, a comment included.
_MOST_LISTED, _TAIL = 2**21, 2**16 + 128


def write_npz(
    path: str | Path, arrays: Mapping[str, Any], keep_as: str | Path | None = None
) -> None:
    """Write named arrays atomically to an uncompressed npz; equal arrays give equal bytes.

    arrays: name -> anything `numpy.asarray` takes, of any shape and a dtype of booleans, integers,
    real or complex numbers or text. keep_as: a name in the same folder under which what was there
    before is kept. Raises TypeError for an array of anything else, ValueError for an empty name,
    OSError naming the path.
    """
    members = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in members.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"{path}: an array's name must be non-empty text, got {name!r}")
        if not _DTYPE.fullmatch(array.dtype.str):
            raise TypeError(
                f"{path}: array {name!r} has the dtype {array.dtype}; a file holds booleans, "
                "integers, real and complex numbers, and text"
            )
    if sum(len(name.encode()) + 80 for name in members) > _MOST_LISTED:
        raise ValueError(f"{path}: {len(members)} arrays are more than one file can list")
    with (
        atomic_file(path, keep_as=keep_as) as file,
        zipfile.ZipFile(file, "w", allowZip64=True) as archive,
    ):
        for name, array in members.items():
            # A ZipInfo of its own carries no date: equal arrays give equal bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_npz(path: str | Path, remedy: str = "restore it from a copy") -> dict[str, np.ndarray]:
    """Read all arrays of a file that `write_npz` wrote, checking every size and checksum.

    The memory it takes follows the size of the file, never the sizes that the file declares. Raises
    FileNotFoundError when there is none, and DamagedFile, with the path and `remedy` in the
    message, when the file is truncated, altered, compressed, no npz at all, or holds other arrays.
    """
    path = Path(path)
    try:
        with open_plain(path) as file:
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
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
)


def check_directory(file: BinaryIO) -> None:
    """Raise ValueError for an archive whose list of entries is longer than that of any table.

    zipfile makes objects of all entries before anybody can count them.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    announced = [
        struct.unpack_from(form, tail, at + offset)[0]
        for mark, form, offset in ((b"PK\x05\x06", "<L", 12), (b"PK\x06\x06", "<Q", 40))
        if 0 <= (at := tail.rfind(mark)) <= len(tail) - offset - 8
    ]
    if any(length > _MOST_LISTED and length != 0xFFFFFFFF for length in announced):
        raise ValueError(f"its list of entries has {max(announced) / 1e6:.3g} MB")
    file.seek(0)


def _arrays_in(file: BinaryIO) -> dict[str, np.ndarray]:
    size = os.fstat(file.fileno()).st_size
    check_directory(file)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # zipfile does not notice when an altered length makes one entry swallow the others.
        file.seek(-22 - len(archive.comment) + 10, os.SEEK_END)
        (expected,) = struct.unpack("<H", file.read(2))
        if len(members) != expected and expected != 0xFFFF:  # then there are more than fit there
            raise ValueError(f"{expected} entries are announced and {len(members)} are there")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two entries have one name")
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{member.filename} is compressed")
        declared = sum(max(member.file_size, member.compress_size) for member in members)
        if declared > size:
            raise ValueError(f"{declared} bytes are announced and the file has {size}")
        # Reading a member whole checks its checksum before it is taken for an array.
        return {
            _array_name(member.filename): _array(member.filename, archive.read(member))
            for member in members
        }


def _array_name(member: str) -> str:
    name = member.removesuffix(".npy")
    if name == member or not name:
        raise ValueError(f"{member!r} is no name of an array")
    return name


def _array(name: str, data: bytes) -> np.ndarray:
    """Return the array of an npy file's bytes; ValueError unless it has just these bytes."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{name} does not begin as an array of numpy does")
    array = array_of(name, data)
    if not _DTYPE.fullmatch(array.dtype.str):
        raise ValueError(f"{name} has a header that was not written here")
    _check_values(name, array.dtype, memoryview(data)[len(data) - array.nbytes :])
    return array.copy(order="K")


def array_of(name: str, data: bytes) -> np.ndarray:
    """Return the array of an npy file's bytes, which it shares.

    Its header is matched and never evaluated. name: for messages. Raises ValueError for a header
    of another form, for arrays of Python objects, bytes that nobody named or records, and for
    another size than that of the bytes that are there.
    """
    start = 10 if data[6:7] == b"\x01" else 12
    length = int.from_bytes(data[8:start], "little")
    header = _HEADER.fullmatch(data, start, start + length) if length <= _MOST_HEADER else None
    if data[:6] != _MAGIC[:6] or header is None:
        raise ValueError(f"{name} does not begin as an array of numbers does")
    try:
        dtype = np.dtype(header[1].decode("latin-1"))
    except (TypeError, ValueError, SyntaxError):
        dtype = np.dtype(object)
    if dtype.kind in "OV":
        raise ValueError(f"{name} has neither numbers nor texts but {header[1].decode('latin-1')}")
    shape = tuple(int(number) for number in re.findall(rb"\d+", header[3]))
    count = len(data) - start - length
    if math.prod(shape) * dtype.itemsize != count:
        raise ValueError(f"{name} declares shape {shape} of {dtype} and has {count} bytes")
    flat = np.frombuffer(data, dtype, offset=start + length) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if header[2] == b"True" else "C")


def _check_values(name: str, dtype: np.dtype, values: memoryview) -> None:
    """Raise ValueError for bytes that no boolean and no text has."""
    if dtype.kind == "b" and bytes(values).translate(None, b"\x00\x01"):
        raise ValueError(f"{name} has a boolean that is neither true nor false")
    if dtype.kind == "U":
        codes = np.frombuffer(values, dtype.str[0] + "u4")
        if codes.size and codes.max() > 0x10FFFF:
            raise ValueError(f"{name} has a character that is none")
