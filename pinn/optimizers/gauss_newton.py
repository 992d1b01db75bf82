"""Gauss-Newton: steps over the directions that the Jacobian resolves, as long as they get."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from autograd.devices import CPU
from pinn.objective import Layout
from pinn.optimizers.ends import converged, no_decrease
from pinn.optimizers.least_squares.algebra import Reduced
from pinn.optimizers.least_squares.jacobian_checks import (
    check_memory,
    doubt_few_rows,
    doubt_precision,
)
from pinn.optimizers.least_squares.reduced import (
    may_keep,
    reduced,
    reduced_bytes,
    reduced_flops,
)
from pinn.optimizers.least_squares.span import reduced_by_few
from pinn.optimizers.least_squares.workspace import place_of
from pinn.optimizers.solver import LeastSquares, Redraws, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Fraction, NonNegative, Positive, declared

# So many halvings where the linear rows promise no more than such a share of the loss.
_FEW_HALVINGS, _WORTH = 3, 0.1
# After a step that leaves this share of the loss no larger cutoffs are tried.
_ENOUGH = 1e-3
# Cutoffs that are tried lie so far apart.
_RAISED = 100.0
# Evaluations that a device is given at once: one that is in vain takes longer than a wait.
_TOGETHER = 4
# A step by a smaller share of theta is lost in its rounding.
_SHORT = np.finfo(np.float64).eps


@declared(owner="gauss_newton")
class GaussNewton(Stage):
    """Gauss-Newton steps, nearly undamped and of least norm, whose length is searched for.

    steps: most of them. cutoff: directions along which the rows change by less than this share of
    the most (singular values of the Jacobian, relative to the largest) are hardly gone along.
    gradient_tolerance: the stage ends when no component of the loss's gradient is larger. seconds:
    limit of the stage's wall time, None for none. least_fall: the stage ends, after a step at
    least, where the linear rows promise to lower the loss by less than this share. redraw: steps
    after which points are drawn anew, at once where they are overfitted, or "never"; None for as
    the sampling says. hold: fewest steps between two changes of an adaptive weighting's weights.
    halvings: the shortest step that is tried is so many halvings of a direction.

    The step minimises |J p + r|^2 + |cutoff s p|^2, s being the largest singular value of J, by the
    triangle that J is reduced to: over directions of larger singular values it is the shortest
    minimiser of |J p + r|, and has next to nothing of those of smaller ones, for a fraction of what
    singular values take. Larger cutoffs, and 1/2, 1/4 ... of each step, are tried by forward
    evaluations where they promise more than was had, and the lowest loss is taken. Twice the cost
    of a step of levenberg_marquardt, which trains networks better; for problems that are linear in
    the trainable numbers, or nearly so. Of linear ones the Jacobian is reduced once.
    Raises ValueError for a number outside its range.

    Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, sections 2.7.1 and 9.2.
    """

    name = "gauss_newton"
    takes_jacobian = True

    steps: Count = 100
    cutoff: Fraction = 1e-12
    gradient_tolerance: NonNegative = 0.0
    least_fall: Fraction = 0.0
    seconds: Positive | None = None
    redraw: Redraws = 20
    hold: Count = 5
    halvings: Count = 30

    def working_bytes(self, function: LeastSquares) -> int:
        """Return the bytes of the Jacobian, as far as it is there at once, and of its triangle."""
        one = _reducing(function)
        return reduced_bytes(one, one is not function or may_keep(one))

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return the operations of the triangle and of what is solved with it."""
        return reduced_flops(_reducing(function))

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError where the Jacobian takes too much memory; doubt few rows and float32."""
        one = _reducing(function)
        check_memory(self.name, one, self.working_bytes(function), "its triangle")
        return [*doubt_few_rows(self.name, one), *doubt_precision(self.name, one)]

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of two numbers and a truth value."""
        return 17

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return a state whose longest step is a tenth of that of the try before."""
        return {**state, "number": np.array(number), "reach": np.array(0.1**tries)}

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, reach, by_few = 0, 1.0, True
        if state:
            number, reach = int(state["number"]), float(state["reach"])
            by_few = bool(state.get("by_few", True))
        loss, kept = function.value(theta), None
        whole = function.superposition
        keep = whole is None and self._may_keep(function, number)
        while number < self.steps:
            if whole is not None:
                linear = whole.reduced(theta, self.cutoff)
            elif kept is None:
                linear, by_few = self._reduced(function, theta, by_few, keep)
            else:
                linear = kept.again(function.weighted_rows(theta))
            found = self._found(function, linear, theta, loss, number, reach)
            kept = linear if keep else None
            del linear  # before there is the next
            if isinstance(found, StageEnd):
                return found
            number += 1
            theta, loss = found
            yield Step(number, theta, loss, state={
                "number": np.array(number), "reach": np.array(reach), "by_few": np.array(by_few),
            })  # fmt: skip
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _may_keep(self, function: LeastSquares, number: int) -> bool:
        """Return whether one Jacobian is that of all steps to come."""
        return self.steps > number + 1 and may_keep(function) and function.is_linear

    def _reduced(
        self, function: LeastSquares, theta: np.ndarray, by_few: bool, keep: bool
    ) -> tuple[Reduced, bool]:
        """Return the Jacobian at theta, reduced, and whether few columns did."""
        if by_few:
            return reduced_by_few(function, theta, self.cutoff, keep)
        return reduced(function, theta, keep), False

    def _found(
        self,
        function: LeastSquares,
        linear: Reduced,
        theta: np.ndarray,
        loss: float,
        number: int,
        reach: float,
    ) -> tuple[np.ndarray, float] | StageEnd:
        """Return where the next step leads and the loss there, or why there is none."""
        end = converged(theta, number, linear.gradient, self.gradient_tolerance)
        if end is not None:
            return end
        steps = self._steps(linear)
        first = next(steps)
        if number and first.promised < self.least_fall * loss:
            counted = f"{number} step{'s' if number > 1 else ''}"
            return StageEnd(theta, StopReason.MINIMUM, (
                f"after {counted} another would lower the loss {loss:.3e} by less than "
                f"{100 * self.least_fall:g} %: it is as low as this network goes"
            ))  # fmt: skip
        found = _lower(function, theta, loss, chain([first], steps), reach, self.halvings)
        if found is None:
            return no_decrease(theta, number, linear.gradient, loss, "no step with any cutoff")
        return found

    def _steps(self, linear: Reduced) -> Iterator[_Promise]:
        """Yield the step of the cutoff, and those of larger ones."""
        cutoff, largest = max(self.cutoff, _SHORT), linear.largest
        while cutoff < 1:
            yield _promise(linear, (cutoff * largest) ** 2)
            cutoff *= _RAISED


class _Promise(NamedTuple):
    """A step, (P,), and by how much the linear rows promise to lower the loss along it."""

    step: np.ndarray
    promised: float


def _reducing(function: LeastSquares) -> LeastSquares:
    """Return the function whose Jacobian is reduced."""
    return function if function.superposition is None else function.superposition.objective


def _promise(linear: Reduced, damping: float) -> _Promise:
    """Return the step for a damping; the squares that it is made of go before there is another."""
    damped = linear.damped(damping, np.ones_like(linear.gradient))
    return _Promise(damped.step, damped.promised)


def _lower(
    function: LeastSquares,
    theta: np.ndarray,
    loss: float,
    steps: Iterable[_Promise],
    reach: float,
    halvings: int,
) -> tuple[np.ndarray, float] | None:
    """Return the theta of the lowest loss found along some steps, and that, or None.

    Nothing is tried of which the linear rows promise no more than was had: where they tell the
    truth, that is all but the whole of the first step.
    """
    best, before = None, loss
    for step in steps:
        if best is not None and before - loss >= step.promised:
            break
        found = _halved(function, theta, before, loss, step, reach, halvings)
        if found is not None:
            best, loss = found, found[1]
            if loss < _ENOUGH * before:
                break
    return best


def _halved(
    function: LeastSquares,
    theta: np.ndarray,
    before: float,
    loss: float,
    step: _Promise,
    reach: float,
    halvings: int,
) -> tuple[np.ndarray, float] | None:
    """Return where the halvings of a step lead that lower the loss, until they do so no more.

    before: the loss at theta. loss: the lowest found so far.
    """
    # At the least that the rows can be, halves of a step are no better than all of it.
    halvings = min(halvings, _FEW_HALVINGS if step.promised <= _WORTH * before else halvings)
    best: tuple[np.ndarray, float] | None = None
    shares = [reach * 0.5**k for k in range(halvings + 1)]
    trials = _tried(function, _parts(theta, step.step, shares))
    for share, (there, value) in zip(shares, trials, strict=False):
        if best is not None and not value < best[1]:
            break
        if value < loss:
            best = there, value
        half = 0.5 * share
        if best is not None and before - best[1] >= half * (2 - half) * step.promised:
            break
    return best


def _parts(
    theta: np.ndarray, step: np.ndarray, shares: Iterable[float]
) -> Iterator[np.ndarray]:
    """Yield where shares of a step lead, up to one that is lost in the rounding of theta."""
    shortest = _SHORT * np.linalg.norm(theta)
    for share in shares:
        part = share * step
        if not math.isfinite(length := float(np.linalg.norm(part))) or length <= shortest:
            return
        yield theta + part


def _tried(
    function: LeastSquares, thetas: Iterable[np.ndarray]
) -> Iterator[tuple[np.ndarray, float]]:
    """Yield each theta and the loss there.

    The host evaluates one when it is asked for. A device is given several at once, for one wait: as
    many as were tried before, and no more than a few, as the search may end before the last.
    """
    left, count, on_host = iter(thetas), 0, place_of(function) == CPU
    while taken := list(islice(left, 1 if on_host else min(max(count, 1), _TOGETHER))):
        yield from zip(taken, function.values(taken), strict=True)
        count += len(taken)
