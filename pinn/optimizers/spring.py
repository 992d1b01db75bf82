"""SPRING: natural gradient steps with momentum, for points that change from step to step."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.least_squares.damped import DampedLeastSquares, damped_bytes, damped_flops
from pinn.optimizers.least_squares.jacobian_checks import (
    check_memory,
    doubt_precision,
)
from pinn.optimizers.least_squares.workspace import Workspace
from pinn.optimizers.schedules import ConstantRate, Schedule, in_state, remembered
from pinn.optimizers.solver import LeastSquares, Redraws, Stage, StageEnd, Step, StopReason
from pinn.schema import Count, Fraction, NonNegative, Positive, declared
from pinn.schema.errors import at


@declared
class SPRING(Stage):
    """Natural gradient with momentum: each step solves for what the last one leaves of r.

    steps: how many. learning_rate: eta, which `schedule` lowers. damping: lambda. relative_damping:
    so many times the loss is added to lambda, which keeps the first steps short; 0 as in the
    papers. momentum: mu. norm: C, no step is longer than its root. redraw: steps after which points
    are drawn anew, at once where they are overfitted, or "never"; None for as the sampling says.
    seconds: limit of the stage's wall time, None for none.

        phi  <-  argmin |J phi - r|^2 + lambda |phi - mu phi|^2          (the phi of before)
             =   mu phi + (J^T J + lambda)^-1 J^T (r - mu J phi)
        phi^  =  phi / sqrt(1 - mu^(2 k)),  k counting steps from 1
        theta <- theta - min(eta, sqrt(C) / |phi^|) phi^

    The inverse is taken in whichever of parameter and kernel form is cheaper for the number of rows
    (least_squares/damped.py). Each step may see another part of the points: the momentum remembers
    directions that their rows do not see. So small batches (`pinn.Sampling(batch=...)`) make small
    kernels; the losses told of steps are then those on the batch. Nothing is searched for: a step
    takes one Jacobian and one evaluation. Raises ValueError for a number outside its range,
    and where J would take too much memory.

    Goldshlager, Abrahamsen and Lin, J. Comput. Phys. 516 (2024) 113351 (arXiv 2401.10190); for
    PINNs: Guzman-Cordero, Dangel, Goldshlager and Zeinhofer, NeurIPS 2025 (arXiv 2505.12149).
    """

    name = "spring"
    takes_jacobian = True
    takes_batches: ClassVar[bool] = True

    steps: Count = 1000
    learning_rate: Positive = 1.0
    schedule: Schedule = ConstantRate()
    damping: Positive = 1e-6
    relative_damping: NonNegative = 1e-3
    momentum: Fraction = 0.9
    norm: Positive = 1.0
    redraw: Redraws = 20
    seconds: Positive | None = None

    def __post_init__(self) -> None:
        with at("schedule"):
            self.schedule.check(self.learning_rate)

    def working_bytes(self, function: LeastSquares) -> int:
        """Return the bytes of the Jacobian and of what is factored."""
        return damped_bytes(function)

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return the operations of J^T J, or of J J^T, and of its factors."""
        return damped_flops(function)

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError for a Jacobian beyond the memory; doubt float32."""
        check_memory(self.name, function, self.working_bytes(function), "what is factored")
        return doubt_precision(self.name, function)

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        number, phi, share, losses = 0, np.zeros_like(theta), 1.0, {}
        if state:
            number, phi, share = int(state["number"]), state["phi"], float(state["share"])
            losses = remembered(state)
        workspace = Workspace.of(function)
        while number < self.steps:
            linear = DampedLeastSquares.at(function, theta, workspace)
            kept, rows = self.momentum * phi, linear.rows
            loss = float(rows @ rows)
            damping = self.damping + self.relative_damping * loss
            left = linear.of_rows(linear.along(kept)[0] - rows)
            phi = kept + left.damped(damping).step
            number += 1
            losses = self.schedule.remember(loss, losses)
            unbiased = phi / math.sqrt(1 - self.momentum ** (2 * number))
            length = float(np.linalg.norm(unbiased))
            rate = share * self.schedule.rate(self.learning_rate, number, self.steps, losses)
            if length * rate > share * math.sqrt(self.norm):
                rate = share * math.sqrt(self.norm) / length
            theta = theta - rate * unbiased
            remains = {
                "number": np.array(number), "phi": phi, "share": np.array(share),
                **in_state(losses),
            }  # fmt: skip
            yield Step(number, theta, function.value(theta), rate, remains)
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of one vector."""
        return 8 * layout.size

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with half the rate and the length of the try before."""
        return {**state, "share": np.array(0.5**tries)}
