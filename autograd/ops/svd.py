"""The singular value decomposition, with derivatives of every order."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .arithmetic import mul
from .matmul import matmul_op
from .quotient import quotient_op
from .registry import REGISTRY, Op
from .shape import adjoint, into, reshape_op

__all__: list[str] = []


def _svd(xp: Any, x: Any, out: Any = None) -> tuple:
    found = tuple(xp.linalg.svd(x, full_matrices=False))
    return found if out is None else tuple(map(into, out, found))


def _column(values: Tensor) -> Tensor:
    return reshape_op(values, shape=(*values._data.shape, 1))


def _row(values: Tensor) -> Tensor:
    *batch, size = values._data.shape
    return reshape_op(values, shape=(*batch, 1, size))


def _turning(basis: Tensor, gradient: Tensor) -> Tensor:
    """Return the skew-Hermitian part of `basis^H gradient`, doubled: how the basis turns."""
    product = matmul_op(adjoint(basis), gradient)
    return product - adjoint(product)


def _svd_gradient(g: tuple, x: Tensor, out: tuple) -> Tensor:
    """Transpose dA = dU S V^H + U dS V^H + U S dV^H, as Townsend 2016 and, for complex matrices,
    Wan and Zhang 2019 do; parts of equal singular values, whose vectors are any, count as 0."""
    (u, s, vh), (g_u, g_s, g_vh) = out, g
    v, g_v = adjoint(vh), adjoint(g_vh)
    of_u, of_v = _turning(u, g_u), _turning(v, g_v)
    gaps = mul(_row(s) - _column(s), _row(s) + _column(s))
    inside = quotient_op(mul(of_u, _row(s)) + mul(_column(s), of_v), gaps)
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
        result = result + matmul_op(quotient_op(outside, _row(s)), vh)
    if rows < columns:
        outside = g_vh - matmul_op(matmul_op(g_vh, v), vh)
        result = result + matmul_op(u, quotient_op(outside, _column(s)))
    return result


svd_op = Op("linalg_svd", _svd, {"x": _svd_gradient}, dtype="float", outputs=3, taylor="nested")
"""U, the singular values in falling order, and V^H, with min(m, n) columns and rows."""
