"""The error that carries every mistake of a config."""

from __future__ import annotations

from collections.abc import Iterable

from pinn.schema.reader import Complaint


class ConfigError(ValueError):
    """A config that cannot be used; `complaints` holds every mistake found, in file order."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        # Overrides have no line and come last: they were typed after the file was written.
        self.complaints = sorted(
            complaints, key=lambda c: float("inf") if c.place.line is None else c.place.line
        )
        super().__init__("\n".join(map(str, self.complaints)))
