"""The rim of a domain in two coordinates, finer than the grid that a field is known on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.path import Path

Contains = Callable[[np.ndarray], np.ndarray]
"""Which points, (n, 2), lie in a domain, bool (n,)."""

# The rim is looked for on a grid so fine in each direction, a pixel or two of a figure,
_CELLS = 512
# and its points are brought to it by so many halvings of a cell.
_HALVINGS = 24


def rim_of(
    first: np.ndarray, second: np.ndarray, contains: Contains, cells: int = _CELLS
) -> Path:
    """Return the rim of a domain as closed curves, holes turning the other way.

    first, second: increasing grids that span a box around the domain. cells: of the grid that it is
    looked for on, in each direction. The points of the curves lie
    on the rim itself to about 1e-10 of the box, whatever the shape: where two neighbours of a fine
    grid lie on different sides, the place in between is halved until it is found. Corners between
    the lines of this grid are cut off by less than one of its cells.
    """
    grids = [_padded(np.linspace(grid[0], grid[-1], cells + 1)) for grid in (first, second)]
    shape = tuple(grid.size for grid in grids)
    mesh = np.stack(np.meshgrid(*grids, indexing="ij"), -1).reshape(-1, 2)
    inside = np.asarray(contains(mesh)).reshape(shape)

    def to_rim(places: np.ndarray) -> np.ndarray:
        return _found(places, grids, inside, contains)

    return _curves(inside, to_rim)


def rim_of_mask(first: np.ndarray, second: np.ndarray, inside: np.ndarray) -> Path:
    """Return the rim of a bool mask on a grid, (n1, n2): halfway between inside and outside."""
    grids = [_padded(grid) for grid in (first, second)]

    def to_points(places: np.ndarray) -> np.ndarray:
        indices = [np.arange(grid.size) for grid in grids]
        columns = [np.interp(p, i, g) for p, i, g in zip(places.T, indices, grids, strict=True)]
        points = np.stack(columns, -1)
        return np.clip(points, [first[0], second[0]], [first[-1], second[-1]])

    return _curves(np.pad(inside, 1), to_points)


def filled_across(values: np.ndarray, inside: np.ndarray, rings: int = 2) -> np.ndarray:
    """Return values, (n1, n2), carried over the rim: the cells that it cuts need a colour.

    Each ring of points around those inside takes the mean of its neighbours so far.
    """
    values, known = np.where(inside, values, np.nan), inside.copy()
    for _ in range(rings):
        total, count = np.zeros(values.shape), np.zeros(values.shape)
        good = known & np.isfinite(values)
        around = [np.pad(array, 1) for array in (np.where(good, values, 0.0), good)]
        for i in range(3):
            for j in range(3):
                window = (slice(i, i + values.shape[0]), slice(j, j + values.shape[1]))
                total += around[0][window]
                count += around[1][window]
        new = ~known & (count > 0)
        values[new] = total[new] / count[new]
        known |= new
    return values


def _padded(grid: np.ndarray) -> np.ndarray:
    """Return a grid with a line beyond each end, where nothing is inside."""
    return np.concatenate([[2 * grid[0] - grid[1]], grid, [2 * grid[-1] - grid[-2]]])


def _curves(inside: np.ndarray, to_points: Callable[[np.ndarray], np.ndarray]) -> Path:
    """Return the curves between true and false; their points are given as places in the grid."""
    from contourpy import FillType, contour_generator
    from matplotlib.path import Path

    levels = contour_generator(
        z=inside.T.astype(float), fill_type=FillType.OuterCode, corner_mask=False
    )
    areas, codes = levels.filled(0.5, 2.0)
    if not areas:
        return Path(np.empty((0, 2)))
    return Path(to_points(np.concatenate(areas)), np.concatenate(codes))


def _found(
    places: np.ndarray, grids: list[np.ndarray], inside: np.ndarray, contains: Contains
) -> np.ndarray:
    """Return the points of the rim on the edges of the grid in whose middles `places` lie."""
    low, high = np.floor(places).astype(int), np.ceil(places).astype(int)
    ends = [np.stack([g[i] for g, i in zip(grids, end.T, strict=True)], -1) for end in (low, high)]
    first_inside = inside[tuple(low.T)][:, None]
    near, far = np.where(first_inside, *ends), np.where(first_inside, *ends[::-1])
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        within = np.asarray(contains(middle))[:, None]
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return near
