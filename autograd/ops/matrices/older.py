"""Decompositions as PyTorch's older scripts call them, with other arguments than in linalg."""

from __future__ import annotations

from typing import NamedTuple

from ...tensor import Tensor, method
from ..layout.index import new_zeros
from ..layout.shape import adjoint, broadcast_shapes, clone, expand
from .decompositions import solve_triangular
from .linalg import matrices
from .qr import QRResult
from .qr import qr as linalg_qr
from .svd import svd as linalg_svd

__all__ = ["qr", "svd", "triangular_solve"]


class OlderSVD(NamedTuple):
    """A = U diag(S) V^H: of V, not of V^H as in linalg."""

    U: Tensor
    S: Tensor
    V: Tensor


class TriangularSolution(NamedTuple):
    """The solution, and a copy of the matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


@method
def qr(input: Tensor, some: bool = True) -> QRResult:
    """Return `linalg.qr(input, "reduced" if some else "complete")`."""
    return linalg_qr(input, "reduced" if some else "complete")


@method
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> OlderSVD:
    """Return U, S and V of matrices (..., m, n): as `linalg.svd`, but V for V^H.

    some        leave out the vectors that no singular value belongs to.
    compute_uv  False: zeros for U (..., m, m) and V (..., n, n).
    """
    x = matrices("svd", input, square=False)
    u, s, vh = linalg_svd(x, not some and compute_uv)
    if compute_uv:
        return OlderSVD(u, s, adjoint(vh))
    *batch, rows, columns = x.shape
    zeros = (new_zeros(x, (*batch, size, size)) for size in (rows, columns))
    return OlderSVD(next(zeros), s, next(zeros))


@method
def triangular_solve(
    b: Tensor,
    A: Tensor,  # noqa: N803 - PyTorch's name
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> TriangularSolution:
    """Return X with A X = b, of triangular A (..., n, n), and a copy of A: `solve_triangular`.

    transpose  take A^T in place of A.  Shapes: b (..., n, k); leading dimensions broadcast.
    """
    x = matrices("triangular_solve", A)
    batch = broadcast_shapes(x.shape[:-2], b.shape[:-2])
    coefficient = expand(x, (*batch, *x.shape[-2:]))
    system, which = (x.mT, not upper) if transpose else (x, upper)
    found = solve_triangular(system, b, upper=which, unitriangular=unitriangular)
    return TriangularSolution(found, clone(coefficient))
