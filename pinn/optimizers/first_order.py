"""What first-order solvers share: rates, the loop over steps, and what is remembered of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping
from typing import ClassVar

import numpy as np

from pinn.objective import Layout
from pinn.optimizers.ahead import check_squares, run_on_device
from pinn.optimizers.arrays import chosen
from pinn.optimizers.schedules import (
    ConstantRate,
    Memory,
    Schedule,
    in_state,
    remembered,
)
from pinn.optimizers.solver import (
    LeastSquares,
    Stage,
    StageEnd,
    Step,
    StopReason,
)
from pinn.schema import Count, Natural, NonNegative, Positive, declared
from pinn.schema.errors import at, refuse


@declared
class FirstOrder(Stage):
    """A solver that takes one gradient a step; a kind of it says how its steps come of gradients.

    steps: how many. learning_rate: the highest rate of a step, which `schedule` lowers. warmup:
    steps in which the rate rises linearly to it, before the schedule begins. weight_decay: each
    step also shrinks the weights of the networks' layers by this share of its rate, apart from the
    gradient (Loshchilov and Hutter, ICLR 2019, arXiv 1711.05101, algorithm 2, whose lambda is this
    times the learning rate); biases and the coefficients of the problem never shrink. seconds:
    limit of the stage's wall time, None for none.

    What a kind remembers of gradients is a mapping of arrays, which `begin` makes and `learn`
    replaces; none of them is changed in place.

    recordable: whether `learn` and `change` are the same operations in each step, for numpy's
    arrays as for tensors (functions_of has their functions), the rate and the number of the step
    too. On a GPU such steps are recorded, and several are taken before the host is told of any.
    """

    takes_batches: ClassVar[bool] = True
    recordable: ClassVar[bool] = False

    steps: Count = 2000
    learning_rate: Positive = 1e-3
    schedule: Schedule = ConstantRate()
    warmup: Natural = 0
    weight_decay: NonNegative = 0.0
    seconds: Positive | None = None

    def __post_init__(self) -> None:
        with at("schedule"):
            self.schedule.check(self.learning_rate)
        if self.warmup >= self.steps:
            refuse(
                f"expected fewer than the {self.steps} steps of the stage, got {self.warmup}",
                "warmup",
            )

    @abstractmethod
    def begin(self, layout: Layout) -> Memory:
        """Return what is remembered before the first gradient."""

    @abstractmethod
    def learn(
        self, memory: Memory, gradient: np.ndarray, number: int, layout: Layout
    ) -> Memory:
        """Return what is remembered after the gradient, (size,), of a step, counted from 1."""

    @abstractmethod
    def change(self, memory: Memory, rate: float, number: int, layout: Layout) -> np.ndarray:
        """Return what the step takes away from theta, (size,)."""

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of what is remembered of gradients."""
        return sum(array.nbytes for array in self.begin(layout).values())

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with half the rate of the try before."""
        return {**state, "share": np.array(0.5**tries)}

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        if self.recordable and function.on_device is not None:
            return (yield from run_on_device(self, function, theta, state))
        layout = function.layout
        number, share, losses = self.counted(state)
        known = self.known(state, layout)
        if number:
            # The gradient at theta is in the memory: new points are met at the next theta.
            rate = share * self.rate_at(number, losses)
            theta = self.moved(theta, known, rate, number, layout)
        while number < self.steps:
            found = function.value_and_gradient(theta)
            check_squares(found.gradient)
            number += 1
            known = self.learn(known, found.gradient, number, layout)
            if number > self.warmup:
                losses = self.schedule.remember(found.loss, losses)
            rate = share * self.rate_at(number, losses)
            memory = {
                "number": np.array(number), "share": np.array(share), **known,
                **in_state(losses),
            }  # fmt: skip
            # The step of this number starts at theta, whose loss is known; its end is not yet.
            yield Step(number, theta, found.loss, rate, memory)
            theta = self.moved(theta, known, rate, number, layout)
        return self.done(theta)

    def done(self, theta: np.ndarray) -> StageEnd:
        """Return how the solver ends at theta, after its last step."""
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def counted(self, state: Memory | None) -> tuple[int, float, Memory]:
        """Return the steps of a state, the share of the rate, and what the schedule remembers."""
        if not state:
            return 0, 1.0, {}
        return int(state["number"]), float(state["share"]), remembered(state)

    def known(self, state: Memory | None, layout: Layout) -> Memory:
        """Return what a state has of gradients, which has to be like what the solver begins with.

        Raises ValueError for the state of another network or solver.
        """
        begun = self.begin(layout)
        return {name: self._of(state, name, one) for name, one in begun.items()} if state else begun

    def _of(self, state: Memory, name: str, begun: np.ndarray) -> np.ndarray:
        array = state.get(name)
        if array is None or np.shape(array) != begun.shape:
            came = "none" if array is None else f"shape {np.shape(array)}"
            raise ValueError(
                f"{self.name}: expected {name} of shape {begun.shape}, got {came}: the state is "
                "that of another network or solver"
            )
        return array

    def rate_at(self, number: int, losses: Memory) -> float:
        """Return the rate of a step; losses: what the schedule remembers of them."""
        if number <= self.warmup:
            return self.learning_rate * number / (self.warmup + 1)
        step, steps = number - self.warmup, self.steps - self.warmup
        return self.schedule.rate(self.learning_rate, step, steps, losses)

    def moved(
        self, theta: np.ndarray, known: Memory, rate: float, number: int, layout: Layout
    ) -> np.ndarray:
        """Return where a step leads to from theta."""
        kept = theta
        if self.weight_decay:
            kept = chosen(layout.weights, (1 - rate * self.weight_decay) * theta, theta)
        return kept - self.change(known, rate, number, layout)
