"""The self-scaled Broyden family: one symmetric rank-2 change of a dense inverse Hessian."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

# A pair of less curvature than this share of |s| |y| is rounding, and is left out.
_LEAST_CURVATURE = np.finfo(np.float64).eps
# The scale is multiplied into the matrix before it leaves this range.
_SCALE_RANGE = (1e-50, 1e50)


class Mixture(NamedTuple):
    """A member of the family at one pair: the scaling tau and the place phi (1 is BFGS)."""

    tau: float
    phi: float


PLAIN = Mixture(1.0, 1.0)
"""BFGS."""

Rule = Callable[[float, float, int], Mixture]
"""b = s'Bs / y's, h = y'Hy / y's and the size, for B = inverse(H) -> the member at this pair."""


def mixture(rule: Rule, b: float, h: float, size: int) -> Mixture:
    """Return what a rule says, or BFGS where it, or what it is to go by, is no positive number."""
    if not (b > 0 and h > 0 and math.isfinite(b) and math.isfinite(h)):
        return PLAIN
    found = rule(b, h, size)
    return found if found.tau > 0 and math.isfinite(found.tau + found.phi) else PLAIN


class InverseHessian:
    """A symmetric positive definite matrix H that learns from pairs of steps and gradient changes.

    H = scale * M, with the lower triangle of M packed by columns: half the memory, symmetric by
    construction, and dividing H by tau costs one number. A pair costs one product and one rank-2
    change, both BLAS calls on the triangle in place. `version` counts the changes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.scale = 1.0
        self.packed = np.zeros(size * (size + 1) // 2)
        self.version = 0
        self.set_identity(1.0)

    def set_identity(self, scale: float) -> None:
        """Become scale * identity."""
        self.packed.fill(0.0)
        # Column j starts with its diagonal, and has size - j numbers.
        columns = np.arange(self.size)
        self.packed[columns * self.size - columns * (columns - 1) // 2] = 1.0
        self.scale = float(scale)
        self.version += 1

    def set_packed(self, packed: np.ndarray, scale: float) -> None:
        """Take a copy of a packed triangle; ValueError for one of another size."""
        if packed.shape != self.packed.shape:
            raise ValueError(
                f"inverse Hessian: expected {self.packed.size} numbers, the packed triangle for "
                f"{self.size} parameters, got shape {packed.shape}"
            )
        self.packed[...] = packed
        self.scale = float(scale)
        self.version += 1

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return H times a vector, (size,)."""
        from scipy.linalg.blas import dspmv

        return dspmv(self.size, self.scale, self.packed, vector, lower=1)

    def is_positive_definite(self) -> bool:
        """Whether a Cholesky factorisation of a copy succeeds."""
        from scipy.linalg.lapack import dpptrf

        _, info = dpptrf(self.size, self.packed, lower=1)
        return info == 0 and self.scale > 0

    def update(self, s: np.ndarray, y: np.ndarray, sbs: float, rule: Rule) -> bool:
        """Learn that the step s, (size,), changed the gradient by y; return whether it did.

        rule: the member of the family. sbs is s' inverse(H) s: for s = -alpha H g it is -alpha s'g,
        without an inverse. With v = s / y's - Hy / y'Hy the new matrix is

            (H - Hy (Hy)' / y'Hy + phi y'Hy v v') / tau + s s' / y's,

        the old one over tau and a quadratic form in s and Hy. A pair whose curvature y's is not
        clearly positive, or whose change would not be finite, is skipped.
        """
        ys = float(y @ s)
        if not ys > _LEAST_CURVATURE * math.sqrt(float(s @ s)) * math.sqrt(float(y @ y)):
            return False
        hy = self.times(y)
        q = float(y @ hy)
        if not (q > 0 and math.isfinite(q)):
            return False
        tau, phi = mixture(rule, sbs / ys, q / ys, self.size)
        if not min(tau * ys, tau * q) > 0:  # underflow
            return False
        ss = phi * (q / ys) / (tau * ys) + 1 / ys
        sy = -phi / (tau * ys)
        yy = (phi - 1) / (tau * q)
        if not (math.isfinite(ss) and math.isfinite(sy) and math.isfinite(yy)):
            return False
        self._add(s, hy, ss, sy, yy, tau)
        return True

    def _add(
        self, s: np.ndarray, hy: np.ndarray, ss: float, sy: float, yy: float, tau: float
    ) -> None:
        """H <- H / tau + ss s s' + sy (s hy' + hy s') + yy hy hy'."""
        from scipy.linalg.blas import dspr, dspr2

        self.version += 1
        n, scale = self.size, self.scale / tau
        discriminant = sy * sy - ss * yy
        if discriminant >= 0:
            # The form is a product of two real factors, so one pass over the triangle is enough.
            w = sy + math.copysign(math.sqrt(discriminant), sy)
            self._changed(
                dspr2(
                    n,
                    0.5 / scale,
                    ss * s + w * hy,
                    s + (yy / w) * hy,
                    self.packed,
                    lower=1,
                    overwrite_ap=1,
                )
            )
        else:
            left = hy + (sy / yy) * s
            self._changed(dspr(n, yy / scale, left, self.packed, lower=1, overwrite_ap=1))
            rest = (ss - sy * sy / yy) / scale
            self._changed(dspr(n, rest, s, self.packed, lower=1, overwrite_ap=1))
        self.scale = scale
        if not _SCALE_RANGE[0] < scale < _SCALE_RANGE[1]:
            self.packed *= scale
            self.scale = 1.0

    def _changed(self, packed: np.ndarray) -> None:
        # The same array where scipy worked in place, as it does for contiguous float64.
        self.packed = packed
