"""Factorizations and solutions that tell which matrices they failed for, in place of an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...tensor import Tensor
from ..creation.create import arange, zeros
from ..elementwise.compare import eq
from ..elementwise.piecewise import where
from ..layout.arrange import diagonal
from ..reductions.extrema import amin
from ..registry import Op, into
from .decompositions import identity_like
from .lapack import each
from .linalg import cholesky, inv, is_vector, matrices, solve
from .lu import lu_factor

__all__ = ["cholesky_ex", "inv_ex", "solve_ex"]


class CholeskyResult(NamedTuple):
    """The triangular factors, and int32 numbers: 0, or the order of the minor that is at fault."""

    L: Tensor
    info: Tensor


class InverseResult(NamedTuple):
    """The inverses, and int32 numbers: 0, or which pivot of a singular matrix is 0, from 1 on."""

    inverse: Tensor
    info: Tensor


class SolveResult(NamedTuple):
    """The solutions, and int32 numbers: 0, or which pivot of a singular matrix is 0, from 1 on."""

    result: Tensor
    info: Tensor


def _cholesky_info(xp: Any, x: Any, out: Any = None) -> Any:
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise ValueError(f"expected square matrices, got {rows} by {columns}")
    if xp is np:
        return into(out, _by_lapack(x))
    # eliminated together, each column until a pivot is not positive
    x = x.copy()
    info = xp.zeros(x.shape[:-2], np.int32)
    for k in range(x.shape[-1]):
        pivot = xp.real(x[..., k, k])
        info = xp.where((info == 0) & ~(pivot > 0), np.int32(k + 1), info)
        column = x[..., k + 1 :, k]
        divided = column / xp.where(pivot > 0, pivot, 1)[..., None]
        x[..., k + 1 :, k + 1 :] -= divided[..., :, None] * xp.conj(column)[..., None, :]
    return into(out, info)


def _by_lapack(x: np.ndarray) -> np.ndarray:
    info = np.zeros(x.shape[:-2], np.int32)
    if not x.size:
        return info
    factored = each("potrf", x, lower=True, clean=False)
    for place, (factor, failed) in zip(np.ndindex(info.shape), factored, strict=True):
        (unknown,) = np.isnan(np.diagonal(factor)).nonzero()  # which OpenBLAS does not tell
        faults = [*(unknown[:1] + 1), *([failed] if failed else [])]
        info[place] = min(faults, default=0)
    return info


cholesky_info_op = Op("cholesky_info", _cholesky_info)


def cholesky_ex(
    A: Tensor,  # noqa: N803 - PyTorch's name
    *,
    upper: bool = False,
    check_errors: bool = False,
) -> CholeskyResult:
    """Return `cholesky(A)`, and for each matrix 0, or the first minor that is not positive.

    NaN is not.  The factor of a matrix that is not positive definite is NaN, without a gradient.
    check_errors  raise LinAlgError for these instead.
    """
    A = matrices("cholesky_ex", A)
    if check_errors:
        return CholeskyResult(cholesky(A, upper=upper), _zeros(A))
    info = cholesky_info_op(A.detach())
    return CholeskyResult(_where_it_works(lambda x: cholesky(x, upper=upper), A, info), info)


def inv_ex(A: Tensor, *, check_errors: bool = False) -> InverseResult:  # noqa: N803
    """Return `inv(A)`, and for each matrix 0, or which of its pivots is the first that is 0.

    The inverse of a singular matrix is NaN, without a gradient.
    check_errors  raise LinAlgError for these instead.
    """
    A = matrices("inv_ex", A)
    if check_errors or not A.shape[-1]:
        return InverseResult(inv(A), _zeros(A))
    info = _first_pivot_of_zero(A)
    return InverseResult(_where_it_works(inv, A, info), info)


def solve_ex(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    left: bool = True,
    check_errors: bool = False,
) -> SolveResult:
    """Return `solve(A, B, left=left)`, and for each A 0, or which of its pivots is the first 0.

    The solution for a singular matrix is NaN, without a gradient.
    check_errors  raise LinAlgError for these instead.
    """
    A = matrices("solve_ex", A)
    if check_errors or not A.shape[-1]:
        return SolveResult(solve(A, B, left=left), _zeros(A))
    info = _first_pivot_of_zero(A)
    dimensions = 1 if is_vector(A, B) else 2
    found = _where_it_works(lambda x: solve(x, B, left=left), A, info, dimensions)
    return SolveResult(found, info)


def _first_pivot_of_zero(A: Tensor) -> Tensor:  # noqa: N803
    pivots = diagonal(lu_factor(A.detach()).LU, 0, -2, -1)
    none = A.shape[-1] + 1
    order = arange(1, none, dtype=dtypes.int32, device=A.device)
    first = amin(where(eq(pivots, 0), order, none), -1)
    return where(eq(first, none), 0, first)


def _zeros(A: Tensor) -> Tensor:  # noqa: N803
    return zeros(A.shape[:-2], dtype=dtypes.int32, device=A.device)


def _where_it_works(
    function: Callable[[Tensor], Tensor],
    A: Tensor,  # noqa: N803
    info: Tensor,
    dimensions: int = 2,
) -> Tensor:
    """Return what `function` has of `A`, with the last `dimensions` a matrix, NaN of the others."""
    works = eq(info, 0).unsqueeze(-1)
    found = function(where(works.unsqueeze(-1), A, identity_like(A)))
    return where(works if dimensions == 1 else works.unsqueeze(-1), found, float("nan"))
