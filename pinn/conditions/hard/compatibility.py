"""Whether hard conditions agree where their faces meet, found out before anything is trained."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

import autograd as T
from pinn.geometry import Shape

if TYPE_CHECKING:
    from pinn.conditions.hard.ansatz import Ansatz, Data

# Relative to the largest value on the two faces: above rounding, below any accuracy that is sought.
TOLERANCE = 1e-12
_GRID = 65
_SCATTERED = 256


def check_data(ansatz: Ansatz) -> None:
    """Check each unknown's data on every face and wherever two faces meet.

    On a meeting of dimension 0 its point is tried, of dimension 1 an even grid with both ends, and
    beyond that the corners and scattered points, the same ones each time.

    Raises ValueError, naming the conditions, the place and the values, for a value that is not
    finite and for two that disagree.
    """
    for data in ansatz.data.values():
        sizes = [_size(ansatz, item) for item in data]
        for (first, one), (second, other) in combinations(zip(data, sizes, strict=True), 2):
            if first.face.coordinate != second.face.coordinate:
                _check_pair(ansatz, first, second, max(one, other))


def _size(ansatz: Ansatz, item: Data) -> float:
    """Return the largest value on a face."""
    points = _points(ansatz.domain, item.place)
    values = _values(ansatz, item, points)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"the value of {item.condition!r}, which is hard, is {values[bad[0]]} at "
            f"{_place(ansatz.domain, points[bad[0]])}; expected a finite number"
        )
    return float(np.abs(values).max())


def _check_pair(ansatz: Ansatz, first: Data, second: Data, size: float) -> None:
    # u_t(0) on a face belongs with the rate of change of the face's own data.
    order = max(first.order, second.order)
    points = _points(ansatz.domain, {**first.place, **second.place})
    one, other = (
        _rates(ansatz, item, points) if order > item.order else _values(ansatz, item, points)
        for item in (first, second)
    )
    both = np.abs(np.concatenate([one, other]))
    margin = TOLERANCE * both.max(initial=size, where=np.isfinite(both))
    # A rate that is not finite counts as the worst of all.
    gaps = np.where(np.isfinite(one) & np.isfinite(other), np.abs(one - other), np.inf)
    worst = int(gaps.argmax())
    if gaps[worst] <= margin:
        return
    shown = [0.0 if abs(values[worst]) <= margin else values[worst] for values in (one, other)]
    what = "rate of change in time" if order else "value"
    raise ValueError(
        f"{first.condition!r} and {second.condition!r} are both hard but disagree "
        f"where they meet: at {_place(ansatz.domain, points[worst])} the first gives the {what} "
        f"{shown[0]:.10g}, the second {shown[1]:.10g}; make one of them soft (leave out "
        "hard), or let their values agree there"
    )


def _values(ansatz: Ansatz, item: Data, points: np.ndarray) -> np.ndarray:
    with T.no_grad():
        return _array(ansatz.evaluate(item.tree, _columns(ansatz.domain, points)), len(points))


def _rates(ansatz: Ansatz, item: Data, points: np.ndarray) -> np.ndarray:
    columns = _columns(ansatz.domain, points)
    time = columns[ansatz.domain.time].requires_grad_()
    value = ansatz.evaluate(item.tree, columns)
    if not isinstance(value, T.Tensor) or not value.requires_grad:
        return np.zeros(len(points))
    (rate,) = T.grad(value.sum(), time, allow_unused=True)
    return np.zeros(len(points)) if rate is None else _array(rate, len(points))


def _columns(domain: Shape, points: np.ndarray) -> dict[str, T.Tensor]:
    return {
        name: T.tensor(points[:, j : j + 1], dtype=T.float64)
        for j, name in enumerate(domain.coordinates)
    }


def _array(value: T.Tensor | float, n: int) -> np.ndarray:
    array = value.detach().cpu().numpy().reshape(-1) if isinstance(value, T.Tensor) else value
    return np.broadcast_to(np.asarray(array, dtype=np.float64), (n,))


def _points(domain: Shape, fixed: dict[str, float]) -> np.ndarray:
    """Return points (n, d) where some coordinates are fixed."""
    free = [name for name in domain.coordinates if name not in fixed]
    if len(free) <= 1:
        unit = np.linspace(0, 1, _GRID)[:, None] if free else np.empty((1, 0))
    else:
        corners = np.array(list(product((0.0, 1.0), repeat=min(len(free), 8))))
        # With more than 8 coordinates the corners are those of the first 8.
        corners = np.pad(corners, ((0, 0), (0, len(free) - corners.shape[1])))
        unit = np.concatenate(
            [corners, np.random.default_rng(0).random((_SCATTERED, len(free)))]
        )
    points = np.empty((len(unit), len(domain.coordinates)))
    columns = iter(unit.T)
    for j, (name, (low, high)) in enumerate(domain.bounds.items()):
        if name in fixed:
            points[:, j] = fixed[name]
        else:
            points[:, j] = np.clip(low + (high - low) * next(columns), low, high)
    return points


def _place(domain: Shape, point: np.ndarray) -> str:
    pairs = zip(domain.coordinates, point, strict=True)
    return ", ".join(f"{name} = {value:.6g}" for name, value in pairs)
