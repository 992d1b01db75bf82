"""A solver run on a plain function, outside of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pinn.objective import Evaluation, Layout
from pinn.optimizers.solver import Stage, StageEnd, Step

Plain = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""theta (P,) float64 -> loss, gradient (P,)."""

HessianProduct = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""theta (P,), v (P,) -> the loss's Hessian times v, (P,)."""


class _Function:
    """What a plain function has of pinn.optimizers.LeastSquares."""

    on_device = None

    def __init__(self, function: Plain, layout: Layout, hvp: HessianProduct | None) -> None:
        self._function = function
        self._hvp = hvp
        self.layout = layout
        self.size = layout.size

    def value(self, theta: np.ndarray) -> float:
        return self._function(theta)[0]

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        return Evaluation(*self._function(theta), {})

    def hvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        if self._hvp is None:
            raise TypeError(
                "the solver asks for products with the Hessian; give minimize hvp=, a function "
                "of theta and v that returns H v"
            )
        return self._hvp(theta, direction)


def minimize(
    stage: Stage,
    function: Plain,
    theta: np.ndarray,
    on_step: Callable[[Step], object] = lambda step: None,
    state: Mapping[str, np.ndarray] | None = None,
    layout: Layout | None = None,
    hvp: HessianProduct | None = None,
) -> StageEnd:
    """Minimise a function, theta -> (loss, gradient), by a solver that needs no residuals.

    theta: float64 vector (P,) to begin from. on_step: told of every Step; the limit `seconds` of
    the stage is for its caller to keep. state: as in Stage.run. layout: what the numbers of theta
    are, for solvers that work on matrices; one vector where left out. hvp: theta, v ->
    the Hessian times v, for solvers that ask for it. The function raises pinn.optimizers.Diverged
    where it has no finite value; other exceptions pass through.
    """
    seen = _Function(function, layout or Layout.of_vector(theta.size), hvp)
    steps = stage.run(seen, theta, state)
    while True:
        try:
            step = next(steps)
        except StopIteration as stopped:
            return stopped.value
        on_step(step)
