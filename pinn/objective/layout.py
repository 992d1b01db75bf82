"""What the numbers of theta are: tensors of networks, and coefficients of the problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinn.objective.stacked import Stacked


@dataclass(frozen=True)
class Part:
    """Numbers of theta that belong together: a tensor of a network, or a coefficient.

    name: "model.NAME" for a tensor of the model, "FIELD.NAME" for one of a field's network, NAME
    for a coefficient. place: where they are in theta, row after row. shape: that of the tensor.
    """

    name: str
    place: slice
    shape: tuple[int, ...]
    is_coefficient: bool = False

    @property
    def is_matrix(self) -> bool:
        """Whether it is a matrix of a network: the weights of a layer, not its bias."""
        return len(self.shape) == 2 and not self.is_coefficient

    def of(self, vector: np.ndarray) -> np.ndarray:
        """Return the part of a vector like theta, in its shape, as a view."""
        return vector[self.place].reshape(self.shape)


def _on_host(array: np.ndarray) -> np.ndarray:
    return array


@dataclass(frozen=True)
class Layout:
    """The parts of theta in order; together they are all of it.

    For solvers that treat matrices as such, or networks and coefficients each in their way. put:
    what `weights`, `stacked` and `broad` do with each of their arrays: they lie where vectors do.
    """

    parts: tuple[Part, ...]
    put: Callable[[np.ndarray], Any] = field(default=_on_host, repr=False, compare=False)

    @classmethod
    def of(cls, tensors: Iterable[tuple[str, tuple[int, ...], bool]]) -> Layout:
        """Return the layout of tensors one after the other, each (name, shape, is_coefficient)."""
        parts, start = [], 0
        for name, shape, is_coefficient in tensors:
            stop = start + math.prod(shape)
            parts.append(Part(name, slice(start, stop), tuple(shape), is_coefficient))
            start = stop
        return cls(tuple(parts))

    @classmethod
    def of_vector(cls, size: int) -> Layout:
        """Return the layout of a theta of which nothing is known."""
        return cls.of([("theta", (size,), False)])

    def placed(self, put: Callable[[np.ndarray], Any]) -> Layout:
        """Return it for vectors of another kind, as of a device."""
        return replace(self, put=put)

    @property
    def size(self) -> int:
        """The number of numbers."""
        return self.parts[-1].place.stop if self.parts else 0

    @cached_property
    def matrices(self) -> tuple[Part, ...]:
        """The matrices of the networks."""
        return tuple(part for part in self.parts if part.is_matrix)

    @cached_property
    def weights(self) -> np.ndarray:
        """Whether each number is in one of the matrices, (size,)."""
        return self.put(self.mask(self.matrices))

    @cached_property
    def stacked(self) -> Stacked:
        """The matrices of the networks, those of each shape together."""
        return Stacked(self.size, self._stacks(), self.put)

    @cached_property
    def broad(self) -> Stacked:
        """The same of the matrices that have several rows and columns."""
        broad = [places for places in self._stacks() if min(places.shape[1:]) > 1]
        return Stacked(self.size, broad, self.put)

    def _stacks(self) -> list[np.ndarray]:
        found: dict[tuple[int, ...], list[np.ndarray]] = {}
        everywhere = np.arange(self.size)
        for part in self.matrices:
            found.setdefault(part.shape, []).append(part.of(everywhere))
        return [np.stack(places) for places in found.values()]

    @cached_property
    def networks(self) -> np.ndarray:
        """Whether each number is one of a network, (size,); the others are coefficients."""
        return self.mask(part for part in self.parts if not part.is_coefficient)

    def mask(self, parts: Iterable[Part]) -> np.ndarray:
        """Return whether each number is in one of some parts, (size,)."""
        found = np.zeros(self.size, dtype=bool)
        for part in parts:
            found[part.place] = True
        return found

    def __getitem__(self, name: str) -> Part:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Part]:
        return {part.name: part for part in self.parts}
