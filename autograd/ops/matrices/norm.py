"""Norms of vectors and matrices, with derivatives that stay finite at zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import add, div, mul, sub
from ..elementwise.compare import gt
from ..elementwise.piecewise import where
from ..elementwise.quotient import gated_power_op, quotient_op
from ..layout.shape import movedim, normal_axes, normal_axis
from ..reductions.products import sum_of_squares
from ..reductions.reduce import keep, kept_shape
from ..registry import REGISTRY, Op, cast, floating
from .svd import svd_op

__all__ = ["dist", "matrix_norm", "norm", "renorm", "vector_norm"]

# Of fewer elements squares are no faster than what is scaled first.
_MANY = 64


def _norm_forward(
    xp: Any, x: Any, out: Any = None, *, p: float, axes: tuple, keepdims: bool
) -> Any:
    shape = (
        kept_shape(x.shape, axes)
        if keepdims
        else tuple(size for k, size in enumerate(x.shape) if k not in axes)
    )
    if x.size == 0:
        result = xp.zeros(shape, x.real.dtype)
    elif p == 0:
        result = (x != 0).sum(axis=axes, keepdims=keepdims).astype(x.real.dtype)
    elif p == 2 and xp is np and x.size >= _MANY:
        result = _euclidean(x, axes).reshape(shape)
    else:
        result = _scaled(xp, x, p, axes).reshape(shape)
    if out is None:
        return result
    out[...] = result
    return out


def _scaled(xp: Any, x: Any, p: float, axes: tuple) -> Any:
    """Return norms scaled by the largest element, so that no power overflows or vanishes."""
    size = xp.abs(x)
    top = size.max(axis=axes, keepdims=True)
    usable = (top > 0) & (top < math.inf)
    top = xp.where(usable, top, xp.ones_like(top))
    size /= top
    if p == 2:
        size *= size
        return xp.sqrt(size.sum(axis=axes, keepdims=True)) * top
    return xp.power(xp.power(size, p).sum(axis=axes, keepdims=True), 1 / p) * top


def _euclidean(x: np.ndarray, axes: tuple) -> np.ndarray:
    """Return Euclidean norms of shape `kept_shape`, scaled where squares leave what is exact."""
    squares = sum_of_squares(np, x, axes, keepdims=True)
    limits = np.finfo(squares.dtype)
    exact = (squares > limits.tiny / limits.eps) & (squares < math.inf)
    norms = np.sqrt(squares).astype(x.real.dtype, copy=False)
    if not exact.all():
        kept = [k for k in range(x.ndim) if k not in axes]
        lines = x.transpose(*kept, *axes).reshape(exact.size, -1)
        left = np.flatnonzero(~exact)
        norms.reshape(-1)[left] = _scaled(np, lines[left], 2, (1,))[:, 0]
    return norms


def _norm_gradient(g: Tensor, x: Tensor, out: Tensor, p: float, axes: tuple) -> Tensor:
    """g x |x|^(p-2) / out^(p-1), as powers of ratios that are at most 1, and 0 at 0."""
    if p == 0:
        return REGISTRY["zeros_like"](x)
    g, out = keep(g, x._data.shape, axes), keep(out, x._data.shape, axes)
    if p == 2:
        return mul(x, quotient_op(g, out))
    size = x.abs()
    if p > 2:
        ratio = gated_power_op(quotient_op(size, out), exponent=p - 2)
        return mul(mul(x, ratio), quotient_op(g, out))
    lower, upper = (size, out) if p > 1 else (out, size)
    ratio = gated_power_op(quotient_op(lower, upper), exponent=math.fabs(p - 1))
    return mul(mul(quotient_op(x, size), ratio), g)


norm_op = Op("vector_norm", _norm_forward, {"x": _norm_gradient}, dtype="float", taylor="nested")


def _floating(x: Tensor, dtype: Any) -> Tensor:
    if dtype is not None:
        return cast(x, dtypes.as_dtype(dtype))
    return x if x._data.dtype.kind in "fc" else cast(x, dtypes.get_default_dtype())


def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return (sum |x|^ord)^(1/ord) over `dim` (all dimensions by default).

    ord: any number, inf or -inf (largest and least modulus), 0 (how many are not zero).
    The gradient at 0 is 0, and so are the second derivatives of the Euclidean norm there.  Scaled:
    no intermediate overflow.
    """
    x = _floating(x, dtype)
    p = float(ord)
    axes = normal_axes(dim, x.ndim)
    if p == 1:
        return x.abs().sum(axes, keepdim)
    if math.isinf(p):
        size = x.abs()
        return size.amax(axes, keepdim) if p > 0 else size.amin(axes, keepdim)
    if math.isnan(p):
        raise ValueError("vector_norm: ord must be a number, inf or -inf, got nan")
    return norm_op(x, p=p, axes=axes, keepdims=keepdim)


