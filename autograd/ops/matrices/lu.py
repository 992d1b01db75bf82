"""LU decompositions with partial pivoting, with derivatives of every order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...tensor import Tensor
from ..elementwise.arithmetic import add, sub
from ..elementwise.compare import eq
from ..layout.arrange import tril, triu
from ..layout.index import positions
from ..layout.join import cat
from ..layout.shape import adjoint
from ..registry import REGISTRY, Op, cast
from .decompositions import identity_like, solve_triangular
from .lapack import SMALL, each
from .linalg import matrices
from .matmul import matmul_op

__all__ = [
    "lu",
    "lu_factor",
    "lu_solve",
]


class LU(NamedTuple):
    """A = P L U."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactors(NamedTuple):
    """L, without its diagonal of ones, and U in one matrix; the rows that were exchanged."""

    LU: Tensor
    pivots: Tensor


def _eliminated(xp: Any, x: Any) -> tuple:
    """Return L and U in one matrix, and with which row, from 1 on, each was exchanged."""
    rows, columns = x.shape[-2:]
    if xp is np and min(rows, columns) > SMALL and x.size:
        return _by_lapack(x)
    x = x.copy()
    places = xp.arange(rows)
    pivots = []
    for k in range(min(rows, columns)):
        pivot = xp.argmax(_magnitude(xp, x[..., k:, k]), axis=-1)[..., None] + k
        pivots.append(pivot + 1)
        # row k goes where the pivot is, and the other way round
        order = xp.where(places == k, pivot, xp.where(places == pivot, k, places))
        x = xp.take_along_axis(x, order[..., None], axis=-2)
        head = x[..., k : k + 1, k : k + 1]
        below = x[..., k + 1 :, k : k + 1] / xp.where(head == 0, xp.ones_like(head), head)
        x[..., k + 1 :, k : k + 1] = below
        x[..., k + 1 :, k + 1 :] -= below * x[..., k : k + 1, k + 1 :]
    empty = xp.zeros((*x.shape[:-2], 0), np.int32)
    return x, xp.concatenate([empty, *pivots], axis=-1).astype(np.int32)


def _magnitude(xp: Any, x: Any) -> Any:
    """Return what pivots are chosen by: LAPACK takes |Re| + |Im| of complex numbers."""
    return xp.abs(x.real) + xp.abs(x.imag) if x.dtype.kind == "c" else xp.abs(x)


