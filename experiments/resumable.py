"""A table of measured rows in a file, written after every row and taken up again later.

Rows may come from different days: each says what measured it (command, machine, versions, the BLAS
kernels, a digest of the sources), and one that is measured again replaces the old one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pinn.files import write_json
from pinn.files.lock import FileLock
from pinn.runs.machine import blas_kernels, machine_and_versions

ROOT = Path(__file__).resolve().parents[1]


@cache
def sources() -> str:
    """Return a digest of the code that is measured: its version alone does not tell two apart."""
    digest = hashlib.sha256()
    for package in ("pinn", "autograd"):
        for file in sorted((ROOT / package).rglob("*.py")):
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def measured(command: str) -> dict[str, Any]:
    """Return what measures now: command, machine, versions and the state of the sources."""
    return {
        "command": command, **machine_and_versions(), "blas_kernels": blas_kernels(),
        "sources": sources(),
    }  # fmt: skip


class Rows:
    """The rows of a results file, by name and in the order of `names`.

    Several processes may put rows into one file: each keeps what the others have put.

    several: the other entries that tell two rows of one name apart, such as the seed. summary:
    what else the file says, made of its rows. Raises ValueError for a file that holds something
    else.
    """

    def __init__(
        self,
        file: Path,
        names: Iterable[str],
        anew: bool = False,
        several: Sequence[str] = (),
        summary: Callable[[list[dict[str, Any]]], Mapping[str, Any]] = lambda rows: {},
    ) -> None:
        self._file = file
        self._order = {name: place for place, name in enumerate(names)}
        self._keys = ("name", *several)
        self._summary = summary
        self._rows: dict[tuple, dict[str, Any]] = {}
        if anew:
            file.unlink(missing_ok=True)
        self._read()

    def _read(self) -> None:
        if not self._file.exists():
            return
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))["rows"]
            self._rows = {self._key(row): row for row in found}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self._file}: expected the results that this program writes, got {error!r}; give "
                "--anew to replace them, or another --out"
            ) from error

    def _key(self, row: Mapping[str, Any]) -> tuple:
        return tuple(row[name] for name in self._keys)

    def __contains__(self, key: object) -> bool:
        """Whether there is a row: by its name, or by all that tells it apart."""
        return (key if isinstance(key, tuple) else (key,)) in self._rows

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows there are, in order; those of names that are gone are left out."""
        kept = [key for key in self._rows if key[0] in self._order]
        return [
            self._rows[key] for key in sorted(kept, key=lambda key: (self._order[key[0]], *key[1:]))
        ]

    def put(self, row: dict[str, Any], command: str) -> None:
        """Take a row, with what measured it, and write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(self._file.with_suffix(".lock")):
            self._read()
            self._rows[self._key(row)] = {**row, "measured": measured(command)}
            rows = self.rows
            write_json(self._file, {**self._summary(rows), "rows": rows})


def machine_line(row: Mapping[str, Any]) -> str:
    """Return what a row was measured on, for a page."""
    measured = row["measured"]
    cpu, cores = measured["machine"]["cpu"], measured["machine"]["cores"]
    versions = installed_versions(measured["versions"])
    of = "one core" if cores == 1 else f"{cores} cores"
    kernels = measured.get("blas_kernels")
    words = [f"{cpu}, {of}", versions, *([f"BLAS kernels {kernels}"] if kernels else [])]
    return "; ".join([*words, f"executor {measured['executor']}", *state(row)])


def installed_versions(versions: Mapping[str, str | None]) -> str:
    """Return the versions of what is installed, for a page."""
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def state(row: Mapping[str, Any]) -> list[str]:
    """Return the state of the sources that a row was measured from, where it is known."""
    digest = row["measured"].get("sources")
    return [f"sources {digest[:8]}"] if digest else []


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
