"""Eigenvalues and eigenvectors, of Hermitian matrices and others, with derivatives of any order."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ...tensor import Tensor
from ..elementwise.quotient import quotient_op
from ..layout.shape import adjoint
from ..registry import REGISTRY, Op, into
from .linalg import guarded, matrices, solve_op
from .matmul import matmul_op
from .svd import as_column, as_row, turning

__all__ = ["eig", "eigh", "eigvals", "eigvalsh"]


class EighResult(NamedTuple):
    """The eigenvalues in rising order, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


_guarded_eigh = guarded(
    "eigh",
    lambda xp, x, triangle: tuple(xp.linalg.eigh(x, triangle)),
    "The algorithm failed to converge: the input matrix has too many repeated eigenvalues, or "
    "elements that are not finite",
    "look for NaN and infinity in it",
)


def _eigh(xp: Any, x: Any, out: Any = None, *, triangle: str) -> tuple:
    found = _guarded_eigh(xp, x, triangle)
    return found if out is None else tuple(map(into, out, found))


def _eigh_gradient(g: tuple, out: tuple) -> Tensor:
    """V (diag(dL) + (V^H dV, the skew-Hermitian part) / (L_j - L_i)) V^H: Giles 2008, section 3.1.

    Parts of equal eigenvalues, whose vectors are any, count as 0.
    """
    (values, vectors), (g_values, g_vectors) = out, g
    gaps = as_row(values) - as_column(values)
    inside = quotient_op(turning(vectors, g_vectors), 2 * gaps)
    inside = inside + REGISTRY["diagonal_into"](
        g_values, shape=tuple(inside.shape), offset=0, dim1=inside.ndim - 2, dim2=inside.ndim - 1
    )
    return matmul_op(matmul_op(vectors, inside), adjoint(vectors))


eigh_op = Op(
    "linalg_eigh", _eigh, {"x": _eigh_gradient}, dtype="float", outputs=2, taylor="nested"
)


def eigh(A: Tensor, UPLO: str = "L") -> EighResult:  # noqa: N803 - PyTorch's names
    """Return the eigenvalues (..., n), rising, and eigenvectors (..., n, n) of Hermitian matrices.

    A = V diag(L) V^H.  UPLO says which triangle of `A` is read, "L" (lower) or "U"; the gradient is
    Hermitian, spread over both.  Eigenvectors have any phase (sign), so a loss must not depend on
    it, and their gradients divide by the differences of eigenvalues: for repeated ones they are
    undefined (here finite), for near ones inaccurate; the eigenvalues have theirs always.
    Raises RuntimeError for other shapes and triangles, LinAlgError where the algorithm fails.
    """
    triangle = UPLO.upper()
    if triangle not in ("L", "U"):
        raise RuntimeError(
            f"linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got {UPLO!r}; L reads the "
            "lower triangle"
        )
    return EighResult(*eigh_op(matrices("eigh", A), triangle=triangle))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:  # noqa: N803
    """Return the eigenvalues (..., n), rising, of Hermitian matrices (..., n, n); see `eigh`."""
    return eigh(A, UPLO).eigenvalues


# ---- matrices that are not Hermitian


class EigResult(NamedTuple):
    """The eigenvalues in no order, and the eigenvectors, of norm 1, as columns; complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


_guarded_eig = guarded(
    "eig",
    lambda xp, x: tuple(xp.linalg.eig(x)),
    "The algorithm failed to converge: the input matrix has elements that are not finite, or is "
    "badly conditioned",
    "look for NaN and infinity in it",
)


def _eig(xp: Any, x: Any) -> tuple:
    kind = dtypes.complex_of(x.dtype)
    return tuple(xp.asarray(part).astype(kind, copy=False) for part in _guarded_eig(xp, x))


def _eig_gradient(g: tuple, x: Tensor, out: tuple) -> Tensor:
    """V^-H (diag(dL) + (V^H dV - V^H V Re diag(V^H dV)) / conj(L_j - L_i)) V^H.

    Of vectors of norm 1, whose phases are any.  Source: Boeddeker et al., arXiv:1701.00392, 4.60.
    """
    (values, vectors), (g_values, g_vectors) = out, g
    vectors_h = adjoint(vectors)
    turned = matmul_op(vectors_h, g_vectors)
    place = {"offset": 0, "dim1": turned.ndim - 2, "dim2": turned.ndim - 1}
    lengths = REGISTRY["real"](REGISTRY["diagonal"](turned, **place))
    turned = turned - matmul_op(vectors_h, vectors) * as_row(lengths)
    gaps = REGISTRY["conj"](as_row(values) - as_column(values))
    diagonal = REGISTRY["diagonal_into"](g_values, shape=tuple(turned.shape), **place)
    inside = quotient_op(turned, gaps) + diagonal
    found = solve_op(vectors_h, matmul_op(inside, vectors_h))
    return found if x.is_complex() else REGISTRY["real"](found)


eig_op = Op("linalg_eig", _eig, {"x": _eig_gradient}, dtype="float", outputs=2, taylor="nested")


def eig(A: Tensor) -> EigResult:  # noqa: N803 - PyTorch's names
    """Return the eigenvalues (..., n) and eigenvectors (..., n, n) of square matrices, complex.

    The derivatives exist where the eigenvalues are distinct; of what is computed only that has a
    meaning which does not depend on the phases of the vectors.
    """
    return EigResult(*eig_op(matrices("eig", A)))


def eigvals(A: Tensor) -> Tensor:  # noqa: N803
    """Return the eigenvalues (..., n) of square matrices, complex, in no order."""
    return eig_op(matrices("eigvals", A))[0]
