"""Where errors are measured: an even grid of a domain, closer in layers."""

from __future__ import annotations

import numpy as np

from pinn.geometry import Family, Shape, apart
from pinn.sampling import NO_LAYERS, Layers, Points, stream, uniform

# Points of the test grid, about: 257 x 101 in space and time, 161 x 161 in space.
_TEST_POINTS = 26_000
_MOST_GRID_COORDINATES = 4
_LEAST_GRID_SHARE = 0.01
# Values of a family, by how many families there are; of more they are random.
_MEMBERS = (5, 3, 2)
_MOST_GRID_FAMILIES = len(_MEMBERS)


def test_points(domain: Shape, layers: Layers = NO_LAYERS) -> np.ndarray:
    """Return the test points of a domain, (n, d), before any are left out.

    layers: those in which they lie closer, as the points of training do.
    """
    return layers.spread(Points(_even_points(domain)), domain.coordinates, ()).coordinates


def _even_points(domain: Shape) -> np.ndarray:
    plain, families = apart(domain)
    if not families:
        return _places(domain, 1)
    members = _members(families)
    points = _places(plain, len(members))
    columns = {
        **dict(zip(plain.coordinates, np.repeat(points, len(members), axis=0).T, strict=True)),
        **{f.name: np.tile(m, len(points)) for f, m in zip(families, members.T, strict=True)},
    }
    return np.stack([columns[name] for name in domain.coordinates], axis=1)


def _members(families: tuple[Family, ...]) -> np.ndarray:
    """Return a few values of the families, (m, families): a grid with the bounds in it, or not."""
    count = len(families)
    if count <= _MOST_GRID_FAMILIES:
        axis = np.linspace(0, 1, _MEMBERS[count - 1])
        unit = np.stack(np.meshgrid(*[axis] * count, indexing="ij"), axis=-1).reshape(-1, count)
    else:
        unit = uniform(_MEMBERS[0] ** 2, count, stream(0, "test families"))
    return np.stack([f.from_unit(u) for f, u in zip(families, unit.T, strict=True)], axis=1)


def _places(domain: Shape, times: int) -> np.ndarray:
    """Return the test points of a domain without families, each of which is used some times."""
    bounds, wanted = domain.bounds, _TEST_POINTS // times
    d = len(bounds)
    box = float(np.prod([high - low for low, high in bounds.values()]))
    share = min(domain.measure / box, 1.0)
    if d > _MOST_GRID_COORDINATES or share < _LEAST_GRID_SHARE:
        # A fixed seed of its own: every run of a problem is judged on the same points.
        return domain.sample_interior(wanted, uniform, stream(0, "test"))
    if d == 1:
        counts = {name: 1001 for name in bounds}
    elif d == 2 and domain.time is not None:
        thinner = times**0.5
        counts = {n: int((101 if n == domain.time else 257) / thinner) for n in bounds}
    else:
        # Of a thin shape the box's grid is finer, so that about as many points lie inside.
        counts = {name: int((wanted / share) ** (1 / d)) for name in bounds}
    axes = [np.linspace(low, high, counts[name]) for name, (low, high) in bounds.items()]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    return points[domain.contains(points)]
