"""Matrix products of every rank; transposed operands reach BLAS as views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import threads
from ...tensor import Tensor, method
from ..creation.create import fits
from ..elementwise.arithmetic import add, binary_operator, conj_of, mul
from ..layout.shape import reshape_op, transpose
from ..reductions.reduce import sum
from ..registry import Op, refuse_mixed

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dot",
    "ger",
    "inner",
    "kron",
    "linear",
    "matmul",
    "mm",
    "mv",
    "outer",
    "vdot",
    "vecdot",
]


def _rows(x: Tensor) -> Tensor:
    """Return `x` with all leading dimensions folded into one."""
    if x.ndim == 2:
        return x
    sizes = x._data.shape
    count = 1
    for size in sizes[:-1]:
        count *= size
    return reshape_op(x, shape=(count, sizes[-1]))


def _turned(x: Any, flag: bool) -> Any:
    """Return the array with its last two dimensions exchanged where `flag` says so: a view."""
    return x.swapaxes(-1, -2) if flag else x


def _matmul_forward(
    xp: Any,
    x: Any,
    y: Any,
    out: Any = None,
    *,
    transpose_x: bool = False,
    transpose_y: bool = False,
    columns: bool = False,
) -> Any:
    x, y = _turned(x, transpose_x), _turned(y, transpose_y)
    if columns and out is None and x.ndim == y.ndim == 2:
        return _laid_out(xp, x, y, columns)
    return threads.matmul(xp, x, y, out)


def _laid_out(xp: Any, x: Any, y: Any, columns: bool) -> Any:
    """Return the product of two matrices, laid out by columns or by rows."""
    out = xp.empty((y.shape[1], x.shape[0]), x.dtype).T if columns else None
    return threads.matmul(xp, x, y, out)


def _left_gradient(
    g: Tensor, y: Tensor, x_columns: bool, transpose_x: bool, transpose_y: bool
) -> Tensor:
    y = conj_of(y)
    if transpose_x:
        return matmul_op(y, g, transpose_x=transpose_y, transpose_y=True, columns=x_columns)
    return matmul_op(g, y, transpose_x=False, transpose_y=not transpose_y, columns=x_columns)


def _right_gradient(
    g: Tensor, x: Tensor, y_shape: tuple, y_columns: bool, transpose_x: bool, transpose_y: bool
) -> Tensor:
    """Return the gradient of `y` in `x @ y`.

    A matrix `y` that served a whole batch gets one product over all rows, instead of a batch of
    matrices that is summed afterwards.
    """
    x = conj_of(x)
    plain = not transpose_x and x._data.shape[:-1] == g._data.shape[:-1]
    if len(y_shape) == 2 and g.ndim > 2 and plain:
        x, g = _rows(x), _rows(g)
    if transpose_y:
        return matmul_op(g, x, transpose_x=True, transpose_y=transpose_x, columns=y_columns)
    return matmul_op(x, g, transpose_x=not transpose_x, transpose_y=False, columns=y_columns)


def _product_flops(inputs: Sequence, outputs: Sequence, attributes: dict) -> int:
    inner = inputs[0].shape[-2 if attributes.get("transpose_x") else -1]
    return 2 * math.prod(outputs[0].shape) * inner


def _factors_on_host(
    g: Any,
    needed: Sequence[bool],
    x: Any = None,
    y: Any = None,
    x_columns: bool = False,
    y_columns: bool = False,
    transpose_x: bool = False,
    transpose_y: bool = False,
    columns: bool = False,
) -> list | None:
    """Return the gradients of a product of two matrices; None for batches of them."""
    if g.ndim != 2:
        return None
    left = right = None
    if needed[0]:
        one, other = g, y if transpose_y else y.T
        if transpose_x:
            one, other = other.T, one.T
        left = _laid_out(np, one, other, x_columns)
    if needed[1]:
        one, other = x if transpose_x else x.T, g
        if transpose_y:
            one, other = other.T, one.T
        right = _laid_out(np, one, other, y_columns)
    return [left, right]


matmul_op = Op(
    "matmul",
    _matmul_forward,
    {"x": _left_gradient, "y": _right_gradient},
    vjp_on_host=_factors_on_host,
    dtype="same",
    broadcasts=True,
    taylor="affine",
    flops=_product_flops,
)
"""`x @ y` for at least two dimensions each, either with its last two exchanged: BLAS reads both
orders, so a transposed operand is a flag, neither a copy nor a node of its own.  With `columns`
a matrix that is not written into `out` is laid out by columns, which costs nothing either."""


def _linear_forward(xp: Any, x: Any, weight: Any, bias: Any, out: Any = None) -> Any:
    result = threads.matmul(xp, x, weight.T, out)
    if bias is not None:
        result += bias  # in place: the product is the only array made
    return result


def _linear_on_host(
    g: Any,
    needed: Sequence[bool],
    x: Any = None,
    weight: Any = None,
    x_columns: bool = False,
    weight_columns: bool = False,
) -> list | None:
    """Return the gradients for a matrix of rows, x @ weight.T + bias; None for batches of them."""
    factors = _factors_on_host(
        g, needed, x, weight, x_columns, weight_columns, transpose_y=True
    )
    return None if factors is None else [*factors, g if needed[2] else None]


linear_op = Op(
    "linear",
    _linear_forward,
    {
        "x": lambda g, weight, x_columns: matmul_op(g, conj_of(weight), columns=x_columns),
        "weight": lambda g, x, weight_columns: matmul_op(
            _rows(g), conj_of(_rows(x)), transpose_x=True, columns=weight_columns
        ),
        "bias": lambda g: g,
    },
    vjp_on_host=_linear_on_host,
    dtype="same",
    broadcasts=True,
    taylor="affine",
    flops=_product_flops,
)


def _text(shape: Any) -> str:
    return "x".join(str(size) for size in shape)


def _check_rank(name: str, *expected: tuple[str, Tensor, int]) -> None:
    for argument, tensor, rank in expected:
        if tensor.ndim != rank:
            raise RuntimeError(
                f"{name}: {argument} must be a {rank}D tensor, got shape {list(tensor.shape)}; "
                "use matmul for products of any rank"
            )


@method
def matmul(x: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product of tensors of any rank >= 1, batched over leading dimensions.

    Shapes: (..., n, k) @ (..., k, m) -> (..., n, m), leading dimensions broadcast; a vector on the
    left is a row, on the right a column, and its dimension is dropped from the result.
    Raises RuntimeError for 0-d operands, for shapes that do not fit and for different dtypes.
    """
    if x.ndim == 0 or other.ndim == 0:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{x.ndim}D and {other.ndim}D; use mul for numbers"
        )
    left = reshape_op(x, shape=(1, -1)) if x.ndim == 1 else x
    right = reshape_op(other, shape=(-1, 1)) if other.ndim == 1 else other
    if left._data.shape[-1] != right._data.shape[-2]:
        if x.ndim == other.ndim == 1:
            raise RuntimeError(
                "matmul: inconsistent tensor size, expected vectors of as many elements, got "
                f"{left.shape[-1]} and {right.shape[-2]}"
            )
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_text(x.shape)} and "
            f"{_text(other.shape)}): {left.shape[-1]} columns against {right.shape[-2]} rows; "
            "transpose one of them with .mT if that is what you mean"
        )
    try:
        result = matmul_op(left, right)
    except ValueError as error:
        raise RuntimeError(
            f"matmul: the batch dimensions of shapes {list(x.shape)} and {list(other.shape)} must "
            "match or be 1; reshape or expand them first"
        ) from error
    if x.ndim > 1 and other.ndim > 1:
        return result
    shape = result._data.shape
    if x.ndim == 1:
        shape = (*shape[:-2], shape[-1])
    return reshape_op(result, shape=shape[:-1] if other.ndim == 1 else shape)


