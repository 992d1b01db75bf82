"""Products, running sums and products, with derivatives that are right where factors are 0; and
differences of neighbours."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of, mul, sub
from ..elementwise.compare import logical_xor
from ..layout.index import narrow
from ..layout.join import cat
from ..layout.shape import clone, normal_axis, reshape_op
from ..registry import Op
from .reduce import converted, keep

__all__ = ["cumprod", "cumsum", "diff", "prod"]


def _along(dim: int, index: Any, ndim: int) -> tuple:
    """Return the key that indexes dimension `dim` only."""
    return (slice(None),) * dim + (index,) + (slice(None),) * (ndim - dim - 1)


def _running(name: str) -> Any:
    """Return the forward of a cumulative ufunc along `dim`, from the far end with `reverse`."""

    def forward(xp: Any, x: Any, out: Any = None, *, dim: int, reverse: bool = False) -> Any:
        function = getattr(xp, name)
        if out is None:
            out = xp.empty(x.shape, x.dtype)
        key = _along(dim, slice(None, None, -1 if reverse else None), x.ndim)
        function(x[key], axis=dim, dtype=x.dtype, out=out[key])
        return out

    return forward


cumsum_op = Op(
    "cumsum",
    _running("cumsum"),
    {"x": lambda g, dim, reverse: cumsum_op(g, dim=dim, reverse=not reverse)},
    linear=True,
)


def _shifted(
    xp: Any, x: Any, out: Any = None, *, dim: int, reverse: bool = False, fill: float = 0.0
) -> Any:
    result = xp.empty_like(x) if out is None else out
    front, back = slice(1, None), slice(None, -1)
    target, source, edge = (back, front, -1) if reverse else (front, back, 0)
    if x.shape[dim]:
        result[_along(dim, target, x.ndim)] = x[_along(dim, source, x.ndim)]
        result[_along(dim, edge, x.ndim)] = fill
    return result


shifted_op = Op(
    "shifted",
    _shifted,
    {"x": lambda g, dim, reverse: shifted_op(g, dim=dim, reverse=not reverse)},
    taylor="nested",
)
"""Element i is x[i - 1] (x[i + 1] with `reverse`) along `dim`; `fill` enters at the edge."""


def _recurrence(
    xp: Any, a: Any, b: Any, out: Any = None, *, dim: int, reverse: bool = False
) -> Any:
    """h[i] = a[i] h[i-1] + b[i], from the far end with `reverse`."""
    if out is None:
        out = xp.empty(b.shape, b.dtype)
    order = _along(dim, slice(None, None, -1 if reverse else None), b.ndim)
    _reduce_recurrence(a[order], b[order], out[order], dim)
    return out


def _reduce_recurrence(a: Any, b: Any, h: Any, dim: int) -> None:
    """Write the solution to `h` by cyclic reduction, over whole arrays.

    Two steps are one of the same kind, with a[i] a[i-1] and a[i] b[i-1] + b[i]: half as many give
    every other element, and these the ones between.  In all it is about 5 operations an element.
    """
    size = b.shape[dim]
    if size < 2:
        h[...] = b
        return
    evens = _along(dim, slice(0, size - 1, 2), b.ndim)  # each has an odd one after it
    odds = _along(dim, slice(1, None, 2), b.ndim)
    later = _along(dim, slice(2, None, 2), b.ndim)
    before_later = _along(dim, slice(1, size - 1, 2), b.ndim)
    ends = a[odds] * b[evens]
    ends += b[odds]
    _reduce_recurrence(a[odds] * a[evens], ends, h[odds], dim)
    h[_along(dim, slice(0, 1), b.ndim)] = b[_along(dim, slice(0, 1), b.ndim)]
    between = a[later] * h[before_later]
    between += b[later]
    h[later] = between


def _recurrence_gradients(
    g: Tensor, a: Tensor, out: Tensor, dim: int, reverse: bool, needed: tuple
) -> tuple:
    """The adjoint of a recurrence is one that runs the other way."""
    factor = shifted_op(conj_of(a), dim=dim, reverse=not reverse)
    for_b = recurrence_op(factor, g, dim=dim, reverse=not reverse)
    if not needed[0]:
        return None, for_b
    before = shifted_op(out, dim=dim, reverse=reverse)
    return mul(for_b, conj_of(before)), for_b


recurrence_op = Op(
    "recurrence", _recurrence, _recurrence_gradients, dtype="promote", taylor="nested"
)
"""h[i] = a[i] h[i-1] + b[i] along `dim`, from the far end with `reverse`; h[-1] = 0."""


def _products_before(x: Tensor, dim: int, reverse: bool) -> Tensor:
    """Return for each element the product of those before it."""
    running = cumprod_op(x, dim=dim, reverse=reverse)
    return shifted_op(running, dim=dim, reverse=reverse, fill=1.0)


def _cumprod_gradient(g: Tensor, x: Tensor, dim: int, reverse: bool) -> Tensor:
    """Product before times s[i] = g[i] + x[i+1] s[i+1]: no division, so zeros do no harm."""
    x = conj_of(x)
    factor = shifted_op(x, dim=dim, reverse=not reverse)
    weights = recurrence_op(factor, g, dim=dim, reverse=not reverse)
    return mul(_products_before(x, dim, reverse), weights)


cumprod_op = Op("cumprod", _running("cumprod"), {"x": _cumprod_gradient}, taylor="nested")


def _prod_gradient(g: Tensor, x: Tensor, dim: int) -> Tensor:
    x = conj_of(x)
    others = mul(_products_before(x, dim, False), _products_before(x, dim, True))
    return mul(keep(g, x._data.shape, (dim,)), others)


prod_op = Op(
    "prod",
    lambda xp, x, out=None, *, dim, keepdims: x.prod(
        axis=dim, dtype=x.dtype, keepdims=keepdims, out=out
    ),
    {"x": _prod_gradient},
    taylor="nested",
)


@method
def prod(x: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the product over `dim` (all dimensions by default); integers multiply to int64."""
    x = converted(x, dtype, dtypes.int64)
    if dim is None or x.ndim == 0:
        if dim is not None:
            normal_axis(dim, 0)
        return prod_op(reshape_op(x, shape=(x._data.size,)), dim=0, keepdims=False)
    return prod_op(x, dim=normal_axis(dim, x.ndim), keepdims=keepdim)


