"""What a network can and cannot do, found out by running it with other parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

import autograd as T
from pinn.conditions.hard import HardModel
from pinn.diagnosis.posed.linear import Leaf
from pinn.equations.leaves import Derivative
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.values import coordinate_columns
from pinn.models import Joined
from pinn.objective import Objective

# Two numbers that a network gives are the same below this share of their size.
_SAME = 1e-6


@contextmanager
def other_parameters(objective: Objective, rng: np.random.Generator) -> Iterator[None]:
    """Move all parameters inside the block, and put them back to the last bit."""
    theta = objective.theta
    try:
        objective.parameters.load(theta + 0.3 * rng.standard_normal(theta.shape))
        yield
    finally:
        objective.parameters.load(theta)


def network_values(
    objective: Objective, leaves: Iterable[Leaf], points: np.ndarray, bare: bool = False
) -> list[np.ndarray]:
    """Return unknowns and derivatives of the present model at points (n, d), each (n,).

    bare: of the network inside the formula of hard conditions.
    """
    module = objective.parameters.module
    if bare:
        module = _bare(module)
    tensor = objective.parameters.tensors[0]
    columns = coordinate_columns(points, tensor.dtype, str(tensor.device))
    leaves = list(leaves)
    scope = objective.problem.scope
    values = NestedValues(module, scope, columns, {}, NestedPlan(leaves, scope))
    return [values[leaf].detach().cpu().numpy().astype(np.float64) for leaf in leaves]


def _bare(module: T.nn.Module) -> T.nn.Module:
    if isinstance(module, Joined):
        return module.mapped(_bare)
    return module.network if isinstance(module, HardModel) else module


def held_by_model(
    objective: Objective, unknown: str, coordinate: str, orders: int, rng: np.random.Generator
) -> int:
    """Return how many conditions in a coordinate the model itself keeps, whatever its parameters.

    Those are u, u_x, ... below `orders` on a bound where other parameters change nothing, as hard
    conditions bring about; and where u, u_x, ... are the same on both bounds, as of a network with
    periodic inputs. A model that other parameters do not change anywhere keeps none.
    """
    domain = objective.problem.domain
    j = domain.coordinates.index(coordinate)
    inside = np.array([[low, high] for low, high in domain.bounds.values()])
    points = inside[:, 0] + rng.random((8, len(inside))) * (inside[:, 1] - inside[:, 0])
    bounds = []
    for bound in inside[j]:
        placed = points.copy()
        placed[:, j] = bound
        bounds.append(placed)
    leaves = [Derivative(unknown, (coordinate,) * k) for k in range(orders)]
    everywhere = np.concatenate([points, *bounds])
    drawn = []
    for _ in range(2):
        with other_parameters(objective, rng):
            drawn.append(np.array(network_values(objective, leaves, everywhere)))
    one, other = (array.reshape(orders, 3, -1) for array in drawn)
    size = np.abs(one - other)[:, 0].max(axis=1) + 1e-300
    held = np.abs(one - other)[:, 1:].max(axis=2) <= _SAME * size[:, None]
    periodic = np.abs(one[:, 1] - one[:, 2]).max(axis=1) <= _SAME * np.abs(one[:, 0]).max(axis=1)
    return int(np.where(periodic, np.maximum(1, held.sum(axis=1)), held.sum(axis=1)).sum())


def fixed_by_model(
    objective: Objective, unknown: str, points: np.ndarray, rng: np.random.Generator
) -> bool:
    """Return whether the model itself keeps the values of an unknown at points (n, d).

    That is so where other parameters change nothing there, but elsewhere.
    """
    domain = objective.problem.domain
    low, high = np.array(list(domain.bounds.values())).T
    inside = low + (high - low) * rng.random((8, len(low)))
    drawn = []
    for _ in range(2):
        with other_parameters(objective, rng):
            everywhere = np.concatenate([inside, points])
            drawn.append(network_values(objective, [Derivative(unknown, ())], everywhere)[0])
    moved = np.abs(drawn[0] - drawn[1])
    return bool(moved[8:].max() <= _SAME * (moved[:8].max() + 1e-300))
