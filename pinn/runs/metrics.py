"""The lines of metrics.jsonl: appended one by one, and read back whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pinn.files import DamagedFile, disk_error, from_json, open_plain, to_json, too_large
from pinn.runs.claim import check_no_link
from pinn.runs.forms import RECORD, wrong_key

# Of all lines together, a few million of them.
_MOST_BYTES = 2**30


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Append one line; it reaches the file before this returns.

    A line that a crash or a full disk cut short is removed first, so that it cannot run into this
    one. Raises OSError, with the path in its message, when the disk refuses.
    """
    line = (to_json(record) + "\n").encode("utf-8")
    check_no_link(path)
    try:
        with open(path, "ab+", buffering=0) as file:
            end = _end_of_last_line(file)
            file.truncate(end)
            try:
                if file.write(line) != len(line):
                    raise OSError("the disk took only part of the line")
            except OSError:
                file.truncate(end)
                raise
    except OSError as error:
        raise disk_error(path, error, "check the free space") from error


def keep_records(path: Path, count: int) -> None:
    """Leave so many of the first lines, and remove what was appended after them.

    Raises DamagedFile where there are fewer, OSError, with the path, when the disk refuses.
    """
    check_no_link(path)
    try:
        with open(path, "ab+", buffering=0) as file:
            file.seek(0)
            end = 0
            for number in range(count):
                line = file.readline()
                if not line.endswith(b"\n"):
                    raise DamagedFile(
                        f"{path}: expected {count} lines, which its run had written before, got "
                        f"{number}"
                    )
                end += len(line)
            file.truncate(end)
    except DamagedFile:
        raise
    except OSError as error:
        raise disk_error(path, error, "check its permissions") from error


def read_records(path: Path, most: int | None = None) -> list[dict[str, Any]]:
    """Return the records in order; none where there is no file.

    most: about so many, spread evenly, besides the first and last of each stage; all where left
    out. The memory is theirs, however long the file is.

    A last line without its line end was cut short by a crash and does not count. Raises
    DamagedFile, with the line's number, for any other line that is not a record of a step: an
    object with the step (a whole number), the stage (a text), the loss and, by name, the losses.
    """
    records = _Thinned(most)
    try:
        with open_plain(path) as file:
            if os.fstat(file.fileno()).st_size > _MOST_BYTES:
                raise too_large(path, _MOST_BYTES)
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    records.add(_record(path, number, line[:-1]))
    except FileNotFoundError:
        return []
    except DamagedFile:
        raise
    except OSError as error:
        raise disk_error(path, error, "check that it may be read", "read") from error
    return records.kept()


class _Thinned:
    """Some of the records that are added, at most twice `most` besides those that stay."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._stride, self._count = 1, 0
        self._spread: dict[int, dict[str, Any]] = {}
        self._ends: dict[int, dict[str, Any]] = {}  # the first and last of each stage
        self._last: dict[str, Any] | None = None

    def add(self, record: dict[str, Any]) -> None:
        number, last = self._count, self._last
        self._count, self._last = number + 1, record
        if last is None or _begins_anew(last, record):
            self._ends[number] = record
            if last is not None:
                self._ends[number - 1] = last
        if number % self._stride:
            return
        self._spread[number] = record
        if self._most is not None and len(self._spread) > 2 * self._most:
            self._stride *= 2
            self._spread = {k: one for k, one in self._spread.items() if not k % self._stride}

    def kept(self) -> list[dict[str, Any]]:
        """Return what is left of them, in order, with the last."""
        last = {} if self._last is None else {self._count - 1: self._last}
        found = {**self._spread, **self._ends, **last}
        return [found[number] for number in sorted(found)]


def _begins_anew(last: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether a record is of another stage than the last, or went back behind it."""
    return last.get("stage") != record.get("stage") or last["step"] >= record["step"]


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = from_json(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise _damaged(path, number, line, "one JSON object a line")
    wrong = wrong_key(record, RECORD)
    if wrong is not None:
        raise _damaged(path, number, line, f"a record of a step with a valid {wrong!r}")
    return record


def _damaged(path: Path, number: int, line: bytes, expected: str) -> DamagedFile:
    return DamagedFile(
        f"{path}:{number}: expected {expected}, got "
        f"{line[:60].decode('utf-8', 'replace')!r}; remove or mend this line"
    )


def _end_of_last_line(file: BinaryIO) -> int:
    """Return the offset after the last line end in a binary file."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
