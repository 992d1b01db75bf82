"""The values that conditions give to unknowns, and what networks make of them before training."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import autograd as T
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.values import Values
from pinn.models.parts import Dense
from pinn.objective import Objective
from pinn.objective.block import Block
from pinn.problem import Problem
from pinn.sampling import Points


def given_values(
    problem: Problem, draw: Callable[[], Mapping[str, Points]]
) -> Callable[[str], np.ndarray]:
    """Return the function unknown -> the values, (k,), that soft conditions give to it.

    draw: gives the points of every block; it is called where a model asks for values. Trainable
    coefficients are at their start.
    """

    def of(unknown: str) -> np.ndarray:
        points = draw()
        found = [
            _right_side(problem, residual, points[residual.name])
            for residual in problem.residuals
            if residual.gives == unknown
        ]
        return np.concatenate(found) if found else np.empty(0)

    return of


def _right_side(problem: Problem, residual, points: Points) -> np.ndarray:
    if residual.right is None:
        return np.zeros(len(points))
    coordinates = dict(zip(problem.domain.coordinates, points.coordinates.T, strict=True))
    values = Values(
        {name: T.tensor(column, dtype=T.float64) for name, column in coordinates.items()},
        problem.scope.constants,
        {p.name: T.tensor(p.initial, dtype=T.float64) for p in problem.parameters},
        {name: T.tensor(column, dtype=T.float64) for name, column in points.columns.items()},
    )
    value = residual.right.evaluate(values, TENSOR_FUNCTIONS)
    array = value.detach().numpy() if isinstance(value, T.Tensor) else float(value)
    return np.broadcast_to(array, len(points)).astype(np.float64)


def fit_last_layers(objective: Objective) -> None:
    """Give linear last layers the least squares fit of the values that soft conditions give.

    Of all modules that ask for it by an attribute `last_layer`, together: their layers' inputs are
    a linear basis of the unknowns, also inside the formula of hard conditions (Wang et al.,
    arXiv:2402.00326, section 4: physics-informed initialisation). Of several fits the smallest is
    taken. Without such values, or such modules, nothing is changed.
    """
    layers = [
        layer
        for module in objective.parameters.module.modules()
        if (layer := getattr(module, "last_layer", None)) is not None
    ]
    blocks = [block for block in objective.blocks if block.residual.gives is not None]
    if not layers or not blocks:
        return
    for layer in layers:
        layer.set(0.0, 0.0)
    rows, targets = zip(*(_linear(block, layers) for block in blocks), strict=True)
    solved, *_ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(targets), rcond=None)
    start = 0
    for layer in layers:
        outputs, inputs = layer.weight.shape
        end = start + outputs * (inputs + 1)
        matrix = solved[start:end].reshape(outputs, inputs + 1)
        layer.set(matrix[:, :inputs], matrix[:, inputs])
        start = end


def _linear(block: Block, layers: list[Dense]) -> tuple[np.ndarray, np.ndarray]:
    """Return A and b of a block's weighted residual A w - b, for the layers' numbers w."""
    for layer in layers:
        layer.watched = []
    try:
        residual = block.residual_at(block.points)
        seen = [layer.watched for layer in layers]
    finally:
        for layer in layers:
            layer.watched = None
    columns = []
    for layer, calls in zip(layers, seen, strict=True):
        outputs, inputs = layer.weight.shape
        total = np.zeros((len(residual), outputs, inputs + 1))
        for x, y in calls:
            (slope,) = T.grad(residual.sum(), y, retain_graph=True, allow_unused=True)
            if slope is not None:
                basis = np.pad(_host(x), ((0, 0), (0, 1)), constant_values=1.0)
                total += _host(slope)[:, :, None] * basis[:, None, :]
        columns.append(total.reshape(len(total), -1))
    scale = np.broadcast_to(block.row_scale(), len(residual))
    return scale[:, None] * np.concatenate(columns, axis=1), -scale * _host(residual)


def _host(tensor: T.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(np.float64)
