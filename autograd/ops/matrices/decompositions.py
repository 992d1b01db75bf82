"""What is made of decompositions: rank, condition, triangular systems, products of reflections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tensor import Tensor, method
from ..elementwise.arithmetic import div, mul, neg, sub
from ..elementwise.compare import gt, isneginf
from ..elementwise.piecewise import maximum, where
from ..layout.arrange import diag_embed, tril, triu
from ..layout.arrange import diagonal as any_diagonal
from ..layout.join import cat
from ..layout.shape import adjoint, reshape_op
from ..registry import REGISTRY, Op, into
from .eigen import eigvalsh
from .lapack import SMALL, each
from .linalg import _cutoff, guarded, inv, matrices, slogdet, solve
from .matmul import matmul_op
from .norm import matrix_norm
from .svd import svdvals

__all__ = [
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "diagonal",
    "householder_product",
    "matrix_rank",
    "solve_triangular",
    "tensorinv",
    "tensorsolve",
]


def cond(A: Tensor, p: Any = None) -> Tensor:  # noqa: N803 - PyTorch's names
    """Return the condition numbers of matrices (..., m, n): the norm times that of the inverse.

    p  None or 2: the largest singular value over the least; -2 the other way round; "fro", "nuc",
       inf, -inf, 1, -1: that norm, of square matrices.
    A singular matrix has inf.
    """
    A = matrices("cond", A, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        values = svdvals(A)
        largest, least = values[..., 0], values[..., -1]
        return div(least, largest) if p == -2 else div(largest, least)
    try:
        inverse = inv(A)
    except RuntimeError:  # some are singular: the identity takes their places
        singular = isneginf(slogdet(A.detach()).logabsdet)
        A = where(singular[..., None, None], identity_like(A), A)
        return where(singular, math.inf, mul(matrix_norm(A, p), matrix_norm(inv(A), p)))
    return mul(matrix_norm(A, p), matrix_norm(inverse, p))


def matrix_rank(
    A: Tensor,  # noqa: N803
    tol: Any = None,
    *,
    atol: Any = None,
    rtol: Any = None,
    hermitian: bool = False,
) -> Tensor:
    """Return how many singular values of matrices (..., m, n) are not 0, int64.

    They count as 0 up to the larger of `atol` and of `rtol` times the largest one (numbers, or one
    a matrix).  By default atol is 0, and rtol is max(m, n) times the machine precision, or 0 where
    atol is given.  hermitian: eigenvalues are taken instead.  `tol` is `atol`.
    """
    A = matrices("matrix_rank", A, square=hermitian).detach()
    atol = tol if atol is None else atol
    if 0 in A.shape[-2:]:
        return A.abs().sum((-2, -1)).long()
    values = eigvalsh(A).abs() if hermitian else svdvals(A)
    if rtol is None:
        rtol = _cutoff(A._data) if atol is None else 0.0
    limit = mul(values.amax(-1), rtol)
    if atol is not None:
        limit = maximum(limit, atol if isinstance(atol, Tensor) else mul(limit, 0.0) + atol)
    return gt(values, limit.unsqueeze(-1)).sum(-1)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """Return a view of the diagonals of the last two dimensions, in a new last dimension."""
    return any_diagonal(A, offset, dim1, dim2)


def _substituted(xp: Any, a: Any, b: Any, upper: bool) -> Any:
    batch = ()
    if a.ndim > 2 or b.ndim > 2:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = xp.broadcast_to(a, (*batch, *a.shape[-2:]))
        b = xp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if xp is not np or a.shape[-1] <= SMALL or not b.size:
        return xp.linalg.solve(xp.triu(a) if upper else xp.tril(a), b)
    found = np.empty(b.shape, b.dtype)  # in the square of a triangle's size in place of its cube
    solved = each("trtrs", a, b, lower=not upper)
    for place, (solution, failed) in zip(np.ndindex(batch), solved, strict=True):
        found[place] = solution
        if failed:
            raise np.linalg.LinAlgError("Singular matrix")
    return found


_guarded_substitution = guarded(
    "solve_triangular", _substituted, "The solver failed because the diagonal has a 0",
    "use linalg.lstsq or regularise it",
)  # fmt: skip


def _substitution_gradients(g: Tensor, a: Tensor, out: Tensor, upper: bool, needed: tuple) -> tuple:
    """A X = B: dX = A^-1 (dB - dA X), of triangles dA."""
    for_b = substitution_op(adjoint(a), g, upper=not upper)
    if not needed[0]:
        return None, for_b
    return (triu if upper else tril)(neg(matmul_op(for_b, adjoint(out)))), for_b


substitution_op = Op(  # of triangles, whose other half is not read
    "linalg_solve_triangular",
    lambda xp, a, b, out=None, *, upper: into(out, _guarded_substitution(xp, a, b, upper)),
    _substitution_gradients,
    dtype="same",
    broadcasts=True,
    taylor="nested",
)


def solve_triangular(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Tensor:
    """Return X with A X = B, or X A = B with `left=False`, of triangular A.

    upper          which triangle of A (..., n, n) is read; the other one counts as 0.
    unitriangular  the diagonal counts as ones.
    B (..., n, k); leading dimensions broadcast.  Raises LinAlgError where A is singular.
    """
    A = matrices("solve_triangular", A)
    if unitriangular:
        triangle = (triu(A, 1) if upper else tril(A, -1)) + identity_like(A)
    else:
        triangle = A
    side = -2 if left else -1
    if B.ndim < 2 or B.shape[side] != A.shape[-1]:
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'}: A {list(A.shape)}, B {list(B.shape)}; expected "
            f"dimension {side} of B to have size {A.shape[-1]}"
        )
    if left:
        return substitution_op(triangle, B, upper=upper)
    return substitution_op(triangle.mT, B.mT, upper=not upper).mT


def identity_like(A: Tensor) -> Tensor:  # noqa: N803
    """Return the identity in the shape, dtype and device of square matrices."""
    return diag_embed(REGISTRY["ones_like"](any_diagonal(A.detach(), 0, -2, -1)))


@method
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """Return X with A X = B (..., n, k) of the `L` that `linalg.cholesky` gives of A."""
    half = adjoint(L) if upper else L
    inner = solve_triangular(half, B, upper=False)
    return solve_triangular(adjoint(half), inner, upper=True)


@method
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:  # noqa: N803
    """Return the inverse of the matrix of which `linalg.cholesky` gives `L`."""
    return cholesky_solve(identity_like(L), L, upper)


def tensorsolve(
    A: Tensor,  # noqa: N803
    B: Tensor,  # noqa: N803
    dims: Sequence[int] | None = None,
) -> Tensor:
    """Return X with tensordot(A, X, X.ndim) = B, after `dims` of A are moved to its end.

    Raises RuntimeError where the dimensions of A that B has do not number as many elements as the
    others.
    """
    if dims is not None:
        axes = [dim % A.ndim for dim in dims]
        A = A.permute(*(k for k in range(A.ndim) if k not in axes), *axes)
    rest = tuple(A.shape[B.ndim :])
    if math.prod(rest) != B.numel() or math.prod(A.shape[: B.ndim]) != B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got A {list(A.shape)} and B {list(B.shape)}"
        )
    found = solve(reshape_op(A, shape=(B.numel(), B.numel())), reshape_op(B, shape=(B.numel(),)))
    return reshape_op(found, shape=rest)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:  # noqa: N803
    """Return the inverse for tensordot of A, whose first `ind` dimensions are those of results.

    Raises RuntimeError where these do not number as many elements as the others.
    """
    first, rest = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if ind <= 0 or math.prod(first) != math.prod(rest):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]) with ind > 0, but got {list(A.shape)} and ind={ind}"
        )
    size = math.prod(first)
    return reshape_op(inv(reshape_op(A, shape=(size, size))), shape=(*rest, *first))


def householder_product(A: Tensor, tau: Tensor) -> Tensor:  # noqa: N803
    """Return the first n columns of H_1 H_2 ... H_k, reflections H_i = 1 - tau_i v_i v_i^H.

    A (..., m, n), m >= n: v_i is column i below the diagonal, with 1 on it and 0 above; tau
    (..., k).
    """
    A = matrices("householder_product", A, square=False)
    rows, columns = A.shape[-2:]
    count = tau.shape[-1]
    if rows < columns or columns < count:
        raise RuntimeError(
            "householder_product: expected A with at least as many rows as columns, and as many "
            f"columns as tau has numbers, got A {list(A.shape)} and tau {list(tau.shape)}"
        )
    vectors = tril(A, -1)
    result = None
    for k in reversed(range(count)):
        zeros = mul(vectors[..., :k, k : k + 1].detach(), 0)
        one = REGISTRY["ones_like"](vectors[..., k : k + 1, k : k + 1].detach())
        v = cat([zeros, one, vectors[..., k + 1 :, k : k + 1]], -2)
        if result is None:
            result = _columns_of_identity(A)
        inner = matmul_op(adjoint(v), result)
        result = sub(result, mul(tau[..., k : k + 1].unsqueeze(-1), matmul_op(v, inner)))
    return _columns_of_identity(A) if result is None else result


def _columns_of_identity(A: Tensor) -> Tensor:  # noqa: N803
    """Return the first columns of the identity in the shape of matrices."""
    return triu(tril(REGISTRY["ones_like"](A.detach())))
