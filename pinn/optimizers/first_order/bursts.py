"""Bursts: steps of first-order solvers on a device, taken before the host is told of any.

Within such a burst nothing is copied and nothing is waited for. At its end one copy brings home
what is told of its steps, each as if it had been taken by itself: so neither the length of a burst
nor where it is broken off changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd.devices import CPU, Device, backend, put, put_together
from pinn.objective import OnDevice
from pinn.optimizers.first_order.fixed_step import FixedStep, capacity
from pinn.optimizers.first_order.rules import AsWritten, Recorded, Rule

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


class Taken(NamedTuple):
    """A step that was taken: theta and the sums of squares there, and |gradient|^2.

    known: what the solver remembers after it, on the device.
    """

    theta: np.ndarray
    totals: np.ndarray
    square: float
    known: dict[str, Any]


class Burst:
    """The steps of a solver as they are taken on a device.

    begun: what is remembered before the first gradient, by name. moved: theta, what is remembered,
    the rate, the number of a step -> where it leads to. learned: what is remembered, a gradient,
    the number of a step -> what is remembered after it. recorded: whether both are recorded, with
    tensors, and not called as they are with arrays of the device.
    """

    def __init__(
        self, begun: Mapping[str, np.ndarray], moved: Callable, learned: Callable, there: OnDevice,
        recorded: bool,
    ) -> None:  # fmt: skip
        self._names, shapes = tuple(begun), [array.shape for array in begun.values()]
        self._shapes = {name: array.shape for name, array in begun.items()}
        self._blocks, self._step = there.blocks, None
        self._kept = sum(array.size for array in begun.values())

        def named(known: Sequence[Any]) -> dict[str, Any]:
            return dict(zip(self._names, known, strict=True))

        def move(rate: Any, number: Any, theta: Any, *known: Any) -> list[Any]:
            return [moved(theta, named(known), rate, number)]

        def learn(number: Any, counts: Any, results: Any, *known: Any) -> list[Any]:
            gradient = there.gradient(results, counts)
            after = learned(named(known), gradient, number)
            return [gradient * gradient, *(after[name] for name in self._names)]

        device, results = there.device, there.results
        self._move: Rule = AsWritten(move, device)
        self._learn: Rule = AsWritten(learn, device)
        if recorded:
            self._move = Recorded(move, 2, [(there.size,), *shapes], device)
            self._learn = Recorded(learn, 1, [(there.groups,), (results,), *shapes], device)

    def most(self, there: OnDevice) -> int:
        """Return how many steps may be taken at once."""
        kept = 8 * (1 + there.blocks + there.size + self._kept) + 4 * there.places
        return max(1, _MOST_BYTES // kept)

    def taken(
        self, there: OnDevice, theta: np.ndarray, known: Mapping[str, Any], number: int,
        rates: Sequence[float],
    ) -> list[Taken]:
        """Take the steps after the one of a number, at theta; after 0 the first is at theta itself.

        known: what is remembered after that, on the host or on the device. rates: of that step, and
        of each that is taken but the last.
        """  # fmt: skip
        count = len(rates)
        if self._step is None or not self._step.is_for(there, count):
            rows = capacity(count, self.most(there))
            self._step = FixedStep(self._move, self._learn, self._shapes, there, rows)
        step, first = self._step, 1 + self._blocks
        step.begin(there, theta, known, number, rates)
        step.take(there)
        rows = step.rows_of(count)
        told = there.home(rows[:, : step.told])
        there.evaluated_at(told[-1, first:])
        return [
            Taken(row[first:].copy(), row[1:first].copy(), float(row[0]), step.known(rows[k]))
            for k, row in enumerate(told)
        ]

    def end(
        self, there: OnDevice, theta: np.ndarray, known: Mapping[str, Any], number: int, rate: float
    ) -> np.ndarray:
        """Return where the step of a number leads to from theta."""
        move = self._move.scalars(rate, number)
        at, known, scalars = _sent([theta], known, [move], there.device)
        return put(self._move((rate, number), scalars, at, *known.values())[0], CPU)


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
