"""Where the points of a residual come from; residuals with equal sources share their points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from pinn.equations.names import normal_name
from pinn.geometry import Part, Shape, check_value
from pinn.sampling import Points, Sampling


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

    @abstractmethod
    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points, as many as the (resolved) sampling asks for here."""

    def candidates(self, sampling: Sampling, rng: np.random.Generator) -> Points | None:
        """Return even points that an adaptive method chooses from; None where it does not."""
        return None


@dataclass(frozen=True)
class Interior(Source):
    """The inside of a domain, where equations hold; TypeError for a shape that has no hash."""

    domain: Shape

    def __post_init__(self) -> None:
        check_value(self.domain)

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return points inside; ValueError for a grid of fewer than 2 cells a coordinate."""
        d = len(self.domain.coordinates)
        if sampling.method == "grid" and sampling.interior < 2**d and d > 1:
            raise ValueError(
                f"sampling: method: a grid of {sampling.interior} interior points has two cells or "
                f"more along each of {int(math.log2(sampling.interior))} coordinates at most, and "
                f"this domain has {d}; take latin-hypercube or sobol"
            )
        return Points(self.domain.sample_interior(sampling.interior, sampling.sampler, rng))

    def candidates(self, sampling: Sampling, rng: np.random.Generator) -> Points | None:
        even = replace(sampling, interior=sampling.candidates, method="uniform")
        return self.draw(even, rng)


@dataclass(frozen=True)
class Start(Source):
    """The start of time."""

    domain: Shape

    @property
    def held(self) -> tuple[str, ...]:
        return (str(self.domain.time),)

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        return Points(self.domain.sample_initial(sampling.initial, sampling.sampler, rng))


@dataclass(frozen=True)
class End(Source):
    """The end of time, with as many points as its start."""

    domain: Shape

    @property
    def held(self) -> tuple[str, ...]:
        return (str(self.domain.time),)

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        return Points(self.domain.sample_final(sampling.initial, sampling.sampler, rng))


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
            raise ValueError(f"expected a point of the domain {self.domain!r}, got {place}")

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
class Boundary(Source):
    """Some parts of the boundary, with points shared among them by their measure.

    parts: of `domain.select`. normals: attach the outward unit normal, a column normal_X for each
    space coordinate X.
    """

    domain: Shape
    parts: tuple[Part, ...]
    normals: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(map(normal_name, self.domain.space)) if self.normals else ()

    @property
    def held(self) -> tuple[str, ...]:
        first, *others = (part.fixed.items() for part in self.parts)
        return tuple(name for name, value in first if all((name, value) in o for o in others))

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        points, normals = self.domain.sample_boundary(
            self.parts, sampling.boundary, sampling.sampler, rng
        )
        columns = zip(self.columns, normals.T, strict=True) if self.normals else ()
        return Points(points, dict(columns))
