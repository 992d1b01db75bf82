"""Rules of products and linear systems: the examples are one more batch dimension.

Where one matrix serves all examples, they are rows of a single product.
"""

from __future__ import annotations

import math
from typing import Any

from ..ops.registry import REGISTRY, Op
from ..tensor import Tensor
from .rules import Application, rule


def _reshape(x: Tensor, shape: tuple) -> Tensor:
    return x if x._data.shape == shape else REGISTRY["reshape"](x, shape=shape)


def _turned(x: Tensor) -> Tensor:
    """Return `x` with its last two dimensions exchanged."""
    rank = x._data.ndim
    return REGISTRY["permute"](x, axes=(*range(rank - 2), rank - 1, rank - 2))


@rule("matmul")
def _matmul(call: Application) -> Tensor:
    x, y = call.args
    over_x, over_y = call.attributes["transpose_x"], call.attributes["transpose_y"]
    if call.rank(1) == 2 and not call.has_examples[1] and (not over_x or x._data.shape[-1] == 1):
        return _rows_times(call.op, x, over_x, y, over_y)
    if call.rank(0) != 2 or call.rank(1) != 2:
        return call.done(*call.broadcast(), columns=False)
    columns = y._data.shape[-2 if over_y else -1]
    if not call.has_examples[0]:
        if columns != 1:
            return call.done(x, y, columns=False)
        vectors = _reshape(y, (call.size, y._data.shape[-1 if over_y else -2]))
        found = call.op(vectors, x, transpose_y=not over_x)
        return _reshape(found, (*found._data.shape, 1))
    # numpy calls BLAS once an example, which takes longer than so little work
    rows, inner = (x._data.shape[k] for k in ((-1, -2) if over_x else (-2, -1)))
    if inner == 1:
        return REGISTRY["mul"](_turned(x) if over_x else x, _turned(y) if over_y else y)
    if rows == columns == 1:
        products = REGISTRY["mul"](_turned(x) if over_x else x, y if over_y else _turned(y))
        return REGISTRY["sum"](products, axes=(2,), keepdims=True)
    return call.done(x, y, columns=False)


def _rows_times(op: Op, x: Tensor, over_x: bool, y: Tensor, over_y: bool) -> Tensor:
    """Return one product of the rows of all examples with a matrix that serves all."""
    shape = x._data.shape
    if over_x:
        shape = (*shape[:-2], 1, shape[-2])
    found = op(_reshape(x, (math.prod(shape[:-1]), shape[-1])), y, transpose_y=over_y)
    return _reshape(found, (*shape[:-1], found._data.shape[-1]))


@rule("linear")
def _linear(call: Application) -> Tensor:
    x, weight, bias = call.args
    over_x, over_weight, over_bias = call.has_examples
    if call.rank(0) == 1:
        if not (over_weight or over_bias):
            return call.op(x, weight, bias)
        rows = _reshape(x, (*x._data.shape[:-1], 1, x._data.shape[-1]))
        parts = [rows, weight, bias]
        found = _linear(Application(call.op, parts, call.has_examples, call.size, {}))
        return _reshape(found, (call.size, found._data.shape[-1]))
    if over_x and not over_weight and not over_bias and call.rank(2) < 2:
        shape = x._data.shape
        found = call.op(_reshape(x, (math.prod(shape[:-1]), shape[-1])), weight, bias)
        return _reshape(found, (*shape[:-1], found._data.shape[-1]))
    if over_x or over_weight:
        attributes = {"transpose_x": False, "transpose_y": True, "columns": False}
        parts, over = [x, weight], [over_x, over_weight]
        product = _matmul(Application(REGISTRY["matmul"], parts, over, call.size, attributes))
    else:
        product = call.op(x, weight, None)
    return product if bias is None else REGISTRY["add"](product, call.aligned(2, call.rank(0)))


@rule("linalg_lstsq")
def _least_squares(call: Application) -> tuple:
    """Take a matrix for each example: its rank and singular values are results, too."""
    a = call.spread(0)
    rank = max(call.rank(0), call.rank(1))
    a = _reshape(a, (call.size, *(1,) * (rank - call.rank(0)), *call.shape(0)))
    return call.done(a, call.aligned(1, rank))


@rule(
    "linalg_solve", "linalg_solve_triangular", "cross", "euclidean_distance", "pulled", "projected"
)
def _broadcast(call: Application) -> Any:
    return call.done(*call.broadcast())
