"""How far noise in the data may have moved a solution, at any points: the delta method.

With H the Gauss-Newton matrix of all trained numbers, what holds them to their size included (D,
see pinn.diagnosis.recovery), and f the slope of a value in them, w = H^-1 f has

    variance = sum over the data rows of variance_i (J_i w)^2 + noise |D w|^2.

The first is what noise does. The second is what is left open: where nothing tells the numbers of a
network, they are taken to be anywhere within their size, as D says (the Laplace approximation of
MacKay, Neural Comput. 4 (1992) 448, for what the data do not reach).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import autograd as T
from pinn.diagnosis.elimination import MOST_DENSE, Elimination
from pinn.diagnosis.recovery import (
    coefficients_of,
    eliminated,
    network_columns,
    noisy,
    ridge,
)
from pinn.residuals import Measured
from pinn.training.resources import one_blas_thread

if TYPE_CHECKING:
    from pinn.solution import Solution


def standard_errors(solution: Solution, **coordinates: Any) -> dict[str, np.ndarray]:
    """Return one standard deviation of every unknown and field at points: what data leave open.

    coordinates: as of `Solution.evaluate`; without some the result has the fields that do not
    depend on these. The band of a recovered field a is a +- 2 standard_errors(solution, x=xs)["a"].
    Equations and conditions count with the weights, and at the points, that training begins with.
    It is linear in the noise, and knows nothing of a network that has not converged. With two
    thousand numbers and a few hundred points it takes seconds.

    Raises ValueError for a problem without data, and for networks of more than 4000 numbers.
    """
    objective = solution.experiment.objective()
    objective.parameters.load(solution.theta)
    data = [noisy(objective, block) for block in objective.blocks
            if isinstance(block.residual.source, Measured)]  # fmt: skip
    if not data:
        raise ValueError(
            "standard errors come from the noise of data, and the problem has none; add a "
            "condition of data (pinn.Data, in YAML data)"
        )
    columns = network_columns(objective)
    if len(columns) > MOST_DENSE:
        raise ValueError(
            f"standard errors at points are computed for networks of up to {MOST_DENSE} numbers, "
            f"and these have {len(columns)}; take a smaller network"
        )
    scope = solution.problem.scope
    inputs = {name: set(scope.inputs_of(name)) for name in solution.problem.outputs}
    names = [name for name, seen in inputs.items() if seen <= coordinates.keys()]
    points, shape = solution.points(coordinates, set().union(*map(inputs.get, names or inputs)))
    # What no output depends on may be anywhere.
    lowest = [low for low, _ in solution.problem.domain.bounds.values()]
    points = np.where(np.isnan(points), lowest, points)
    with one_blas_thread():
        noise = max(float(one.variances.mean()) for one in data)
        network = Elimination(objective, columns, partial(ridge, objective, noise))
        free = [one for one in coefficients_of(objective) if one.bound is None]
        follow, left = eliminated(objective, network, free)
        information = left.T @ left + follow.T @ follow + noise * np.eye(len(free))
        x = follow / network.ridge[:, None]
        slopes = _slopes(solution, names, points)[:, :, columns]
        found = {}
        for name, rows in zip(names, slopes, strict=True):
            alone = network.solve_dense(rows.T)
            own = -np.linalg.solve(information, (rows @ x).T)
            variance = noise * np.sum((network.ridge[:, None] * (alone - x @ own)) ** 2, axis=0)
            variance += noise**2 * np.sum(own**2, axis=0)
            for one in data:
                moved = network.pushed(one.block, alone)
                moved += network.rows_of(one.block, left) @ own
                variance += one.variances @ moved**2
            found[name] = np.sqrt(variance).reshape(shape)
    return found


def _slopes(solution: Solution, names: Sequence[str], points: np.ndarray) -> np.ndarray:
    """Return the slopes (names, points, size) of some outputs in theta."""
    parameters = solution.experiment.initial_parameters()
    parameters.load(solution.theta)
    found = np.zeros((len(names), len(points), parameters.size))
    numbers = [solution.problem.scope.unknown_number[name] for name in names]
    for i, point in enumerate(points):
        run = solution.experiment
        place = T.tensor(point[None], dtype=run.dtype, device=run.device)
        outputs = parameters.module(place)
        for k, number in enumerate(numbers):
            slopes = T.grad(
                outputs[0, number], parameters.tensors, retain_graph=True, materialize_grads=True
            )
            found[k, i] = np.concatenate([slope.cpu().numpy().reshape(-1) for slope in slopes])
    return found
