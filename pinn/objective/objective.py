"""loss(theta), its gradient, Jacobian and products, over all residual blocks of a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.objective.block import Block, Derivatives
from pinn.objective.engines import make_engine
from pinn.objective.flat_parameters import FlatParameters
from pinn.problem.problem import Problem
from pinn.residuals import Residual
from pinn.sampling import Points
from pinn.schema.errors import at, refuse
from pinn.schema.kinds import Number


class Evaluation(NamedTuple):
    """The objective at one theta: loss, its gradient (float64), and each block's mean(r^2)."""

    loss: float
    gradient: np.ndarray
    losses: dict[str, float]


class Objective:
    """loss(theta) = sum over blocks of weight * mean(residual^2), and its derivatives.

    points: block name -> Points, or an array (n, d) where nothing is attached, one for each
    residual of the problem. weights: block name -> number >= 0, 1 where left out. theta is a
    float64 vector of `size` numbers: the model's parameters and the raw coefficients of the problem
    (see FlatParameters). Evaluating sets the model to theta.

    engine: "recorded" traces each computation once and replays it in chunks on `threads` threads
    (None: all cores), with the same bits for any number of them; "eager" runs it as written.
    derivatives: "jets" (one Taylor-mode sweep) or "nested" (reverse mode again and again).

    The weighted residual vector that the Jacobian belongs to has the rows
    sqrt(weight / n) * r, block after block in the order of `blocks`: loss = |rows|^2 and the
    gradient is 2 J^T rows.

    Raises ValueError, naming the block, for missing or misshapen points, an unknown or negative
    weight, a residual that does not depend on theta or is not one number a point.
    """

    def __init__(
        self,
        problem: Problem,
        parameters: FlatParameters,
        points: Mapping[str, Points | np.ndarray],
        weights: Mapping[str, float] | None = None,
        *,
        dtype: T.dtype,
        device: str = "cpu",
        engine: str = "recorded",
        derivatives: Derivatives = "jets",
        threads: int | None = None,
    ) -> None:
        self.problem = problem
        self.parameters = parameters
        weights = check_weights(problem, weights)
        self.blocks = [
            Block(
                problem,
                residual,
                parameters,
                _check_points(problem, residual, points),
                weights[residual.name],
                derivatives,
                dtype,
                device,
            )
            for residual in problem.residuals
        ]
        self._dtype = dtype
        self._device = device
        self._vector = T.zeros(parameters.size, dtype=dtype, device=device)
        shared = [*parameters.tensors, self._vector]
        self._engine = make_engine(engine, shared, threads, self._training_flags)

    def set_points(self, points: Mapping[str, Points | np.ndarray]) -> None:
        """Take other points for all blocks; ValueError, naming the block, for misshapen ones."""
        problem = self.problem
        checked = [_check_points(problem, residual, points) for residual in problem.residuals]
        for block, taken in zip(self.blocks, checked, strict=True):
            block.points = taken

    @property
    def size(self) -> int:
        """The number of trainable numbers."""
        return self.parameters.size

    @property
    def rows(self) -> int:
        """The number of residual rows of all blocks."""
        return sum(len(block.points) for block in self.blocks)

    @property
    def theta(self) -> np.ndarray:
        """A copy of the current vector, float64."""
        return self.parameters.theta

    # ---- values and gradients

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        """Return the loss, its gradient (size,) float64, and each block's unweighted mean(r^2).

        Numbers that are not finite are returned as they are.
        """
        self.parameters.load(theta)
        loss, gradient, losses = 0.0, np.zeros(self.size), {}
        # Overflow shows as a loss that is not finite, which training reports with the block's name.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for block in self.blocks:
                squares, slope = self._squares_and_gradient(block)
                losses[block.name] = squares
                loss += block.weight * squares
                gradient += block.weight * slope
        return Evaluation(loss, gradient, losses)

    def _squares_and_gradient(self, block: Block) -> tuple[float, np.ndarray]:
        def computation(columns: list[T.Tensor]) -> list[T.Tensor]:
            residual = block.residual(columns)
            total = (residual * residual).sum()
            return [total, self._flat_gradient(total)]

        squares, gradient = self._run("gradient", block, computation, ["sum", "sum"])
        n = len(block.points)
        return float(squares) / n, gradient.astype(np.float64) / n

    def value(self, theta: np.ndarray) -> float:
        """Return the loss alone: a forward evaluation, for line searches."""
        self.parameters.load(theta)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return sum(
                block.weight * float(self._run("squares", block, self._squares(block), ["sum"])[0])
                / len(block.points)
                for block in self.blocks
            )

    def _squares(self, block: Block) -> Callable:
        def computation(columns: list[T.Tensor]) -> list[T.Tensor]:
            residual = block.residual(columns)
            return [(residual * residual).sum().detach()]

        return computation

    def residuals(
        self, theta: np.ndarray, points: Mapping[str, Points | np.ndarray] | None = None
    ) -> dict[str, np.ndarray]:
        """Return each block's residual, shape (n,) in the model's precision, by name.

        points: other points (n, d) for some blocks, whose residuals alone are then returned; the
        blocks keep their own.
        """
        self.parameters.load(theta)
        found = {}
        for block, residual in zip(self.blocks, self.problem.residuals, strict=True):
            if points is not None and block.name not in points:
                continue
            others = None
            if points is not None:
                others = _check_points(self.problem, residual, points)

            def computation(columns: list[T.Tensor], block: Block = block) -> list[T.Tensor]:
                return [block.residual(columns).detach()]

            (rows,) = self._run("residual", block, computation, ["rows"], others)
            found[block.name] = rows
        return found

    # ---- least squares

    def weighted_rows(self, theta: np.ndarray) -> np.ndarray:
        """Return the weighted residual vector, (rows,) float64: loss = |rows|^2."""
        found = self.residuals(theta)
        rows = [found[block.name] * _row_weight(block) for block in self.blocks]
        return np.concatenate(rows).astype(np.float64)

    def jacobian(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted residual vector (rows,) and its Jacobian (rows, size), float64."""
        self.parameters.load(theta)
        parts = [self._jacobian(block, block.points) for block in self.blocks]
        return (
            np.concatenate([r for r, _ in parts]).astype(np.float64),
            np.concatenate([j for _, j in parts]).astype(np.float64),
        )

    def _rows_and_gradient(self, block: Block) -> Callable:
        def computation(columns: list[T.Tensor]) -> list[T.Tensor]:
            *coordinates, ones = columns
            residual = block.residual(coordinates)
            # a seed that is an input: were it a constant, its rows could be folded away
            return [residual.detach(), self._flat_gradient(residual, ones.detach().reshape(-1))]

        return computation

    def _jacobian(self, block: Block, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted residual and its Jacobian at some points of a block."""
        ones = T.ones(len(points), 1, dtype=self._dtype, device=self._device)
        residual, jacobian = self._run(
            "jacobian", block, self._rows_and_gradient(block), ["rows", "per_row"], points, [ones]
        )
        weight = _row_weight(block)
        return residual * weight, jacobian * weight

    def gram(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J^T J (size, size) and J^T rows (size,), added up by chunks of points."""
        normal, slope = np.zeros((self.size, self.size)), np.zeros(self.size)
        for residual, jacobian in self.jacobian_chunks(theta):
            normal += jacobian.T @ jacobian
            slope += jacobian.T @ residual
        return normal, slope

    def jacobian_chunks(
        self, theta: np.ndarray, rows: int = 1024
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (weighted residual, weighted Jacobian) for at most `rows` points at a time."""
        self.parameters.load(theta)
        for block in self.blocks:
            pieces = -(-len(block.points) // rows)
            for part in np.array_split(np.arange(len(block.points)), pieces):
                yield self._jacobian(block, block.points[part])

    def kernel(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return J J^T (rows, rows) and the weighted residual vector: for few rows."""
        residual, jacobian = self.jacobian(theta)
        return jacobian @ jacobian.T, residual

    def jvp(self, theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return J v, (rows,), for v of shape (size,)."""
        self.parameters.load(theta)
        self._load_vector(direction)
        parts = []
        for block in self.blocks:

            def computation(columns: list[T.Tensor], block: Block = block) -> list[T.Tensor]:
                # the transpose of the transpose: J^T z is linear in z
                residual = block.residual(columns)
                seed = T.zeros_like(residual.detach()).requires_grad_()
                pulled = self._flat_gradient(residual, seed, create_graph=True)
                (pushed,) = T.grad(pulled, seed, self._vector, materialize_grads=True)
                return [pushed]

            (rows,) = self._run("jvp", block, computation, ["rows"])
            parts.append(rows * _row_weight(block))
        return np.concatenate(parts).astype(np.float64)

    def vjp(self, theta: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return J^T z, (size,), for z of shape (rows,) over the weighted residual vector."""
        if np.shape(rows) != (self.rows,):
            raise ValueError(f"expected a vector of shape ({self.rows},), got {np.shape(rows)}")
        self.parameters.load(theta)
        total, start = np.zeros(self.size), 0
        for block in self.blocks:
            n = len(block.points)
            seed = rows[start : start + n] * _row_weight(block)
            start += n

            def computation(columns: list[T.Tensor], block: Block = block) -> list[T.Tensor]:
                *coordinates, weights = columns
                residual = block.residual(coordinates)
                return [self._flat_gradient(residual, weights.detach().reshape(-1))]

            extra = T.tensor(seed.reshape(-1, 1), dtype=self._dtype, device=self._device)
            (pulled,) = self._run("vjp", block, computation, ["sum"], extra=[extra])
            total += pulled
        return total

    # ---- diagnosis

    def not_finite(self, theta: np.ndarray) -> str | None:
        """Return a sentence naming the first block whose residual or gradient is not finite."""
        for name, residual in self.residuals(theta).items():
            block = next(b for b in self.blocks if b.name == name)
            bad = np.flatnonzero(~np.isfinite(residual))
            if bad.size:
                names = self.problem.domain.coordinates
                point = block.points.coordinates[bad[0]]
                place = ", ".join(f"{n} = {v:.6g}" for n, v in zip(names, point, strict=True))
                operation = self._first_bad_operation(block, int(bad[0]))
                return (
                    f"the residual of block {name!r} is not finite at {bad.size} of "
                    f"{len(block.points)} points, first at {place}{operation}"
                )
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for block in self.blocks:
                squares, gradient = self._squares_and_gradient(block)
                if not np.isfinite(squares):
                    return f"the loss of block {block.name!r} overflows"
                if not np.isfinite(gradient).all():
                    return f"the gradient of block {block.name!r} is not finite"
        return None

    def _first_bad_operation(self, block: Block, row: int) -> str:
        """Return which operation first gives a number that is not finite at one point."""
        from autograd.plan import find_not_finite, trace

        inputs = [*block.columns(slice(row, row + 1)), *self.parameters.tensors]
        count = len(inputs) - len(self.parameters.tensors)
        program, _ = trace(lambda *given: [block.residual(list(given[:count])).detach()], inputs)
        found = find_not_finite(program, [tensor._data for tensor in inputs])
        return "" if found is None else f"; the first operation to give it is {found!r}"

    def coefficients(self, theta: np.ndarray) -> dict[str, float]:
        """Return the problem's trainable coefficients by name."""
        self.parameters.load(theta)
        return {name: c.item() for name, c in self.parameters.coefficients().items()}

    # ---- helpers

    def _run(
        self, kind: str, block: Block, computation: Callable, kinds: list,
        points: Points | None = None, extra: list[T.Tensor] | None = None,
    ) -> list[np.ndarray]:
        columns = block.columns() if points is None else block.columns_of(points)
        return self._engine.run((kind, block.name), computation, kinds, columns + (extra or []))

    def _training_flags(self) -> tuple[bool, ...]:
        return tuple(module.training for module in self.parameters.module.modules())

    def _flat_gradient(
        self, output: T.Tensor, seed: T.Tensor | None = None, create_graph: bool = False
    ) -> T.Tensor:
        gradients = T.grad(
            output, self.parameters.tensors, seed, create_graph=create_graph,
            materialize_grads=True,
        )
        return T.cat([g.reshape(-1) for g in gradients])

    def _load_vector(self, vector: np.ndarray) -> None:
        if np.shape(vector) != (self.size,):
            raise ValueError(f"expected a vector of shape ({self.size},), got {np.shape(vector)}")
        with T.no_grad():
            self._vector.copy_(T.tensor(vector, dtype=self._dtype, device=self._device))


def _row_weight(block: Block) -> float:
    return float(np.sqrt(block.weight / len(block.points)))


def check_weights(problem: Problem, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Return a weight for every block, 1 where none is given.

    Raises ValueError for a name that is no block (with the nearest one) or a negative weight.
    """
    names = [residual.name for residual in problem.residuals]
    for name, weight in (weights or {}).items():
        if name not in names:
            refuse(
                f"expected a block out of {', '.join(names)}, got {name!r}{nearest(name, names)}",
                name,
            )
        with at(name):
            Number(low=0.0).check(weight)
    return {name: float((weights or {}).get(name, 1.0)) for name in names}


def _check_points(
    problem: Problem, residual: Residual, points: Mapping[str, Points | np.ndarray]
) -> Points:
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
