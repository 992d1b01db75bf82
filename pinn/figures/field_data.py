"""One unknown, or an expression of them, on a grid, ready to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pinn.checks import is_name
from pinn.figures.rim import rim_of, rim_of_mask
from pinn.figures.style import held, label, plain, short, symbol

if TYPE_CHECKING:
    from matplotlib.path import Path

# More data than these hide what they are drawn on.
MOST_MEASURED = 500
# Data beside a line lie no further from where a coordinate is held than this share of its reach;
# where some lie there but for rounding, these alone are drawn.
_BESIDE, _THERE = 0.05, 1e-6


def within_reach(off: np.ndarray, reach: float) -> tuple[np.ndarray, float]:
    """Return which data are drawn beside a line, (n,), and how far off they may lie, 0 for not.

    off: how far from where the coordinate is held they are, (n,), of this reach.
    """
    there = off <= _THERE * reach
    return (there, 0.0) if there.any() else (off <= _BESIDE * reach, _BESIDE * reach)


@dataclass(frozen=True, eq=False)
class FieldData:
    """One unknown on a grid, ready to draw.

    unknown      its name, or the expression that is drawn
    coordinates  name -> strictly increasing grid, shape (n1,) or (n1,), (n2,): one or two of them
    values       float array of shape (n1,) or (n1, n2), in the order of `coordinates`
    reference    the known solution on the same grid, nan where it is not known; None for none
    time         which coordinate is the time; None takes one called "t", if there is one
    fixed        what the other coordinates of a problem are held at, for the titles
    inside       bool array of the grid's shape: which of its points lie in the domain; None for
                 all. Values outside become nan, are not drawn, and count in no error
    errors       the relative and the largest error, where the reference is known at other points
                 than the grid's; None for those on the grid
    contains     which of any points, (n, 2), lie in the domain: for a rim that is finer than the
                 grid; None where `inside` is all that is known
    measured     where it was measured, (n, 2), in the order of `coordinates`, drawn on its map;
                 along one of them the places and what was measured there, drawn beside the line
    readings     of a map, where and what was measured, (n, 3), for its slices
    near         of a line, coordinate -> how far from where it is held data may lie that are drawn
    band         two standard errors of the values, as noise in data leaves them, on the same grid;
                 None where they are not known
    units        name -> unit, of the unknown and of coordinates
    to_scale     whether two coordinates, none of them the time, are lengths in the same unit
    unnamed      what coordinates are held at that titles leave out, such as the modes of a function
    said         what titles say besides, such as which function it is

    Raises ValueError where these do not fit together.
    """

    unknown: str
    coordinates: Mapping[str, np.ndarray]
    values: np.ndarray
    reference: np.ndarray | None = None
    time: str | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    inside: np.ndarray | None = None
    contains: Callable[[np.ndarray], np.ndarray] | None = None
    errors: tuple[float, float] | None = None
    measured: np.ndarray | None = None
    readings: np.ndarray | None = None
    near: Mapping[str, float] = field(default_factory=dict)
    band: np.ndarray | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    to_scale: bool = True
    unnamed: Mapping[str, float] = field(default_factory=dict)
    said: Sequence[str] = ()

    def __post_init__(self) -> None:
        grids = {n: np.asarray(g, dtype=np.float64) for n, g in self.coordinates.items()}
        if len(grids) not in (1, 2):
            raise ValueError(
                f"field {self.unknown!r}: expected one or two coordinates, got "
                f"{', '.join(map(repr, grids)) or 'none'}; hold the others fixed and draw a slice"
            )
        for name, grid in grids.items():
            increasing = grid.ndim == 1 and grid.size >= 2 and np.all(np.diff(grid) > 0)
            if not (increasing and np.isfinite(grid).all()):
                raise ValueError(
                    f"field {self.unknown!r}: the grid of {name!r} must be finite, strictly "
                    f"increasing and of two points or more, got shape {grid.shape}"
                )
        shape = tuple(grid.size for grid in grids.values())
        inside = np.ones(shape, bool) if self.inside is None else np.asarray(self.inside)
        if inside.shape != shape or inside.dtype != bool or not inside.any():
            raise ValueError(
                f"field {self.unknown!r}: inside must be bool, have the grid's shape {shape} and "
                f"be true somewhere, got {inside.dtype} {inside.shape}"
            )
        object.__setattr__(self, "inside", inside)
        for what in ("values", "reference", "band"):
            given = getattr(self, what)
            if given is None and what != "values":
                continue
            array = np.asarray(given, dtype=np.float64)
            if array.shape != shape:
                raise ValueError(
                    f"field {self.unknown!r}: {what} must have the grid's shape {shape}, "
                    f"got {array.shape}"
                )
            if not inside.all():
                array = np.where(inside, array, np.nan)
            object.__setattr__(self, what, array)
        if self.time is not None and self.time not in grids:
            raise ValueError(
                f"field {self.unknown!r}: time {self.time!r} is not one of its coordinates "
                f"{', '.join(map(repr, grids))}"
            )
        object.__setattr__(self, "coordinates", grids)
        if self.time is None and "t" in grids:
            object.__setattr__(self, "time", "t")

    @cached_property
    def rim(self) -> Path:
        """The rim of the domain in two coordinates, as closed curves; holes turn the other way."""
        grids = self.coordinates.values()
        if self.contains is None:
            return rim_of_mask(*grids, self.inside)
        return rim_of(*grids, self.contains)

    @property
    def error(self) -> np.ndarray | None:
        """The error values - reference, with its sign; None without a reference."""
        if self.reference is None:
            return None
        with np.errstate(invalid="ignore"):  # inf - inf is drawn as missing, like nan
            return self.values - self.reference

    @property
    def drawn_values(self) -> list[np.ndarray]:
        """What an axis of values has to hold: values, reference, band and what was measured."""
        found = [self.values]
        if self.reference is not None:
            found.append(self.reference)
        if self.band is not None:
            found += [self.values - self.band, self.values + self.band]
        if self.measured is not None and len(self.coordinates) == 1:
            found.append(self.measured[:, 1])
        return found

    def data_label(self) -> str:
        """Return what the data beside a line are called: how far off it they may lie."""
        near = " and ".join(f"{far:.2g} in {symbol(n)}" for n, far in self.near.items())
        return f"data within {near}" if near else "data"

    @property
    def _known(self) -> np.ndarray:
        known = self.inside & ~np.isnan(self.reference)
        return known if known.any() else self.inside

    def rel_l2(self) -> float | None:
        """Return ||values - reference|| / ||reference|| where that is known inside, or None."""
        if self.reference is None:
            return None
        error, reference = self.error[self._known], self.reference[self._known]
        scale = float(np.max(np.abs(reference)))
        if not scale > 0:
            return math.nan
        # Scaled, so that squares of very large or small fields neither overflow nor vanish.
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(error / scale) / np.linalg.norm(reference / scale))

    def summary(self) -> str:
        """Return the relative and the largest error in words, where the reference is known."""
        if self.errors is not None:
            return f"relative L2 {short(self.errors[0])},  max {short(self.errors[1])}"
        error = self.error[self._known]
        bad = int(np.count_nonzero(~np.isfinite(error)))
        if bad:
            return f"not finite at {bad:,} of {error.size:,} points"
        largest = f"max {short(float(np.max(np.abs(error))))}"
        relative = self.rel_l2()  # nan where the reference vanishes
        return largest if math.isnan(relative) else f"relative L2 {short(relative)},  {largest}"

    def title(self) -> str:
        """Return the unknown with its coordinates, such as u(x, t, y = 0.5), as mathematics.

        Of an expression, whose name has no room for them, what is held alone: u*u_x, y = 0.5.
        """
        if not is_name(self.unknown):
            return ", ".join([plain(self.unknown), *self.held()])
        names = [*map(symbol, self.coordinates), *self.held()]
        return f"{symbol(self.unknown)}({', '.join(names)})"

    def held(self) -> list[str]:
        """Return what the other coordinates are held at, in words."""
        return [*held(self.fixed, self.units), *self.said]

    def label(self, name: str | None = None) -> str:
        """Return a coordinate, or the unknown where left out, with its unit: for an axis."""
        return label(self.unknown if name is None else name, self.units)

    def error_label(self, absolute: bool) -> str:
        """Return what an axis of the error is called, with the unknown's unit."""
        unit = self.label().removeprefix(symbol(self.unknown))
        return f"{'absolute error' if absolute else 'error'}{unit}"
