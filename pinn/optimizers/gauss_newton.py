"""Gauss-Newton: undamped steps over the singular directions that the Jacobian resolves."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.jacobian_checks import check_memory, doubt_few_rows, doubt_precision
from pinn.optimizers.reduced import Spectrum, reduced, triangle_bytes
from pinn.optimizers.solver import LeastSquares, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Fraction, NonNegative, Positive, declared

# The shortest step that is tried is this many halvings of the direction.
_HALVINGS = 30
# This many where the linear rows promise no more than such a share of the loss.
_FEW_HALVINGS, _WORTH = 3, 0.1
# After a step that leaves this share of the loss no larger cutoffs are tried.
_ENOUGH = 1e-3
# Cutoffs that are tried lie so far apart.
_RAISED = 100.0
# A step by a smaller share of theta is lost in its rounding.
_SHORT = np.finfo(np.float64).eps


@declared(owner="gauss_newton")
class GaussNewton(Stage):
    """Undamped Gauss-Newton steps of least norm, whose length is searched for.

    steps: most of them. cutoff: directions along which the rows change by less than this share of
    the most (singular values of the Jacobian, relative to the largest) are left out, or more.
    gradient_tolerance: the stage ends when no component of the loss's gradient is larger. seconds:
    limit of the stage's wall time, None for none. least_fall: the stage ends, after a step at
    least, where the linear rows promise to lower the loss by less than this share. redraw: steps
    after which points are drawn anew, None for as many as the sampling says. hold: fewest steps
    between two changes of an adaptive weighting's weights.

    The step is the shortest minimiser of |J p + r|^2 over the other directions, by the singular
    values of the triangle that J is reduced to, once a step. Larger cutoffs, and 1/2, 1/4 ... of
    each step, are tried by forward evaluations, and the lowest loss is taken. Twice the cost of
    a step of levenberg_marquardt, which trains networks better; for problems that are linear in the
    trainable numbers, or nearly so.
    Raises ValueError for a number outside its range.

    Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, sections 2.7 and 9.2.
    """

    name = "gauss_newton"

    steps: Count = 100
    cutoff: Fraction = 1e-12
    gradient_tolerance: NonNegative = 0.0
    least_fall: Fraction = 0.0
    seconds: Positive | None = None
    redraw: Count | None = 20
    hold: Count = 5

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the Jacobian takes too much memory; doubt few rows and float32."""
        taken = triangle_bytes(function.rows, function.size, keep=False)
        check_memory(self.name, function, taken, "its triangle")
        return [*doubt_few_rows(self.name, function), *doubt_precision(self.name, function)]

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of two numbers."""
        return 16

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state whose longest step is a tenth of that of the try before."""
        return {"number": np.array(number), "reach": np.array(0.1**tries)}

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, reach = 0, 1.0
        if state:
            number, reach = int(state["number"]), float(state["reach"])
        loss = function.value(theta)
        while number < self.steps:
            jacobian = reduced(function, theta, keep=False)
            largest = float(np.max(np.abs(jacobian.gradient)))
            if largest <= self.gradient_tolerance:
                return StageEnd(theta, StopReason.CONVERGED, (
                    f"after {number} steps the largest component of the gradient, {largest:.1e}, "
                    f"is not above the tolerance {self.gradient_tolerance:.1e}"
                ))  # fmt: skip
            spectrum = jacobian.spectrum()
            if number and spectrum.promised(self.cutoff) < self.least_fall * loss:
                return StageEnd(theta, StopReason.STALLED, (
                    f"after {number} steps the linear rows promise to lower the loss {loss:.3e} by "
                    f"less than {100 * self.least_fall:g} %: what is left is not in their range"
                ))  # fmt: skip
            found = self._lower(function, theta, loss, spectrum, reach)
            if found is None:
                return StageEnd(theta, StopReason.NO_DECREASE, (
                    f"after {number} steps no step along any number of singular directions gives a "
                    f"lower loss than {loss:.3e}, most likely at the limit of rounding; largest "
                    f"component of the gradient {largest:.1e}"
                ))  # fmt: skip
            number += 1
            theta, loss = found
            yield Step(number, theta, loss, state={
                "number": np.array(number), "reach": np.array(reach),
            })  # fmt: skip
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _lower(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        loss: float,
        spectrum: Spectrum,
        reach: float,
    ) -> tuple[np.ndarray, float] | None:
        """Return the theta of the lowest loss found, and that, or None."""
        cutoff, best, before = self.cutoff, None, loss
        while cutoff < 1:
            # At the least that the rows can be, halves of a step are no better than all of it.
            halvings = _HALVINGS if spectrum.promised(cutoff) > _WORTH * before else _FEW_HALVINGS
            step = reach * spectrum.shortest(cutoff)
            found = _halved(function, theta, loss, step, halvings)
            if found is not None:
                best, loss = found, found[1]
                if loss < _ENOUGH * before:
                    break
            cutoff = _RAISED * max(cutoff, _SHORT)
        return best


def _halved(
    function: LeastSquares, theta: np.ndarray, loss: float, step: np.ndarray, halvings: int
) -> tuple[np.ndarray, float] | None:
    """Return where the halvings of a step lead that lower the loss, until they do so no more."""
    best: tuple[np.ndarray, float] | None = None
    shortest = _SHORT * np.linalg.norm(theta)
    for k in range(halvings + 1):
        part = 0.5**k * step
        if not math.isfinite(length := float(np.linalg.norm(part))) or length <= shortest:
            break
        there = theta + part
        value = function.value(there)
        if best is not None and not value < best[1]:
            break
        if value < loss:
            best = there, value
    return best
