"""What linear least squares asks of the device that a Jacobian lies on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Damped(ABC):
    """The minimisers p of |J p + b|^2 + |d p|^2 for one d and several b, of shape (N,).

    step: that of b = r. promised: |r|^2 - |J p + r|^2 for it.
    """

    step: np.ndarray
    promised: float

    @abstractmethod
    def minimiser(self, b: np.ndarray) -> np.ndarray:
        """Return p, (P,), for another b."""


class Reduced(ABC):
    """The rows r (N,) and their Jacobian J (N, P) at one theta, for min |J p + r|^2 + |d p|^2.

    gradient: 2 J' r, (P,).
    """

    gradient: np.ndarray

    @abstractmethod
    def damped(self, damping: float, scale: np.ndarray) -> Damped:
        """Return the minimisers with d^2 = damping * scale^2, damping and scale > 0.

        They come from a triangle that orthogonal transformations of [J; d] give, never from J' J,
        whose condition is the square.
        """

    @abstractmethod
    def again(self, b: np.ndarray) -> Reduced:
        """Return it for other rows, (N,), with the same Jacobian, where that was to be kept."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest singular value of J, to a few per cent."""


class Square(ABC):
    """J'J or J J', of which the Cholesky factors for one diagonal after the other are asked.

    diagonal: its own, (k,), on the host.
    """

    diagonal: np.ndarray

    @abstractmethod
    def factor(self, added: np.ndarray | float) -> None:
        """Take the factor with so much more on the diagonal, > 0, in place of the one before.

        Raises LinAlgError of numpy where there is none.
        """

    @abstractmethod
    def solve(self, b: Any) -> Any:
        """Return the solution for a right-hand side (k,), by the factor; both on the device."""


class Algebra(ABC):
    """Products and factors of matrices that lie on one device; vectors on the host are told so.

    What one of these methods gives may be spoilt by the next call of the same.
    """

    @abstractmethod
    def inner(self, jacobian: Any) -> Square:
        """Return J'J."""

    @abstractmethod
    def outer(self, jacobian: Any) -> Square:
        """Return J J'."""

    @abstractmethod
    def norms(self, jacobian: Any) -> np.ndarray:
        """Return the norms of the columns, (P,), on the host."""

    @abstractmethod
    def divided(self, jacobian: Any, scale: np.ndarray) -> Any:
        """Return J with its columns divided by scale, (P,), of the host."""

    @abstractmethod
    def reduced(self, rows: Any, jacobian: Any) -> Reduced:
        """Return the Jacobian reduced to a triangle."""