@method
def renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return `x` with the slices along `dim` whose p-norm is above `maxnorm` scaled down to it.

    Raises RuntimeError for p <= 0, a negative maxnorm and fewer than two dimensions.
    """
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p = {p}")
    if x.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions; unsqueeze() it"
        )
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    axis = normal_axis(dim, x.ndim)
    lengths = vector_norm(x, p, [k for k in range(x.ndim) if k != axis], True)
    above = gt(lengths, maxnorm)
    # the same slack as in nn.Embedding keeps the result below it
    return mul(x, where(above, div(maxnorm, add(lengths, 1e-7)), 1.0))


def matrix_norm(
    A: Tensor,  # noqa: N803 - PyTorch's name
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the norms of the matrices along the two dimensions `dim`.

    ord: "fro" (Frobenius), 1 and -1 (largest and least column sum of moduli), inf and -inf (row
    sums), 2 and -2 (largest and least singular value), "nuc" (their sum).  Raises ValueError for
    others, and IndexError for the least of nothing.
    """
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got shape "
            f"{list(A.shape)}; use vector_norm"
        )
    axes = normal_axes(dim, A.ndim)
    if len(axes) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple, got {dim}; name two dimensions"
        )
    if ord == "fro":
        return vector_norm(A, 2, axes, keepdim, dtype=dtype)
    if ord in (2, -2, "nuc"):
        found = _by_singular_values(_floating(A, dtype), ord, axes)
        return found if keepdim else found.squeeze(axes)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(
            f"linalg.matrix_norm: order {ord!r} is not supported; use 'fro', 'nuc', 1, -1, 2, -2, "
            "inf or -inf"
        )
    rows, columns = axes
    summed, extreme = (rows, columns) if abs(ord) == 1 else (columns, rows)
    found = _extreme(vector_norm(A, 1, summed, True, dtype=dtype), ord, extreme)
    return found if keepdim else found.squeeze(axes)


def _extreme(values: Tensor, ord: float, axis: int) -> Tensor:
    """Return the largest of values >= 0 along `axis` (0 of none), the least for `ord` < 0."""
    if ord < 0:
        return values.amin(axis, True)
    return values.amax(axis, True) if values._data.shape[axis] else values.sum(axis, True)


def _by_singular_values(A: Tensor, ord: Any, axes: tuple) -> Tensor:  # noqa: N803
    """Return a matrix norm made of singular values, the two dimensions kept with size 1."""
    (_, values, _) = svd_op(movedim(A, axes, (-2, -1)))
    found = values.sum(-1, True) if ord == "nuc" else _extreme(values, ord, -1)
    return movedim(found.unsqueeze(-1), (-2, -1), axes)


def linalg_norm(
    A: Tensor,  # noqa: N803
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return `vector_norm` or `matrix_norm`, chosen as PyTorch's `linalg.norm` does.

    A vector norm when `dim` is one dimension or `ord` is None; a matrix norm when `dim` is a pair,
    or when the tensor is a matrix and `ord` is given.
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if pair or (dim is None and A.ndim == 2):
        return matrix_norm(A, ord, dim if pair else (-2, -1), keepdim, dtype=dtype)
    if dim is None and A.ndim != 1:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D; pass dim"
        )
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


@method
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of the difference of two tensors, broadcast, over all elements."""
    return vector_norm(sub(floating(input), floating(other)), p)


@method
def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the p-norm over `dim` (all dimensions by default); "fro" is p = 2.

    p "nuc" is the sum of the singular values of a matrix, or of the matrices along a pair `dim`.
    See `linalg.vector_norm`; `linalg.matrix_norm` has the norms of matrices.
    """
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise ValueError(f"norm: p must be a number, 'fro' or 'nuc', got {p!r}")
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)
