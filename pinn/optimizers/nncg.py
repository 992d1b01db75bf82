"""NNCG: Newton's method by conjugate gradients with a randomised preconditioner."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.conjugate_gradients import LEAST_CURVATURE, Solved, conjugate_gradients
from pinn.optimizers.ends import converged_to, no_decrease_from
from pinn.optimizers.least_squares.workspace import place_of
from pinn.optimizers.nystrom import Nystrom, nystrom
from pinn.optimizers.quasi_newton.vectors import Found, evaluated, evaluated_along, inner, norm
from pinn.optimizers.solver import (
    Diverged,
    LeastSquares,
    Stage,
    StageEnd,
    Step,
    StopReason,
)
from pinn.sampling.streams import stream
from pinn.schema import Count, Fraction, Natural, NonNegative, Positive, declared

# Armijo: a step is taken that lowers the loss by this share of what its slope promises.
_ENOUGH = 0.1
_SHORTER = 0.5
# How much each try after numbers that are not finite raises the damping.
_STIFFER = 100.0
# The least damping, as a share of the largest curvature. Rounding may make of a direction of no
# curvature one of as much below zero as conjugate gradients take for none; what the damping adds
# has to lift it above what they take for none.
_LEAST_DAMPING = 2 * LEAST_CURVATURE


@declared
class NNCG(Stage):
    """Newton steps (H + mu I) d = -g by conjugate gradients, preconditioned by a sketch of H.

    H is the loss's Hessian, of which only products are asked for; one costs as much as 2 to 3
    gradients. It is for networks that are too large for SSBroyden's dense matrix, where L-BFGS
    hardly moves any more: the loss is then a valley of very different curvatures.

    steps: most iterations. rank, refresh: the sketch is a Nystrom approximation from products with
    `rank` random vectors, made anew every `refresh` steps. products: most iterations of conjugate
    gradients a step, few, because the sketch does most of the work and many short steps go further
    than a few exact ones; tolerance: they end where the residual of Newton's equations has fallen
    to this share, or where they meet curvature that is not positive, with what they have by then.
    damping: the first mu, as a share of the largest curvature; then it follows the gain, the
    decrease of the loss over that of the quadratic model, as in Levenberg-Marquardt. A step is
    halved, up to `line_search` times, until it lowers the loss enough; where none does, one along
    the gradient is tried, and a second failure ends the stage. gradient_tolerance: the stage ends
    when no component of the loss's gradient is larger. seed: of the random vectors. seconds: limit
    of the stage's wall time, None for none. hold: as for SSBroyden. New points and weights keep the
    sketch, which only preconditions. Raises ValueError for a number outside its range.

    Rathore, Lei, Frangella, Lu and Udell, ICML 2024 (arXiv 2402.01868), NysNewton-CG, where mu
    is a constant and the equations are solved to rounding. The rule for mu is that of Nielsen
    (1999), for curvature that is not positive that of Nocedal and Wright, Numerical Optimization,
    algorithm 7.1.
    """

    name = "nncg"

    steps: Count = 1000
    rank: Count = 60
    refresh: Count = 20
    products: Count = 10
    tolerance: Fraction = 0.1
    damping: Positive = 1e-5
    line_search: Count = 30
    gradient_tolerance: NonNegative = 0.0
    seed: Natural = 0
    seconds: Positive | None = None
    hold: Count = 20

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        memory = _Memory.of(state) if state else _Memory()
        here, sketch = evaluated(function, theta), None
        while True:
            zero = converged_to(here.theta, memory.number, here.largest, self.gradient_tolerance)
            if zero is not None:
                return zero
            if memory.number == self.steps:
                return StageEnd(here.theta, StopReason.STEPS, f"all {self.steps} steps done")
            if memory.number % self.refresh == 0:
                memory, sketch = self._sketched(memory, function, here.theta), None
            if sketch is None:
                sketch = memory.sketch.placed(place_of(function))
            solved = self._newton(memory.damping, sketch, function, here)
            memory = memory._replace(products=memory.products + solved.products)
            length, end = self._search(function, here, solved.x)
            if length == 1:
                slopes = here.gradient + solved.rest + memory.damping * solved.x
                model = inner((solved.x, slopes))[0] / 2
                memory = memory.after((here.loss - end.loss) / model)
            else:
                memory = memory.stiffer()
            if end is None:
                unit = here.gradient / norm(here.gradient)
                _, end = self._search(function, here, unit)
            if end is None:
                tried = "no step along Newton's direction or the gradient"
                return no_decrease_from(here.theta, memory.number, here.largest, here.loss, tried)
            memory, here = memory._replace(number=memory.number + 1), end
            yield Step(memory.number, here.theta, here.loss, state=memory.arrays())

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of the sketch."""
        return 8 * min(self.rank, layout.size) * (layout.size + 1)

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with a hundred times the damping."""
        # The state is that of the try before, where no good step has followed on it.
        return {**state, "damping": np.array(_STIFFER * state["damping"])}

    def _sketched(self, memory: _Memory, function: LeastSquares, theta: np.ndarray) -> _Memory:
        """Return the memory with the sketch that belongs to a step, and a first damping."""
        rng = stream(self.seed, "nncg", str(memory.number))
        sketch = nystrom(lambda v: function.hvp(theta, v), theta.size, self.rank, rng)
        largest = float(sketch.values[0]) or 1.0
        first = max(self.damping, _LEAST_DAMPING) * largest
        damping = first if math.isnan(memory.damping) else memory.damping
        products = memory.products + len(sketch.values)
        return memory._replace(sketch=sketch, damping=damping, products=products)

    def _newton(
        self, mu: float, sketch: Nystrom, function: LeastSquares, here: Found
    ) -> Solved:
        """Return about inverse(H + mu I) g, minus which the loss falls."""
        return conjugate_gradients(
            lambda v: function.hvp(here.theta, v) + mu * v, here.gradient,
            lambda v: sketch.solve(v, mu), self.products, self.tolerance,
        )  # fmt: skip

    def _search(
        self, function: LeastSquares, here: Found, direction: Any
    ) -> tuple[float, Found | None]:
        """Return a step length, 1 or a half of the one before, and the point at its end."""
        (slope,), length = inner((here.gradient, direction)), 1.0
        for _ in range(self.line_search):
            try:
                end = evaluated_along(function, here.at, -length, direction)
                if end.loss <= here.loss - _ENOUGH * length * slope and end.loss < here.loss:
                    return length, end
            except Diverged:
                pass  # too far out
            length *= _SHORTER
        return 0.0, None


class _Memory(NamedTuple):
    """What is carried from step to step: the damping with how fast it grows, and the sketch."""

    number: int = 0
    damping: float = math.nan
    growth: float = 2.0
    products: int = 0
    sketch: Nystrom | None = None

    def after(self, gain: float) -> _Memory:
        """Return the memory after a step of length 1: the better the model, the less damping."""
        if not gain > 0:
            return self.stiffer()
        factor = max(1 / 3, 1 - (2 * min(gain, 1.0) - 1) ** 3)
        least = _LEAST_DAMPING * float(self.sketch.values[0])
        return self._replace(damping=max(least, factor * self.damping), growth=2.0)

    def stiffer(self) -> _Memory:
        """Return the memory after a step that had to be shortened."""
        return self._replace(damping=self.growth * self.damping, growth=2 * self.growth)

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "number": np.array(self.number),
            "damping": np.array(self.damping),
            "growth": np.array(self.growth),
            "products": np.array(self.products),
            "vectors": self.sketch.vectors,
            "values": self.sketch.values,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> _Memory:
        sketch = Nystrom(np.array(arrays["vectors"]), np.array(arrays["values"]))
        return cls(
            int(arrays["number"]), float(arrays["damping"]), float(arrays["growth"]),
            int(arrays["products"]), sketch,
        )  # fmt: skip
