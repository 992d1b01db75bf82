"""What the solvers with a dense inverse Hessian share: all but the rule by which it learns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Generator, Mapping
from typing import Literal

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.inverse_hessian import PLAIN, InverseHessian, Mixture, Rule
from pinn.optimizers.quasi_newton import Curvature, Descent
from pinn.optimizers.solver import LeastSquares, Stage, StageEnd, Step
from pinn.schema import Count, NonNegative, Positive, declared

# An inverse Hessian beyond this also makes each step and each checkpoint slow.
_MOST_GIB = 2


@declared
class DenseQuasiNewton(Stage):
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
        gib = _packed_bytes(function.size) / 2**30
        if gib > _MOST_GIB:
            raise ValueError(
                f"{self.name}: its inverse Hessian of {function.size} trainable numbers takes "
                f"{gib:.1f} GiB; expected at most {_MOST_GIB} GiB. Use lbfgs, or a smaller model"
            )
        return []

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        return self._descent().run(function, theta, _Dense(theta.size, self.mixture), state)

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of the packed triangle of H."""
        return _packed_bytes(layout.size)

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state that has forgotten H, with a first step a tenth of the try before."""
        return self._descent().slower(number, tries)

    def _descent(self) -> Descent:
        return Descent(
            self.name, self.steps, self.transform, self.gradient_tolerance, self.line_search
        )


def _packed_bytes(size: int) -> int:
    return 8 * size * (size + 1) // 2


class _Dense(Curvature):
    """All of H, by a rule of the Broyden family."""

    names = ("packed", "scale")

    def __init__(self, size: int, rule: Rule) -> None:
        self._matrix = InverseHessian(size)
        self._rule = rule

    @property
    def version(self) -> int:
        return self._matrix.version

    def times(self, vector: np.ndarray) -> np.ndarray:
        return self._matrix.times(vector)

    def begin(self, s: np.ndarray, y: np.ndarray) -> bool:
        ys, yy = float(y @ s), float(y @ y)
        if not (ys > 0 and math.isfinite(ys / yy)):
            return False
        self._matrix.set_identity(ys / yy)
        return self._matrix.update(s, y, math.nan, lambda b, h, size: PLAIN)

    def learn(self, s: np.ndarray, y: np.ndarray, sbs: float) -> None:
        self._matrix.update(s, y, sbs, self._rule)

    def is_positive_definite(self) -> bool:
        return self._matrix.is_positive_definite()

    def array(self, name: str) -> np.ndarray:
        return np.array(getattr(self._matrix, name))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._matrix.set_packed(arrays["packed"], float(arrays["scale"]))
