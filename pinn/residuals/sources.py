"""Where the points of a residual come from; residuals with equal sources share their points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import mul
from typing import Literal

import numpy as np

from pinn.equations.names import normal_name
from pinn.files import Columns
from pinn.geometry import (
    Part,
    Piece,
    Shape,
    check_inside,
    check_value,
    domain_in_words,
    shown_point,
)
from pinn.geometry.located import located
from pinn.geometry.unit_cube import draw, kept_share, probes
from pinn.sampling import LATTICES, NO_LAYERS, Layers, Points, Sampling
from pinn.schema.errors import refuse

# Points of the user's own may be off the boundary by so much, as a share of the domain's size.
_ON_BOUNDARY = 1e-6


class Source(ABC):
    """A part of a domain that gives points; equal sources give the same points to all residuals."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is attached to each point, such as a normal's components."""
        return ()

    @property
    def held(self) -> tuple[str, ...]:
        """The coordinates that have one value at all points."""
        return ()

    @property
    def noise(self) -> float | None:
        """The size of the residual where the solution is exact and data are not; None for none."""
        return None

    @abstractmethod
    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points, as many as the (resolved) sampling asks for here."""

    def count(self, sampling: Sampling) -> int | None:
        """Return how many points the (resolved) sampling asks for here.

        None for points that are what they are, such as the ends of an interval: no setting places
        them elsewhere.
        """
        return None

    def own(self, given: Columns) -> Points:
        """Return points of the user's own; ValueError, with its place, for one that is not here."""
        given.refuse("expected no points of your own for this block: it has its own")


