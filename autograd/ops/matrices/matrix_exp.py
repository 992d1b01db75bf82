"""The exponential of matrices, with derivatives of every order."""

from __future__ import annotations

import math
from typing import Any

from ...tensor import Tensor, method
from ..layout.shape import adjoint
from ..registry import Op, into
from .linalg import matrices

__all__ = ["matrix_exp"]

# Higham 2005, SIAM J. Matrix Anal. Appl. 26, table 2.3: the degree of the Pade approximant and the
# 1-norm up to which it has the accuracy of the dtype, by the bytes of a real number
_APPROXIMANT = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}


def _weights(degree: int) -> list[float]:
    """Return the coefficients of the numerator p of the approximant; p(-x) is the denominator."""
    return [
        math.comb(degree, j) * math.factorial(2 * degree - j) / math.factorial(2 * degree)
        for j in range(degree + 1)
    ]


def _pade(xp: Any, x: Any, degree: int) -> Any:
    """Return p(-x)^-1 p(x), with the odd and the even part of p as polynomials in x x."""
    weights = _weights(degree)
    one, square = xp.eye(x.shape[-1], dtype=x.dtype), xp.matmul(x, x)
    even, odd = weights[-2] * one, weights[-1] * one
    for j in range(degree - 2, 0, -2):
        odd = xp.matmul(odd, square) + weights[j] * one
        even = xp.matmul(even, square) + weights[j - 1] * one
    odd = xp.matmul(x, odd)
    return xp.linalg.solve(even - odd, even + odd)


def _exponential(xp: Any, x: Any) -> Any:
    """Scaling and squaring: each matrix is halved until its norm is small enough."""
    degree, limit = _APPROXIMANT[x.real.dtype.itemsize]
    norm = xp.abs(x).sum(axis=-2).max(axis=-1)[..., None, None]
    usable = xp.isfinite(norm)
    halvings = xp.ceil(xp.log2(xp.maximum(xp.where(usable, norm, 1) / limit, 1)))
    result = _pade(xp, xp.where(usable, x, xp.nan) * xp.exp2(-halvings), degree)
    for k in range(int(halvings.max())):
        result = xp.where(k < halvings, xp.matmul(result, result), result)
    return result


def _matrix_exp(xp: Any, *xs: Any, out: Any = None) -> Any:
    """Compute the exponential of x, or its mixed derivative at x in the directions that follow.

    The latter is a block of the exponential of [[x, e], [0, x]], that in two directions one of this
    matrix in place of x, and so on: Mathias 1996, SIAM J. Matrix Anal. Appl. 17.  Directions are
    brought to a size of 1: a large one would be halved, and x with it, until nothing is left.
    """
    x, *directions = xs
    if not x.size:
        return into(out, x.copy())
    n, scale = x.shape[-1], 1
    for e in directions:
        size = xp.abs(e).max(axis=(-2, -1), keepdims=True)
        size = xp.where(size > 0, size, xp.ones_like(size))
        m = x.shape[-1]
        block = xp.zeros((*x.shape[:-2], 2 * m, 2 * m), x.dtype)
        block[..., :m, :m] = block[..., m:, m:] = x
        for k in range(0, m, n):
            block[..., k : k + n, m + k : m + k + n] = e / size
        x, scale = block, scale * size
    return into(out, _exponential(xp, x)[..., :n, -n:] * scale)


def _matrix_exp_gradients(g: Tensor, xs: tuple, needed: tuple) -> list:
    """tr of a derivative of order k times g is a derivative of order k + 1 of the trace of exp.

    So g is one more direction for the gradient in x, and takes the place of a direction for its.
    """
    x, *directions = map(adjoint, xs)
    found = [matrix_exp_op(x, *directions, g) if needed[0] else None]
    for k in range(len(directions)):
        others = directions[:k] + directions[k + 1 :]
        found.append(matrix_exp_op(x, *others, g) if needed[k + 1] else None)
    return found


matrix_exp_op = Op(
    "matrix_exp", _matrix_exp, _matrix_exp_gradients, dtype="float", taylor="nested"
)


@method
def matrix_exp(A: Tensor) -> Tensor:  # noqa: N803 - PyTorch's name
    """Return the exponentials 1 + A + A^2 / 2 + ... of square matrices (..., n, n).

    By scaling, a Pade approximant and squaring (Higham 2005).  A matrix that is not finite has NaN.
    Raises RuntimeError for other shapes.
    """
    return matrix_exp_op(matrices("matrix_exp", A))
