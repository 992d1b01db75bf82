"""A step of a burst in memory that stays, so that it can be one CUDA graph.

A graph has addresses. So what a step reads and writes has places, and what is told and remembered
of it goes to a row of one array, whose number stands on the device and is raised by each step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograd.devices import backend, put
from autograd.plan.captured import captured
from autograd.plan.lanes.cuda.transfers import add_up, copy, copy_to_rows, next_row
from pinn.objective import OnDevice
from pinn.optimizers.first_order.rules import Rule

# Steps of a burst, in places for the power of two from here that holds them.
_LEAST_ROWS = 64
# Steps still to be taken for which a graph is captured, which takes about as long as one of them.
_WORTH_IT = 2


def capacity(count: int, most: int) -> int:
    """Return for how many steps places are made, where so many are wanted."""
    return max(count, min(most, max(_LEAST_ROWS, 1 << (count - 1).bit_length())))


class FixedStep:
    """A step: theta moves, the loss is found there, and its gradient is learnt from.

    move, learn: as Burst has them. shapes: of what is remembered, by name. rows: how many
    steps may be taken from `begin`. Each is told in a row of `width` numbers: |gradient|^2, the
    sums of squares and theta, `told` in all, and what is remembered. Where a step takes a batch,
    its points are gathered by a row of places, which are sent for all steps at once.
    """

    def __init__(
        self, move: Rule, learn: Rule, shapes: Mapping[str, tuple[int, ...]],
        there: OnDevice, rows: int,
    ) -> None:  # fmt: skip
        xp = self._xp = there.xp
        self._move, self._learn, self._device = move, learn, there.device
        self.rows = rows
        self._places_of = xp.empty((rows, there.places), np.int32)
        self.told = self.width = 1 + there.blocks + there.size
        self._places = {}
        for name, shape in shapes.items():
            self._places[name] = slice(self.width, self.width + math.prod(shape))
            self.width += math.prod(shape)
        self._row = xp.zeros(1, np.int64)
        self._told = xp.empty((rows + 1, self.width), np.float64)
        numbers = max(1, move.count + learn.count)
        self._numbers = xp.empty((rows, numbers), np.float64)
        self._own_numbers = xp.empty(numbers, np.float64)
        self._at, self._theta = (xp.empty(there.size, np.float64) for _ in range(2))
        self._counts = xp.empty(there.groups, np.float64)
        self._results = xp.empty(there.results, np.float64)
        self._totals = self._results[: there.blocks]
        self._squares, self._square = xp.empty(there.size, np.float64), xp.empty(1, np.float64)
        self._known = {name: xp.empty(shape, np.float64) for name, shape in shapes.items()}
        self._after = {name: xp.empty(shape, np.float64) for name, shape in shapes.items()}
        self._kept: tuple[dict, dict] = {}, {}
        self._steps: list[tuple[float, int]] = []
        self._graph: Any | None = None
        # The calls that the graph was captured with, or that it was tried with.
        self._held: tuple | None = None
        self._worth_trying = False

    def is_for(self, there: OnDevice, count: int) -> bool:
        """Whether it has places for so many steps of an objective like the one it was made for."""
        return self.rows >= count and self._places_of.shape[1] == there.places

    def begin(
        self, there: OnDevice, theta: np.ndarray, known: Mapping[str, Any], number: int,
        rates: Sequence[float],
    ) -> None:  # fmt: skip
        """Have the steps after the one of a number start from theta and what is remembered.

        known: on the host or there. rates: of that step, and of each to be taken but the last.
        """
        self._steps = [(rate, number + k) for k, rate in enumerate(rates)]
        numbers = [
            [*self._move.scalars(*step), *self._learn.scalars(step[1] + 1)] for step in self._steps
        ]
        there.evaluated_at(None)
        held = there.held()
        if held is None or self._held is None or any(
            a is not b for a, b in zip(held, self._held, strict=True)
        ):  # fmt: skip
            self._graph, self._held = None, held
            self._worth_trying = (
                held is not None and self._move.is_launches and self._learn.is_launches
            )
        away = {name: array for name, array in known.items() if isinstance(array, np.ndarray)}
        to = [self._at, self._counts, self._numbers[: len(numbers)].reshape(-1)]
        to += [self._known[name] for name in away]
        host = [theta, there.counts, np.array(numbers, np.float64), *away.values()]
        host = [np.asarray(array, np.float64).reshape(-1) for array in host]
        sent = backend(self._device.type).from_host(np.concatenate(host), self._device.index)
        ends = np.cumsum([array.size for array in host]).tolist()
        pairs = [
            (sent[end - array.size : end], place)
            for array, end, place in zip(host, ends, to, strict=True) if array.size
        ]
        pairs += [(array, self._known[name]) for name, array in known.items() if name not in away]
        if there.places:
            places = put(there.places_of(len(rates)).reshape(-1), self._device)
            pairs.append((places, self._places_of.reshape(-1)))
        self._row.fill(0)
        copy(self._xp, pairs)

    def take(self, there: OnDevice) -> None:
        """Take the steps; that after 0 is at theta itself, and all others move it."""
        for k, step in enumerate(self._steps):
            if self._graph is not None and step[1]:
                self._graph.launch()
                continue
            self._step(there, *step)
            # what has just been launched is loaded, and all of its memory is there
            if self._worth_trying and step[1] and len(self._steps) - k > _WORTH_IT:
                self._graph = captured(partial(self._step, there, *step), self._xp)
                self._worth_trying = False

    def _step(self, there: OnDevice, rate: float, number: int) -> None:
        """Take the step after the one of a number; the rate and it may be those of another one.

        What is recorded reads them on the device.
        """
        xp, numbers, own = self._xp, self._own_numbers, self._known.values()
        if there.places:
            there.gather(self._places_of, self._row)
        next_row(xp, self._numbers, self._row, numbers)
        if number:
            given = (rate, number), numbers, self._at, *own
            self._move(*given, out={0: self._theta}, kept=self._kept[0])
        else:
            copy(xp, [(self._at, self._theta)])
        there.evaluate(self._theta, self._results, self._held)
        out = dict(enumerate([self._squares, *self._after.values()]))
        given = (number + 1,), numbers[self._move.count :], self._counts, self._results, *own
        self._learn(*given, out=out, kept=self._kept[1])
        add_up(xp, self._squares, self._square)
        told = [self._square, self._totals, self._theta, *self._after.values()]
        ends = np.cumsum([array.size for array in told]).tolist()
        into = [
            (array, self._told[0, end - array.size : end], self.width)
            for array, end in zip(told, ends, strict=True) if array.size
        ]
        back = [(self._theta, self._at, 0), *(
            (array, self._known[name], 0) for name, array in self._after.items() if array.size
        )]  # fmt: skip
        copy_to_rows(xp, into + back, self._row)

    def rows_of(self, count: int) -> Any:
        """Return what was told of the steps taken so far, (count, width): a new array."""
        return self._told[1 : 1 + count].copy()

    def known(self, row: Any) -> dict[str, Any]:
        """Return what is remembered of a step, as views of its row."""
        return {
            name: row[place].reshape(self._known[name].shape)
            for name, place in self._places.items()
        }
