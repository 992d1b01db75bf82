"""A table of measured rows in a file, written after every row and taken up again later.

Rows may come from different days: each says what measured it (command, machine, versions, a digest
of the sources), and one that is measured again replaces the old one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pinn.files import write_json
from pinn.files.lock import FileLock
from pinn.runs.machine import machine_and_versions

ROOT = Path(__file__).resolve().parents[1]


@cache
def sources() -> str:
    """Return a digest of the code that is measured: its version alone does not tell two apart."""
    digest = hashlib.sha256()
    for package in ("pinn", "autograd"):
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


class Rows:
    """The rows of a results file, by name and in the order of `names`.

    Several processes may put rows into one file: each keeps what the others have put.

    Raises ValueError for a file that holds something else.
    """

    def __init__(self, file: Path, names: Iterable[str], anew: bool = False) -> None:
        self._file = file
        self._order = list(names)
        self._rows: dict[str, dict[str, Any]] = {}
        if anew:
            file.unlink(missing_ok=True)
        self._read()

    def _read(self) -> None:
        if not self._file.exists():
            return
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))["rows"]
            self._rows = {row["name"]: row for row in found}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self._file}: expected the results that this program writes, got {error!r}; give "
                "--anew to replace them, or another --out"
            ) from error

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows there are, in order; those of names that are gone are left out."""
        return [self._rows[name] for name in self._order if name in self._rows]

    def put(self, row: dict[str, Any], command: str) -> None:
        """Take a row, with what measured it, and write the file."""
        measured = {"command": command, **machine_and_versions(), "sources": sources()}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(self._file.with_suffix(".lock")):
            self._read()
            self._rows[row["name"]] = {**row, "measured": measured}
            write_json(self._file, {"rows": self.rows})


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock, and hold it inside the block."""
    while True:
        try:
            lock = FileLock(path)
            break
        except BlockingIOError:
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.release()
