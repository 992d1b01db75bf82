"""The trust-region subproblem of linear least squares, by singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd.devices import CPU, device_of, linalg_raises, namespace_of, put, put_together

_EPS = np.finfo(np.float64).eps
_MOST_ITERATIONS = 80


class TrustRegion:
    """min |J p + r|^2 subject to |p| <= radius, for any radius, from one decomposition of J.

    J: (rows, size), r: (rows,), of numpy or of a device, where steps are then made. With J = U
    diag(s) V^T and g = s U^T r the minimiser is p = -V g / (s^2 + shift), the shift being 0 where
    that p is inside, and otherwise the root of the secular equation |p| = radius. Singular values
    that are rounding, below max(rows, size) eps times the largest, are left out. Conn, Gould and
    Toint, Trust-Region Methods (2000), chapter 7.
    """

    def __init__(self, jacobian: Any, rows: Any) -> None:
        decomposed = _on_host if isinstance(jacobian, np.ndarray) else _on_device
        values, projected, self._right = decomposed(jacobian, rows)
        self._squares = values**2
        self._slopes = values * projected

    def shift(self, radius: float) -> float:
        """Return the shift of the minimiser in a radius > 0.

        By Newton's method on 1/|p|, which is nearly linear in the shift: from 0 it rises to the
        root without passing it (More and Sorensen 1983).
        """
        shift = 0.0
        for _ in range(_MOST_ITERATIONS):
            denominators = self._squares + shift
            parts = self._slopes / denominators
            length = float(np.linalg.norm(parts))
            if not length > radius * (1 + 4 * _EPS):
                break
            curvature = float(np.sum(parts**2 / denominators))
            further = shift + (length / radius - 1) * length**2 / curvature
            if not further > shift:
                break
            shift = further
        return shift

    def step(self, shift: float) -> Any:
        """Return the minimiser of a shift, (size,), where J is."""
        parts = -(self._slopes / (self._squares + shift))
        return put(parts, device_of(self._right)) @ self._right

    def predicted(self, shift: float) -> float:
        """Return by how much |J p + r|^2 falls from p = 0 to that minimiser."""
        denominators = self._squares + shift
        return float(
            np.sum((self._slopes / denominators) ** 2 * (self._squares + 2 * shift))
        )


def _on_host(jacobian: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the singular values that are seen, U^T r, and V^T."""
    from scipy.linalg import svd

    left, values, right = svd(jacobian, full_matrices=False, check_finite=False)
    seen = _seen(jacobian, values)
    return values[seen], rows @ left[:, seen], right[seen]


def _on_device(jacobian: Any, rows: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the same; V^T stays there."""
    xp = namespace_of(jacobian)
    with linalg_raises(xp):
        left, values, right = xp.linalg.svd(jacobian, full_matrices=False)
    values, projected = put_together([values, rows @ left], CPU)
    seen = _seen(jacobian, values)  # they fall, so it is the first ones
    return values[seen], projected[seen], right[: int(np.count_nonzero(seen))]


def _seen(jacobian: Any, values: np.ndarray) -> np.ndarray:
    return values > max(jacobian.shape) * _EPS * values[0]
