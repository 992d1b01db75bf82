"""A part of the rows of arrays of a device, in memory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Gathered:
    """Places for so many rows of arrays (n, 1) of a device, the current one.

    sources: these arrays. arrays: (size, 1), one for each of them, with the
    first rows to begin with: what is recorded from them is recorded from real numbers.
    """

    def __init__(self, sources: Sequence[Any], size: int) -> None:
        self.sources, self.size = tuple(sources), size
        self.arrays = [source[:size].copy() for source in self.sources]

    def is_of(self, sources: Sequence[Any], size: int) -> bool:
        """Whether they are for so many rows of just these arrays."""
        if (self.size, len(self.sources)) != (size, len(sources)):
            return False
        return all(a is b for a, b in zip(self.sources, sources, strict=True))
