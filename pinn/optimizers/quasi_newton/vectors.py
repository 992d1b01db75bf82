"""Vectors where they lie: on the host, or on the device on which the loss is computed.

What a solver does with vectors is one text for both. What it decides by are numbers, and they come
home here: of a device several in one copy, for which it is waited.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autograd.devices import CPU, namespace_of, put
from pinn.objective import OnDevice
from pinn.optimizers.solver import Diverged, LeastSquares


class Found(NamedTuple):
    """The loss at a theta, with its gradient (size,) where vectors lie.

    theta: on the host. at: the same where vectors lie. largest: |component| of the gradient. slope:
    of the loss along the direction that led there, where it came home with the loss.
    """

    theta: np.ndarray
    at: Any
    loss: float
    gradient: Any
    largest: float
    slope: float | None


def evaluated(function: LeastSquares, theta: np.ndarray) -> Found:
    """Evaluate at a theta of the host; raises Diverged for numbers that are not finite."""
    there = function.on_device
    if there is None:
        return _on_host(function, theta)
    found = _on_device(function, there, put(theta, there.device))
    if not _is_finite(found):
        function.value_and_gradient(found.theta)  # says where they come from
        raise Diverged("the loss or its gradient is not finite on the device")
    return found


def evaluated_along(function: LeastSquares, start: Any, alpha: float, direction: Any) -> Found:
    """Evaluate at start + alpha * direction, (size,) where vectors lie.

    Raises Diverged as `evaluated` does; of a device it says no more than that.
    """
    there = function.on_device
    if there is None:
        return _on_host(function, start + alpha * direction)
    found = _on_device(function, there, start, alpha, direction)
    if not _is_finite(found):
        raise Diverged("the loss or its gradient is not finite on the device")
    return found


def inner(*pairs: tuple[Any, Any]) -> list[float]:
    """Return the inner products of pairs of vectors, of one device; that is waited for once."""
    if isinstance(pairs[0][0], np.ndarray):
        return [float(a @ b) for a, b in pairs]
    xp = namespace_of(pairs[0][0])
    found = xp.empty(len(pairs), np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for k, (a, b) in enumerate(pairs):
            xp.dot(a, b, out=found[k : k + 1].reshape(()))
    return put(found, CPU).tolist()


def norm(vector: Any) -> float:
    """Return the length of a vector, for which its device is waited for."""
    if isinstance(vector, np.ndarray):
        return float(np.linalg.norm(vector))
    return math.sqrt(inner((vector, vector))[0])


def _on_host(function: LeastSquares, theta: np.ndarray) -> Found:
    found = function.value_and_gradient(theta)
    largest = float(np.max(np.abs(found.gradient)))
    return Found(theta, theta, found.loss, found.gradient, largest, None)


def _on_device(
    function: LeastSquares, there: OnDevice, start: Any, alpha: float = 0.0, direction: Any = None
) -> Found:
    """Evaluate there: theta and all numbers come home in one copy, for which alone it waits."""
    xp, size, blocks = there.xp, there.size, there.blocks
    # All that comes home lies at the front: theta, the largest, the slope, the sums of squares.
    front = xp.empty(size + 2 + there.results, np.float64)
    at, results = front[:size], front[size + 2 :]
    with np.errstate(over="ignore", invalid="ignore"):
        if direction is None:
            xp.copyto(at, start)
        else:
            xp.multiply(direction, alpha, out=at)
            xp.add(start, at, out=at)
        there.evaluate(at, results)
        gradient = there.total_gradient(results)
        xp.max(xp.abs(gradient), out=front[size : size + 1].reshape(()))
        along = gradient if direction is None else direction
        xp.dot(gradient, along, out=front[size + 1 : size + 2].reshape(()))
    home = there.home(front[: size + 2 + blocks])
    theta, (largest, slope) = home[:size], home[size : size + 2].tolist()
    there.evaluated_at(theta)
    loss = function.told(theta, home[size + 2 :])
    return Found(theta, at, loss, gradient, largest, None if direction is None else slope)


def _is_finite(found: Found) -> bool:
    return math.isfinite(found.loss) and math.isfinite(found.largest)
