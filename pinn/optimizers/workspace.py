"""Memory that outlasts a step."""

from __future__ import annotations

import math

import numpy as np


class Workspace:
    """Named float64 arrays that are made once and filled again and again.

    A large array that is made anew at each step takes as long to be mapped by the system, page by
    page, as to be filled.
    """

    def __init__(self) -> None:
        self._held: dict[str, np.ndarray] = {}

    def array(self, name: str, *shape: int) -> np.ndarray:
        """Return an array of a shape, row by row, whose numbers are whatever was there before."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = np.empty(size)
        return held[:size].reshape(shape)
