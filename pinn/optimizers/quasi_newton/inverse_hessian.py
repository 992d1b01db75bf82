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


class Change(NamedTuple):
    """What a pair makes of H: H / tau + ss s s' + sy (s (Hy)' + Hy s') + yy Hy (Hy)'."""

    ss: float
    sy: float
    yy: float
    tau: float


def change(
    rule: Rule, size: int, sbs: float, ys: float, square_s: float, square_y: float, q: float
) -> Change | None:
    """Return the change by a pair of s and y; None for one that is to be skipped.

    sbs: s' inverse(H) s. q: y'Hy. Skipped is a pair whose curvature y's is not clearly positive, or
    whose change would not be finite. With v = s / y's - Hy / q the new matrix is

        (H - Hy (Hy)' / q + phi q v v') / tau + s s' / y's.
    """
    if not ys > _LEAST_CURVATURE * math.sqrt(square_s) * math.sqrt(square_y):
        return None
    if not (q > 0 and math.isfinite(q)):
        return None
    tau, phi = mixture(rule, sbs / ys, q / ys, size)
    if not min(tau * ys, tau * q) > 0:  # underflow
        return None
    ss = phi * (q / ys) / (tau * ys) + 1 / ys
    sy = -phi / (tau * ys)
    yy = (phi - 1) / (tau * q)
    if not (math.isfinite(ss) and math.isfinite(sy) and math.isfinite(yy)):
        return None
    return Change(ss, sy, yy, tau)


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
    def add(self, s: Any, hy: Any, by: Change) -> None:
        """Change H in place; hy: H y."""

    def update(self, s: Any, y: Any, sbs: float, rule: Rule) -> bool:
        """Learn that the step s, (size,), changed the gradient by y; return whether it did.

        rule: the member of the family. sbs is s' inverse(H) s: for s = -alpha H g it is -alpha s'g,
        without an inverse. A device is waited for once.
        """
        hy = self.times(y)
        products = inner((y, s), (s, s), (y, y), (y, hy))
        by = change(rule, self.size, sbs, *products)
        if by is not None:
            self.learned(s, hy, by)
        return by is not None

    def step(
        self, s: Any, y: Any, sbs: float, rule: Rule, direction: Any, gradient: Any
    ) -> Any | None:
        """Learn a pair as `update` does; return -H times the gradient at its end where that is had.

        direction: -H times the gradient at its beginning, by H as it was.
        """
        self.update(s, y, sbs, rule)
        return None

    def learned(self, s: Any, hy: Any, by: Change) -> None:
        """Change by a pair, hy: H y."""
        self.add(s, hy, by)
        self.version += 1

    def _check(self, packed: np.ndarray) -> None:
        """Raise ValueError for a packed triangle of another size."""
        expected = self.size * (self.size + 1) // 2
        if packed.shape != (expected,):
            raise ValueError(
                f"inverse Hessian: expected {expected} numbers, the packed triangle for "
                f"{self.size} parameters, got shape {packed.shape}"
            )
