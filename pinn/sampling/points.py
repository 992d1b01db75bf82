"""Points of a block, with what is attached to each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a domain, and columns of numbers that belong to them.

    coordinates  float64 (n, d), columns in the domain's order
    columns      name -> float64 (n,): an outward normal's component, a measured value, a sigma ...

    Indexing with a slice or an array of row numbers gives those points with their columns. Raises
    ValueError for arrays that do not fit together.
    """

    coordinates: np.ndarray
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        array = np.asarray(self.coordinates, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError(f"points: expected shape (n, d), got {array.shape}")
        columns = {n: np.asarray(c, dtype=np.float64) for n, c in self.columns.items()}
        for name, column in columns.items():
            if column.shape != (len(array),):
                raise ValueError(
                    f"points: column {name!r}: expected shape ({len(array)},), one number a "
                    f"point, got {column.shape}"
                )
        object.__setattr__(self, "coordinates", array)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    @classmethod
    def of(cls, given: Points | np.ndarray) -> Points:
        """Return points, made from an array of coordinates where nothing is attached."""
        return given if isinstance(given, Points) else cls(np.asarray(given, dtype=np.float64))

    @classmethod
    def joined(cls, parts: list[Points]) -> Points:
        """Return the points of several parts, one after the other; all have the same columns."""
        return cls(
            np.concatenate([part.coordinates for part in parts]),
            {n: np.concatenate([p.columns[n] for p in parts]) for n in parts[0].columns},
        )

    def __len__(self) -> int:
        return len(self.coordinates)

    def __getitem__(self, rows: Any) -> Points:
        return Points(self.coordinates[rows], {n: c[rows] for n, c in self.columns.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        return Points, (self.coordinates, dict(self.columns))
