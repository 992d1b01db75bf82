"""loss(theta), its gradient, Jacobian and products, over all residual blocks of a problem."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import autograd as T
from autograd.devices import CPU, as_device, device_of, namespace_of, put, use
from autograd.plan.chunks import Cost
from autograd.plan.lanes.cuda.transfers import copy
from autograd.ranks import ALONE, Ranks
from autograd.threads import workers
from pinn.checks import nearest
from pinn.objective.block import Block
from pinn.objective.block_weights import check_weights
from pinn.objective.computations import Computations
from pinn.objective.engines import RecordedEngine, Work, make_engine
from pinn.objective.evaluator import Derivatives, Evaluator
from pinn.objective.flat_parameters import FlatParameters, fill
from pinn.objective.gathered import Gathered
from pinn.objective.group import Group, Placed, sharing
from pinn.objective.layout import Layout
from pinn.objective.locating import why_gradient_not_finite, why_not_finite
from pinn.objective.on_device import OnDevice
from pinn.problem.problem import Problem
from pinn.residuals import Residual
from pinn.sampling import Points

# By so many rows of a block, and a second difference of no more than this share, rows are linear.
_SOME_ROWS, _LINEAR = 256, 1e-11

MOST_STEPS_AHEAD = 100
"""Steps that a solver takes on a device, at most, before it tells of them."""

GivenPoints = Mapping[str, Points | np.ndarray]

Batches = Callable[[int], Mapping[str, np.ndarray]]
"""k -> the rows that the step after k others takes of those blocks that do not take all, by name.

Blocks that share their points share their rows; each step takes as many as the others.
"""


class Evaluation(NamedTuple):
    """The objective at one theta: loss, its gradient (float64), and each block's loss."""

    loss: float
    gradient: np.ndarray
    losses: dict[str, float]


