"""What the solvers with a dense inverse Hessian share: all but the rule by which it learns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from pinn.objective import Layout, OnDevice
from pinn.optimizers.quasi_newton.base import Curvature, QuasiNewton
from pinn.optimizers.quasi_newton.full_inverse_hessian import FullInverseHessian
from pinn.optimizers.quasi_newton.inverse_hessian import PLAIN, InverseHessian, Mixture, Rule
from pinn.optimizers.quasi_newton.packed_inverse_hessian import PackedInverseHessian
from pinn.optimizers.quasi_newton.vectors import inner
from pinn.optimizers.solver import LeastSquares
from pinn.schema import Count, NonNegative, Positive, declared

# A packed triangle beyond this also makes each step and each checkpoint slow. A device holds all of
# the matrix, twice as much; with new points, for a moment, the one before it and a factor as well.
_MOST_GIB = 2


@declared
class DenseQuasiNewton(QuasiNewton):
    """Quasi-Newton with a dense inverse Hessian H, a strong Wolfe search, and restarts.

    A solver is a member of the self-scaled Broyden family, by its `mixture`.
    """

    steps: Count = 10_000
    transform: Literal["log", "sqrt", "value"] = "log"
    gradient_tolerance: NonNegative = 0.0
    line_search: Count = 30
    seconds: Positive | None = None
    hold: Count = 100

    @staticmethod
    @abstractmethod
    def mixture(b: float, h: float, size: int) -> Mixture:
        """Return the member at a pair: b = s'Bs / y's and h = y'Hy / y's, for B = inverse(H).

        Both are positive and finite. What is no positive tau with a finite phi stands for BFGS.
        """

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the inverse Hessian would take too much memory."""
        gib, most, where = _packed_bytes(function.size) / 2**30, _MOST_GIB, ""
        if function.on_device is not None:
            gib, most = 8 * function.size**2 / 2**30, 2 * _MOST_GIB
            where = f" on {function.on_device.device}"
        if gib > most:
            raise ValueError(
                f"{self.name}: its inverse Hessian of {function.size} trainable numbers takes "
                f"{gib:.1f} GiB{where}; expected at most {most} GiB. Use lbfgs, or a smaller model"
            )
        return []

    def curvature(self, size: int, there: OnDevice | None) -> Curvature:
        return _Dense(size, self.mixture, there)

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of the triangle of H and of -H g; a device holds both triangles."""
        return _packed_bytes(layout.size) + 8 * layout.size


def _packed_bytes(size: int) -> int:
    return 8 * size * (size + 1) // 2


class _Dense(Curvature):
    """All of H, by a rule of the Broyden family."""

    names = ("packed", "scale")

    def __init__(self, size: int, rule: Rule, there: OnDevice | None) -> None:
        self._matrix: InverseHessian = (
            PackedInverseHessian(size) if there is None else FullInverseHessian(size, there)
        )
        self._rule = rule

    @property
    def version(self) -> int:
        return self._matrix.version

    def direction(self, gradient: Any) -> tuple[Any, float]:
        direction = -self._matrix.times(gradient)
        (slope,) = inner((direction, gradient))
        return direction, slope

    def begin(self, s: Any, y: Any) -> bool:
        ys, yy = inner((y, s), (y, y))
        if not (ys > 0 and math.isfinite(ys / yy)):
            return False
        self._matrix.set_identity(ys / yy)
        return self._matrix.update(s, y, math.nan, lambda b, h, size: PLAIN)

    def learn(self, s: Any, y: Any, sbs: float) -> None:
        self._matrix.update(s, y, sbs, self._rule)

    def step(self, s: Any, y: Any, sbs: float, direction: Any, gradient: Any) -> Any | None:
        return self._matrix.step(s, y, sbs, self._rule, direction, gradient)

    def is_positive_definite(self) -> bool:
        return self._matrix.is_positive_definite()

    def array(self, name: str) -> np.ndarray:
        return np.array(getattr(self._matrix, name))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._matrix.set_packed(arrays["packed"], float(arrays["scale"]))

    def copy(self, other: Curvature) -> bool:
        return isinstance(other, _Dense) and self._matrix.copy(other._matrix)
