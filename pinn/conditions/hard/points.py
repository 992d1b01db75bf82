"""Points at which hard conditions are tried before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

import autograd as T
from pinn.geometry import Shape

_GRID = 65
_SCATTERED = 256


def tried(domain: Shape, fixed: Mapping[str, float]) -> np.ndarray:
    """Return points (n, d) of the closed domain, where some coordinates are fixed; perhaps none.

    With one coordinate free they are an even grid with both ends; with more, the corners and
    scattered points, the same ones each time.
    """
    free = [name for name in domain.coordinates if name not in fixed]
    if len(free) <= 1:
        unit = np.linspace(0, 1, _GRID)[:, None] if free else np.empty((1, 0))
    else:
        corners = np.array(list(product((0.0, 1.0), repeat=min(len(free), 8))))
        # With more than 8 coordinates the corners are those of the first 8.
        corners = np.pad(corners, ((0, 0), (0, len(free) - corners.shape[1])))
        unit = np.concatenate([corners, _scattered(len(free))])
    points = _placed(domain, fixed, unit)
    return points[domain.contains(points)]


def scattered(domain: Shape, fixed: Mapping[str, float]) -> np.ndarray:
    """Return points (n, d) off any corner and grid, where some coordinates are fixed."""
    return _placed(domain, fixed, _scattered(len(domain.coordinates) - len(fixed)))


def _scattered(dimensions: int) -> np.ndarray:
    return np.random.default_rng(0).random((_SCATTERED, dimensions))


def _placed(domain: Shape, fixed: Mapping[str, float], unit: np.ndarray) -> np.ndarray:
    points = np.empty((len(unit), len(domain.coordinates)))
    columns = iter(unit.T)
    for j, (name, (low, high)) in enumerate(domain.bounds.items()):
        if name in fixed:
            points[:, j] = fixed[name]
        else:
            points[:, j] = np.clip(low + (high - low) * next(columns), low, high)
    return points


def columns_of(domain: Shape, points: np.ndarray) -> dict[str, T.Tensor]:
    """Return coordinate -> (n, 1) tensor of float64."""
    return {
        name: T.tensor(points[:, j : j + 1], dtype=T.float64)
        for j, name in enumerate(domain.coordinates)
    }


def described(domain: Shape, point: np.ndarray) -> str:
    """Return where a point is, such as "x = 1, t = 0.5"."""
    pairs = zip(domain.coordinates, point, strict=True)
    return ", ".join(f"{name} = {value:.6g}" for name, value in pairs)
