"""Waves in a square of two media, by cosine series (Galerkin's method)."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.fft import dctn
from scipy.linalg import eigh

from experiments.case import Reference, disagreement
from experiments.peers.measurements import media

_CELLS = 2048
_TIMES, _SHOWN = np.linspace(0, 5, 41), np.linspace(-1, 1, 33)


@cache
def two_media() -> Reference:
    """u_tt/c = lap u in [-1, 1]^2, c = 12 where a field is positive, else 1; no slope at the edges.

    The cosines have no slope there, and the mean of u_tt/c over them is exact to the grid on which
    c is seen; in time nothing is approximated.
    """
    coarse, fine = ({"u": _table(modes).ravel()} for modes in (36, 48))
    t, x, y = np.meshgrid(_TIMES, _SHOWN, _SHOWN, indexing="ij")
    points = {"x": x.ravel(), "y": y.ravel(), "t": t.ravel()}
    return Reference(points, fine, disagreement(coarse, fine), "cosine series, exact in time")


def fast(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where the fast medium is."""
    along_x, along_y = (_cosines(points, 3) for points in (x, y))
    return np.einsum("...i,ij,...j->...", along_x, media(), along_y) > 0


def _cosines(x: np.ndarray, modes: int) -> np.ndarray:
    return np.cos(np.pi / 2 * (x[..., None] + 1) * np.arange(modes))


def _table(modes: int) -> np.ndarray:
    """Return u at all times and places from so many cosines along each side."""
    x = -1 + 2 * (np.arange(_CELLS) + 0.5) / _CELLS
    grid = np.meshgrid(x, x, indexing="ij", sparse=True)
    slowness = np.where(fast(*np.broadcast_arrays(*grid)), 1 / 12, 1.0)
    # Means over the square of a function times cos(p pi X) cos(q pi Y), X and Y in [0, 1].
    of_slowness = dctn(slowness)[: 2 * modes, : 2 * modes] / (4 * _CELLS**2)
    start = dctn(np.exp(-((grid[0] + 0.5) ** 2 + grid[1] ** 2) / 0.18))[:modes, :modes]
    start /= 4 * _CELLS**2
    # 2 cos(a) cos(b) = cos(a - b) + cos(a + b), along each side.
    k = np.arange(modes)
    pairs = [np.abs(k[:, None] - k), k[:, None] + k]
    mass = sum(
        of_slowness[p[:, None, :, None], q[None, :, None, :]] for p in pairs for q in pairs
    ).reshape(modes**2, modes**2) / 4
    # Scaled so that each cosine has the mean square 1.
    size = np.where(k == 0, 1.0, np.sqrt(2.0))
    size = (size[:, None] * size).ravel()
    mass *= size[:, None] * size
    stiffness = (np.pi / 2) ** 2 * (k[:, None] ** 2 + k**2).ravel()
    # M a'' = -K a; with b = K^(1/2) a singular for the constant, M = V V^T is factored instead.
    squares, shapes = eigh(np.diag(stiffness), mass, overwrite_a=True)
    amplitudes = shapes.T @ (mass @ (start.ravel() * size))
    moving = np.cos(np.sqrt(np.maximum(squares, 0)) * _TIMES[:, None]) * amplitudes
    found = (moving @ shapes.T * size).reshape(-1, modes, modes)
    shown = _cosines(_SHOWN, modes)
    return shown @ found @ shown.T
