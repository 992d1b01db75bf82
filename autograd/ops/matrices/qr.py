"""The QR decomposition, with derivatives of every order."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...tensor import Tensor
from ..elementwise.complex import real
from ..layout.arrange import diagonal, diagonal_into_op
from ..layout.index import new_zeros
from ..layout.join import cat
from ..layout.shape import adjoint
from ..registry import Op, into
from .linalg import matrices, solve_op
from .matmul import matmul_op

__all__ = ["qr"]


class QRResult(NamedTuple):
    """Q with orthonormal columns, and the upper triangular R: A = Q R."""

    Q: Tensor
    R: Tensor


def _qr(xp: Any, x: Any, out: Any = None) -> tuple:
    found = tuple(xp.linalg.qr(x, mode="reduced"))
    return found if out is None else tuple(map(into, out, found))


def _qr_gradient(g: tuple, out: tuple) -> Tensor:
    """(dQ + Q sym(triu(dR R^H - Q^H dQ))) R^-H, where sym makes the triangle a Hermitian matrix.

    Seeger et al. 2017, arXiv:1710.08717, section 4.3; the diagonal of R is real.
    """
    (q, r), (g_q, g_r) = out, g
    inside = (matmul_op(g_r, adjoint(r)) - matmul_op(adjoint(q), g_q)).triu()
    diagonals = real(diagonal(inside, 0, -2, -1))
    upper = inside.triu(1)
    hermitian = upper + adjoint(upper) + diagonal_into_op(
        diagonals, shape=tuple(inside.shape), offset=0, dim1=inside.ndim - 2, dim2=inside.ndim - 1
    )
    right = g_q + matmul_op(q, hermitian)
    return adjoint(solve_op(r, adjoint(right)))


qr_op = Op("linalg_qr", _qr, {"x": _qr_gradient}, dtype="float", outputs=2, taylor="nested")
"""Q and R of matrices that have no more columns than rows."""


def _complete(xp: Any, x: Any, out: Any = None) -> tuple:
    found = tuple(xp.linalg.qr(x, mode="complete"))
    return found if out is None else tuple(map(into, out, found))


def _refuse(g: tuple) -> Tensor:
    raise RuntimeError(
        "linalg.qr: The QR decomposition is not differentiable when mode='complete' and nrows > "
        "ncols; use mode='reduced'"
    )


complete_qr_op = Op(
    "linalg_qr_complete", _complete, {"x": _refuse}, dtype="float", outputs=2, taylor="nested"
)


def qr(A: Tensor, mode: str = "reduced") -> QRResult:  # noqa: N803 - PyTorch's name
    """Return Q and R of matrices (..., m, n) with A = Q R.

    mode  "reduced": Q (..., m, k) and R (..., k, n) with k = min(m, n); "complete": Q (..., m, m)
          and R (..., m, n), without a gradient where m > n; "r": an empty Q, and R of "reduced".
    The diagonal of R is real, of any sign.  There are derivatives where the first k columns of `A`
    are linearly independent (LinAlgError elsewhere).
    Raises RuntimeError for other shapes and modes.
    """
    A = matrices("qr", A, square=False)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"linalg.qr: received unrecognized mode {mode!r} but expected one of 'reduced' "
            "(default), 'r', or 'complete'"
        )
    rows, columns = A._data.shape[-2:]
    if mode == "complete" and rows > columns:
        return QRResult(*complete_qr_op(A))
    q, r = qr_op(A[..., :rows] if columns > rows else A)
    if columns > rows:  # the first columns decide on Q
        r = cat([r, matmul_op(adjoint(q), A[..., rows:])], -1)
    return QRResult(new_zeros(q, (0,)) if mode == "r" else q, r)
