"""What was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from pinn.checks import is_name
from pinn.conditions.condition import Condition
from pinn.equations.leaves import Column
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.files import Columns
from pinn.geometry import Shape, check_inside
from pinn.residuals import Measured, Residual
from pinn.sampling import Points
from pinn.schema import Name, Positive, declared
from pinn.schema.columns import ColumnsKind, NumberOrColumn
from pinn.schema.errors import Mistakes, refuse
from pinn.schema.errors import at as under
from pinn.schema.kinds import Names, Number, Optional, Several, Text

_OBSERVED = Several(Text("an unknown or an expression"), "an unknown or a list of them")
_HELD = Names(Number(), "a mapping from coordinates to numbers such as {t: 1}")
_CALLED = Names(Text("the name of a column"), "a mapping such as {u: temperature}")
_FACTOR = "factor"


@declared
class Data(Condition):
    """u = what was measured, at the points of a table: every row is used at every step.

    unknown: an unknown, several, or expressions such as "k*u_x". table: a mapping from names to
    arrays or numbers, or the path of a CSV or npz file; it has a column for each coordinate of the
    domain and one for each unknown. columns: what they are called in the table where that is not
    their own name, {"u": "temperature"}; what an expression was measured to be is called "value".
    at: coordinates that the table does not have, as numbers.

    sigma: the standard deviation of the noise, a number or the name of a column. A row counts by
    one over its sigma beside the others: it is (u - measured)*s/sigma with 1/s^2 the mean of
    1/sigma^2, so that the loss is in the units of u whatever sigma is, and a small noise does not
    drown the equations. weights: a column of factors of the rows' squares. robust: "huber" makes
    rows beyond `threshold`, in units of sigma, count by their size and not by their square, so that
    outliers move the solution little (Huber, Ann. Math. Stat. 35 (1964) 73).

    digest: SHA-256 of the file; it is filled in, kept with the solution, and a file that has
    changed since is refused. Raises ValueError, with file and line, for a column that is not there,
    lengths that differ, numbers that are not finite and points outside of the domain.
    """

    unknown: Annotated[Sequence[str], _OBSERVED]
    table: Annotated[Columns | Mapping[str, Any] | str | Path, ColumnsKind()]
    columns: Annotated[Mapping[str, str], _CALLED] = field(default_factory=dict)
    at: Annotated[Mapping[str, float], _HELD] = field(default_factory=dict)
    sigma: Annotated[float | str | None, Optional(NumberOrColumn())] = None
    weights: Annotated[str | None, Optional(Text("the name of a column"))] = None
    robust: Literal["huber"] | None = None
    threshold: Positive = 1.345
    name: Name | None = None
    digest: Annotated[str | None, Optional(Text("the digest of a file"))] = None

    def __post_init__(self) -> None:
        if self.robust is not None and self.sigma is None:
            refuse(
                "expected `sigma`, the standard deviation of the noise, with it: what lies far "
                "out is told in units of it",
                "robust",
            )
        if self.table.path is not None and self.digest is None:
            with under("table"):
                object.__setattr__(self, "digest", self.table.digest)

    def label(self, domain: Shape) -> str:
        return self._label(self.unknown[0])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        self._check_names(domain)
        mistakes, sides = Mistakes(), []
        for k, unknown in enumerate(self.unknown):
            with mistakes.under("unknown", *[k] * (len(self.unknown) > 1)):
                sides.append(Term(f"condition {self._label(unknown)!r}", unknown, scope))
                if sides[-1].leaves == ():
                    refuse(
                        f"expected one of the unknowns {', '.join(scope.unknowns)} or an "
                        f"expression with one in it, got {unknown!r}"
                    )
        mistakes.end()
        columns = [f"measured_{k}" for k in range(len(self.unknown))]
        weighted = isinstance(self.sigma, str) or self.weights is not None
        names = (*columns, *[_FACTOR] * weighted)
        place = Measured(
            domain, self._key(), names, lambda: self._read(domain, names),
            told=self.sigma is not None,
        )  # fmt: skip
        if not self.table.is_stored:
            place.check()
        return [
            Residual(
                self._label(unknown), left.what, left, place,
                Term(left.what, Column(column), scope.of_values()),
                factor=_FACTOR if weighted else None,
                huber=None if self.robust is None else self.threshold,
            )
            for unknown, left, column in zip(self.unknown, sides, columns, strict=True)
        ]  # fmt: skip

    def _label(self, unknown: str) -> str:
        short = "_".join(re.findall(r"[A-Za-z0-9]+", unknown))
        if self.name is None:
            return f"data_{short}"
        return self.name if len(self.unknown) == 1 else f"{self.name}_{short}"

    def _key(self) -> str:
        """Return a text that is another one for other points, measurements or factors."""
        chosen = (self.columns, self.at, self.unknown, self.sigma, self.weights)
        return f"{self.digest or self.table.digest} {chosen}"

    def _check_names(self, domain: Shape) -> None:
        if sum(_called(unknown) == "value" for unknown in self.unknown) > 1:
            refuse("expected at most one expression, the others being unknowns", "unknown")
        known = (*domain.coordinates, *map(_called, self.unknown))
        for key in self.columns:
            if key not in known:
                refuse(f"expected names out of {', '.join(known)}, got {key!r}", "columns", key)
        for key in self.at:
            if key not in domain.coordinates:
                given = ", ".join(domain.coordinates)
                refuse(f"expected coordinates out of {given}, got {key!r}", "at", key)

    def _read(self, domain: Shape, names: Sequence[str]) -> tuple[Points, float | None]:
        """Return the points with what was measured there, and the size of the noise."""
        with under("table"):
            self._check_digest()
            taken = {
                name: self.columns.get(name, name)
                for name in (*domain.coordinates, *map(_called, self.unknown))
                if name not in self.at
            }
            self._check_modes(domain, taken)
            table = self.table.chosen(taken)
            places = [name for name in domain.coordinates if name not in self.at]
            found = table.rows(places, list(map(_called, self.unknown)))
            if self.table.path is None and not self.table.is_stored:
                _refuse_lists_of_one(table)
            found |= {name: np.array([value]) for name, value in self.at.items()}
        noise, factor = self._noise()
        if _FACTOR in names:
            found[_FACTOR] = factor
        with under("table"):
            found = table.equally_long(found)
            points = np.stack([found[name] for name in domain.coordinates], axis=1)
            check_inside(domain, points, table)
        attached = [*map(_called, self.unknown), *[_FACTOR] * (_FACTOR in names)]
        return Points(points, dict(zip(names, [found[n] for n in attached], strict=True))), noise

    def _check_modes(self, domain: Shape, taken: Mapping[str, str]) -> None:
        """Refuse a table that does not say which function was there as it was measured."""
        there = {taken.get(name, name) for name in self.table.names}
        for one in domain.families:
            is_mode = one.spacing == "normal"  # as the numbers of a function are
            if is_mode and one.name in taken and taken[one.name] not in there:
                refuse(
                    f"no column {taken[one.name]!r}; these values belong to a function, and "
                    "problem.functions[...].coefficients(f) gives its numbers, a column for each "
                    "or numbers of `at`"
                )

    def _check_digest(self) -> None:
        if self.table.path is not None and self.table.digest != self.digest:
            raise ValueError(
                f"{self.table.path}: the file has changed since its digest was taken: expected "
                f"{self.digest}, got {self.table.digest}; leave out the digest to use the file as "
                "it is"
            )

    def _noise(self) -> tuple[float | None, np.ndarray]:
        """Return the size s of the noise, None where it is not told, and each row's factor."""
        noise, factor = None, np.ones(1)
        if self.sigma is not None:
            with under("sigma"):
                sigma = self._positive(self.sigma)
            noise = float(1 / np.sqrt(np.mean(sigma**-2)))
            factor = noise / sigma
        if self.weights is not None:
            with under("weights"):
                factor = factor * np.sqrt(self._positive(self.weights, zero=True))
        return noise, factor

    def _positive(self, given: str | float, zero: bool = False) -> np.ndarray:
        if not isinstance(given, str):
            return np.array([given])
        column = self.table.column(given).reshape(-1)
        bad = np.flatnonzero(~((column >= 0) if zero else (column > 0)))
        if bad.size:
            least = "of zero or more" if zero else "above zero"
            self.table.refuse(
                f"expected a number {least}, got {column[bad[0]]:g}", int(bad[0]), given
            )
        return column


def _refuse_lists_of_one(table: Columns) -> None:
    """Refuse a list of one number beside longer ones, but for an axis of a grid, as a mistake."""
    sizes = {name: table.column(name).shape for name in table.names}
    lone = [name for name, shape in sizes.items() if shape == (1,)]
    longest = max((shape[0] for shape in sizes.values() if shape), default=1)
    is_grid = any(len(shape) > 1 for shape in sizes.values())
    if lone and longest > 1 and not is_grid:
        table.refuse(
            f"expected as many numbers in every column, got {longest} in others and 1 of "
            f"{', '.join(lone)}; one that is the same in all rows is a number, no list"
        )


def _called(unknown: str) -> str:
    """Return the name of the column with what was measured."""
    return unknown if is_name(unknown) else "value"
