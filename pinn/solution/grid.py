"""The grid that a solution is written down on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pinn.checks import nearest
from pinn.geometry import Shape

# How many points an axis in space has by itself, by how many such axes there are, and one in time.
_IN_SPACE = {1: 257, 2: 129, 3: 41}
_IN_TIME, _TIME_ALONE = 51, 1001
# Of a grid that somebody asks for: its numbers alone are then a few GiB.
_MOST = 3 * 10**7

GridSizes = Mapping[str, int | Sequence[float]]
"""Coordinate -> how many points from bound to bound, or the points themselves, increasing."""


class Grid(NamedTuple):
    """Axes, name -> (n_k,) in the order of the coordinates, and where the others are held."""

    axes: dict[str, np.ndarray]
    held: dict[str, float]

    @classmethod
    def of(cls, domain: Shape, sizes: GridSizes, held: Mapping[str, float]) -> Grid:
        """Return the grid of a domain that is asked for.

        Where nothing else is said, the axes are the time and up to three coordinates in space, to
        scale; other coordinates and families are held in the middle of their bounds. Raises
        ValueError, naming the coordinate, for one that is not there, is in both, or has another
        value than a number or points that increase.
        """
        bounds = domain.bounds
        for name in (*sizes, *held):
            if name not in bounds:
                raise ValueError(
                    f"expected coordinates out of {', '.join(bounds)}, got {name!r}"
                    f"{nearest(name, bounds)}"
                )
        both = [name for name in sizes if name in held]
        if both:
            raise ValueError(f"{both[0]} is held at a value, so it has no points in the grid")
        free = [name for name in domain.space if name not in held]
        asked = [name for name in free if name in sizes]
        space = (asked + [name for name in free if name not in sizes])[: max(3, len(asked))]
        drawn = {*sizes, *space, *([domain.time] if domain.time else [])} - held.keys()
        if not drawn:
            raise ValueError("every coordinate is held; leave one or more of them for the grid")
        counts = _counts({name: bounds[name] for name in space}, domain.time)
        axes = {
            name: _axis(name, sizes.get(name, counts.get(name, 0)), pair)
            for name, pair in bounds.items() if name in drawn
        }  # fmt: skip
        size = math.prod(len(axis) for axis in axes.values())
        if size > _MOST:
            shown = " x ".join(f"{len(axis)} {name}" for name, axis in axes.items())
            raise ValueError(f"grid: expected {_MOST:.0e} points at most, got {shown} = {size:.2e}")
        families = {family.name: family.middle for family in domain.families}
        rest = {
            name: _number(name, held.get(name, families.get(name, sum(pair) / 2)))
            for name, pair in bounds.items() if name not in axes
        }  # fmt: skip
        return cls(axes, rest)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of points along each axis."""
        return tuple(len(axis) for axis in self.axes.values())

    def columns(self) -> dict[str, np.ndarray]:
        """Return every coordinate at every point, (n,) each; the last axis goes fastest."""
        nodes = np.meshgrid(*self.axes.values(), indexing="ij")
        found = {name: node.reshape(-1) for name, node in zip(self.axes, nodes, strict=True)}
        return found | {name: np.full(math.prod(self.shape), at) for name, at in self.held.items()}

    def at(self, name: str, value: float) -> Grid:
        """Return the grid with one of its axes held."""
        axes = {other: axis for other, axis in self.axes.items() if other != name}
        return Grid(axes, {**self.held, name: float(value)})


def _counts(space: Mapping[str, tuple[float, float]], time: str | None) -> dict[str, int]:
    """Return the points along coordinates in space, whose cells are about square, and in time."""
    if not space:
        return {time: _TIME_ALONE} if time else {}
    base = _IN_SPACE[min(len(space), 3)]
    widths = {name: high - low for name, (low, high) in space.items()}
    mean = math.prod(widths.values()) ** (1 / len(widths))
    counts = {
        name: int(min(max(base * width / mean, base // 4), 4 * base))
        for name, width in widths.items()
    }
    return counts | ({time: _IN_TIME} if time else {})


def _axis(name: str, given: Any, bounds: tuple[float, float]) -> np.ndarray:
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if not 2 <= given <= _MOST:
            raise ValueError(f"grid of {name}: expected 2 points or more, got {given}")
        return np.linspace(*bounds, int(given))
    try:
        axis = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        axis = np.array(math.nan)
    if axis.ndim != 1 or axis.size < 2 or not np.isfinite(axis).all() or (np.diff(axis) <= 0).any():
        raise ValueError(
            f"grid of {name}: expected how many points, or two points or more that increase, got "
            f"{given!r:.60}"
        )
    return axis


def _number(name: str, given: Any) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} is held: expected a number, got {given!r:.60}")
    return number
