"""Nodes of an integral over a domain in space, or over parts of its boundary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul

import numpy as np

from pinn.equations.names import normal_name
from pinn.geometry import Part, Shape
from pinn.geometry.unit_cube import probes
from pinn.residuals.by_lines import BY_LINES, by_lines
from pinn.residuals.sources import Source
from pinn.sampling import Points, Sampling

WEIGHT = "weight"

# Along each coordinate; of more coordinates the nodes are even points, so many of them.
_COUNTS = {0: 1, 1: 64, 2: 24, 3: 12}
_MOST = 4096
# Points of the unit cube by which it is told whether all of it has a place in a shape.
_LOOKS = 1024


@dataclass(frozen=True)
class Nodes(Source):
    """The nodes of an integral in space with their weights, at each of some times.

    parts: of `space_of(domain)`; None for its inside, or some of its boundary, where the outward
    normals belong to the points. mean: weights that sum up to one, and not to the measure. nodes:
    along each coordinate of what is integrated over. `each` points belong to a time.
    """

    domain: Shape
    parts: tuple[Part, ...] | None
    nodes: int | None
    times: int
    mean: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        normals = () if self.parts is None else map(normal_name, self.domain.space)
        return (WEIGHT, *normals)

    @property
    def measure(self) -> float:
        """What the weights of a time sum up to."""
        return float(self._rule[2].sum())

    @property
    def each(self) -> int:
        """The number of nodes of a time."""
        return len(self._rule[2])

    @cached_property
    def _rule(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return nodes (q, space), normals (q, space or 0) and weights (q,)."""
        space = space_of(self.domain)
        d = len(space.coordinates)
        if self.parts is None:
            points, weights = _inside(space, self.nodes)
            found = [(points, points[:, :0], weights)]
        else:
            found = []
            for part in self.parts:
                rows, weights = _placed(d - 1, self.nodes, lambda u, p=part: space.rows(p, u))
                found.append((rows[:, :d], rows[:, d:], weights * part.measure))
        points, normals, weights = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return points, normals, weights / weights.sum() if self.mean else weights

    def draw(self, sampling: Sampling, rng: np.random.Generator) -> Points:
        """Return the nodes at times, and members of families, that the sampling's method places."""
        points, normals, weights = self._rule
        columns = dict(zip(space_of(self.domain).coordinates, points.T, strict=True))
        attached = dict(zip(self.columns, (weights, *normals.T), strict=True))
        domain = self.domain
        others = [name for name in domain.coordinates if name not in columns]
        low, high = np.array([domain.bounds[name] for name in others]).reshape(-1, 2).T
        times = self.times if others else 1
        unit = sampling.sampler(times, len(others), rng) if others else np.empty((1, 0))
        placed = low + (high - low) * unit
        every = {name: np.tile(column, len(placed)) for name, column in columns.items()}
        for name, column in zip(others, placed.T, strict=True):
            every[name] = np.repeat(column, len(weights))
        return Points(
            np.stack([every[name] for name in domain.coordinates], axis=1),
            {name: np.tile(column, len(placed)) for name, column in attached.items()},
        )


def space_of(domain: Shape) -> Shape:
    """Return a domain in space alone; ValueError for one that has only time."""
    factors = [factor for factor in domain.factors if factor.space]
    if not factors:
        raise ValueError(
            "an integral over the domain needs a space coordinate, and this domain has only "
            f"{', '.join(domain.coordinates)}; write integral(u, t, 0, 1) for one over time"
        )
    return reduce(mul, factors)


def usual_nodes(dimensions: int) -> int:
    """Return how many nodes there are along each of some coordinates, where none are asked for."""
    return _COUNTS.get(dimensions, int(_MOST ** (1 / max(dimensions, 1))))


def _inside(space: Shape, nodes: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes inside a shape and weights, which sum up to its measure."""
    d = len(space.coordinates)
    if d in BY_LINES and np.isnan(space.from_unit(probes(_LOOKS, d))).any():
        return by_lines(space, nodes or usual_nodes(d))
    points, weights = _placed(d, nodes, space.from_unit)
    return points, weights * space.measure


def _placed(dimensions: int, nodes: int | None, place) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights, which sum up to 1, where `place` puts those of the unit cube.

    Gauss-Legendre's where all of the cube has a place, else even points of equal weight.
    """
    each = nodes or usual_nodes(dimensions)
    one, weight = np.polynomial.legendre.leggauss(each)
    grid = np.meshgrid(*[(one + 1) / 2] * dimensions, indexing="ij")
    unit = np.stack([axis.reshape(-1) for axis in grid], axis=1) if grid else np.empty((1, 0))
    weights = reduce(np.multiply.outer, [weight / 2] * dimensions, np.ones(())).reshape(-1)
    rows = place(unit)
    if not np.isnan(rows).any():
        return rows, weights
    rows = place(probes(len(unit), dimensions))
    rows = rows[~np.isnan(rows).any(axis=1)]
    return rows, np.full(len(rows), 1 / len(rows))
