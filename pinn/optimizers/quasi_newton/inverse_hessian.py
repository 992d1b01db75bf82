"""The self-scaled Broyden family: one symmetric rank-2 change of a dense inverse Hessian."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pinn.optimizers.quasi_newton.vectors import inner

# A pair of less curvature than this share of |s| |y| is rounding, and is left out.
_LEAST_CURVATURE = np.finfo(np.float64).eps


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


class InverseHessian(ABC):
    """A symmetric positive definite matrix H that learns from pairs of steps and gradient changes.

    Vectors (size,) and H lie on the host, or both on a device. A pair costs one product and one
    rank-2 change. `version` counts the changes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.version = 0

    @abstractmethod
    def set_identity(self, scale: float) -> None:
        """Become scale * identity."""

    @abstractmethod
    def set_packed(self, packed: np.ndarray, scale: float) -> None:
        """Become scale times a matrix of the host: its lower triangle packed by columns.

        Raises ValueError for one of another size.
        """

    @property
    @abstractmethod
    def packed(self) -> np.ndarray:
        """The lower triangle packed by columns, on the host; H is `scale` times it."""

    @property
    @abstractmethod
    def scale(self) -> float: ...

    @abstractmethod
    def copy(self, other: InverseHessian) -> bool:
        """Become a copy of another that lies on the same device; False for any other."""

    @abstractmethod
    def times(self, vector: Any) -> Any:
        """Return H times a vector, (size,)."""

    @abstractmethod
    def is_positive_definite(self) -> bool:
        """Whether a Cholesky factorisation of a copy succeeds."""

    @abstractmethod
    def add(self, s: Any, hy: Any, ss: float, sy: float, yy: float, tau: float) -> None:
        """H <- H / tau + ss s s' + sy (s hy' + hy s') + yy hy hy'."""

    def update(self, s: Any, y: Any, sbs: float, rule: Rule) -> bool:
        """Learn that the step s, (size,), changed the gradient by y; return whether it did.

        rule: the member of the family. sbs is s' inverse(H) s: for s = -alpha H g it is -alpha s'g,
        without an inverse. With v = s / y's - Hy / y'Hy the new matrix is

            (H - Hy (Hy)' / y'Hy + phi y'Hy v v') / tau + s s' / y's,

        the old one over tau and a quadratic form in s and Hy. A pair whose curvature y's is not
        clearly positive, or whose change would not be finite, is skipped. A device is waited for
        once.
        """
        hy = self.times(y)
        ys, square_s, square_y, q = inner((y, s), (s, s), (y, y), (y, hy))
        if not ys > _LEAST_CURVATURE * math.sqrt(square_s) * math.sqrt(square_y):
            return False
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
        self.add(s, hy, ss, sy, yy, tau)
        self.version += 1
        return True

    def _check(self, packed: np.ndarray) -> None:
        """Raise ValueError for a packed triangle of another size."""
        expected = self.size * (self.size + 1) // 2
        if packed.shape != (expected,):
            raise ValueError(
                f"inverse Hessian: expected {expected} numbers, the packed triangle for "
                f"{self.size} parameters, got shape {packed.shape}"
            )
