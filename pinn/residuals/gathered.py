"""Random places, ever closer to where a text changes its sign, and what each of them stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pinn.expressions import Expression
from pinn.geometry import Face, Shape
from pinn.residuals.crossings import (
    CLOSER,
    coordinates_of,
    crossings,
    differences,
    graded,
    values_of,
)
from pinn.residuals.sources import Boundary, End, Interior, Source, Start, Within
from pinn.sampling import stream

# Places that are drawn: all over the domain, evenly, and around where one difference changes its
# sign on each line along a coordinate. So many of these at most.
_EVERYWHERE, _EVEN, _AROUND, _MOST_AROUND = 2**14, 2**13, 2**12, 6
_HALVINGS = 55


@dataclass(frozen=True)
class Places:
    """Where points of a source may be: a domain, or what is left of it where some are held.

    region: tells which points of it they are, None for all.
    """

    domain: Shape
    held: tuple[tuple[str, float], ...] = ()
    region: object = None

    def has(self, points: np.ndarray) -> np.ndarray:
        inside = np.asarray(self.domain.contains(points))
        return inside if self.region is None else inside & self.region(points)


def places_of(source: Source) -> Places | None:
    """Return where the points of a source may be; None where that is no box or part of one."""
    if isinstance(source, Interior):
        return Places(source.domain)
    if isinstance(source, Within):
        return Places(source.domain, (), source.region)
    if isinstance(source, Start | End):
        time = source.domain.time
        return Places(
            source.domain, ((time, source.domain.bounds[time][isinstance(source, End)]),)
        )
    if isinstance(source, Boundary) and len(source.parts) == 1 and not source.normals:
        (part,) = source.parts
        if isinstance(part, Face):
            return Places(source.domain, tuple(part.fixed.items()))
    return None


def weighed(
    tree: Expression,
    places: Places,
    constants: Mapping[str, float],
    closer: bool = True,
    box: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, d) and the measure that each stands for; 0 where it is not of the source.

    closer: also around where functions of several coordinates vanish, which takes longer. box: the
    least and the largest coordinates of a place where some are drawn besides, (2, d). They are
    drawn in several ways, each point counting by all of them (Veach and Guibas, SIGGRAPH 1995, the
    balance heuristic).
    """
    domain, rng = places.domain, stream(0, "known parts", str(tree))
    held, names = dict(places.held), domain.coordinates
    trees = differences(tree)
    lines = {
        name: _Line(graded(bounds, crossings(trees, name, bounds, constants), 2))
        for name, bounds in domain.bounds.items() if name not in held
    }  # fmt: skip
    around = [
        _Around(one, name, domain, constants)
        for one in trees if closer and len(coordinates_of(one)) > 1
        for name in coordinates_of(one) if name in lines
    ][:_MOST_AROUND]  # fmt: skip

    def spread(n: int, of: Mapping[str, _Line]) -> np.ndarray:
        each = [of[name].draw(n, rng) if name in of else np.full(n, held[name]) for name in names]
        return np.stack(each, axis=1)

    def densities(of: Mapping[str, _Line]) -> dict[str, np.ndarray]:
        return {name: of[name].density(points[:, names.index(name)]) for name in of}

    even = {name: _Line(np.array(domain.bounds[name])) for name in lines}
    drawn = [spread(_EVERYWHERE, lines), spread(_EVEN, even)]
    drawn += [one.moved(spread(_AROUND, lines), rng) for one in around]
    inner = {}
    if box is not None:
        margin = (box[1] - box[0]) / 2
        ends = zip(names, box[0] - margin, box[1] + margin, strict=True)
        inner = {
            name: _Line(np.clip([low, high], *domain.bounds[name]))
            for name, low, high in ends if name in lines and high > low
        }  # fmt: skip
        inner = {**lines, **inner}
        drawn.append(spread(_EVERYWHERE, inner))
    points = np.concatenate(drawn)
    each = densities(lines)
    together = np.prod([*each.values(), np.ones(len(points))], axis=0)
    density = _EVERYWHERE * together
    if even:
        density = density + _EVEN * np.prod(list(densities(even).values()), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for one in around:
            density = density + _AROUND * together / each[one.name] * one.density(points)
        if inner:
            density = density + _EVERYWHERE * np.prod(list(densities(inner).values()), axis=0)
        weights = np.where(places.has(points), 1 / density, 0.0)
    return points, np.where(np.isfinite(weights), weights, 0.0)


@dataclass(frozen=True, eq=False)
class _Line:
    """Random places on a line: half of them even, half of them in any of its cells alike.

    edges: of the cells, (k,), sorted.
    """

    edges: np.ndarray

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        low, high = self.edges[0], self.edges[-1]
        cell = rng.integers(0, len(self.edges) - 1, n)
        fine = self.edges[cell] + np.diff(self.edges)[cell] * rng.random(n)
        return np.where(rng.random(n) < 0.5, low + (high - low) * rng.random(n), fine)

    def density(self, places: np.ndarray) -> np.ndarray:
        lengths = np.diff(self.edges)
        cell = np.clip(np.searchsorted(self.edges, places, "right") - 1, 0, len(lengths) - 1)
        even = 1 / (self.edges[-1] - self.edges[0])
        found = 0.5 * even + 0.5 / (len(lengths) * lengths[cell])
        return np.where((places < self.edges[0]) | (places > self.edges[-1]), 0.0, found)


@dataclass(frozen=True, eq=False)
class _Around:
    """Random places around where a function of several coordinates vanishes along one of them.

    That is, along each line, where it has one sign at one of its ends and the other at the other.
    """

    tree: Expression
    name: str
    domain: Shape
    constants: Mapping[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates of a point."""
        return self.domain.coordinates

    @property
    def bounds(self) -> tuple[float, float]:
        """Those of the coordinate."""
        return self.domain.bounds[self.name]

    def moved(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return points with another place along the coordinate."""
        low, high = self.bounds
        n, j = len(points), self.names.index(self.name)
        # log-uniform in 46 intervals, each half as long as the one before
        far = (high - low) * 0.5 ** (rng.integers(1, CLOSER + 1, n) - rng.random(n))
        root = self._root(points)
        moved = points.copy()
        moved[:, j] = np.where(
            np.isnan(root), low + (high - low) * rng.random(n), root + far * rng.choice([-1, 1], n)
        )
        return moved

    def density(self, points: np.ndarray) -> np.ndarray:
        """Return how densely they are, along the coordinate."""
        low, high = self.bounds
        root, length = self._root(points), high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.abs(points[:, self.names.index(self.name)] - root)
            # log-uniform: 1 / (apart log 2) in each interval
            near = 1 / (2 * CLOSER * np.log(2.0) * apart)
        near = np.where((apart <= length) & (apart >= length * 0.5**CLOSER), near, 0.0)
        return np.where(np.isnan(root), 1 / length, near)

    def _root(self, points: np.ndarray) -> np.ndarray:
        """Return where it vanishes on the line through each point; nan for no such place."""
        low, high = self.bounds
        j = self.names.index(self.name)
        line = points.copy()

        def sign(places: np.ndarray) -> np.ndarray:
            line[:, j] = places
            return np.sign(values_of(self.tree, self.names, line, self.constants))

        before, after = np.full(len(points), low), np.full(len(points), high)
        first = sign(before)
        crossed = first * sign(after) < 0
        for _ in range(_HALVINGS):
            middle = before + (after - before) / 2
            same = sign(middle) == first
            before, after = np.where(same, middle, before), np.where(same, after, middle)
        return np.where(crossed, after, np.nan)
