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
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import autograd as T
from pinn.diagnosis.elimination import MOST_DENSE, Elimination
from pinn.diagnosis.last_weights import last_weights
from pinn.diagnosis.recovery import (
    coefficients_of,
    eliminated,
    network_columns,
    noisy,
    ridge,
)
from pinn.estimates import ErrorEstimate, NoiseBand
from pinn.evaluation.test_grid import test_points
from pinn.objective import Block, Objective
from pinn.problem.belonging import region_of
from pinn.residuals import Measured
from pinn.training.resources import one_blas_thread

if TYPE_CHECKING:
    from pinn.solution import Solution

# Places at which standard errors are compared with an estimate, about.
_PLACES = 200


def standard_errors(solution: Solution, **coordinates: Any) -> dict[str, np.ndarray]:
    """Return one standard deviation of every unknown and field at points: what data leave open.

    coordinates: as of `Solution.evaluate`; without some the result has the fields that do not
    depend on these. The band of a recovered field a is a +- 2 standard_errors(solution, x=xs)["a"].
    Equations and conditions count with the weights of blocks that training ended with, and at the
    points that it began with.
    It is linear in the noise, and knows nothing of a network that has not converged, nor of what a
    network smooths away of a field that the data hardly tell. With two thousand numbers and a few
    hundred points it takes seconds.

    Raises ValueError for a problem without data, and for networks of more than 4000 numbers.
    """
    objective = solution.experiment.objective()
    objective.parameters.load(solution.theta)
    objective.set_weights(last_weights(solution, solution.report.history))
    if not _data(objective):
        raise ValueError(
            "standard errors come from the noise of data, and the problem has none; add a "
            "condition of data (pinn.Data, in YAML data)"
        )
    count = len(network_columns(objective))
    if count > MOST_DENSE:
        raise ValueError(
            f"standard errors at points are computed for networks of up to {MOST_DENSE} numbers, "
            f"and these have {count}; take a smaller network"
        )
    scope = solution.problem.scope
    inputs = {name: set(scope.inputs_of(name)) for name in solution.problem.outputs}
    names = [name for name, seen in inputs.items() if seen <= coordinates.keys()]
    points, shape = solution.points(coordinates, set().union(*map(inputs.get, names or inputs)))
    # What no output depends on may be anywhere.
    lowest = [low for low, _ in solution.problem.domain.bounds.values()]
    points = np.where(np.isnan(points), lowest, points)
    found = _bands(objective, names, points)
    return {name: deviations.reshape(shape) for name, deviations in found.items()}


def with_noise(
    estimate: ErrorEstimate, objective: Objective, solved: bool = False
) -> ErrorEstimate:
    """Return an estimate of errors that is nowhere below what noise in the data has moved.

    objective: the trained one, where training left it. An estimate from the equations says nothing
    of that: a solution that fits noise satisfies them. The standard errors of an unknown or field
    at places all over the domain count, by their mean square and by the largest one. The estimate
    stays as it is without data, and for networks of more than 4000 numbers. solved: see
    ErrorEstimate.moved_by_noise.
    """
    columns, problem = network_columns(objective), objective.problem
    names = [name for name in problem.outputs if name in estimate.relative_l2]
    if not names or not _data(objective) or len(columns) > MOST_DENSE:
        return estimate
    places = test_points(problem.domain, problem.walls)
    places = places[:: max(1, len(places) // _PLACES)]
    like = objective.parameters.tensors[0]
    at = T.tensor(places, dtype=like.dtype, device=like.device)
    values = objective.parameters.module(at).detach().cpu().numpy()
    noise, maximum, where = {}, {}, {}
    bands = _bands(objective, names, places)
    for name, deviations in bands.items():
        region = region_of(problem, name, problem.domain.coordinates)
        here = np.flatnonzero(np.ones(len(places), bool) if region is None else region(places))
        size = _rms(values[here, problem.scope.unknown_number[name]]) if len(here) else 0.0
        if not size > 0:
            continue
        worst = here[int(deviations[here].argmax())]
        noise[name], maximum[name] = _rms(deviations[here]) / size, float(deviations[worst])
        place = places[worst].tolist()
        where[name] = dict(zip(problem.domain.coordinates, place, strict=True))
    band = NoiseBand(
        dict(zip(problem.domain.coordinates, places.T.tolist(), strict=True)),
        {name: bands[name].tolist() for name in noise},
    )
    return replace(estimate.moved_by_noise(noise, maximum, where, solved), band=band)


def _data(objective: Objective) -> list[Block]:
    """Return the blocks of an objective that are measured."""
    return [one for one in objective.blocks if isinstance(one.residual.source, Measured)]


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _bands(
    objective: Objective, names: Sequence[str], points: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the standard error of some outputs at points (n, d), (n,) each."""
    columns = network_columns(objective)
    with one_blas_thread():
        data = [noisy(objective, block) for block in _data(objective)]
        noise = max(float(one.variances.mean()) for one in data)
        network = Elimination(objective, columns, partial(ridge, objective, noise))
        free = [one for one in coefficients_of(objective) if one.bound is None]
        follow, left = eliminated(objective, network, free)
        information = left.T @ left + follow.T @ follow + noise * np.eye(len(free))
        x = follow / network.ridge[:, None]
        slopes = _slopes(objective, names, points)[:, :, columns]
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
            found[name] = np.sqrt(variance)
    return found


def _slopes(objective: Objective, names: Sequence[str], points: np.ndarray) -> np.ndarray:
    """Return the slopes (names, points, size) of some outputs in theta."""
    parameters, like = objective.parameters, objective.parameters.tensors[0]
    found = np.zeros((len(names), len(points), parameters.size))
    numbers = [objective.problem.scope.unknown_number[name] for name in names]
    for i, point in enumerate(points):
        outputs = parameters.module(T.tensor(point[None], dtype=like.dtype, device=like.device))
        for k, number in enumerate(numbers):
            slopes = T.grad(
                outputs[0, number], parameters.tensors, retain_graph=True, materialize_grads=True
            )
            found[k, i] = np.concatenate([slope.cpu().numpy().reshape(-1) for slope in slopes])
    return found