def _cumulative(op: Op, x: Tensor, dim: int, dtype: Any) -> Tensor:
    x = converted(x, dtype, dtypes.int64)
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        return reshape_op(op(reshape_op(x, shape=(1,)), dim=0), shape=())
    return op(x, dim=axis)


@method
def cumsum(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the running sum along `dim`, of the shape of `x`; integers sum to int64."""
    return _cumulative(cumsum_op, x, dim, dtype)


@method
def cumprod(x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the running product along `dim`, of the shape of `x`; integers to int64."""
    return _cumulative(cumprod_op, x, dim, dtype)


@method
def diff(
    x: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of neighbours along `dim`, taken `n` times: `n` elements fewer.

    prepend, append  joined to `x` along `dim` before; n = 0 is a copy of `x` without them.
    Bools differ where just one is true.  Raises RuntimeError for a 0-d tensor and for n < 0.
    """
    if x.ndim == 0:
        raise RuntimeError(
            "diff expects input to be at least one-dimensional, got a 0-d tensor; reshape it first"
        )
    if n < 0:
        raise RuntimeError(f"diff: order must be non-negative but got {n}")
    axis = normal_axis(dim, x.ndim)
    if n == 0:
        return clone(x)
    given = [part for part in (prepend, x, append) if part is not None]
    result = cat(given, axis) if len(given) > 1 else clone(x)
    minus = logical_xor if result.dtype.kind == "b" else sub
    for _ in range(min(n, result.shape[axis])):
        size = result.shape[axis] - 1
        result = minus(narrow(result, axis, 1, size), narrow(result, axis, 0, size))
    return result
