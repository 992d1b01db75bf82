"""The reader beside the training: opens every file of the run again and again, and checks it."""

from __future__ import annotations

import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import yaml

from pinn.files import DamagedFile, from_json, is_leftover, read_npz
from pinn.runs.metrics import read_records

_PNG = b"\x89PNG\r\n\x1a\n"
_PAUSE = 0.02


def check_png(path: Path) -> None:
    """Raise DamagedFile unless every chunk of a picture is there with its checksum, the end too."""
    data = path.read_bytes()
    place, kind = len(_PNG), b""
    if data[:place] != _PNG:
        raise DamagedFile(f"{path}: does not begin as a PNG file does")
    while place < len(data) and kind != b"IEND":
        if len(data) < place + 12:
            break
        length, kind = struct.unpack_from(">I4s", data, place)
        body = data[place + 4 : place + 8 + length]
        checksum = data[place + 8 + length : place + 12 + length]
        if checksum != struct.pack(">I", zlib.crc32(body)):
            raise DamagedFile(f"{path}: the checksum of chunk {kind!r} is wrong")
        place += 12 + length
    if kind != b"IEND" or place != len(data):
        raise DamagedFile(f"{path}: does not end as a PNG file does")


def check_json(path: Path) -> None:
    """Raise DamagedFile unless a file is one JSON object."""
    try:
        whole = isinstance(from_json(path.read_bytes()), dict)
    except ValueError as error:
        raise DamagedFile(f"{path}: {error}") from error
    if not whole:
        raise DamagedFile(f"{path}: not a JSON object")


def check_yaml(path: Path) -> None:
    """Raise DamagedFile unless a file is a config: a mapping with a problem."""
    try:
        config = yaml.safe_load(path.read_bytes())
    except yaml.YAMLError as error:
        raise DamagedFile(f"{path}: {error}") from error
    if not isinstance(config, dict) or "problem" not in config:
        raise DamagedFile(f"{path}: not a config")


CHECKS: dict[str, Callable[[Path], object]] = {
    ".npz": read_npz, ".json": check_json, ".jsonl": read_records, ".png": check_png,
    ".yaml": check_yaml,
}  # fmt: skip


class Reader:
    """What was read so far: how often files of each kind, and what was wrong with which.

    A file that was there once has to be there ever after.
    """

    def __init__(self, directory: Path) -> None:
        self.reads: Counter[str] = Counter()
        self.invalid: list[str] = []
        self._directory = directory
        self._seen: set[Path] = set()

    def round(self) -> None:
        """Open every file once."""
        self._seen.update(self._files())
        for path in sorted(self._seen):
            try:
                CHECKS[path.suffix](path)
            except (OSError, DamagedFile) as error:
                self.invalid.append(f"{path.relative_to(self._directory)}: {error}")
            self.reads[path.suffix.removeprefix(".")] += 1

    def _files(self) -> Iterator[Path]:
        """Give the files of a run; not those that are still being written, under other names."""
        for folder in (self._directory, self._directory / "figures"):
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.suffix in CHECKS and path.is_file() and is_leftover(path.name) is None:
                    yield path


def read_until_told(directory: Path, told: Connection) -> None:
    """Read without an end, until something is received; then send what was read and invalid."""
    reader = Reader(directory)
    while not told.poll():
        reader.round()
        time.sleep(_PAUSE)
    reader.round()
    told.send((dict(reader.reads), reader.invalid))
