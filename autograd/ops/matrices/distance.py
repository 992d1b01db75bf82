"""Distances between points.

The Euclidean ones and their derivatives are made coordinate by coordinate, so that no array is
larger than the distances are: the P * R * M differences are never there at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...tensor import Tensor
from ..elementwise.arithmetic import mul, neg, sub
from ..elementwise.quotient import quotient_op
from ..layout.gather import index_select_op
from ..layout.index import positions
from ..layout.shape import reshape_op, unsqueeze
from ..registry import Op, into, refuse_mixed
from .matmul import matmul_op
from .norm import vector_norm

__all__ = ["cdist", "pdist"]

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def _coordinates(xp: Any, x: Any) -> Any:
    """Return the coordinates (m, ..., p) of points (..., p, m), each side by side in memory."""
    return xp.ascontiguousarray(xp.moveaxis(x, -1, 0))


def _differences(xp: Any, x1: Any, x2: Any) -> Iterator[Any]:
    """Give the differences (..., p, r) of one coordinate after the other."""
    pairs = zip(_coordinates(xp, x1), _coordinates(xp, x2), strict=True)
    return (a[..., :, None] - b[..., None, :] for a, b in pairs)


def _euclidean(xp: Any, x1: Any, x2: Any, out: Any = None) -> Any:
    """Compute distances, scaled by a power of 2 near the largest coordinate: no overflow."""
    if not (x1.size and x2.size):
        return into(out, next(_differences(xp, x1, x2)))
    largest = xp.maximum(xp.abs(x1).max(), xp.abs(x2).max())
    usable = (largest > 0) & (largest < xp.inf)
    _, exponent = xp.frexp(xp.where(usable, largest, 1))
    total = 0.0
    for difference in _differences(xp, xp.ldexp(x1, -exponent), xp.ldexp(x2, -exponent)):
        difference *= difference
        difference += total
        total = difference
    return into(out, xp.ldexp(xp.sqrt(total, out=total), exponent))


def _pulled(xp: Any, weights: Any, x1: Any, x2: Any, out: Any = None) -> Any:
    weights = xp.ascontiguousarray(weights)  # as the differences are
    parts = [
        xp.einsum("...pr,...pr->...p", weights, difference)
        for difference in _differences(xp, x1, x2)
    ]
    return into(out, xp.stack(parts, axis=-1))


def _projected(xp: Any, along: Any, x1: Any, x2: Any, out: Any = None) -> Any:
    total = 0.0
    for a, difference in zip(_coordinates(xp, along), _differences(xp, x1, x2), strict=True):
        difference = difference * a[..., :, None]  # which may have more batches
        difference += total
        total = difference
    return into(out, total)


pulled_op = Op(
    "pulled",
    _pulled,
    {
        "weights": lambda g, x1, x2: projected_op(g, x1, x2),
        "x1": lambda g, weights: mul(g, weights.sum(-1, True)),
        "x2": lambda g, weights: neg(matmul_op(weights, g, transpose_x=True)),
    },
    broadcasts=True,
    taylor="nested",
)
"""The sums over r of weights[p, r] (x1[p] - x2[r]), of the shape of x1 (..., P, M)."""

projected_op = Op(
    "projected",
    _projected,
    {
        "along": lambda g, x1, x2: pulled_op(g, x1, x2),
        "x1": lambda g, along: mul(along, g.sum(-1, True)),
        "x2": lambda g, along: neg(matmul_op(g, along, transpose_x=True)),
    },
    broadcasts=True,
    taylor="nested",
)
"""The products along[p] . (x1[p] - x2[r]), of shape (..., P, R)."""


def _euclidean_gradients(g: Tensor, x1: Tensor, x2: Tensor, out: Tensor, needed: tuple) -> tuple:
    weights = quotient_op(g, out)
    return (
        pulled_op(weights, x1, x2) if needed[0] else None,
        pulled_op(weights.mT, x2, x1) if needed[1] else None,
    )


euclidean_op = Op(
    "euclidean_distance", _euclidean, _euclidean_gradients, broadcasts=True, taylor="nested"
)


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Return the distances between the rows of `x1` (..., P, M) and of `x2` (..., R, M).

    The result has shape (..., P, R); the dimensions before broadcast.  Distances are p-norms of
    differences, where p >= 0 is an order of `linalg.vector_norm`, inf too.  There are derivatives
    of any order, all 0 where two points are the same.  `compute_mode` changes nothing: differences
    are taken one by one, so that near points have exact distances.  Raises RuntimeError for shapes
    that do not fit, dtypes that differ or are not floating point, and a negative p.
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dtype.kind != "f":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype}; use .double()"
            )
        if x.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D; one point is a "
                "row, x.unsqueeze(0)"
            )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode!r} is not a valid value for compute_mode; use {_MODES}")
    refuse_mixed("cdist", x1, x2)
    if p == 2 and x1.shape[-1]:
        return euclidean_op(x1, x2)
    order = p if x1.shape[-1] else 0.0  # of no coordinates all norms are 0
    return vector_norm(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), order, -1)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the distances between each two rows of `input` (N, M): those of 0 to 1, 2, ..., of 1.

    The result has N (N - 1) / 2 elements; `p` and derivatives are as in `cdist`.  Raises
    RuntimeError for other shapes, dtypes that are not floating point, and a negative p.
    """
    if input.ndim != 2:
        raise RuntimeError(
            f"pdist only supports 2D tensors, got: {input.ndim}D; points are rows, (N, M)"
        )
    if input.dtype.kind != "f":
        raise RuntimeError(
            f"pdist only supports floating-point dtypes, got: {input.dtype}; use .double()"
        )
    if not p >= 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    count = input.shape[0]
    first, second = np.triu_indices(count, 1)
    whole = reshape_op(cdist(input, input, p), shape=(count * count,))
    return index_select_op(whole, positions(first * count + second, input), dim=0)
