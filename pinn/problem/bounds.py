"""Smooth maps from unbounded numbers to those between bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import autograd as T
from pinn.expressions import Expression
from pinn.expressions.algebra import ONE, add, apply, divide, negate, number, subtract

_SPARE = 4


@dataclass(frozen=True)
class Bounds:
    """A smooth increasing map from all real numbers into (lower, upper); None: no bound there.

    - no bound: scale * raw
    - lower only: lower + scale * softplus(raw) (upper only: its mirror image)
    - both: lower + (upper - lower) * sigmoid(raw); scale is not used

    Results stay off the bounds by a few units in the last place of the precision, so that rounding
    cannot put one on its bound, where 1/a or log(a - lower) has no value.
    """

    lower: float | None = None
    upper: float | None = None
    scale: float = 1.0

    def value(self, raw: T.Tensor) -> T.Tensor:
        """Return the number that each raw one stands for, in its shape and precision."""
        low, high = self._inner(np.dtype(raw.dtype))
        if low is not None and high is not None:
            return low + (high - low) * T.sigmoid(raw)
        if low is not None:
            return low + self.scale * T.nn.functional.softplus(raw)
        if high is not None:
            return high - self.scale * T.nn.functional.softplus(-raw)
        return self.scale * raw

    def raw(self, value: float) -> float:
        """Return the raw number that stands for a value strictly inside the bounds."""
        if self.lower is not None and self.upper is not None:
            # Not by the share of the way: one of 1 - 1e-17 would round to 1.
            return math.log(value - self.lower) - math.log(self.upper - value)
        if self.lower is not None:
            return _inverse_softplus((value - self.lower) / self.scale)
        if self.upper is not None:
            return -_inverse_softplus((self.upper - value) / self.scale)
        return value / self.scale

    def raw_tree(self, value: Expression) -> Expression:
        """Return the raw number as a tree, of a value as a tree.

        It is nan or infinite where the value is not strictly inside.
        """
        if self.lower is not None and self.upper is not None:
            low = subtract(value, number(self.lower))
            high = subtract(number(self.upper), value)
            return apply("log", divide(low, high))
        scale = number(self.scale)
        if self.lower is not None:
            return _raw_share(divide(subtract(value, number(self.lower)), scale))
        if self.upper is not None:
            return negate(_raw_share(divide(subtract(number(self.upper), value), scale)))
        return divide(value, scale)

    def __str__(self) -> str:
        if self.lower is not None and self.upper is not None:
            return f"between {self.lower:g} and {self.upper:g}"
        if self.lower is not None:
            return f"above {self.lower:g}"
        return "of any size" if self.upper is None else f"below {self.upper:g}"

    def holds(self, value: float) -> bool:
        """Whether a number lies strictly inside."""
        low = -math.inf if self.lower is None else self.lower
        high = math.inf if self.upper is None else self.upper
        return low < value < high

    def _inner(self, dtype: np.dtype) -> tuple[float | None, float | None]:
        info = np.finfo(dtype)
        low, high = (
            None if bound is None
            else bound + sign * _SPARE * (float(info.eps) * abs(bound) + float(info.tiny))
            for bound, sign in ((self.lower, 1), (self.upper, -1))
        )  # fmt: skip
        return low, high


def _raw_share(share: Expression) -> Expression:
    """Return the inverse of softplus as a tree."""
    rest = subtract(ONE, apply("exp", negate(share)))
    return add(share, apply("log", rest))


def _inverse_softplus(value: float) -> float:
    return value + math.log(-math.expm1(-value))
