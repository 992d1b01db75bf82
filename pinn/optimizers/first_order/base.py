"""What first-order solvers share: rates, the loop over steps, and what is remembered of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Generator, Mapping
from functools import partial
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

import autograd as T
from autograd.devices import put
from autograd.plan import TraceError
from pinn.objective import Layout, OnDevice
from pinn.optimizers.first_order.arrays import chosen
from pinn.optimizers.first_order.bursts import Burst, Remembered
from pinn.optimizers.schedules import (
    ConstantRate,
    Memory,
    Schedule,
    in_state,
    remembered,
)
from pinn.optimizers.solver import (
    Diverged,
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
    too. takes_device_arrays: whether they take arrays of a device as they take numpy's, and neither
    copy from it or to it nor wait for it. On a GPU several steps of both are taken before the host
    is told of any: recorded, where they can be, or as they are written. The arrays of the layout
    are of the same kind as what they are given.
    """

    takes_batches: ClassVar[bool] = True
    recordable: ClassVar[bool] = False
    takes_device_arrays: ClassVar[bool] = False

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

    def takes_steps_ahead(self, function: LeastSquares) -> bool:
        """Whether it takes steps of this function on a device before it tells of the first."""
        return (self.recordable or self.takes_device_arrays) and function.on_device is not None

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        if self.takes_steps_ahead(function):
            return (yield from self._run_ahead(function, theta, state))
        layout = function.layout
        number, share, losses = _counted(state)
        known = self._known(state, layout)
        if state:
            # The gradient at theta is in the memory: new points are met at the next theta.
            rate = share * self._rate(number, losses)
            theta = self._next(theta, known, rate, number, layout)
        while number < self.steps:
            found = function.value_and_gradient(theta)
            _check_squares(found.gradient)
            number += 1
            known = self.learn(known, found.gradient, number, layout)
            if number > self.warmup:
                losses = self.schedule.remember(found.loss, losses)
            rate = share * self._rate(number, losses)
            memory = {
                "number": np.array(number), "share": np.array(share), **known,
                **in_state(losses),
            }  # fmt: skip
            # The step of this number starts at theta, whose loss is known; its end is not yet.
            yield Step(number, theta, found.loss, rate, memory)
            theta = self._next(theta, known, rate, number, layout)
        return self._end(theta)

    def _run_ahead(
        self, function: LeastSquares, theta: np.ndarray, state: Memory | None
    ) -> Generator[Step, None, StageEnd]:
        """Do the same on a device, where several steps are taken before the first is told."""
        number, share, losses = _counted(state)
        known: Mapping[str, Any] = (
            state.there if isinstance(state, Remembered) else self._known(state, function.layout)
        )
        while number < self.steps:
            there = function.on_device
            burst = self._burst(there, function.layout)
            count = min(self.steps - number, function.steps_ahead(), burst.most(there))
            if number <= self.warmup:  # a schedule is asked for rates when it has met a loss
                count = min(count, self.warmup + 1 - number)
            # A rate that goes by the losses is presumed to stay until one of them is told.
            rates = [share * self._rate(number + k, losses) for k in range(count)]
            taken = burst.taken(there, theta, known, number, rates)
            for presumed, one in zip_longest(rates[1:], taken):
                loss = function.told(one.theta, one.totals)
                if not (math.isfinite(loss) and math.isfinite(one.square)):
                    _say_what(function, one.theta)
                number, theta, known, count = number + 1, one.theta, one.known, count - 1
                if number > self.warmup:
                    losses = self.schedule.remember(loss, losses)
                rate = share * self._rate(number, losses)
                counted = {"number": np.array(number), "share": np.array(share), **in_state(losses)}
                ahead = count if rate == presumed else 0
                yield Step(number, theta, loss, rate, Remembered(counted, known), ahead)
                if rate != presumed or function.on_device is not there:
                    break
        there, rate = function.on_device, share * self._rate(number, losses)
        return self._end(self._burst(there, function.layout).end(there, theta, known, number, rate))

    def _burst(self, there: OnDevice, layout: Layout) -> Burst:
        """Return the steps on a device, once for an objective; TypeError if not recordable."""
        key = (self, there.blocks, there.groups)
        if key not in there.recorded:
            own = layout.placed(partial(_put, there, self.recordable))
            try:
                there.recorded[key] = Burst(
                    self.begin(layout),
                    lambda *given: self._next(*given, own),
                    lambda *given: self.learn(*given, own),
                    there,
                    self.recordable,
                )
            except (TraceError, TypeError) as error:
                raise TypeError(
                    f"solver {self.name!r} says recordable = True, but its steps cannot be "
                    f"recorded: {error}; with recordable = False they are taken on the host"
                ) from error
        return there.recorded[key]

    def _end(self, theta: np.ndarray) -> StageEnd:
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def _known(self, state: Memory | None, layout: Layout) -> Memory:
        """Return what a state has of gradients, or what is remembered before the first."""
        begun = self.begin(layout)
        return {name: self._of(state, name, one) for name, one in begun.items()} if state else begun

    def _of(self, state: Memory, name: str, begun: np.ndarray) -> np.ndarray:
        """Return an array of a state, which has to be like the one that the solver begins with."""
        array = state.get(name)
        if array is None or np.shape(array) != begun.shape:
            came = "none" if array is None else f"shape {np.shape(array)}"
            raise ValueError(
                f"{self.name}: expected {name} of shape {begun.shape}, got {came}: the state is "
                "that of another network or solver"
            )
        return array

    def _rate(self, number: int, losses: Memory) -> float:
        if number <= self.warmup:
            return self.learning_rate * number / (self.warmup + 1)
        step, steps = number - self.warmup, self.steps - self.warmup
        return self.schedule.rate(self.learning_rate, step, steps, losses)

    def _next(
        self, theta: np.ndarray, known: Memory, rate: float, number: int, layout: Layout
    ) -> np.ndarray:
        kept = theta
        if self.weight_decay:
            kept = chosen(layout.weights, (1 - rate * self.weight_decay) * theta, theta)
        return kept - self.change(known, rate, number, layout)


def _put(there: OnDevice, recorded: bool, array: np.ndarray) -> Any:
    """Return an array of the host on a device, as a tensor where steps are recorded."""
    found = put(array, there.device)
    return T.Tensor(found) if recorded else found


def _counted(state: Memory | None) -> tuple[int, float, Memory]:
    """Return the steps of a state, the share of the rate, and what the schedule remembers."""
    if not state:
        return 0, 1.0, {}
    return int(state["number"]), float(state["share"]), remembered(state)


def _say_what(function: LeastSquares, theta: np.ndarray) -> None:
    """Raise Diverged for a step whose numbers are not finite, as one by itself would."""
    _check_squares(function.value_and_gradient(theta).gradient)
    raise Diverged("a loss or the squares of its gradient are not finite on the device")


def _check_squares(gradient: np.ndarray) -> None:
    """Raise Diverged for a gradient that is finite, but whose squares are not."""
    with np.errstate(over="ignore"):
        if not np.isfinite(gradient @ gradient):
            raise Diverged(f"the squares of a gradient up to {np.abs(gradient).max():.1e} overflow")
