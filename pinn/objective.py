"""The training objective: a weighted least-squares problem made of residual blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import autograd as T
from pinn.checks import check_number, nearest
from pinn.field import Field, Plan, coordinate_columns
from pinn.parameters import FlatParameters
from pinn.problem import Problem, Residual

# Rows of the run that finds out what a function asks for, and whether its result has a row a point.
_PROBE_ROWS = 3


class Evaluation(NamedTuple):
    """The objective at one theta: loss, its gradient (float64), and each block's mean(r^2)."""

    loss: float
    gradient: np.ndarray
    losses: dict[str, float]


class Block:
    """One residual on one set of points: r(theta; X) of n rows, with a weight."""

    def __init__(
        self, problem: Problem, residual: Residual, points: np.ndarray, weight: float, dtype, device
    ) -> None:
        self.name = residual.name
        self.weight = weight
        self.plan = Plan((), ())
        self._problem = problem
        self._residual = residual
        self._dtype = dtype
        self._device = device
        self.set_points(points)

    def set_points(self, points: np.ndarray) -> None:
        """Take other points, (n, d)."""
        self.points = points
        self._columns = coordinate_columns(points, self._dtype, self._device)

    def prepare(self, parameters: FlatParameters) -> None:
        """Find the derivatives asked for, on a few points, and check the result's shape."""
        rows = min(_PROBE_ROWS, len(self.points))
        probe = coordinate_columns(self.points[:rows], self._dtype, self._device)
        field = self._field(parameters, probe)
        residual = self._residual.evaluate(field)
        if not residual.requires_grad:
            raise ValueError(
                f"{self._residual.what}: expected a residual that depends on the unknowns, got one "
                "that does not; was it detached, or made by numpy?"
            )
        self.plan = Plan(field.asked, self._problem.domain.space)

    def residual(self, parameters: FlatParameters) -> T.Tensor:
        """Return the residual at all points, shape (n,), with its graph."""
        return self._residual.evaluate(self._field(parameters, self._columns))

    def _field(self, parameters: FlatParameters, columns: list[T.Tensor]) -> Field:
        return Field(
            parameters.module, self._problem.scope, columns, parameters.coefficients(), self.plan
        )


class Objective:
    """loss(theta) = sum over blocks of weight * mean(residual^2), and its gradient.

    points: block name -> float64 array (n, d), one for each residual of the problem. weights: block
    name -> number >= 0, 1 where left out. theta is a float64 vector of `size` numbers: the model's
    parameters and the raw coefficients of the problem (see FlatParameters). Evaluating sets the
    model to theta.

    Raises ValueError, naming the block, for missing or misshapen points, an unknown or negative
    weight, a residual that does not depend on theta or is not one number a point.
    """

    def __init__(
        self,
        problem: Problem,
        parameters: FlatParameters,
        points: Mapping[str, np.ndarray],
        weights: Mapping[str, float] | None = None,
        *,
        dtype: T.dtype,
        device: str = "cpu",
    ) -> None:
        self.problem = problem
        self.parameters = parameters
        weights = check_weights(problem, weights)
        self.blocks = [
            Block(
                problem,
                residual,
                _check_points(problem, residual.name, points),
                weights[residual.name],
                dtype,
                device,
            )
            for residual in problem.residuals
        ]
        for block in self.blocks:
            block.prepare(parameters)

    def set_points(self, points: Mapping[str, np.ndarray]) -> None:
        """Take other points for all blocks; ValueError, naming the block, for misshapen ones."""
        checked = [_check_points(self.problem, block.name, points) for block in self.blocks]
        for block, array in zip(self.blocks, checked, strict=True):
            block.set_points(array)

    @property
    def size(self) -> int:
        """The number of trainable numbers."""
        return self.parameters.size

    @property
    def theta(self) -> np.ndarray:
        """A copy of the current vector, float64."""
        return self.parameters.theta

    def value_and_gradient(self, theta: np.ndarray) -> Evaluation:
        """Return the loss, its gradient (size,) float64, and each block's unweighted mean(r^2).

        Numbers that are not finite are returned as they are.
        """
        self.parameters.load(theta)
        loss, gradient, losses = 0.0, np.zeros(self.size), {}
        # Overflow shows as a loss that is not finite, which training reports with the block's name.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for block in self.blocks:
                residual = block.residual(self.parameters)
                mean = (residual * residual).mean()
                # A sweep for each block: its graph is freed before the next one is built.
                gradients = T.grad(mean, self.parameters.tensors, allow_unused=True)
                gradient += block.weight * self.parameters.flatten(gradients)
                losses[block.name] = mean.item()
                loss += block.weight * losses[block.name]
        return Evaluation(loss, gradient, losses)

    def residuals(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Return each block's residual at its points, shape (n,), by name."""
        self.parameters.load(theta)
        return {
            block.name: block.residual(self.parameters).detach().cpu().numpy().copy()
            for block in self.blocks
        }

    def not_finite(self, theta: np.ndarray) -> str | None:
        """Return a sentence naming the first block whose residual or gradient is not finite."""
        self.parameters.load(theta)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for block in self.blocks:
                residual = block.residual(self.parameters)
                bad = np.flatnonzero(~np.isfinite(residual.detach().cpu().numpy()))
                if bad.size:
                    place = zip(
                        self.problem.domain.coordinates, block.points[bad[0]], strict=True
                    )
                    return (
                        f"the residual of block {block.name!r} is not finite at {bad.size} of "
                        f"{len(block.points)} points, first at "
                        f"{', '.join(f'{name} = {value:.6g}' for name, value in place)}"
                    )
                mean = (residual * residual).mean()
                if not np.isfinite(mean.item()):
                    return f"the loss of block {block.name!r} overflows"
                gradients = T.grad(mean, self.parameters.tensors, allow_unused=True)
                if not np.isfinite(self.parameters.flatten(gradients)).all():
                    return f"the gradient of block {block.name!r} is not finite"
        return None

    def coefficients(self, theta: np.ndarray) -> dict[str, float]:
        """Return the problem's trainable coefficients by name."""
        self.parameters.load(theta)
        return {name: c.item() for name, c in self.parameters.coefficients().items()}


def check_weights(problem: Problem, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Return a weight for every block, 1 where none is given.

    Raises ValueError for a name that is no block (with the nearest one) or a negative weight.
    """
    names = [residual.name for residual in problem.residuals]
    for name, weight in (weights or {}).items():
        if name not in names:
            raise ValueError(
                f"weights: expected one of the blocks {', '.join(names)}, got {name!r}"
                f"{nearest(name, names)}"
            )
        check_number(f"weights: {name}", weight, low=0.0)
    return {name: float((weights or {}).get(name, 1.0)) for name in names}


def _check_points(problem: Problem, name: str, points: Mapping[str, np.ndarray]) -> np.ndarray:
    if name not in points:
        raise ValueError(f"points: none for block {name!r}; got {', '.join(points) or 'none'}")
    array = np.asarray(points[name], dtype=np.float64)
    d = len(problem.domain.coordinates)
    if array.ndim != 2 or array.shape[1] != d or len(array) == 0:
        raise ValueError(
            f"points of block {name!r}: expected shape (n, {d}) with n >= 1, columns "
            f"{', '.join(problem.domain.coordinates)}, got {array.shape}"
        )
    return array