def _by_lapack(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = list(each("getrf", x))
    packed = np.stack([one for one, _, _ in found]).reshape(x.shape)
    pivots = np.stack([one for _, one, _ in found]).reshape(*x.shape[:-2], -1)
    return packed.astype(x.dtype, copy=False), pivots.astype(np.int32) + np.int32(1)


def _order_of_rows(xp: Any, pivots: Any, *, rows: int) -> Any:
    """Return which row of A each row of L U is, int64."""
    order = xp.broadcast_to(xp.arange(rows), (*pivots.shape[:-1], rows)).astype(np.int64)
    places = xp.arange(rows)
    for k in range(pivots.shape[-1]):
        pivot = pivots[..., k : k + 1].astype(np.int64) - 1
        swap = xp.where(places == k, pivot, xp.where(places == pivot, k, places))
        order = xp.take_along_axis(order, swap, axis=-1)
    return order


order_of_rows_op = Op("order_of_rows", _order_of_rows)


def _permutation(pivots: Tensor, like: Tensor) -> Tensor:
    """Return P of A = P L U, (..., m, m)."""
    rows = like.shape[-2]
    order = order_of_rows_op(pivots, rows=rows)
    of_rows = positions(np.arange(rows), order).unsqueeze(-1)
    return cast(eq(order.unsqueeze(-2), of_rows), like.dtype)


def _eliminated_gradient(g: tuple, x: Tensor, out: tuple) -> Tensor:
    """P L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H, of square matrices.

    Tall ones have rows B = L' U beyond the square: their share is B' = dL' U^-H, and dU loses
    L'^H B'.  Wide ones have columns B = L U': B' = L^-H dU', and dL loses B' U'^H.
    Source: de Hoog, Anderssen and Lukas, Math. Comp. 80 (2011), 1585.
    """
    packed, pivots = out
    rows, columns = packed.shape[-2:]
    rank = min(rows, columns)
    square, slopes = (_block(one, slice(rank), slice(rank)) for one in (packed, g[0]))
    lower = add(tril(square, -1), identity_like(square))
    upper = triu(square)
    beyond = None
    if rows > rank:
        part, slope = (_block(one, slice(rank, rows), slice(rank)) for one in (packed, g[0]))
        beyond = solve_triangular(adjoint(upper), slope, upper=False, left=False)
        slopes = sub(slopes, triu(matmul_op(adjoint(part), beyond)))
    elif columns > rank:
        part, slope = (_block(one, slice(rank), slice(rank, columns)) for one in (packed, g[0]))
        beyond = solve_triangular(adjoint(lower), slope, upper=True, unitriangular=True)
        slopes = sub(slopes, tril(matmul_op(beyond, adjoint(part)), -1))
    inside = add(
        tril(matmul_op(adjoint(lower), tril(slopes, -1)), -1),
        triu(matmul_op(triu(slopes), adjoint(upper))),
    )
    left = solve_triangular(adjoint(lower), inside, upper=True, unitriangular=True)
    found = solve_triangular(adjoint(upper), left, upper=False, left=False)
    if beyond is not None:
        found = cat([found, beyond], -2 if rows > rank else -1)
    return matmul_op(_permutation(pivots, packed), found)


def _block(x: Tensor, rows: slice, columns: slice) -> Tensor:
    """Return a block of matrices (..., m, n), the matrices themselves where it is all of them."""
    if (rows.stop, columns.stop) == tuple(x.shape[-2:]) and not (rows.start or columns.start):
        return x
    return x[..., rows, columns]


eliminated_op = Op(
    "linalg_lu_factor", _eliminated, {"x": _eliminated_gradient}, dtype="float", outputs=2,
    taylor="nested",
)  # fmt: skip


def lu_factor(A: Tensor, *, pivot: bool = True) -> LUFactors:  # noqa: N803 - PyTorch's names
    """Return L and U in one matrix (..., m, n), and the pivots (int32, from 1 on), for `lu_solve`.

    Raises RuntimeError for pivot=False, which is not stable.
    """
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented; pivot=True")
    return LUFactors(*eliminated_op(matrices("lu_factor", A, square=False)))


def lu(A: Tensor, *, pivot: bool = True) -> LU:  # noqa: N803
    """Return the permutation P, the lower L, with a diagonal of ones, and the upper U of A = P L U.

    Shapes: A (..., m, n), P (..., m, m), L (..., m, k), U (..., k, n), k = min(m, n).
    """
    packed, pivots = lu_factor(A, pivot=pivot)
    rank = min(packed.shape[-2:])
    lower = tril(packed, -1)[..., :, :rank]
    one = triu(tril(REGISTRY["ones_like"](lower.detach())))
    return LU(_permutation(pivots, packed), add(lower, one), triu(packed)[..., :rank, :])


def lu_solve(
    LU: Tensor,  # noqa: N803
    pivots: Tensor,
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Tensor:
    """Return X with A X = B, or X A = B with `left=False`, from `lu_factor(A)`.

    adjoint  take A^H in place of A.  Shapes: LU (..., n, n), B (..., n, k).
    """
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    order = _permutation(pivots, matrices("lu_solve", LU))
    if adjoint:
        upper = solve_triangular(LU.mH, B, upper=False)
        lower = tril(LU, -1).mH
        found = solve_triangular(lower, upper, upper=True, unitriangular=True)
        return matmul_op(order, found)
    lower = solve_triangular(LU, matmul_op(order.mT, B), upper=False, unitriangular=True)
    return solve_triangular(LU, lower, upper=True)