@dataclass(frozen=True)
class Interior(Source):
    """The inside of a domain, where equations hold; TypeError for a shape that has no hash.

    layers: those in which points lie closer.
    """

    domain: Shape
    layers: Layers = NO_LAYERS

    def __post_init__(self) -> None:
        check_value(self.domain)

    def count(self, sampling: Sampling) -> int:
        return sampling.interior

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points inside; ValueError for a lattice of fewer than 2 points a coordinate."""
        d = len(self.domain.coordinates)
        if sampling.method in LATTICES and sampling.interior < 2**d and d > 1:
            refuse(
                f"a {sampling.method} of {sampling.interior} interior points has two cells or more "
                f"along each of {int(math.log2(sampling.interior))} coordinates at most, and this "
                f"domain has {d}; take latin-hypercube or sobol", "sampling", "method",
            )
        points = self.domain.sample_interior(sampling.interior, sampling.sampler, rng)
        return self.layers.spread(Points(points), self.domain.coordinates, self.held)

    def own(self, given: Columns) -> Points:
        return _inside(self.domain, given)


@dataclass(frozen=True)
class Within(Source):
    """A part of the inside of a domain, with as many points as the inside has.

    region: tells which points (n, d) of the domain are in it; its text names it. Equal regions
    tell the same of all points.
    """

    domain: Shape
    region: Callable[[np.ndarray], np.ndarray]

    def check(self) -> None:
        """Raise ValueError where no point of the domain seems to be in it."""
        for count in (1 << 12, 1 << 18):
            if not np.isnan(self._placed(probes(count, len(self.domain.coordinates)))).all():
                return
        refuse(f"expected a part of the domain, got {self.region}, in which no point of it lies")

    def count(self, sampling: Sampling) -> int:
        return sampling.interior

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        d = len(self.domain.coordinates)
        n, sampler = sampling.interior, sampling.sampler
        return Points(draw(n, d, self._placed, self._share, sampler, rng))

    def own(self, given: Columns) -> Points:
        points = _inside(self.domain, given)
        outside = np.flatnonzero(~self.region(points.coordinates))
        if outside.size:
            row = int(outside[0])
            shown = shown_point(self.domain, points.coordinates[row])
            given.refuse(f"expected a point of {self.region}, got {shown}", row)
        return points

    @cached_property
    def _share(self) -> float:
        return kept_share(len(self.domain.coordinates), self._placed)

    def _placed(self, unit: np.ndarray) -> np.ndarray:
        points = self.domain.from_unit(unit)
        return np.where(self.region(points)[:, None], points, np.nan)


@dataclass(frozen=True)
class Start(Source):
    """The start of time; layers: those in which points lie closer."""

    domain: Shape
    layers: Layers = NO_LAYERS

    def count(self, sampling: Sampling) -> int | None:
        return sampling.initial if len(self.domain.coordinates) > 1 else None

    def own(self, given: Columns) -> Points:
        return _on_part(self.domain, self.domain.start, given)

    @property
    def held(self) -> tuple[str, ...]:
        return (str(self.domain.time),)

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        points = self.domain.sample_initial(sampling.initial, sampling.sampler, rng)
        return self.layers.spread(Points(points), self.domain.coordinates, self.held)


@dataclass(frozen=True)
class End(Source):
    """The end of time, with as many points as its start."""

    domain: Shape
    layers: Layers = NO_LAYERS

    def count(self, sampling: Sampling) -> int | None:
        return sampling.initial if len(self.domain.coordinates) > 1 else None

    def own(self, given: Columns) -> Points:
        return _on_part(self.domain, self.domain.end, given)

    @property
    def held(self) -> tuple[str, ...]:
        return (str(self.domain.time),)

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        points = self.domain.sample_final(sampling.initial, sampling.sampler, rng)
        return self.layers.spread(Points(points), self.domain.coordinates, self.held)


@dataclass(frozen=True)
class Listed(Source):
    """Points of the user's own, all of them used: a number for each coordinate of each.

    None stands for a family that is drawn from its range; each point then appears as often as makes
    no fewer points than there are at the start of time.
    """

    domain: Shape
    points: tuple[tuple[float | None, ...], ...]

    def check(self) -> None:
        """Raise ValueError for a point outside the domain."""
        middles = {family.name: family.middle for family in self.domain.families}
        shown = np.array([
            [middles[name] if value is None else value for name, value in self._named(point)]
            for point in self.points
        ])  # fmt: skip
        inside = self.domain.contains(shown)
        if not inside.all():
            outside = self._named(self.points[int(np.flatnonzero(~inside)[0])])
            place = ", ".join(f"{name} = {value:g}" for name, value in outside if value is not None)
            raise ValueError(f"expected a point of {domain_in_words(self.domain)}, got {place}")

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        drawn = [j for j, value in enumerate(self.points[0]) if value is None]
        if not drawn:
            return Points(np.array(self.points))
        families = {family.name: family for family in self.domain.families}
        times = -(-sampling.initial // len(self.points))
        points = np.tile(np.array(self.points, dtype=np.float64), (times, 1))
        # A grid may have fewer.
        unit = np.resize(sampling.sampler(len(points), len(drawn), rng), (len(points), len(drawn)))
        for j, column in zip(drawn, unit.T, strict=True):
            points[:, j] = families[self.domain.coordinates[j]].from_unit(column)
        return Points(points)

    def _named(self, point: tuple[float | None, ...]) -> list[tuple[str, float | None]]:
        return list(zip(self.domain.coordinates, point, strict=True))


@dataclass(frozen=True)
class Measured(Source):
    """Points of the user's own with what was measured there, all of them used.

    key: a text that tells different measurements apart. names: those of the columns. read: gives
    the points, when they are first drawn, and the size of the noise. told: whether that is told,
    which is known before anything is read.
    """

    domain: Shape
    key: str
    names: tuple[str, ...]
    read: Callable[[], tuple[Points, float | None]] = field(compare=False)
    told: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def _found(self) -> tuple[Points, float | None]:
        return self.read()

    def check(self) -> None:
        """Read what was measured; ValueError where it cannot be used."""
        self._found  # noqa: B018 - it is kept

    @property
    def noise(self) -> float | None:
        return self._found[1]

    @property
    def points(self) -> np.ndarray:
        """Where it was measured, (n, d)."""
        return self._found[0].coordinates

    def measured(self, name: str) -> np.ndarray:
        """Return a column of what was measured, (n,)."""
        return self._found[0].columns[name]

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return all of them."""
        return self._found[0]


