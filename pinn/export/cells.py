"""The part of a grid that lies in a shape, as cells that end at its rim."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

# Halvings of an edge of the grid, in search of the rim.
_HALVINGS = 30
# A share of a cell of the grid below which a piece of one is nothing.
_NOTHING = 1e-9

# The corners of a cell of the grid, as steps along the axes, in the order that VTK has.
_CORNERS: dict[int, list[tuple[int, ...]]] = {
    1: [(0,), (1,)],
    2: [(0, 0), (1, 0), (1, 1), (0, 1)],
    3: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}

# What is left of a simplex, by how many corners it and its inside have, as simplices: a corner
# inside by its number, and the place where the edge from a corner inside to one outside leaves. The
# corners have to be in the order of their numbers in the grid: then neighbours agree on how the
# faces between them are cut.
_LEFT: dict[tuple[int, int], list[list[int | tuple[int, int]]]] = {
    (2, 1): [[0, (0, 1)]],
    (3, 1): [[0, (0, 1), (0, 2)]],
    (3, 2): [[0, 1, (0, 2)], [1, (0, 2), (1, 2)]],
    (4, 1): [[0, (0, 1), (0, 2), (0, 3)]],
    (4, 2): [[0, (0, 2), (0, 3), 1], [(0, 2), (0, 3), 1, (1, 2)], [(0, 3), 1, (1, 2), (1, 3)]],
    (4, 3): [[0, 1, 2, (0, 3)], [1, 2, (0, 3), (1, 3)], [2, (0, 3), (1, 3), (2, 3)]],
}


class Cells(NamedTuple):
    """A mesh.

    points: (n, d). cells: kind ("line", "triangle", "tetra", "quad", "hexahedron") -> numbers of
    points, (m, corners).
    """

    points: np.ndarray
    cells: Mapping[str, np.ndarray]


_SIMPLICES = {1: "line", 2: "triangle", 3: "tetra"}
_WHOLE = {1: "line", 2: "quad", 3: "hexahedron"}


def cells_of_grid(shape: Sequence[int]) -> dict[str, np.ndarray]:
    """Return all cells between the nodes of a grid, which count with the last axis fastest."""
    return {_WHOLE[len(shape)]: _grid_cells(shape)}


def cells_inside(
    axes: Sequence[np.ndarray], contains: Callable[[np.ndarray], np.ndarray]
) -> Cells:
    """Return the part of a grid that lies in a shape, in one to three coordinates.

    axes: increasing, (n_1,), ... contains: points (n, d) -> (n,) bool. Cells of the grid with all
    corners inside stay whole. Others with a corner inside are cut into simplices, and these where
    their edges leave the shape, so that the mesh ends at its rim: a corner of the shape between
    nodes is cut off, and what is smaller than a cell is not seen. Marching simplices; for the cut
    of the cells, Kuhn's triangulation: see Doi and Koide, IEICE Trans. E74 (1991) 214.
    """
    d = len(axes)
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    inside = contains(nodes)
    cells = _grid_cells([len(axis) for axis in axes])
    count = inside[cells].sum(axis=1)
    whole = cells[count == cells.shape[1]]
    simplices = np.sort(_simplices(cells[(count > 0) & (count < cells.shape[1])], d), axis=1)
    cut = _Cut(nodes, inside, contains)
    pieces = cut.left_of(simplices)
    points = np.concatenate([nodes, cut.points])
    size = np.prod([np.ptp(axis) / (len(axis) - 1) for axis in axes])
    pieces = _turned(points, pieces, _NOTHING * float(size))
    used, numbers = np.unique(np.concatenate([whole.ravel(), pieces.ravel()]), return_inverse=True)
    whole_numbers = numbers[: whole.size].reshape(whole.shape)
    piece_numbers = numbers[whole.size :].reshape(pieces.shape)
    found = {_WHOLE[d]: whole_numbers}
    kind = _SIMPLICES[d]
    found[kind] = np.concatenate([found[kind], piece_numbers]) if d == 1 else piece_numbers
    return Cells(points[used], {name: one for name, one in found.items() if len(one)})


def cells_of_corners(corners: np.ndarray) -> Cells:
    """Return a mesh of simplices that are given by their corners, (m, d + 1, d)."""
    d = corners.shape[2]
    points, numbers = np.unique(corners.reshape(-1, d), axis=0, return_inverse=True)
    simplices = numbers.reshape(-1, d + 1)
    return Cells(points, {_SIMPLICES[d]: _turned(points, simplices, 0.0)})


def _grid_cells(shape: Sequence[int]) -> np.ndarray:
    """Return the corners of the cells of a grid, (m, 2^d), as numbers of nodes."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    corners = [
        numbers[tuple(slice(step, n - 1 + step) for step, n in zip(steps, shape, strict=True))]
        for steps in _CORNERS[len(shape)]
    ]
    return np.stack([one.ravel() for one in corners], axis=1)


