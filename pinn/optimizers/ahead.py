"""Steps of first-order solvers on a device: several are taken before the host is told of any.

Within such a burst nothing is copied and nothing is waited for. At its end one copy brings home
what is told of its steps, each as if it had been taken by itself: so neither the length of a burst
nor where it is broken off changes a bit.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import autograd as T
from autograd.devices import CPU, Device, backend, put, put_together
from autograd.plan.unbound import Unbound
from pinn.objective import Layout
from pinn.optimizers.schedules import in_state
from pinn.optimizers.solver import Diverged, LeastSquares, StageEnd, Step

if TYPE_CHECKING:
    from pinn.objective import OnDevice
    from pinn.optimizers.first_order import FirstOrder

# Bytes of what is kept of the steps of a burst.
_MOST_BYTES = 64 << 20


class Remembered(Mapping[str, np.ndarray]):
    """A solver's state after a step, whose arrays stay on the device until one of them is read."""

    def __init__(self, host: Mapping[str, np.ndarray], there: Mapping[str, Any]) -> None:
        self.there = dict(there)
        self._host = dict(host)
        self._names = (*self._host, *self.there)

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.there and name not in self._host:
            home = put_together(list(self.there.values()), CPU)
            self._host.update(zip(self.there, home, strict=True))
        return self._host[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


def run_on_device(
    solver: FirstOrder,
    function: LeastSquares,
    theta: np.ndarray,
    state: Mapping[str, np.ndarray] | None,
) -> Generator[Step, None, StageEnd]:
    """Do what FirstOrder.run does, on the device of the function."""
    layout = function.layout
    number, share, losses = solver.counted(state)
    known: Mapping[str, Any] = (
        state.there if isinstance(state, Remembered) else solver.known(state, layout)
    )
    while number < solver.steps:
        there = function.on_device
        burst = _burst(solver, layout, there)
        count = min(solver.steps - number, function.steps_ahead(), burst.most)
        # A rate that goes by the losses is presumed to stay until one of them is told.
        presumed = [
            share * solver.rate_at(number + k, losses) for k in range(count + 1)
        ]  # fmt: skip
        taken = burst.taken(there, theta, known, number, presumed, count)
        for left, one in zip(range(count - 1, -1, -1), taken, strict=True):
            loss = function.told(one.theta, one.totals)
            if not (math.isfinite(loss) and math.isfinite(one.square)):
                _tell_what(function, one.theta)
            number, theta, known = number + 1, one.theta, one.known
            if number > solver.warmup:
                losses = solver.schedule.remember(loss, losses)
            rate = share * solver.rate_at(number, losses)
            counted = {"number": np.array(number), "share": np.array(share), **in_state(losses)}
            memory = Remembered(counted, known)
            as_presumed = rate == presumed[count - left]
            yield Step(number, theta, loss, rate, memory, left if as_presumed else 0)
            if not as_presumed or function.on_device is not there:
                break
    there = function.on_device
    rates = [share * solver.rate_at(number, losses)]
    theta = _burst(solver, layout, there).end(there, theta, known, number, rates)
    return solver.done(theta)


def check_squares(gradient: np.ndarray) -> None:
    """Raise Diverged for a gradient that is finite, but whose squares are not."""
    with np.errstate(over="ignore"):
        if not np.isfinite(gradient @ gradient):
            raise Diverged(f"the squares of a gradient up to {np.abs(gradient).max():.1e} overflow")


def _tell_what(function: LeastSquares, theta: np.ndarray) -> None:
    """Raise Diverged for a step whose numbers are not finite, as one by itself would."""
    check_squares(function.value_and_gradient(theta).gradient)
    raise Diverged("a loss or the square of its gradient is not finite on the device")


class _Taken(NamedTuple):
    """A step that was taken: theta and the sums of squares there, and |gradient|^2.

    known: what the solver remembers after it, on the device.
    """

    theta: np.ndarray
    totals: np.ndarray
    square: float
    known: dict[str, Any]


class _Burst:
    """The steps of a solver as they are recorded for a device.

    most: how many may be taken at once.
    """

    def __init__(self, solver: FirstOrder, layout: Layout, there: OnDevice) -> None:
        begun = solver.begin(layout)
        names, shapes = tuple(begun), [array.shape for array in begun.values()]
        self._names, self._size = names, there.size
        results = there.blocks + there.groups * there.size
        self._results = results
        each = there.size + 1 + results + sum(array.size for array in begun.values())
        self.most = max(1, _MOST_BYTES // (8 * each))

        def moved(
            rate: T.Tensor, number: T.Tensor, theta: T.Tensor, *known: T.Tensor
        ) -> list[T.Tensor]:
            memory = dict(zip(names, known, strict=True))
            return [solver.moved(theta, memory, rate, number, layout)]

        def learned(
            number: T.Tensor, counts: T.Tensor, found: T.Tensor, *known: T.Tensor
        ) -> list[T.Tensor]:
            gradient = there.gradient(found, counts)
            memory = dict(zip(names, known, strict=True))
            after = solver.learn(memory, gradient, number, layout)
            return [gradient * gradient, *(after[name] for name in names)]

        size, counts = (there.size,), (there.groups,)
        self._move = Unbound(moved, 2, [size, *shapes], there.device)
        self._learn = Unbound(learned, 1, [counts, (results,), *shapes], there.device)

    def taken(
        self, there: OnDevice, theta: np.ndarray, known: Mapping[str, Any], number: int,
        rates: Sequence[float], count: int,
    ) -> list[_Taken]:
        """Take `count` steps after the one of a number, at theta; 0: the first is at theta itself.

        known: what is remembered after that, on the host or on the device. rates: of that step, and
        of those that are taken.
        """  # fmt: skip
        xp = there.xp
        moves = [self._move.scalars(rate, number + k) for k, rate in enumerate(rates[:-1])]
        learns = [self._learn.scalars(number + 1 + k) for k in range(count)]
        at, counts, known, *scalars = _sent(
            [theta, there.counts], known, [*moves, *learns], there.device
        )
        thetas = xp.empty((count, self._size), np.float64)
        found = xp.empty((count, 1 + self._results), np.float64)
        each = []
        for k in range(count):
            if number + k:
                self._move(scalars[k], at, *known.values(), out={0: thetas[k]})
            else:
                xp.copyto(thetas[k], at)
            at, results = thetas[k], found[k, 1:]
            there.evaluate(at, results)
            squares, *after = self._learn(scalars[count + k], counts, results, *known.values())
            with np.errstate(over="ignore", invalid="ignore"):
                xp.sum(squares, out=found[k, :1].reshape(()))
            known = dict(zip(self._names, after, strict=True))
            each.append(known)
        numbers, thetas = put_together([found[:, : 1 + there.blocks], thetas], CPU)
        there.evaluated_at(thetas[-1])
        return [
            _Taken(theta.copy(), row[1:].copy(), float(row[0]), after)
            for theta, row, after in zip(thetas, numbers, each, strict=True)
        ]

    def end(
        self, there: OnDevice, theta: np.ndarray, known: Mapping[str, Any], number: int,
        rates: Sequence[float],
    ) -> np.ndarray:
        """Return where the step of a number ends, whose rate is the first."""
        move = self._move.scalars(rates[0], number)
        at, known, scalars = _sent([theta], known, [move], there.device)
        return put(self._move(scalars, at, *known.values())[0], CPU)


def _burst(solver: FirstOrder, layout: Layout, there: OnDevice) -> _Burst:
    """Return the steps of a solver, recorded once for an objective."""
    key = ("ahead", solver, there.blocks, there.groups)
    if key not in there.recorded:
        there.recorded[key] = _Burst(solver, layout, there)
    return there.recorded[key]


def _sent(
    arrays: Sequence[np.ndarray], known: Mapping[str, Any], rows: Sequence[Sequence[float]],
    device: Device,
) -> list[Any]:
    """Return arrays, what is remembered and rows of numbers on a device, in one copy."""
    away = {name: array for name, array in known.items() if isinstance(array, np.ndarray)}
    host = [*arrays, *away.values(), *(np.array(row, dtype=np.float64) for row in rows)]
    joined = np.concatenate([np.asarray(array, np.float64).reshape(-1) for array in host])
    there, ends = backend(device.type).from_host(joined, device.index), np.cumsum(
        [array.size for array in host]
    ).tolist()
    parts = [
        there[end - array.size : end].reshape(array.shape)
        for end, array in zip(ends, host, strict=True)
    ]
    first, last = len(arrays), len(arrays) + len(away)
    sent = {**known, **dict(zip(away, parts[first:last], strict=True))}
    return [*parts[:first], sent, *parts[last:]]