@dataclass(frozen=True)
class Section(Source):
    """The points of a domain where some coordinates have given numbers.

    fixed: pairs of coordinate and number. kind: the field of Sampling with the number of points.
    normal: a coordinate along which the unit normal points, attached where it is given.
    """

    domain: Shape
    fixed: tuple[tuple[str, float], ...]
    kind: Literal["initial", "boundary"] = "boundary"
    normal: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return () if self.normal is None else tuple(map(normal_name, self.domain.space))

    def count(self, sampling: Sampling) -> int | None:
        free = len(self.fixed) < len(self.domain.coordinates)
        return getattr(sampling, self.kind) if free else None

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points there; ValueError where there are none."""
        free = len(self.domain.coordinates) - len(self.fixed)
        share = kept_share(free, self._placed)
        n = getattr(sampling, self.kind)
        points = draw(n, free, self._placed, share, sampling.sampler, rng)
        if not len(points):
            shown = ", ".join(f"{name} = {value:g}" for name, value in self.fixed)
            raise ValueError(f"no point of {domain_in_words(self.domain)} has {shown}")
        normals = {
            name: np.full(len(points), float(coordinate == self.normal))
            for name, coordinate in zip(self.columns, self.domain.space, strict=False)
        }
        return Points(points, normals)

    def _placed(self, unit: np.ndarray) -> np.ndarray:
        points, columns, fixed = np.empty((len(unit), 0)), iter(unit.T), dict(self.fixed)
        for name, (low, high) in self.domain.bounds.items():
            column = (
                np.full(len(unit), fixed[name]) if name in fixed
                else np.clip(low + (high - low) * next(columns), low, high)
            )  # fmt: skip
            points = np.column_stack([points, column])
        points[~self.domain.contains(points)] = np.nan
        return points


@dataclass(frozen=True)
class Surface(Source):
    """The boundary of a body inside of a domain, with the normals that point out of the body."""

    domain: Shape
    body: Shape

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(map(normal_name, self.domain.space))

    def count(self, sampling: Sampling) -> int:
        return sampling.boundary

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points there, fewer than asked for where some of it lies outside of the domain."""
        own = set(self.body.coordinates)
        others = [factor for factor in self.domain.factors if not own & set(factor.coordinates)]
        whole = reduce(mul, [self.body, *others])
        labels = {part.label for part in self.body.parts}
        parts = [part for part in whole.parts if part.label in labels]
        points, normals = whole.sample_boundary(parts, sampling.boundary, sampling.sampler, rng)
        order = [whole.coordinates.index(name) for name in self.domain.coordinates]
        inside = self.domain.contains(points[:, order])
        if not inside.any():
            raise ValueError(f"no point of the boundary of {self.body!r} lies in {self.domain!r}")
        along = {normal_name(n): column for n, column in zip(whole.space, normals.T, strict=True)}
        return Points(
            points[inside][:, order], {name: along[name][inside] for name in self.columns}
        )


