"""Distances between points."""

from __future__ import annotations

from ..tensor import Tensor
from .arithmetic import sub
from .norm import vector_norm
from .registry import refuse_mixed
from .shape import unsqueeze

__all__ = ["cdist"]

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
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
    of any order, all 0 where two points are the same.  `compute_mode` changes nothing: the
    P * R * M differences are taken, so that near points have exact distances.  Raises RuntimeError
    for shapes that do not fit, dtypes that differ or are not floating point, and a negative p.
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
    order = p if x1.shape[-1] else 0.0  # of no coordinates all norms are 0
    return vector_norm(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), order, -1)