def _simplices(cells: np.ndarray, d: int) -> np.ndarray:
    """Return Kuhn's simplices of cells: from the first corner along the axes in every order."""
    place = {steps: k for k, steps in enumerate(_CORNERS[d])}
    found = []
    for order in itertools.permutations(range(d)):
        steps = [tuple(int(axis in order[:k]) for axis in range(d)) for k in range(d + 1)]
        found.append(cells[:, [place[one] for one in steps]])
    return np.concatenate(found)


class _Cut:
    """Cuts simplices where they leave a shape; `points` are the places, which follow the nodes."""

    def __init__(
        self,
        nodes: np.ndarray,
        inside: np.ndarray,
        contains: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        self._nodes, self._inside, self._contains = nodes, inside, contains
        self.points = np.empty((0, nodes.shape[1]))

    def left_of(self, simplices: np.ndarray) -> np.ndarray:
        """Return what is inside of simplices whose corners are in order, as simplices."""
        corners = simplices.shape[1]
        flags = self._inside[simplices]
        # Those inside first, both kinds in the order that they had.
        simplices = np.take_along_axis(simplices, np.argsort(~flags, axis=1, kind="stable"), 1)
        count = flags.sum(axis=1)
        edges: list[np.ndarray] = []
        templates = [(k, one) for k in range(1, corners) for one in _LEFT[corners, k]]
        for k, template in templates:
            own = simplices[count == k]
            edges += [own[:, list(c)] for c in template if isinstance(c, tuple)]
        pairs = np.concatenate(edges) if edges else np.empty((0, 2), dtype=int)
        unique, numbers = np.unique(pairs, axis=0, return_inverse=True)
        self.points = self._rim(unique)
        places = iter(np.split(numbers.ravel(), np.cumsum([len(one) for one in edges])[:-1]))
        found = [simplices[count == corners]]
        for k, template in templates:
            own = simplices[count == k]
            found.append(np.stack([
                len(self._nodes) + next(places) if isinstance(c, tuple) else own[:, c]
                for c in template
            ], axis=1))  # fmt: skip
        return np.concatenate(found)

    def _rim(self, edges: np.ndarray) -> np.ndarray:
        """Return where edges, from a node inside to one outside, leave the shape: (m, d)."""
        inner, outer = self._nodes[edges[:, 0]], self._nodes[edges[:, 1]]
        for _ in range(_HALVINGS if len(edges) else 0):
            middle = (inner + outer) / 2
            within = self._contains(middle)[:, None]
            inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
        return inner


def _turned(points: np.ndarray, simplices: np.ndarray, least: float) -> np.ndarray:
    """Return simplices that are larger than `least`, with their corners in the positive order."""
    edges = points[simplices[:, 1:]] - points[simplices[:, :1]]
    volumes = np.linalg.det(edges)
    kept = np.abs(volumes) > least
    simplices = simplices[kept].copy()
    wrong = volumes[kept] < 0
    simplices[wrong] = simplices[wrong][:, [*range(simplices.shape[1] - 2), -1, -2]]
    return simplices
