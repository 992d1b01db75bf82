"""What holds a solution back, with its evidence, and the settings that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pinn.diagnosis.examination import Examination


@dataclass(frozen=True)
class Change:
    """A setting to change: its key in a config, and the value; printed, what --set takes.

    value: plain data. Without one (None) it is for the reader to choose, as `what` says.
    """

    key: str
    value: Any = None
    what: str = ""

    def __str__(self) -> str:
        return self.key if self.value is None else f"{self.key}={flow(self.value)}"


@dataclass(frozen=True)
class Finding:
    """One thing that holds a solution back.

    cause: its name in the table of causes. what: it in a few words. evidence: a sentence with the
    numbers that say so. changes: settings that change it, together. orders: of magnitude that the
    loss on fresh points seems to be higher because of it, by which findings are ordered; None of
    what no loss shows, which comes first. alone: whether nothing else can be told while it is so.
    """

    cause: str
    what: str
    evidence: str
    changes: tuple[Change, ...]
    orders: float | None
    alone: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        changes = [{"key": c.key, "value": c.value, "what": c.what} for c in self.changes]
        return vars(self) | {"changes": changes, "set": [str(c) for c in self.changes if c.value
                                                         is not None]}  # fmt: skip


Cause = Callable[["Examination"], Iterable[Finding]]
"""(what is known of a solution) -> its findings of one cause."""

CAUSES: dict[str, Cause] = {}
"""The table of causes: name -> function."""


def flow(value: Any) -> str:
    """Return plain data as YAML on one line: "{fourier: {scale: [1, 10]}}"."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        return f"{value:.12g}"
    return "null" if value is None else str(value)
