"""SSBroyden: self-scaled quasi-Newton steps with a dense inverse Hessian."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Literal

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.inverse_hessian import InverseHessian, Member
from pinn.optimizers.quasi_newton import Curvature, Descent
from pinn.optimizers.solver import LeastSquares, Stage, StageEnd, Step
from pinn.schema import Count, NonNegative, Positive, declared

# An inverse Hessian beyond this also makes each step and each checkpoint slow.
_MOST_GIB = 2


@declared
class SSBroyden(Stage):
    """Quasi-Newton with a dense inverse Hessian H, a strong Wolfe search, and restarts.

    steps: most iterations; one takes one evaluation, now and then a few more. member: the rule for
    H, "ssbroyden", "ssbfgs" or "bfgs". transform: what is minimised, "log" of the loss (which keeps
    its scale the same all the way down), its "sqrt", or its "value"; log and sqrt need a loss that
    is not negative, as sums of squares are. gradient_tolerance: the stage ends when no component of
    the loss's gradient is larger. line_search: most evaluations of one search. seconds: limit of
    the stage's wall time, None for none. hold: fewest steps between two changes of an adaptive
    weighting's weights.

    H takes size^2 / 2 float64 numbers and two passes over them a step: meant for up to a few
    thousand parameters. At the start, and after a line search that failed, the step goes along the
    gradient and the next H is plain BFGS from (y's / y'y) times the identity; a search that fails
    along the gradient ends the stage. New points and weights keep H while it is positive definite.
    Raises ValueError for a number outside its range or an unknown member or transform.

    Urban, Stefanou and Pons, J. Comput. Phys. 523 (2025) 113656 (arXiv 2405.04230); Kiyani et al.,
    Comput. Methods Appl. Mech. Eng. 446 (2025) (arXiv 2501.16371).
    """

    name = "ssbroyden"

    steps: Count = 10_000
    member: Literal["ssbroyden", "ssbfgs", "bfgs"] = "ssbroyden"
    transform: Literal["log", "sqrt", "value"] = "log"
    gradient_tolerance: NonNegative = 0.0
    line_search: Count = 30
    seconds: Positive | None = None
    hold: Count = 100

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the inverse Hessian would take too much memory."""
        size = function.size
        gib = size * size / 2 * 8 / 2**30
        if gib > _MOST_GIB:
            raise ValueError(
                f"ssbroyden: its inverse Hessian of {size} trainable numbers takes {gib:.1f} GiB; "
                f"expected at most {_MOST_GIB} GiB. Use lbfgs, or a smaller model"
            )
        return []

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        return self._descent().run(function, theta, _Dense(theta.size, self.member), state)

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of the packed triangle of H."""
        return 8 * layout.size * (layout.size + 1) // 2

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state that has forgotten H, with a first step a tenth of the try before."""
        return self._descent().slower(number, tries)

    def _descent(self) -> Descent:
        return Descent(
            self.name, self.steps, self.transform, self.gradient_tolerance, self.line_search
        )


class _Dense(Curvature):
    """All of H, by a rule of the Broyden family."""

    names = ("packed", "scale")

    def __init__(self, size: int, member: Member) -> None:
        self._matrix = InverseHessian(size)
        self._member = member

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
        return self._matrix.update(s, y, math.nan, "bfgs")

    def learn(self, s: np.ndarray, y: np.ndarray, sbs: float) -> None:
        self._matrix.update(s, y, sbs, self._member)

    def is_positive_definite(self) -> bool:
        return self._matrix.is_positive_definite()

    def array(self, name: str) -> np.ndarray:
        return np.array(getattr(self._matrix, name))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._matrix.set_packed(arrays["packed"], float(arrays["scale"]))
