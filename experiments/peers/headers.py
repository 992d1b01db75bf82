"""The error in the header of each config that ships, as the table has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.peers.row import Row
from pinn.files import write_text

_MARK = "# error: "


def header_line(row: Row, facts: Mapping[str, Any]) -> str:
    """Return what the header of the row's config says of its error; facts: the row of the table."""
    if "failed" in facts:
        return f"{_MARK}none, as it failed"
    worst = next(name for name, error in facts["errors"].items() if error == facts["error"])
    kind = f"of {worst}" if worst in row.truth else "relative L2"
    if len(facts["errors"]) > 1:
        kind += ", the worst coefficient" if worst in row.truth else f" of {worst}, the worst"
    cores = facts["measured"]["machine"]["cores"]
    of = "one core" if cores == 1 else f"{cores} cores"
    return f"{_MARK}{_short(facts['error'])} {kind}, after {facts['seconds']:.0f} s ({of})"


def line_of(file: Path) -> str | None:
    """Return the line of a config's header that says its error, None where there is none."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines[: _end(lines)] if line.startswith(_MARK)), None)


def write_headers(rows: Iterable[Row], table: Iterable[Mapping[str, Any]]) -> Sequence[Path]:
    """Write the line of each row of the table whose config ships; return the files that changed."""
    facts = {row["name"]: row for row in table}
    changed = []
    for row in rows:
        if not row.config or row.name not in facts:
            continue
        text = row.file.read_text(encoding="utf-8")
        lines = text.splitlines()
        end = _end(lines)
        header = [line for line in lines[:end] if not line.startswith(_MARK)]
        new = "\n".join([*header, header_line(row, facts[row.name]), *lines[end:]]) + "\n"
        if new != text:
            write_text(row.file, new)
            changed.append(row.file)
    return changed


def _end(lines: Sequence[str]) -> int:
    """The number of lines of the header: the comments that the file begins with."""
    return next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))


def _short(error: float) -> str:
    """The error with two digits: 1.2e-5."""
    return re.sub(r"e-0*", "e-", f"{error:.1e}")
