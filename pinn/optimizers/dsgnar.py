"""DSGNAR: Gauss-Newton on a sketch from both sides, in a trust region sized by its gain ratio."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

import numpy as np

from autograd.devices import CPU, put
from pinn.objective import Layout
from pinn.optimizers.device_sketch import CosineSketchThere, CountSketchThere
from pinn.optimizers.least_squares.jacobian_checks import (
    check_memory,
    doubt_few_rows,
    doubt_precision,
)
from pinn.optimizers.least_squares.sketch import CosineSketch, CountSketch
from pinn.optimizers.least_squares.trust_region import TrustRegion
from pinn.optimizers.least_squares.workspace import Workspace, place_of
from pinn.optimizers.solver import LeastSquares, Redraws, Stage, StageEnd, Step, StopReason
from pinn.sampling import stream
from pinn.schema import Count, Natural, Positive, declared

# Radii from a third of the last one to three times it.
_SPAN = 3.0
# Rows of the Jacobian that are there at a time.
_PART = 1024
# A radius below which a step is lost in the rounding of the loss, by precision.
_LEAST_RADIUS = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
# The first stage ends where the shift has begun to rise again: over so many steps, not before ...
_WINDOW, _GRACE = 30, 80
# ... and with at least this slope of its logarithm over the steps, and this correlation with them.
_SLOPE, _CORRELATION = 1e-4, 0.1
_SHORTER = 0.1


@declared
class DSGNAR(Stage):
    """Doubly sketched Gauss-Newton: trust-region steps whose radius aims at a ratio of gains.

    steps: most steps. columns: columns of the sketch, as a share of the trainable numbers; rows:
    its rows, as a multiple of its columns; at most as many as there are. hashes: sums that each row
    takes part in. radius: that of the first step. radii: how many are tried in a step.
    first_ratio, last_ratio: the ratio of the actual to the predicted decrease of the loss that
    radii aim at in the first stage and in the second. seed: of the sketches, which each step draws
    anew. redraw: steps after which points are drawn anew, at once where they are overfitted, or
    "never"; None for as the sampling says. seconds: limit of the stage's wall time, None for none.

    J is sketched to C J Omega, C a sum of rows with random signs, added up over parts of the points
    (the host never holds the whole J; a GPU does, and leaves it there), Omega a subsampled cosine
    transform, and the step is Omega p, where p minimises |C (J Omega p + r)|^2 for |p| <= radius:
    one singular value decomposition serves all radii, in geometric sequence from a third of the
    last to three times it. Their ratios, clipped to [-1, 1] and made monotone by a running minimum,
    are joined by a monotone cubic in the logarithm of the radius, and the radius taken is the
    largest one where that reaches the ratio aimed at. A step that does not lower the loss is not
    taken, and another sketch follows with a third of the radius. The second stage begins where the
    shift that belongs to the radius has risen over 30 steps, not before the 80th: the sketch has
    become the worse model. The stage ends where the radius falls below 1e-8, in float32 below 1e-4.

    Weights that make all blocks' losses equal go with it: pinn.objective.weighting.EqualLosses.
    Raises ValueError for a number outside its range, and where the sketch would take too much
    memory. arXiv 2607.02194.
    """

    name = "dsgnar"
    takes_jacobian = True

    steps: Count = 1000
    columns: Positive = 0.5
    rows: Positive = 2.0
    hashes: Count = 4
    radius: Positive = 1.0
    radii: Count = 24
    first_ratio: Positive = 0.075
    last_ratio: Positive = 0.5
    seed: Natural = 0
    redraw: Redraws = 20
    seconds: Positive | None = None

    def working_bytes(self, function: LeastSquares) -> int:
        """Return the bytes of the sketch and of the Jacobian, as far as that is there at once."""
        size, rows = function.size, function.rows
        columns = min(size, math.ceil(self.columns * size))
        sketched = min(rows, math.ceil(self.rows * columns))
        held = sketched * (size + 3 * columns)
        # a part of J there at a time, or all of it and Omega
        on_host = place_of(function) == CPU
        held += min(_PART, rows) * size if on_host else size * (rows + columns)
        return 8 * held

    def algebra_flops(self, function: LeastSquares) -> int:
        """Return the operations of the singular values of the sketch."""
        columns = min(function.size, math.ceil(self.columns * function.size))
        sketched = min(function.rows, math.ceil(self.rows * columns))
        return 4 * sketched * columns**2 + 22 * columns**3

    def check(self, function: LeastSquares) -> list[str]:
        """Raise ValueError for a sketch beyond the memory; doubt few rows and float32."""
        check_memory(self.name, function, self.working_bytes(function), "its sketch")
        return [*doubt_few_rows(self.name, function), *doubt_precision(self.name, function)]

    def run(
        self,
        function: LeastSquares,
        theta: np.ndarray,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Generator[Step, None, StageEnd]:
        memory = _Memory(self.radius) if state is None else _Memory.of(state)
        workspace = Workspace.of(function)
        loss, least = function.value(theta), _LEAST_RADIUS[np.dtype(function.dtype)]
        while memory.number < self.steps:
            if memory.radius < least:
                return StageEnd(theta, StopReason.NO_DECREASE, (
                    f"after {memory.number} steps none down to a length of {least:.0e} "
                    "lowers the loss"
                ))  # fmt: skip
            memory.drawn += 1
            model = _Model(self, function, theta, loss, memory.drawn, workspace)
            aim = self.last_ratio if memory.late else self.first_ratio
            radius = model.radius(memory.radius, aim)
            shift = model.region.shift(radius)
            end, lower = model.end(shift)
            if not lower < loss:
                memory.radius = min(radius, memory.radius) / _SPAN
                continue
            theta, loss = end, lower
            memory.learn(radius, shift)
            yield Step(memory.number, theta, loss, state=memory.arrays())
        return StageEnd(theta, StopReason.STEPS, f"all {self.steps} steps done")

    def state_bytes(self, layout: Layout) -> int:
        """Return the bytes of some numbers."""
        return 8 * (_WINDOW + 4)

    def slower(
        self, number: int, state: Mapping[str, np.ndarray], tries: int
    ) -> Mapping[str, np.ndarray]:
        """Return the state with a radius a tenth of the try before, and other sketches."""
        memory = _Memory.of(state)
        memory.radius *= _SHORTER**tries
        return memory.arrays()

    def sketches(self, rows: int, size: int, number: int) -> tuple[CountSketch, CosineSketch]:
        """Return C and Omega of a number, for a Jacobian (rows, size)."""
        rng = stream(self.seed, "dsgnar", str(number))
        columns = min(size, math.ceil(self.columns * size))
        omega = CosineSketch(size, columns, rng)
        return CountSketch(rows, math.ceil(self.rows * columns), self.hashes, rng), omega


class _Model:
    """The sketched least-squares problem at one theta, and the loss where its minimisers lead."""

    def __init__(
        self, stage: DSGNAR, function: LeastSquares, theta: np.ndarray, loss: float, number: int,
        workspace: Workspace,
    ) -> None:  # fmt: skip
        count, omega = stage.sketches(function.rows, function.size, number)
        self._omega: CosineSketch | CosineSketchThere = omega
        if workspace.device == CPU:
            rows, jacobian = np.zeros(count.sketched), np.zeros((count.sketched, function.size))
            start = 0
            for residual, part in function.jacobian_chunks(theta, _PART):
                rows += count.part(start, residual)
                jacobian += count.part(start, part)
                start += len(residual)
        else:
            memory = workspace.array("jacobian", function.rows, function.size)
            there = CountSketchThere(count, workspace.device)
            rows, jacobian = map(there.of, function.jacobian(theta, memory))
            self._omega = CosineSketchThere(omega, workspace.device)
        self.region = TrustRegion(self._omega.columns(jacobian), rows)
        self._function, self._theta, self._loss = function, theta, loss
        self._radii = stage.radii

    def end(self, shift: float) -> tuple[np.ndarray, float]:
        """Return theta after the step of a shift, and the loss there."""
        theta = self._theta + put(self._omega.back(self.region.step(shift)), CPU)
        return theta, self._function.value(theta)

    def gain_ratio(self, radius: float) -> float:
        """Return actual over predicted decrease of the loss, in [-1, 1]; -1 where not finite."""
        shift = self.region.shift(radius)
        predicted = self.region.predicted(shift)
        actual = self._loss - self.end(shift)[1]
        if not (math.isfinite(actual) and predicted > 0):
            return -1.0
        return min(1.0, max(-1.0, actual / predicted))

    def radius(self, last: float, aim: float) -> float:
        """Return the largest radius about the last one whose smoothed ratio reaches the aim.

        The ends of the range where all radii reach it, or none.
        """
        radii = np.geomspace(last / _SPAN, last * _SPAN, self._radii)
        ratios: list[float] = []
        for radius in radii:
            ratios.append(min([self.gain_ratio(radius), *ratios[-1:]]))
            # The cubic below the aim takes its slope from two radii there; the rest is not needed.
            if len(ratios) > 2 and ratios[-2] < aim:
                break
        return last_reaching(radii[: len(ratios)], np.array(ratios), aim)


def last_reaching(radii: np.ndarray, ratios: np.ndarray, aim: float) -> float:
    """Return the largest radius at which the monotone cubic through the ratios reaches an aim.

    radii: (n,) rising; ratios: (n,) not rising, joined in the logarithm of the radius (PCHIP,
    Fritsch and Butland 1984). The smallest radius where none does, the largest where all do.
    """
    from scipy.interpolate import PchipInterpolator
    from scipy.optimize import brentq

    reach = int(np.sum(ratios >= aim))
    if reach in (0, len(radii)):
        return float(radii[max(0, reach - 1)])
    logs = np.log(radii)
    cubic = PchipInterpolator(logs, ratios)
    return float(np.exp(brentq(lambda log: cubic(log) - aim, logs[reach - 1], logs[reach])))


@dataclass
class _Memory:
    """What goes from step to step; drawn counts the sketches, shifts are logarithms."""

    radius: float
    number: int = 0
    drawn: int = 0
    late: bool = False
    shifts: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, state: Mapping[str, np.ndarray]) -> _Memory:
        return cls(
            float(state["radius"]), int(state["number"]), int(state["drawn"]),
            bool(state["late"]), np.array(state["shifts"]),
        )  # fmt: skip

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "radius": np.array(self.radius),
            "number": np.array(self.number),
            "drawn": np.array(self.drawn),
            "late": np.array(self.late),
            "shifts": self.shifts,
        }

    def learn(self, radius: float, shift: float) -> None:
        """Take note of a step."""
        self.number += 1
        self.radius = radius
        log = math.log(max(shift, np.finfo(np.float64).tiny))
        self.shifts = np.append(self.shifts, log)[-_WINDOW:]
        self.late = self.late or (self.number >= _GRACE and rises(self.shifts))


def rises(numbers: np.ndarray) -> bool:
    """Return whether numbers rise: the slope of a line through them, and their correlation."""
    steps = np.arange(len(numbers)) - (len(numbers) - 1) / 2
    centred = numbers - numbers.mean()
    product, own = float(steps @ centred), float(np.linalg.norm(centred))
    length = float(np.linalg.norm(steps))
    return own > 0 and product > _SLOPE * length**2 and product > _CORRELATION * length * own
