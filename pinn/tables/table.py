"""A known function given by its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import autograd as T
from autograd.ops.pointwise import pointwise
from pinn.files import Columns
from pinn.schema import declared
from pinn.schema.columns import ColumnsKind
from pinn.schema.errors import at as under
from pinn.schema.errors import refuse
from pinn.schema.kinds import NAME, Items, Names, Text
from pinn.tables.scattered import LinearFunction, NearestFunction, SplineFunction
from pinn.tables.splines import GridFunction

_PLACE = "place"
# Scattered points that are triangulated for a figure: a few seconds in three dimensions.
_MOST_DRAWN = 100_000
_SCATTERED = {"nearest": NearestFunction, "linear": LinearFunction, "spline": SplineFunction}
_RENAMED = Names(
    Text("the name of a column"), "a mapping from names to columns such as {a: permeability}"
)
_OVER = Items(NAME, "a list of names such as [x, y]")


@declared(eq=False)
class Table:
    """A function known by its values, on a grid or at scattered points: a field, a signal.

    value: the name of the column with its values, and of the function in equations. table: arrays
    by name, or a file (.csv, .npz; in a config relative to it). Its other columns, or those in
    `over`, are what it is a function of: a grid has an increasing array for each and values of
    shape (n_1, ..., n_d), or a row for each of its nodes; any other rows are scattered points.
    columns: name -> column, where the file calls them differently.

    method: linear (the derivative is the slope of the piece; at a node of a grid that of the piece
    above), spline (cubic, twice continuously differentiable; through scattered points by
    distances cubed, derivatives up to order 2) or nearest (its derivative is 0).
    outside: refuse (ValueError when it is evaluated there), nearest (the value at the edge of the
    box; scattered linear: at the nearest point) or extrapolate (the outermost piece goes on).

    As a problem's reference it is compared with at its own points, whatever they are.

    Raises ValueError, naming file and line, for a column that is not there, a cell that is no
    number and a number that is not finite; where it is a function also for an array that does not
    increase, a point given twice, and columns that do not fit together.
    """

    value: Annotated[str, NAME]
    table: Annotated[Columns | Mapping[str, Any] | str | Path, ColumnsKind(kept=True)]
    over: Annotated[Sequence[str], _OVER] = ()
    columns: Annotated[Mapping[str, str], _RENAMED] = field(default_factory=dict)
    method: Literal["linear", "spline", "nearest"] = "linear"
    outside: Literal["refuse", "nearest", "extrapolate"] = "refuse"

    def __post_init__(self) -> None:
        if self.over:
            self._keep(self.over)
        else:  # which of the others count may be told by where it is used
            self._column(self.value)
            used = {self.columns.get(self.value, self.value), *self.columns.values()}
            others = [name for name in self.table.names if name not in used]
            renamed = [name for name in self.columns if name != self.value]
            object.__setattr__(self, "over", (*others, *renamed))

    def __repr__(self) -> str:
        return f"<Table {self.value}({', '.join(self.over)}): {self.method}>"

    def as_function(self) -> Table:
        """Return the table as a function of `over`; DeclarationError where it is none."""
        if not self.over:
            refuse(f"expected a column besides {self.value!r}: what it is a function of", "table")
        found = replace(self, over=self.over)
        with under("table"):
            found._function  # noqa: B018 - what does not fit together is refused here
        return found

    def as_values_of(self, unknown: str, coordinates: Sequence[str]) -> Table:
        """Return the table as values of an unknown, with a column for each of its coordinates."""
        if self.by_position:
            self._check_count(coordinates)
            places = dict(zip(coordinates, self.over, strict=True))
        else:
            places = {name: self._called(name) for name in coordinates}
        columns = {**places, unknown: self._called(self.value)}
        return replace(self, value=unknown, over=tuple(coordinates), columns=columns)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return its points (n, d), in the order of `over`, and its values there (n,)."""
        found = self.table.rows(self.over, [self.value])
        values = found.pop(self.value)
        return np.stack([found[name] for name in self.over], axis=1), values

    def between(self, places: np.ndarray) -> np.ndarray | None:
        """Return what lies between its points, at places (m, d), for figures; None for no guess.

        Cubic splines go through points that form a grid, linear pieces through others in two or
        three variables; nan outside of all points.
        """
        points, first = np.unique(self.rows()[0], axis=0, return_index=True)
        values = self.rows()[1][first]
        found = _as_grid(points, values)
        columns = tuple(places.T)
        if found is not None:
            fewest = min(values_of.size for values_of in found[0])
            function = GridFunction(*found, "spline" if fewest >= 4 else "linear")
            inside = [
                self._inside(np, x, *ends) for x, ends in zip(columns, function.bounds, strict=True)
            ]
            held = tuple(
                np.clip(x, *ends) for x, ends in zip(columns, function.bounds, strict=True)
            )
            known = np.logical_and.reduce(inside)
        elif points.shape[1] in (2, 3) and len(points) <= _MOST_DRAWN:
            try:
                function = LinearFunction(points, values)
            except ValueError:  # all of them on a line or plane
                return None
            held, known = columns, function.inside(places)
        else:
            return None
        if not known.any():
            return None
        return np.where(known, function.values(np, held, (0,) * len(columns)), np.nan)

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The range of the values' places in each variable."""
        return dict(zip(self.over, self._function.bounds, strict=True))

    def values(self, xp: Any, xs: tuple[Any, ...], orders: tuple[int, ...]) -> Any:
        """Return a partial derivative at arrays that broadcast: a PointwiseFunction.

        Raises ValueError for a place outside, where that is refused (on a GPU the value is nan).
        """
        if self.outside == "extrapolate":
            return self._function.values(xp, xs, orders)
        xs = xp.broadcast_arrays(*xs)
        bounds = self._function.bounds
        inside = [self._inside(xp, x, *ends) for x, ends in zip(xs, bounds, strict=True)]
        if self.outside == "refuse" and xp is np:
            self._refuse_outside(xs, inside)
        held = tuple(
            xp.clip(x, low, high) for x, (low, high) in zip(xs, bounds, strict=True)
        )
        found = self._function.values(xp, held, orders)
        beyond = np.nan if self.outside == "refuse" else 0.0
        for order, within in zip(orders, inside, strict=True):
            if order or self.outside == "refuse":
                found = xp.where(within, found, found.dtype.type(beyond))
        return found

    @classmethod
    def of_arrays(cls, arrays: Sequence[Any]) -> Table:
        """Return a table of arrays for its variables, whose names follow from where it stands."""
        *places, values = arrays
        named = {f"{_PLACE}{k}": array for k, array in enumerate(places, 1)}
        return cls("values", {**named, "values": values})

    @property
    def by_position(self) -> bool:
        """Whether its variables have no names of their own."""
        return all(name == f"{_PLACE}{k}" for k, name in enumerate(self.over, 1))

    def at(self, *xs: Any, orders: Sequence[int] = ()) -> Any:
        """Return the function, or a partial derivative of it, at tensors or arrays.

        orders: how often the derivative is taken in each variable.
        """
        orders = tuple(orders) or (0,) * len(self.over)
        like = next((x for x in xs if isinstance(x, T.Tensor)), None)
        if like is None:
            return self.values(np, tuple(np.asarray(x, dtype=np.float64) for x in xs), orders)
        tensors = [
            x if isinstance(x, T.Tensor) else T.full((), x, dtype=like.dtype, device=like.device)
            for x in xs
        ]
        return pointwise(self, *tensors, orders=orders)

    @staticmethod
    def _inside(xp: Any, x: Any, low: float, high: float) -> Any:
        spare = 8 * float(np.finfo(x.dtype).eps) * max(abs(low), abs(high), high - low)
        return (x >= low - spare) & (x <= high + spare)

    def _refuse_outside(self, xs: Sequence[np.ndarray], inside: Sequence[np.ndarray]) -> None:
        for name, x, within in zip(self.over, xs, inside, strict=True):
            bad = np.flatnonzero(~within.reshape(-1))
            if bad.size:
                low, high = self.bounds[name]
                raise ValueError(
                    f"table {self.value!r}: expected {name} in [{low:.6g}, {high:.6g}], got "
                    f"{x.reshape(-1)[bad[0]]:.6g}; give more values, or say outside: nearest or "
                    "outside: extrapolate"
                )
        if isinstance(self._function, LinearFunction):
            places = np.stack([np.ravel(x) for x in xs], axis=1)
            bad = np.flatnonzero(~self._function.inside(places))
            if bad.size:
                place = ", ".join(
                    f"{n} = {v:.6g}" for n, v in zip(self.over, places[bad[0]], strict=True)
                )
                raise ValueError(
                    f"table {self.value!r}: {place} is not between its points; give more points, "
                    "or say outside: nearest"
                )

    def _column(self, name: str) -> np.ndarray:
        with under("table" if self._called(name) == name else "columns"):
            return self.table.column(self._called(name))

    def _called(self, name: str) -> str:
        return self.columns.get(name, name)

    def _keep(self, variables: Sequence[str]) -> None:
        """Keep the columns of some variables and the values, under their own names."""
        names = (*variables, self.value)
        for name in names:
            self._column(name)
        chosen = self.table.chosen({name: self._called(name) for name in names})
        object.__setattr__(self, "table", chosen)
        object.__setattr__(self, "columns", {})

    def _check_count(self, coordinates: Sequence[str]) -> None:
        if len(self.over) != len(coordinates):
            refuse(
                f"expected an array for each of {', '.join(coordinates)} and one of values, got "
                f"{len(self.over) + 1} arrays; a mapping of names to arrays says which is which"
            )

    @cached_property
    def _function(self) -> Any:
        arrays = [self.table.column(self._called(name)) for name in self.over]
        values = self.table.column(self._called(self.value))
        shape = tuple(array.size for array in arrays)
        for name, array in zip(self.over, arrays, strict=True):
            if array.ndim != 1:
                raise ValueError(f"{name}: expected a list of numbers, got shape {array.shape}")
        rows = values.ndim == 1 and set(shape) == {values.size}
        if values.shape == shape and (len(arrays) == 1 or not rows):
            axes, table = arrays, values
            self._check_increasing(axes)
        elif rows:
            points = np.stack(arrays, axis=1)
            self._check_distinct(points)
            found = _as_grid(points, values)
            if found is None:
                return self._scattered(points, values)
            axes, table = found
        else:
            sizes = ", ".join(f"{n} {s}" for n, s in zip(self.over, shape, strict=True))
            turned = ": transposed?" if values.shape == shape[::-1] else ""
            raise ValueError(
                f"{self.value}: expected values of shape {shape}, or as many as points, for {sizes}"
                f"; got shape {values.shape}{turned}"
            )
        return GridFunction(axes, table, self.method)

    def _scattered(self, points: np.ndarray, values: np.ndarray) -> Any:
        if self.outside == "extrapolate" and self.method == "linear":
            raise ValueError(
                "linear pieces between scattered points do not go on outside; say outside: "
                "nearest, or method: spline"
            )
        return _SCATTERED[self.method](points, values)

    def _check_increasing(self, axes: Sequence[np.ndarray]) -> None:
        for name, axis in zip(self.over, axes, strict=True):
            bad = np.flatnonzero(np.diff(axis) <= 0)
            if bad.size:
                i = int(bad[0]) + 1
                self.table.refuse(
                    f"expected increasing numbers, got {axis[i]:.6g} after {axis[i - 1]:.6g}",
                    i, self._called(name),
                )  # fmt: skip

    def _check_distinct(self, points: np.ndarray) -> None:
        _, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[inverse.reshape(-1)] != np.arange(len(points)))
        if again.size:
            i = int(again[0])
            raise ValueError(
                f"{self.table.place(i)}: the point is given twice, first at "
                f"{self.table.place(int(first[inverse.reshape(-1)[i]]))}"
            )


def _as_grid(
    points: np.ndarray, values: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray] | None:
    """Return the axes and values of rows that are the nodes of a grid, None for other rows."""
    axes, places = zip(*(np.unique(x, return_inverse=True) for x in points.T), strict=True)
    shape = tuple(len(axis) for axis in axes)
    if np.prod(shape) != len(points) or min(shape) < 2:
        return None
    table = np.empty(shape)
    table[tuple(place.reshape(-1) for place in places)] = values
    return list(axes), table
