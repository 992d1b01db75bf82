"""An open log of one run, in whatever tool keeps it: the interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinn.files import DamagedFile, from_json, write_json


@dataclass(frozen=True)
class Opening:
    """What a log begins with.

    name: of the run, such as burgers-0. settings: its declaration as plain data. step: the one
    that training goes on from, 0 where it begins. folder: the run directory, None without one.
    """

    name: str
    settings: Mapping[str, Any] = field(repr=False, default_factory=dict)
    step: int = 0
    folder: Path | None = None

    @property
    def flat_settings(self) -> dict[str, bool | int | float | str]:
        """The settings by dotted keys: "training.0.adam.steps" -> 500."""
        return dict(_flat(self.settings, ""))

    def remembered(self, tool: str) -> str | None:
        """Return what the tool called the run that is gone on with; None of one that begins."""
        if self.folder is None or not self.step:
            return None
        try:
            found = from_json((self.folder / memory_name(tool)).read_bytes())
        except (FileNotFoundError, ValueError, DamagedFile):
            return None
        name = found.get("id") if isinstance(found, dict) else None
        return name if isinstance(name, str) else None

    def remember(self, tool: str, name: str) -> None:
        """Keep what the tool calls the run in its directory, where it has one."""
        if self.folder is not None:
            write_json(self.folder / memory_name(tool), {"id": name})


class Log(ABC):
    """An open log of one run. Its methods are called in order, on one thread; any may raise."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Where it can be looked at: a folder or an address."""

    @abstractmethod
    def numbers(self, step: int, values: Mapping[str, float]) -> None:
        """Take the numbers of a step by name, such as loss or losses/burgers; all are finite."""

    @abstractmethod
    def text(self, step: int, sentence: str) -> None:
        """Take a sentence of what happened at a step."""

    @abstractmethod
    def figure(self, step: int, name: str, png: bytes) -> None:
        """Take a figure as the bytes of a PNG file."""

    @abstractmethod
    def close(self, results: Mapping[str, float], state: str) -> None:
        """End the log. results: what the run ended with; state: finished, interrupted or failed."""


def memory_name(tool: str) -> str:
    """Return the name of the file, in a run directory, that tells what a tool calls the run."""
    return f"{tool}.json"


# Longer texts, such as the bytes of arrays, say nothing to who compares settings.
_LONGEST = 500


def _flat(value: Any, key: str) -> list[tuple[str, bool | int | float | str]]:
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        inner = enumerate(value)
    else:
        if isinstance(value, list | tuple):
            value = ", ".join(map(str, value))
        if not isinstance(value, bool | int | float):
            value = "none" if value is None else str(value)[:_LONGEST]
        return [(key, value)]
    return [
        pair for name, one in inner for pair in _flat(one, f"{key}.{name}" if key else f"{name}")
    ]
