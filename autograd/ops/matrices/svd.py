"""The singular value decomposition, with derivatives of every order."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...tensor import Tensor
from ..elementwise.arithmetic import mul
from ..elementwise.quotient import quotient_op
from ..layout.shape import adjoint, reshape_op
from ..registry import REGISTRY, Op, into
from .linalg import guarded, matrices
from .matmul import matmul_op

__all__ = ["svd", "svdvals"]


class SVDResult(NamedTuple):
    """U, the singular values in falling order, and V^H: A = U diag(S) V^H."""

    U: Tensor
    S: Tensor
    Vh: Tensor


_guarded_svd = guarded(
    "svd",
    lambda xp, x, full: tuple(xp.linalg.svd(x, full_matrices=full)),
    "The algorithm failed to converge: the input matrix has elements that are not finite",
    "look for NaN and infinity in it",
)


def _svd(xp: Any, x: Any, out: Any = None, *, full: bool = False) -> tuple:
    found = _guarded_svd(xp, x, full)
    return found if out is None else tuple(map(into, out, found))


def as_column(values: Tensor) -> Tensor:
    """Return (..., n) as (..., n, 1)."""
    return reshape_op(values, shape=(*values._data.shape, 1))


def as_row(values: Tensor) -> Tensor:
    """Return (..., n) as (..., 1, n)."""
    *batch, size = values._data.shape
    return reshape_op(values, shape=(*batch, 1, size))


def turning(basis: Tensor, gradient: Tensor) -> Tensor:
    """Return the skew-Hermitian part of `basis^H gradient`, doubled: how the basis turns."""
    product = matmul_op(adjoint(basis), gradient)
    return product - adjoint(product)


def _svd_gradient(g: tuple, x: Tensor, out: tuple, full: bool) -> Tensor:
    """Transpose dA = dU S V^H + U dS V^H + U S dV^H, as Townsend 2016 and, for complex matrices,
    Wan and Zhang 2019 do; parts of equal singular values, whose vectors are any, count as 0, as do
    the vectors without a singular value."""
    (u, s, vh), (g_u, g_s, g_vh) = out, g
    if full:
        size = s._data.shape[-1]
        u, g_u, vh, g_vh = u[..., :size], g_u[..., :size], vh[..., :size, :], g_vh[..., :size, :]
    v, g_v = adjoint(vh), adjoint(g_vh)
    of_u, of_v = turning(u, g_u), turning(v, g_v)
    gaps = mul(as_row(s) - as_column(s), as_row(s) + as_column(s))
    inside = quotient_op(mul(of_u, as_row(s)) + mul(as_column(s), of_v), gaps)
    diagonal = g_s
    if x.is_complex():  # the phases, which only U and V together have
        phases = of_u.diagonal(dim1=-2, dim2=-1)
        diagonal = diagonal + quotient_op(phases, 2 * s)
    inside = inside + REGISTRY["diagonal_into"](
        diagonal, shape=tuple(inside.shape), offset=0, dim1=inside.ndim - 2, dim2=inside.ndim - 1
    )
    result = matmul_op(matmul_op(u, inside), vh)
    rows, columns = x._data.shape[-2:]
    if rows > columns:
        outside = g_u - matmul_op(u, matmul_op(adjoint(u), g_u))
        result = result + matmul_op(quotient_op(outside, as_row(s)), vh)
    if rows < columns:
        outside = g_vh - matmul_op(matmul_op(g_vh, v), vh)
        result = result + matmul_op(u, quotient_op(outside, as_column(s)))
    return result


svd_op = Op("linalg_svd", _svd, {"x": _svd_gradient}, dtype="float", outputs=3, taylor="nested")
"""U, the singular values in falling order, and V^H, with min(m, n) columns and rows;
with `full` U and V^H are square."""


def svd(A: Tensor, full_matrices: bool = True) -> SVDResult:  # noqa: N803 - PyTorch's name
    """Return U, S and V^H of matrices (..., m, n) with A = U diag(S) V^H, S in falling order.

    Shapes: U (..., m, k), S (..., k), Vh (..., k, n) with k = min(m, n); with `full_matrices` U is
    (..., m, m) and Vh (..., n, n), where the vectors beyond k have no gradient.
    Vectors have any phase (sign), U and V the same one, so a loss must not depend on it.  Their
    gradients divide by differences of squared singular values (and, where m is not n, by these):
    for repeated ones they are undefined (here finite), for near ones inaccurate.
    Raises RuntimeError for other shapes, LinAlgError where the algorithm fails.
    """
    A = matrices("svd", A, square=False)
    return SVDResult(*svd_op(A, full=bool(full_matrices)))


def svdvals(A: Tensor) -> Tensor:  # noqa: N803
    """Return the singular values (..., min(m, n)) of matrices (..., m, n), in falling order."""
    return svd_op(matrices("svdvals", A, square=False))[1]