binary_operator("matmul", matmul, lambda other: isinstance(other, (Tensor, np.ndarray)))


@method
def mm(x: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices, (n, k) and (k, m) to (n, m)."""
    _check_rank("mm", ("self", x, 2), ("mat2", mat2, 2))
    return matmul(x, mat2)


@method
def bmm(x: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices, (b, n, k) and (b, k, m) to (b, n, m)."""
    _check_rank("bmm", ("batch1", x, 3), ("batch2", mat2, 3))
    if x.shape[0] != mat2.shape[0]:
        raise RuntimeError(
            "bmm: expected batch1 and batch2 to have the same batch size, got shapes "
            f"{list(x.shape)} and {list(mat2.shape)}; use matmul to broadcast"
        )
    return matmul(x, mat2)


@method
def mv(x: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix (n, k) and a vector (k,)."""
    _check_rank("mv", ("self", x, 2), ("vec", vec, 1))
    return matmul(x, vec)


@method
def dot(x: Tensor, tensor: Tensor) -> Tensor:
    """Return the sum of the products of two vectors (n,), without conjugation."""
    if x.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {x.ndim}D and {tensor.ndim}D tensors (shapes "
            f"{list(x.shape)} and {list(tensor.shape)}); use matmul, or flatten them first"
        )
    if x.shape != tensor.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected both vectors to have the same number of elements, "
            f"but got {x.shape[0]} and {tensor.shape[0]} elements respectively; slice one of them"
        )
    return matmul(x, tensor)


@method
def vdot(x: Tensor, other: Tensor) -> Tensor:
    """Return the sum of the products of two vectors (n,), the first conjugated."""
    return dot(conj_of(x), other)


@method
def inner(x: Tensor, other: Tensor) -> Tensor:
    """Return the products of `x` and `other` summed over their last dimensions.

    Shapes (..., k) and (+++, k) to (..., +++); a 0-d operand multiplies elementwise.
    """
    if x.ndim == 0 or other.ndim == 0:
        return mul(x, other)
    if x.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner: the last dimensions of shapes {list(x.shape)} and {list(other.shape)} must "
            "match; transpose one of them"
        )
    product = matmul_op(_rows(x), _rows(other), transpose_y=True)
    return reshape_op(product, shape=(*x.shape[:-1], *other.shape[:-1]))


@method
def outer(x: Tensor, vec2: Tensor) -> Tensor:
    """Return the products of all pairs of elements of two vectors, (n,) and (m,) to (n, m)."""
    _check_rank("outer", ("self", x, 1), ("vec2", vec2, 1))
    return mul(reshape_op(x, shape=(x.shape[0], 1)), vec2)


@method
def ger(x: Tensor, vec2: Tensor) -> Tensor:
    """Return `outer(x, vec2)`."""
    return outer(x, vec2)


@method
def kron(x: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: blocks `x[i, j] * other`, of the products of both sizes.

    A tensor with fewer dimensions gets leading ones of size 1.
    """
    ndim = max(x.ndim, other.ndim)
    left = (1,) * (ndim - x.ndim) + tuple(x.shape)
    right = (1,) * (ndim - other.ndim) + tuple(other.shape)
    outer_shape = tuple(size for k in range(ndim) for size in (left[k], 1))
    inner_shape = tuple(size for k in range(ndim) for size in (1, right[k]))
    product = mul(reshape_op(x, shape=outer_shape), reshape_op(other, shape=inner_shape))
    return reshape_op(product, shape=tuple(a * b for a, b in zip(left, right, strict=True)))


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the sums of products over `dim`, broadcast, the first factor conjugated.

    Raises RuntimeError for different dtypes.
    """
    refuse_mixed("linalg.vecdot", x, y)
    return sum(mul(conj_of(x), y), dim)


def _combine(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    if product._data.dtype.kind in "iu":  # integers stay integers: factors are rounded towards 0
        alpha, beta = fits(alpha, product.dtype), fits(beta, product.dtype)
    elif product._data.dtype.kind == "b":
        alpha, beta = bool(alpha), bool(beta)
    if alpha != 1:
        product = mul(product, alpha)
    if beta == 0:  # as BLAS does: what `input` holds, NaN included, is not read
        return product
    return add(product, input if beta == 1 else mul(input, beta))


@method
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)`.

    Shapes: input broadcasts to (n, m), mat1 (n, k), mat2 (k, m).
    """
    refuse_mixed("addmm", input, mat1, mat2)
    _check_rank("addmm", ("mat1", mat1, 2), ("mat2", mat2, 2))
    _check_expands("addmm", input, (mat1.shape[0], mat2.shape[1]))
    if alpha == 1 and beta == 1 and mat1.shape[1] == mat2.shape[0]:
        return linear_op(mat1, transpose(mat2, 0, 1), input)
    return _combine(input, matmul(mat1, mat2), beta, alpha)


@method
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return `beta * input + alpha * (mat @ vec)`; shapes (n,), (n, k) and (k,)."""
    refuse_mixed("addmv", input, mat, vec)
    _check_expands("addmv", input, (mat.shape[0],))
    return _combine(input, mv(mat, vec), beta, alpha)


@method
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return `beta * input + alpha * outer(vec1, vec2)`; input broadcasts to (n, m)."""
    refuse_mixed("addr", input, vec1, vec2)
    product = outer(vec1, vec2)
    _check_expands("addr", input, product.shape)
    return _combine(input, product, beta, alpha)


@method
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Return `beta * input` plus alpha times the sum of the products of the matrices in a batch."""
    refuse_mixed("addbmm", input, batch1, batch2)
    product = sum(bmm(batch1, batch2), 0)
    _check_expands("addbmm", input, product.shape)
    return _combine(input, product, beta, alpha)


@method
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Return `beta * input + alpha * bmm(batch1, batch2)`."""
    refuse_mixed("baddbmm", input, batch1, batch2)
    product = bmm(batch1, batch2)
    _check_expands("baddbmm", input, product.shape)
    return _combine(input, product, beta, alpha)


def _check_expands(name: str, input: Tensor, shape: tuple) -> None:
    """Refuse an `input` that would enlarge the product it is added to."""
    sizes = zip(reversed(input.shape), reversed(tuple(shape)), strict=False)
    if input.ndim > len(shape) or any(a not in (1, b) for a, b in sizes):
        raise RuntimeError(
            f"{name}: input of shape {list(input.shape)} cannot be expanded to the product's shape "
            f"{list(shape)}; the sizes must match or be 1"
        )


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input @ weight.T + bias`, one array made.

    Shapes: input (..., k), weight (m, k) or (k,), bias (m,) or None; the result is (..., m), or
    (...) for a weight vector.  Raises RuntimeError for shapes that do not fit.
    """
    x = input
    is_line = x.ndim == 1 and x.__dispatch__ is not None and not x.in_sweep
    if weight.ndim == 1 or (x.ndim < 2 and not is_line):  # lines, one an example, are rows already
        matrix = reshape_op(weight, shape=(1, -1)) if weight.ndim == 1 else weight
        rows = reshape_op(x, shape=(1, -1)) if x.ndim == 1 else x
        if rows.ndim < 2:
            raise RuntimeError(
                "linear: input must have at least 1 dimension, got a 0-d tensor; "
                "use mul for numbers"
            )
        result = linear(rows, matrix, bias)
        shape = result.shape[1:] if x.ndim == 1 else result.shape
        return reshape_op(result, shape=shape[:-1] if weight.ndim == 1 else shape)
    if weight.ndim != 2 or x._data.shape[-1] != weight._data.shape[1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_text(x.shape)} and "
            f"{_text(reversed(weight.shape))}): linear expected a weight of shape "
            f"[out, {x.shape[-1]}], got {list(weight.shape)}"
        )
    if bias is not None and bias._data.shape != weight._data.shape[:1]:
        _check_expands("linear", bias, (*x._data.shape[:-1], weight._data.shape[0]))
    return linear_op(x, weight, bias)