class Objective:
    """loss(theta) = sum over blocks of weight * mean(v * residual^2), and its derivatives.

    points: block name -> Points, or an array (n, d) where nothing is attached, one for each
    residual of the problem. weights: block name -> number >= 0, 1 where left out; v, the weights of
    a block's rows, are 1 unless set_weights gives others. theta is a float64 vector of `size`
    numbers: the model's parameters and the raw coefficients of the problem (see FlatParameters).
    Evaluating sets the model to theta.

    Blocks at equal points are evaluated together (`groups`): one sweep through the network gives
    the derivatives that all of them ask for.

    engine: "recorded" traces each computation once and replays it in chunks on `threads` threads
    (None: all cores), with the same bits for any number of them; "eager" runs it as written.
    executor: what replays, "auto" as of autograd.plan; "numpy" has nothing to compile, which pays
    where a computation runs a few times. ranks: processes that share the work over points, all of
    which call every method with the same arguments, and get the same bits.
    derivatives: "jets" (one Taylor-mode sweep) or "nested" (reverse mode again and again). given:
    tensors of the model that are not trained and may be written to, which are read anew each time;
    to write to others means to record again.

    The weighted residual vector that the Jacobian belongs to has the rows
    sqrt(weight * v / n) * r, block after block in the order of `blocks`: loss = |rows|^2 and the
    gradient is 2 J^T rows.

    Raises ValueError, naming the block, for missing or misshapen points, an unknown or negative
    weight, a residual that does not depend on theta or is not one number a point.
    """

    def __init__(
        self,
        problem: Problem,
        parameters: FlatParameters,
        points: GivenPoints,
        weights: Mapping[str, float] | None = None,
        *,
        dtype: T.dtype,
        device: str = "cpu",
        engine: str = "recorded",
        derivatives: Derivatives = "jets",
        threads: int | None = None,
        executor: str = "auto",
        ranks: Ranks = ALONE,
        given: Sequence[T.Tensor] = (),
    ) -> None:
        self.problem = problem
        self.parameters = parameters
        weights = check_weights(problem, weights)
        self._evaluator = Evaluator(problem, parameters, derivatives, dtype, device)
        self.blocks = [
            Block(
                number, residual, self._evaluator, _check_points(problem, residual, points),
                weights[residual.name],
            )
            for number, residual in enumerate(problem.residuals)
        ]
        self._known_groups: dict[tuple[str, ...], Group] = {}
        self._place_blocks()
        self._vector = T.zeros(parameters.size, dtype=dtype, device=device)
        self._seeds = T.zeros(len(self.blocks), dtype=dtype, device=device)
        self._filled: list[float] | None = None
        self._on_device: OnDevice | None = None
        self._recorded: dict[Hashable, Any] = {}
        self._batches: Batches | None = None
        # Where the rows of a batch are on the device, by the names of a group's blocks.
        self._gathered: dict[tuple[str, ...], Gathered] = {}
        self._computations = Computations(parameters.tensors, self._vector, self._seeds, given)
        self._threads = threads or workers()
        self._how = {
            "dtype": dtype, "device": device, "engine": engine, "derivatives": derivatives,
            "threads": threads, "executor": executor, "ranks": ranks, "given": given,
        }  # fmt: skip
        self._engine = make_engine(
            engine, self._computations.shared, threads, self._training_flags, executor, ranks,
            steady=len(given),
        )  # fmt: skip
        self.ranks = ranks
        # What solvers may take its Jacobian from: optimizers.solver.Superposition.
        self.superposition: Any = None

    def with_finer_sums(self) -> Objective:
        """Return the objective of the problem with finer sums, at the same parameters and points.

        See Problem.with_finer_sums; itself where no block has a sum over nodes.
        """
        problem = self.problem.with_finer_sums
        if problem is self.problem:
            return self
        points = {block.name: block.points for block in self.blocks}
        return Objective(problem, self.parameters, points, self.weights, **self._how)

    # ---- points and weights

    def set_points(self, points: GivenPoints) -> None:
        """Take other points for all blocks, where every row weighs 1.

        Raises ValueError, naming the block, for misshapen ones.
        """
        problem = self.problem
        checked = [_check_points(problem, block.residual, points) for block in self.blocks]
        for block, taken in zip(self.blocks, checked, strict=True):
            block.place(taken)
        self._place_blocks()

    def set_weights(
        self, weights: Mapping[str, float], rows: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Take other weights, 1 for blocks and rows that are left out.

        rows: block name -> v, (n,) numbers >= 0, for the rows of its residual. Nothing is recorded
        anew for another number. Raises ValueError for a name that is no block, with the nearest
        one, and for weights that are negative, not finite or misshapen.
        """
        blocks = {block.name: block for block in self.blocks}
        for name in rows or {}:
            if name not in blocks:
                raise ValueError(
                    f"row weights: expected one of the blocks {', '.join(blocks)}, got {name!r}"
                    f"{nearest(name, blocks)}"
                )
        checked = {n: blocks[n].checked_row_weights(v) for n, v in (rows or {}).items()}
        for name, weight in check_weights(self.problem, weights).items():
            blocks[name].weight = weight
            blocks[name].weigh_rows(checked.get(name))
        self._on_device = None

    def set_batches(self, batches: Batches | None) -> None:
        """Have each step on a device (`on_device`) take a part of the points; None: all of them.

        All else is of all points. They stay on the device: rows are gathered there.
        """
        self._batches, self._on_device = batches, None

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each block by name."""
        return {block.name: block.weight for block in self.blocks}

    @property
    def row_weights(self) -> dict[str, np.ndarray]:
        """The weights of the rows of those blocks that have them, by name."""
        return {b.name: b.row_weights for b in self.blocks if b.row_weights is not None}

    @property
    def groups(self) -> list[Group]:
        """Which blocks are evaluated together."""
        return [placed.group for placed in self._placed]

    @property
    def size(self) -> int:
        """The number of trainable numbers."""
        return self.parameters.size

    @property
    def layout(self) -> Layout:
        """What the trainable numbers are: tensors of networks, and coefficients."""
        return self.parameters.layout

    @property
    def rows(self) -> int:
        """The number of residual rows of all blocks."""
        return sum(block.rows for block in self.blocks)

    @property
    def threads(self) -> int:
        """How many threads evaluate it."""
        return self._threads

    @property
    def dtype(self) -> T.dtype:
        """The dtype that residuals are computed in."""
        return self._evaluator.dtype

    @property
    def theta(self) -> np.ndarray:
        """A copy of the current vector, float64."""
        return self.parameters.theta

    # ---- values and gradients

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        """Return the loss, its gradient (size,) float64, and each block's mean(v * r^2).

        Numbers that are not finite are returned as they are.
        """
        self.parameters.load(theta)
        self._fill_seeds()
        gradient, losses = np.zeros(self.size), {}
        # Overflow shows as a loss that is not finite, which training reports with the block's name.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for placed, (*totals, slope) in self._run_all("gradient"):
                losses |= _losses(placed, totals)
                gradient += slope.astype(np.float64) / len(placed.points)
            loss = sum(block.weight * losses[block.name] for block in self.blocks)
        return Evaluation(loss, gradient, {block.name: losses[block.name] for block in self.blocks})

    @property
    def on_device(self) -> OnDevice | None:
        """The loss and its gradient at a theta that stays on the device.

        Another one for other points, weights or batches. None on the host, and where nothing is
        recorded.
        """
        device, engine = as_device(self._how["device"]), self._engine
        if device == CPU or not isinstance(engine, RecordedEngine):
            return None
        use(device)  # by whoever asks for it, who goes on there
        if self._on_device is None:
            self._fill_seeds()
            works = [self._work("gradient", one, _row_weights(one)) for one in self._placed]
            gathered = self._gathered_of(works)
            works = [
                replace(work, arrays=gathered[k].arrays) if k in gathered else work
                for k, work in enumerate(works)
            ]
            self._on_device = OnDevice(
                self.parameters, device, self._placed, lambda: engine.run_all_there(works),
                lambda: engine.held(works), self._recorded, self.ranks, gathered,
                self._rows_of_groups,
            )  # fmt: skip
        return self._on_device

    def _rows_of_groups(self, k: int) -> dict[int, np.ndarray]:
        """Return what those groups that do not take all rows take in the step after k others."""
        rows = {} if self._batches is None else self._batches(k)
        firsts = (placed.group.key[0] for placed in self._placed)
        return {number: rows[name] for number, name in enumerate(firsts) if name in rows}

    def _gathered_of(self, works: Sequence[Work]) -> dict[int, Gathered]:
        """Return where rows are gathered for these groups: in the same memory for the same arrays.

        So a graph of a step lives on where other weights are all that is new.
        """
        found = {}
        for number, rows in self._rows_of_groups(0).items():
            key, arrays = self._placed[number].group.key, works[number].arrays
            known = self._gathered.get(key)
            if known is None or not known.is_of(arrays, len(rows)):
                known = self._gathered[key] = Gathered(arrays, len(rows))
            found[number] = known
        return found

    def steps_ahead(self) -> int:
        """Return how many steps a solver may take on a device before it tells of the first."""
        return MOST_STEPS_AHEAD

    def told(self, theta: np.ndarray, totals: np.ndarray) -> float:
        """Return the loss at theta, of the sums of squares that `on_device` has found there."""
        return self.total(self.on_device.losses(totals))

    def hvp(self, theta: np.ndarray, direction: Any) -> Any:
        """Return the loss's Hessian times v, (size,) float64, for v of shape (size,).

        Exact, second derivatives of the residuals included; it takes about 2.5 gradients. v may be
        an array of the device of `on_device`, where there is one: the product is there then.
        """
        direction = self._aim(theta, direction)
        self._fill_seeds()
        product = namespace_of(direction).zeros(self.size, np.float64)
        there = not isinstance(direction, np.ndarray)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for placed, (part,) in self._run_all("hvp", there):
                product += part.astype(np.float64) / len(placed.points)
        if there:
            self.ranks.settle()  # before a solver copies what it makes of it
        return product

    def value(self, theta: np.ndarray) -> float:
        """Return the loss alone: a forward evaluation, for line searches."""
        return self.total(self.losses(theta))

    def total(self, losses: Mapping[str, float]) -> float:
        """Return the loss of what `losses` returns: the weighted sum over the blocks."""
        with np.errstate(over="ignore", invalid="ignore"):
            return sum(block.weight * losses[block.name] for block in self.blocks)

    def values(self, thetas: Sequence[np.ndarray]) -> list[float]:
        """Return the loss at each of several thetas; a device is waited for once."""
        return [self.total(losses) for losses in self.losses_at(thetas)]

    def losses(self, theta: np.ndarray) -> dict[str, float]:
        """Return each block's mean(v * r^2) by name: a forward evaluation."""
        (found,) = self.losses_at([theta])
        return found

    def losses_at(self, thetas: Sequence[np.ndarray]) -> list[dict[str, float]]:
        """Return the same for each of several thetas; a device is waited for once."""
        works, found = self._works("squares"), []
        for each in self._at_each(thetas, works):
            losses = {}
            for placed, totals in zip(self._placed, each, strict=True):
                losses |= _losses(placed, totals)
            found.append({block.name: losses[block.name] for block in self.blocks})
        return found

    def gradients(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Return the gradient of each block's mean(v * r^2), (size,) float64, by name."""
        self.parameters.load(theta)
        found = {}
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for placed, slopes in self._run_all("gradients"):
                for block, slope in zip(placed.blocks, slopes, strict=True):
                    found[block.name] = slope.astype(np.float64) / block.rows
        return {block.name: found[block.name] for block in self.blocks}

    def residuals(
        self, theta: np.ndarray, points: GivenPoints | None = None
    ) -> dict[str, np.ndarray]:
        """Return each block's residual, shape (n,) in the model's precision, by name.

        points: other points (n, d) for some blocks, whose residuals alone are then returned; the
        blocks keep their own.
        """
        self.parameters.load(theta)
        asked, everywhere = self.blocks, self._placed
        if points is not None:
            asked = [block for block in self.blocks if block.name in points]
            everywhere = self._place(
                (block, _check_points(self.problem, block.residual, points)) for block in asked
            )
        found = self._rows("residuals", everywhere)
        return {block.name: found[block.name] for block in asked}

    # ---- least squares

    @property
    def is_linear(self) -> bool:
        """Whether the rows are linear in theta, as far as some rows of each block tell.

        Their second difference vanishes then along a random line.
        """
        along = np.random.default_rng(0).standard_normal(self.size)
        works = [self._work("residuals", _some_of(placed)) for placed in self._placed]
        none, once, twice = (
            [rows for found in each for rows in found]
            for each in self._at_each([0.0 * along, along, 2.0 * along], works)
        )
        return all(
            np.abs(c - 2 * b + a).max(initial=0.0) <= _LINEAR * np.abs(c - a).max(initial=0.0)
            for a, b, c in zip(none, once, twice, strict=True)
        )

    def weighted_rows(self, theta: np.ndarray) -> np.ndarray:
        """Return the weighted residual vector, (rows,) float64: loss = |rows|^2."""
        (found,) = self.rows_at([theta])
        return found

    def rows_at(self, thetas: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the same for each of several thetas; a device is waited for once."""
        works = [self._work("residuals", placed) for placed in self._placed]
        found = self._at_each(thetas, works)
        return [self._weighted(_by_name(self._placed, each)) for each in found]

    def jacobian(
        self, theta: np.ndarray, out: Any | None = None
    ) -> tuple[Any, Any]:
        """Return the weighted residual vector (rows,) and its Jacobian (rows, size), float64.

        out: memory for the Jacobian, which a solver may keep from step to step; new if left out. It
        may be that of the device where all is computed: both are there then.
        """
        found = np.empty((self.rows, self.size)) if out is None else out
        rows = namespace_of(found).empty(self.rows, np.float64)
        self.parameters.load(theta)
        start = 0
        for block in self.blocks:
            part = slice(start, start + block.rows)
            ((rows[part], _),) = self._jacobian_of(block, block.rows, out=found[part])
            start = part.stop
        self.ranks.settle()  # before a solver copies what it makes of them
        return rows, found

    def gram(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J^T J (size, size) and J^T rows (size,), added up by chunks of points."""
        normal, slope = np.zeros((self.size, self.size)), np.zeros(self.size)
        for residual, jacobian in self.jacobian_chunks(theta):
            normal += jacobian.T @ jacobian
            slope += jacobian.T @ residual
        return normal, slope

    def jacobian_chunks(
        self, theta: np.ndarray, rows: int | None = 1024, only: Collection[str] | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (weighted residual, weighted Jacobian) for at most `rows` rows at a time.

        They come in the model's precision and in the order of the weighted residual vector; None: a
        block at a time. only: the names of the blocks wanted, all of them where left out.
        """
        self.parameters.load(theta)
        for block in self.blocks:
            if only is not None and block.name not in only:
                continue
            yield from self._jacobian_of(block, rows or block.rows)

    def kernel_diagonals(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Return |dr_i/dtheta|^2 of each unweighted row, (rows,) float64, by block name."""
        self.parameters.load(theta)
        return {
            block.name: np.concatenate([
                np.einsum("np,np->n", jacobian, jacobian, dtype=np.float64)
                for _, jacobian in self._jacobian_of(block, 1024, weighted=False)
            ])
            for block in self.blocks
        }

    def _jacobian_of(
        self, block: Block, rows: int, weighted: bool = True, out: Any | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield residual and Jacobian of at most `rows` rows of a block at a time, in order.

        out: where the Jacobian of all of them goes; on a device both stay there. A block by itself:
        most of the work is a sweep back and a contraction for each row of each block, which a sweep
        forward that is shared makes no shorter, and dearer by its channels. The weights are the
        seeds of the sweep.
        """
        placed = self._placed_alone(block)
        scale = np.ones(block.rows)
        if weighted:
            scale *= block.row_scale()
        on_host = out is None or isinstance(out, np.ndarray)
        run = self._engine.run if on_host else self._engine.run_there
        if block.whole:
            (residual,) = run(self._work("residuals", placed))
            unit = np.diag(scale)
            for part in _pieces(block.rows, rows):
                seeds = self._evaluator.each(unit[part])
                pulled = [run(self._work("vjp", placed, [seed]))[0] for seed in seeds]
                jacobian = namespace_of(residual).stack(pulled)
                if out is not None:
                    out[part] = jacobian
                yield residual[part] * _like(residual, scale[part]), jacobian
            return
        for part in _pieces(block.rows, rows):
            seeds = self._evaluator.array(scale[part])
            into = [None, None if out is None else out[part]]
            residual, jacobian = run(self._work("jacobian", placed[part], [seeds]), into)
            yield residual * _like(residual, scale[part]), jacobian

    def kernel(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J J^T (rows, rows) and the weighted residual vector: for few rows."""
        residual, jacobian = self.jacobian(theta)
        return jacobian @ jacobian.T, residual

    def jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return J v, (rows,), for v of shape (size,)."""
        return self._pushed("jvp", theta, direction)

    def second_jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return the second derivative of the weighted rows at theta + s v in s, (rows,).

        At s = 0, exact, for v of shape (size,); it takes about five evaluations of the rows.
        """
        return self._pushed("second_jvp", theta, direction)

    def _pushed(self, what: str, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        self._aim(theta, direction)
        return self._weighted(self._rows(what, self._placed))

    def _weighted(self, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return one vector, (rows,) float64, of what was found for the rows of each block."""
        rows = [found[block.name] * block.row_scale() for block in self.blocks]
        return np.concatenate(rows).astype(np.float64)

    def vjp(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return J^T z, (size,), for z of shape (rows,) over the weighted residual vector."""
        if np.shape(rows) != (self.rows,):
            raise ValueError(f"expected a vector of shape ({self.rows},), got {np.shape(rows)}")
        self.parameters.load(theta)
        ends = np.cumsum([block.rows for block in self.blocks])
        parts = dict(zip(self.blocks, np.split(np.asarray(rows), ends[:-1]), strict=True))
        total = np.zeros(self.size)
        for placed in self._placed:
            seeds = [
                self._evaluator.array(parts[block] * block.row_scale()) for block in placed.blocks
            ]
            (pulled,) = self._run("vjp", placed, seeds)
            total += pulled
        return total

    # ---- diagnosis

    def costs(self) -> list[tuple[tuple[Block, ...], Cost]]:
        """Return what a step's gradient takes, group by group: recorded and counted, not run.

        The arenas do not include the points (`Placed.arrays`), nor the parameters.
        """
        return [
            (
                placed.blocks,
                self._engine.cost(self._work("gradient", placed, _row_weights(placed))),
            )
            for placed in self._placed
        ]

    def point_bytes(self) -> int:
        """Return the bytes of all points and what is attached to them, on the device."""
        return sum(array.nbytes for placed in self._placed for array in placed.arrays)

    def not_finite(self, theta: np.ndarray) -> str | None:
        """Return a sentence naming the first block whose residual or gradient is not finite."""
        for name, residual in self.residuals(theta).items():
            if not np.isfinite(residual).all():
                block = next(block for block in self.blocks if block.name == name)
                names = self.problem.domain.coordinates
                alone = self._placed_alone(block)
                return why_not_finite(alone, residual, self.parameters, names)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            losses, gradients = self.losses(theta), self.gradients(theta)
        for block in self.blocks:
            if not np.isfinite(losses[block.name]):
                return f"the loss of block {block.name!r} overflows"
            if not np.isfinite(gradients[block.name]).all():
                alone = self._placed_alone(block)
                slope = self._computations.gradients(alone.group)
                names = self.problem.domain.coordinates
                return why_gradient_not_finite(alone, slope, self.parameters, names)
        return None

    def coefficients(self, theta: np.ndarray) -> dict[str, float]:
        """Return the problem's trainable coefficients by name; a device is not asked."""
        return self.parameters.coefficients_of(theta)

    # ---- helpers

    def _aim(self, theta: np.ndarray, direction: Any) -> Any:
        """Set the parameters to theta, and the vector of products to a direction, as an array."""
        if isinstance(direction, Sequence):
            direction = np.asarray(direction)
        if np.shape(direction) != (self.size,):
            raise ValueError(
                f"expected a vector of shape ({self.size},), got {np.shape(direction)}"
            )
        self.parameters.load(theta)
        if isinstance(direction, np.ndarray):
            fill(self._vector, direction)
        else:
            copy(namespace_of(direction), [(direction, self._vector._data)])
        return direction

    def _fill_seeds(self) -> None:
        # A block of the points as a whole has its own number of rows.
        seeds = [block.weight * (len(block.points) / block.rows) for block in self.blocks]
        if seeds != self._filled:
            fill(self._seeds, np.array(seeds))
            self._filled = seeds

    def _place_blocks(self) -> None:
        self._on_device = None
        self._placed = self._place((block, block.points) for block in self.blocks)
        self._alone: dict[str, Placed] = {}

    def _placed_alone(self, block: Block) -> Placed:
        """Return a block as a group of its own at its points."""
        if block.name not in self._alone:
            (self._alone[block.name],) = self._place([(block, block.points)])
        return self._alone[block.name]

    def _place(self, blocks_at: Iterable[tuple[Block, Points]]) -> list[Placed]:
        """Return blocks at points as groups: together where they share their points."""
        found = []
        for blocks, points in sharing(blocks_at):
            key = tuple(block.name for block in blocks)
            if key not in self._known_groups:
                self._known_groups[key] = Group(blocks, self._evaluator)
            found.append((self._known_groups[key], points))
        arrays = self._evaluator.arrays_of((points, group.attached) for group, points in found)
        return [
            Placed(group, points, own) for (group, points), own in zip(found, arrays, strict=True)
        ]

    def _run_all(self, what: str, there: bool = False) -> Iterator[tuple[Placed, list[Any]]]:
        """Give the results of a computation of all groups, with each one's row weights.

        there: as arrays of the device, which is not waited for.
        """
        found = self._engine.run_all_there(self._works(what))
        return zip(self._placed, found if there else self._engine.home(found), strict=True)

    def _at_each(
        self, thetas: Sequence[np.ndarray], works: Sequence[Work]
    ) -> list[list[list[np.ndarray]]]:
        """Return the results of computations of all groups at each of several thetas.

        A device is given all of them before it is waited for, once.
        """
        there: list[list[Any]] = []
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for theta in thetas:
                self.parameters.load(theta)
                there += self._engine.run_all_there(works)
        found = self._engine.home(there)
        return [found[k : k + len(works)] for k in range(0, len(found), len(works))]

    def _rows(self, what: str, everywhere: Sequence[Placed]) -> dict[str, np.ndarray]:
        """Return what a computation gives for the rows of each block, by name."""
        found = self._engine.run_all_there([self._work(what, placed) for placed in everywhere])
        return _by_name(everywhere, self._engine.home(found))

    def _run(
        self,
        what: str,
        placed: Placed,
        further: Sequence[Any] = (),
    ) -> list[np.ndarray]:
        return self._engine.run(self._work(what, placed, further))

    def _works(self, what: str) -> list[Work]:
        """Return a computation of all groups for the engine, with each one's row weights."""
        return [self._work(what, placed, _row_weights(placed)) for placed in self._placed]

    def _work(self, what: str, placed: Placed, further: Sequence[Any] = ()) -> Work:
        """Return a computation of a group for the engine."""
        group = placed.group
        weighted = tuple(block.row_weights is not None for block in group.blocks)
        kinds, function = getattr(self._computations, what)(group)
        key, arrays = (what, group.key, weighted), [*placed.arrays, *further]
        return Work(key, function, kinds, arrays, group.whole, group.spread)

    def _training_flags(self) -> tuple[bool, ...]:
        return tuple(module.training for module in self.parameters.module.modules())


def _pieces(count: int, most: int) -> Iterator[slice]:
    """Yield parts of a range of at most some length, as even as can be."""
    pieces = -(-count // most)
    edges = [count * k // pieces for k in range(pieces + 1)]
    return (slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True))


def _row_weights(placed: Placed) -> list[Any]:
    return [b.row_weights_array for b in placed.blocks if b.row_weights is not None]


def _like(array: Any, numbers: np.ndarray) -> Any:
    """Return numbers of the host in the dtype of an array, and on its device."""
    return put(numbers.astype(array.dtype), device_of(array))


def _some_of(placed: Placed) -> Placed:
    """Return a group at some of its points, spread over all; as it is where these go together."""
    if placed.group.whole:
        return placed
    return placed[:: max(1, len(placed.points) // _SOME_ROWS)]


def _by_name(
    everywhere: Sequence[Placed], found: Sequence[Sequence[np.ndarray]]
) -> dict[str, np.ndarray]:
    """Return what was found for the rows of each block of some groups, by its name."""
    pairs = zip(everywhere, found, strict=True)
    return {
        name: rows for placed, each in pairs
        for name, rows in zip(placed.group.key, each, strict=True)
    }  # fmt: skip


def _losses(placed: Placed, totals: Sequence[np.ndarray]) -> dict[str, float]:
    pairs = zip(placed.blocks, totals, strict=True)
    return {block.name: float(total) / block.rows for block, total in pairs}


def _check_points(problem: Problem, residual: Residual, points: GivenPoints) -> Points:
    name = residual.name
    if name not in points:
        raise ValueError(f"points: none for block {name!r}; got {', '.join(points) or 'none'}")
    try:
        found = Points.of(points[name])
    except ValueError as error:
        raise ValueError(f"points of block {name!r}: {error}") from error
    d = len(problem.domain.coordinates)
    if found.coordinates.shape[1] != d or len(found) == 0:
        raise ValueError(
            f"points of block {name!r}: expected shape (n, {d}) with n >= 1, columns "
            f"{', '.join(problem.domain.coordinates)}, got {found.coordinates.shape}"
        )
    missing = [column for column in residual.source.columns if column not in found.columns]
    if missing:
        raise ValueError(
            f"points of block {name!r}: expected the columns {', '.join(residual.source.columns)} "
            f"with them; missing: {', '.join(missing)}"
        )
    return found
