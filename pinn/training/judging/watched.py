"""The objective as solvers see it in training: every evaluation is noted and checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np

from autograd.devices import namespace_of
from autograd.ranks import Ranks
from pinn.objective import Evaluation, Layout, Objective, OnDevice
from pinn.optimizers import Diverged


class Known(NamedTuple):
    """What is known of one theta: its loss, and each block's mean(v r^2)."""

    theta: np.ndarray
    loss: float
    losses: dict[str, float]


class TimeIsUp(Exception):
    """The time is up within a step."""


class Watched:
    """An objective (pinn.optimizers.LeastSquares) that remembers what was evaluated.

    Numbers that are not finite raise Diverged, which says where they come from. steps_ahead: how
    many steps a solver may take on a device before it tells of the first. place: has the objective
    at the points of the step that is taken, where it takes them ahead. look: is called before
    losses are evaluated, and may raise TimeIsUp. recording: the seconds that the first evaluation
    of each kind took, most of them for its programs.
    """

    def __init__(
        self,
        objective: Objective,
        steps_ahead: Callable[[], int] = lambda: 1,
        place: Callable[[], None] = lambda: None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._objective = objective
        self._steps_ahead = steps_ahead
        self._place = place
        self._look = look
        # Since the last accepted step: a line search tries several.
        self._tried: list[Known] = []
        self.recording = 0.0
        self._recorded: set[str] = set()

    @property
    def size(self) -> int:
        return self._objective.size

    @property
    def rows(self) -> int:
        return self._objective.rows

    @property
    def threads(self) -> int:
        return self._objective.threads

    @property
    def ranks(self) -> Ranks:
        return self._objective.ranks

    @property
    def dtype(self) -> np.dtype:
        return self._objective.dtype

    @property
    def is_linear(self) -> bool:
        with self._timed("linear"):
            return self._objective.is_linear

    @property
    def superposition(self) -> Any:
        return self._objective.superposition

    @property
    def layout(self) -> Layout:
        return self._objective.layout

    @property
    def on_device(self) -> OnDevice | None:
        return self._objective.on_device

    def steps_ahead(self) -> int:
        return self._steps_ahead()

    def told(self, theta: np.ndarray, totals: np.ndarray) -> float:
        losses = self._objective.on_device.losses(totals)
        loss = self._objective.total(losses)
        if math.isfinite(loss):
            self._tried.append(Known(theta, loss, losses))
        return loss

    def value(self, theta: np.ndarray) -> float:
        (loss,) = self.values([theta])
        return loss

    def values(self, thetas: Sequence[np.ndarray]) -> list[float]:
        self._look()
        with self._timed("values"):
            each = self._objective.losses_at(thetas)
        found = []
        for theta, losses in zip(thetas, each, strict=True):
            found.append(loss := self._objective.total(losses))
            if math.isfinite(loss):
                self._tried.append(Known(theta.copy(), loss, losses))
        return found

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        self._place()
        with self._timed("gradient"):
            found = self._objective.value_and_gradient(theta)
        self._check(theta, found.loss, found.gradient)
        self._tried.append(Known(theta.copy(), found.loss, found.losses))
        return found

    def hvp(self, theta: np.ndarray, direction: Any) -> Any:
        with self._timed("hvp"):
            product = self._objective.hvp(theta, direction)
        self._check(theta, product, otherwise="a second derivative of the loss is not finite")
        return product

    def weighted_rows(self, theta: np.ndarray) -> np.ndarray:
        (rows,) = self.rows_at([theta])
        return rows

    def rows_at(self, thetas: Sequence[np.ndarray]) -> list[np.ndarray]:
        with self._timed("rows"):
            found = self._objective.rows_at(thetas)
        for theta, rows in zip(thetas, found, strict=True):
            self._check(theta, rows)
        return found

    def jacobian(self, theta: np.ndarray, out: Any | None = None) -> tuple[Any, Any]:
        with self._timed("jacobian"):
            pair = self._objective.jacobian(theta, out)
        return self._checked_pair(theta, pair)

    def jacobian_chunks(
        self, theta: np.ndarray, rows: int | None = 1024
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        chunks = self._objective.jacobian_chunks(theta, rows)
        while True:
            with self._timed("chunks"):
                pair = next(chunks, None)
            if pair is None:
                return
            yield self._checked_pair(theta, pair)

    def gram(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._timed("gram"):
            pair = self._objective.gram(theta)
        return self._checked_pair(theta, pair)

    def kernel(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._timed("kernel"):
            pair = self._objective.kernel(theta)
        return self._checked_pair(theta, pair)

    def jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        with self._timed("jvp"):
            pushed = self._objective.jvp(theta, direction)
        self._check(theta, pushed)
        return pushed

    def second_jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        with self._timed("second_jvp"):
            pushed = self._objective.second_jvp(theta, direction)
        self._check(theta, pushed)
        return pushed

    def vjp(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        with self._timed("vjp"):
            pulled = self._objective.vjp(theta, rows)
        self._check(theta, pulled)
        return pulled

    def lower_than(self, start: Known) -> Known | None:
        """Return the lowest that was evaluated since the last step, if it is lower than a start.

        The start counts as it is at the present points, where it was evaluated there.
        """
        loss, lowest = start.loss, None
        for known in self._tried:
            if np.array_equal(known.theta, start.theta):
                loss = known.loss
            elif lowest is None or known.loss < lowest.loss:
                lowest = known
        return lowest if lowest is not None and lowest.loss < loss else None

    def find(self, theta: np.ndarray) -> Known:
        """Return what is known of a theta, which was most likely evaluated last."""
        for known in reversed(self._tried):
            if np.array_equal(known.theta, theta):
                return known
        self.value_and_gradient(theta)
        return self._tried[-1]

    def forget(self) -> None:
        """Drop what was noted: a step was accepted, or the points are other ones."""
        self._tried.clear()

    @contextmanager
    def _timed(self, kind: str) -> Iterator[None]:
        """Add the time of what is computed to `recording`, where it is the first of its kind."""
        if kind in self._recorded:
            yield
            return
        self._recorded.add(kind)
        began = self.ranks.clock()
        try:
            yield
        finally:
            self.recording += self.ranks.clock() - began

    def _checked_pair(self, theta: np.ndarray, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        self._check(theta, *pair)
        return pair

    def _check(
        self,
        theta: np.ndarray,
        *numbers: Any,
        otherwise: str = "a weighted sum over the blocks overflows",
    ) -> None:
        # Where they are: a device is asked for one answer.
        xp = np if isinstance(numbers[0], float) else namespace_of(numbers[0])
        if reduce(and_, (xp.isfinite(number).all() for number in numbers)):
            return
        raise Diverged(self._objective.not_finite(theta) or otherwise)
