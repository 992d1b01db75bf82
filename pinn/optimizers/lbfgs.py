"""L-BFGS: quasi-Newton steps from the last few pairs of steps and gradient changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from pinn.objective import Layout, OnDevice
from pinn.optimizers.quasi_newton.base import Curvature, QuasiNewton
from pinn.optimizers.quasi_newton.pair_rows import DeviceRows, HostRows, PairRows
from pinn.optimizers.quasi_newton.vectors import inner
from pinn.schema import Count, NonNegative, Positive, declared

# A pair of less curvature than this share of |s| |y| is rounding, and is left out.
_LEAST_CURVATURE = np.finfo(np.float64).eps


@declared
class LBFGS(QuasiNewton):
    """Limited-memory BFGS with a strong Wolfe search, for any number of parameters.

    steps: most iterations; one takes one evaluation, now and then a few more. memory: pairs kept,
    each of two vectors. transform, gradient_tolerance, line_search, seconds, hold, and what happens
    where a search fails: as for SSBroyden. New points and weights keep the pairs. There is no
    tolerance on the decrease of the loss: PINN losses creep for long stretches and then fall again.
    Raises ValueError for a number outside its range or an unknown transform.

    Nocedal and Wright, Numerical Optimization, 2nd ed., section 7.2 (algorithms 7.4 and 7.5).
    """

    name = "lbfgs"

    steps: Count = 10_000
    memory: Count = 50
    transform: Literal["log", "sqrt", "value"] = "value"
    gradient_tolerance: NonNegative = 0.0
    line_search: Count = 30
    seconds: Positive | None = None
    hold: Count = 100

    def curvature(self, size: int, there: OnDevice | None) -> Curvature:
        return RecentPairs(size, self.memory, there)

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of the pairs."""
        return 2 * 8 * self.memory * layout.size


class RecentPairs(Curvature):
    """The H that BFGS makes of gamma I and the last `memory` pairs, gamma = y's / y'y of the last.

    The pairs are rows of two arrays (memory, size), written in turn: the oldest is overwritten.
    """

    names = ("pair_steps", "pair_changes", "pair_inverses", "gamma", "taken")

    def __init__(self, size: int, memory: int, there: OnDevice | None = None) -> None:
        self._rows: PairRows = (
            HostRows(size, memory) if there is None else DeviceRows(size, memory, there)
        )
        self._shape = memory, size
        # 1 / y's of each, by row.
        self._inverses = np.zeros(memory)
        self._gamma = 1.0
        # The number of pairs taken; the next one goes to row `taken` modulo memory.
        self._taken = 0
        self._version = 0

    @property
    def version(self) -> int:
        return self._version

    def direction(self, gradient: Any) -> tuple[Any, float]:
        memory, _ = self._shape
        rows = [k % memory for k in range(max(0, self._taken - memory), self._taken)]
        return self._rows.direction(gradient, rows, self._inverses, self._gamma)

    def begin(self, s: Any, y: Any) -> bool:
        self._version += 1
        self._taken = 0
        return self._take(s, y)

    def learn(self, s: Any, y: Any, sbs: float) -> None:
        self._version += 1
        self._take(s, y)

    def _take(self, s: Any, y: Any) -> bool:
        ys, yy, ss = inner((y, s), (y, y), (s, s))
        if not ys > _LEAST_CURVATURE * math.sqrt(ss) * math.sqrt(yy):
            return False
        if not (math.isfinite(1 / ys) and math.isfinite(ys / yy)):
            return False
        row = self._taken % len(self._inverses)
        self._rows.write(row, s, y)
        self._inverses[row] = 1 / ys
        self._gamma = ys / yy
        self._taken += 1
        return True

    def is_positive_definite(self) -> bool:
        return True  # every pair that was taken has y's > 0

    def array(self, name: str) -> np.ndarray:
        if name in self._small:
            return np.array(self._small[name])
        return np.array(self._rows.on_host()[self.names.index(name)])

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        shapes = {"pair_steps": self._shape, "pair_changes": self._shape}
        for name in self.names:
            expected = shapes.get(name, np.shape(self._small.get(name)))
            if np.shape(arrays[name]) != expected:
                raise ValueError(
                    f"lbfgs: expected {name} of shape {expected}, got {np.shape(arrays[name])}: "
                    "the state is that of another network or `memory`"
                )
        self._rows.fill(arrays["pair_steps"], arrays["pair_changes"])
        self._recall(arrays)

    def copy(self, other: Curvature) -> bool:
        same = isinstance(other, RecentPairs) and self._rows.copy(other._rows)
        if same:
            self._recall(other._small)
        return same

    @property
    def _small(self) -> dict[str, Any]:
        """What is kept of the pairs beside them, on the host."""
        held = (self._inverses, self._gamma, self._taken)
        return dict(zip(self.names[2:], held, strict=True))

    def _recall(self, small: Mapping[str, Any]) -> None:
        self._version += 1
        self._inverses[...] = small["pair_inverses"]
        self._gamma, self._taken = float(small["gamma"]), int(small["taken"])
