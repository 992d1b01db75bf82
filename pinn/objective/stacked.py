"""A vector like theta taken apart into stacks of matrices and the rest, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autograd as T
from autograd.devices import namespace_of


class Stacked:
    """Where the numbers of some matrices are in a vector like theta, those of a shape together.

    stacks: one a shape, (k, m, n). put: what is done with each array of places, which lies where
    the vectors do. `shapes` are those of the stacks. `rest` has the places of all other numbers,
    `taken` of those in stacks, both in the order of theta; `within` has the stacks' places among
    the latter. `apart` says of each number of theta whether it is one of the rest.
    """

    def __init__(
        self, size: int, stacks: Sequence[np.ndarray], put: Callable[[np.ndarray], Any]
    ) -> None:
        apart = np.ones(size, dtype=bool)
        for places in stacks:
            apart[places] = False
        rest, count = np.flatnonzero(apart), np.cumsum(~apart) - 1
        order = np.concatenate([rest, *(places.reshape(-1) for places in stacks)])
        self.shapes = tuple(places.shape for places in stacks)
        self.apart = put(apart)
        self.rest, self.taken = put(rest), put(np.flatnonzero(~apart))
        self.within = tuple(put(count[places]) for places in stacks)
        self._stacks = tuple(map(put, stacks))
        self._back = put(np.argsort(order))

    def of(self, vector: Any) -> tuple[Any, list[Any]]:
        """Return the rest of a vector and its stacks, as new arrays."""
        return vector[self.rest], [vector[places] for places in self._stacks]

    def together(self, rest: Any, stacks: Sequence[Any]) -> Any:
        """Return the vector of a rest and stacks."""
        functions = T if isinstance(rest, T.Tensor) else namespace_of(rest)
        return functions.concatenate([rest, *(stack.reshape(-1) for stack in stacks)])[self._back]
