"""Where a mistake in a config stands, and the error that carries all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A place a user can go to: a file with a line, or the text of a command-line option."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True)
class Complaint:
    """One mistake: where it stands, the key it concerns ("" for the whole file), what is wrong."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.place}: {key}{self.message}"


class ConfigError(ValueError):
    """A config that cannot be used; `complaints` holds every mistake found, in file order."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        # Overrides have no line and come last: they were typed after the file was written.
        self.complaints = sorted(
            complaints, key=lambda c: float("inf") if c.place.line is None else c.place.line
        )
        super().__init__("\n".join(map(str, self.complaints)))


def listed(names: Iterable[object]) -> str:
    """Names as a comma-separated text, or "none"."""
    return ", ".join(map(str, names)) or "none"
