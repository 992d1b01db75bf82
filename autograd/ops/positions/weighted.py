"""Elements read at positions as weighted sums, and what its derivatives are made of.

A read is a product with a matrix that has as many numbers a row as there are positions a point: on
the host it is one, of scipy's sparse ones, where there is enough to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..layout.index import add_at
from ..reductions.products import sum_of_products
from ..registry import Op

# Fewer products are as fast position by position, which needs no matrix.
_MANY = 1 << 14


def _rows(xp: Any, x: Any) -> Any:
    """Return (n, c, m) as the matrix of n * m rows of c numbers."""
    return xp.ascontiguousarray(x.transpose(0, 2, 1)).reshape(x.shape[0] * x.shape[2], x.shape[1])


def _as_before(xp: Any, rows: Any, n: int, m: int) -> Any:
    """Return n * m rows of c numbers as (n, c, m)."""
    return xp.ascontiguousarray(rows.reshape(n, m, rows.shape[1]).transpose(0, 2, 1))


def _numbers(xp: Any, places: Any, size: int) -> Any:
    """Return which of n * size rows are meant by places (n, p, k), as (n * p, k)."""
    starts = xp.arange(places.shape[0]).reshape(-1, 1, 1) * size
    return (places + starts).reshape(places.shape[0] * places.shape[1], places.shape[2])


def _matrix(numbers: np.ndarray, weights: np.ndarray, size: int) -> Any:
    """Return the matrix that reads, of as many rows as there are points."""
    from scipy.sparse import csr_array

    points, each = numbers.shape
    starts = np.arange(0, points * each + 1, each)
    return csr_array((weights.reshape(-1), numbers.reshape(-1), starts), shape=(points, size))


def _is_worth_a_matrix(xp: Any, weights: Any, width: int) -> bool:
    return xp is np and weights.dtype.char in "fd" and weights.size * width >= _MANY


def _read(xp: Any, x: Any, places: Any, weights: Any) -> Any:
    n, width, size = x.shape
    rows, numbers = _rows(xp, x), _numbers(xp, places, size)
    if _is_worth_a_matrix(xp, weights, width):
        return _as_before(np, _matrix(numbers, weights, n * size) @ rows, n, places.shape[1])
    shares = weights.reshape(numbers.shape)
    result = xp.zeros((numbers.shape[0], width), x.dtype)
    for k in range(numbers.shape[1]):
        part = xp.take(rows, numbers[:, k], axis=0)
        part *= shares[:, k : k + 1]
        result += part
    return _as_before(xp, result, n, places.shape[1])


def _add(xp: Any, y: Any, places: Any, weights: Any, *, size: int) -> Any:
    n, width, _ = y.shape
    rows, numbers = _rows(xp, y), _numbers(xp, places, size)
    if _is_worth_a_matrix(xp, weights, width):
        return _as_before(np, _matrix(numbers, weights, n * size).T @ rows, n, size)
    result = xp.zeros((n * size, width), y.dtype)
    added = rows[:, None, :] * weights.reshape(*numbers.shape, 1)
    add_at(xp, result, numbers[..., None] * width + xp.arange(width), added)
    return _as_before(xp, result, n, size)


def _match(xp: Any, y: Any, x: Any, places: Any) -> Any:
    rows, read, numbers = _rows(xp, y), _rows(xp, x), _numbers(xp, places, x.shape[2])
    parts = [
        sum_of_products(xp, rows, xp.take(read, numbers[:, k], axis=0), (1,))
        for k in range(numbers.shape[1])
    ]
    return xp.stack(parts, axis=1).reshape(places.shape)


weighted_read_op = Op(
    "weighted_read",
    _read,
    {
        "x": lambda g, places, weights, x_shape: weighted_add_op(
            g, places, weights, size=x_shape[2]
        ),
        "weights": lambda g, x, places: weighted_match_op(g, x, places),
    },
    taylor="nested",
)
"""Of x (n, c, m), places and weights (n, p, k): sum over k of weights * x at places, (n, c, p)."""

weighted_add_op = Op(
    "weighted_add",
    _add,
    {
        "y": lambda g, places, weights: weighted_read_op(g, places, weights),
        "weights": lambda g, y, places: weighted_match_op(y, g, places),
    },
    taylor="nested",
)
"""Zeros (n, c, size) with weights * y added at places, for y (n, c, p): the transpose of a read."""

weighted_match_op = Op(
    "weighted_match",
    _match,
    {
        "y": lambda g, x, places: weighted_read_op(x, places, g),
        "x": lambda g, y, places, x_shape: weighted_add_op(y, places, g, size=x_shape[2]),
    },
    taylor="nested",
)
"""Of y (n, c, p) and x (n, c, m): the sum over c of y * x at places, (n, p, k)."""