@dataclass(frozen=True)
class Boundary(Source):
    """Some parts of the boundary, with points shared among them by their measure.

    parts: of `domain.select`. normals: attach the outward unit normal, a column normal_X for each
    space coordinate X. layers: those in which points lie closer.
    """

    domain: Shape
    parts: tuple[Part, ...]
    normals: bool = False
    layers: Layers = NO_LAYERS

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(map(normal_name, self.domain.space)) if self.normals else ()

    def count(self, sampling: Sampling) -> int | None:
        return sampling.boundary if len(self.domain.coordinates) > 1 else None

    def own(self, given: Columns) -> Points:
        """Return them, with the normals of the parts that they are nearest to."""
        points = self._on_parts(given)
        if not self.normals:
            return points
        gaps, normals = located(self.domain, self.parts, points.coordinates, _ON_BOUNDARY)
        off = np.flatnonzero(gaps > _ON_BOUNDARY)
        if off.size:
            row = int(off[0])
            shown = shown_point(self.domain, points.coordinates[row])
            given.refuse(f"expected a point of {', '.join(map(str, self.parts))}, got {shown}", row)
        return Points(points.coordinates, dict(zip(self.columns, normals.T, strict=True)))

    def _on_parts(self, given: Columns) -> Points:
        if len(self.parts) == 1:
            return _on_part(self.domain, self.parts[0], given)
        points = _inside(self.domain, given)
        on = [_is_on(self.domain, part, points.coordinates) for part in self.parts]
        off = np.flatnonzero(~np.logical_or.reduce(on))
        if off.size:
            row = int(off[0])
            shown = shown_point(self.domain, points.coordinates[row])
            given.refuse(f"expected a point of {', '.join(map(str, self.parts))}, got {shown}", row)
        return points

    @property
    def held(self) -> tuple[str, ...]:
        first, *others = (part.fixed.items() for part in self.parts)
        return tuple(name for name, value in first if all((name, value) in o for o in others))

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        points, normals = self.domain.sample_boundary(
            self.parts, sampling.boundary, sampling.sampler, rng
        )
        columns = zip(self.columns, normals.T, strict=True) if self.normals else ()
        found = Points(points, dict(columns))
        return self.layers.spread(found, self.domain.coordinates, self.held)


def _inside(domain: Shape, given: Columns, fixed: Mapping[str, float] | None = None) -> Points:
    """Return the points of columns, one for each coordinate; all have to be inside.

    fixed: coordinates that have one value, which may be left out.
    """
    given = given.named(domain.coordinates)
    unknown = [name for name in given.names if name not in domain.coordinates]
    if unknown:
        given.refuse(
            f"expected a column for each of {', '.join(domain.coordinates)} and no other, got "
            f"{', '.join(given.names)}"
        )
    left_out = {n: np.array([v]) for n, v in (fixed or {}).items() if n not in given.names}
    there = [name for name in domain.coordinates if name not in left_out]
    found = given.equally_long(given.rows(there, ()) | left_out)
    points = np.stack([found[name] for name in domain.coordinates], axis=1)
    check_inside(domain, points, given)
    return Points(points)


def _on_part(domain: Shape, part: Part, given: Columns) -> Points:
    """Return points of a part; a coordinate that has one value on it may be left out."""
    points = _inside(domain, given, part.fixed)
    off = np.flatnonzero(~_is_on(domain, part, points.coordinates))
    if off.size:
        shown = shown_point(domain, points.coordinates[off[0]])
        given.refuse(f"expected a point of {part}, got {shown}", int(off[0]))
    return points


def _is_on(domain: Shape, part: Part, points: np.ndarray) -> np.ndarray:
    """Return which points of the domain lie on a part of its boundary, as far as that is known.

    A coordinate with one value there has to have it; elsewhere the distance to the boundary has to
    vanish, where the shape gives one.
    """
    size = np.ptp(np.array(list(domain.bounds.values())), axis=1)
    on = np.ones(len(points), dtype=bool)
    for name, value in part.fixed.items():
        k = domain.coordinates.index(name)
        on &= np.abs(points[:, k] - value) <= 1e-9 * size[k]
    if not part.fixed:
        try:
            on &= np.abs(domain.distance(points)) <= _ON_BOUNDARY * size.max()
        except TypeError:
            pass  # the shape gives none
    if isinstance(part, Piece):
        on &= part.holds(dict(zip(domain.coordinates, points.T, strict=True)))
    return on
