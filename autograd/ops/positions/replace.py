"""Copies of a tensor of which some elements are replaced: slices, positions, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...tensor import Tensor, method
from ..elementwise.arithmetic import div, mul, sub
from ..elementwise.compare import eq, lt
from ..elementwise.piecewise import clamp, where
from ..layout.arrange import diagonal, diagonal_into_op
from ..layout.gather import (
    _checked_index,
    _numbers_along,
    checked_scatter,
    gather_op,
    index_select_op,
    scatter,
    scatter_add,
    scatter_add_op,
    scatter_op,
)
from ..layout.index import (
    axis_of,
    index_put_op,
    narrow,
    normal_index,
    positions,
    slice_op,
    value_range,
)
from ..layout.join import cat
from ..layout.mask import _checked_mask
from ..layout.shape import broadcast_to, clone, expand, normal_axis, reshape_op
from ..reductions.cumulative import cumsum
from ..registry import REGISTRY, Op, cast
from .order import argsort_op

__all__ = [
    "diagonal_scatter",
    "fill",
    "index_copy",
    "index_fill",
    "index_reduce",
    "masked_scatter",
    "put",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
]


def _lines(name: str, x: Tensor, dim: int, index: Any) -> tuple[Tensor, int, Tensor]:
    """Return `x` of one dimension at least, the axis, and the index in the shape of the slices."""
    axis = normal_axis(dim, x.ndim)
    wide = x if x.ndim else reshape_op(x, shape=(1,))
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index should have dimension 1 or 0 (got {index.ndim}); flatten it"
        )
    index = _checked_index(index, wide.shape[axis], axis, name, IndexError)
    shape = [1] * wide.ndim
    shape[axis] = index.numel()
    line = reshape_op(index, shape=tuple(shape))
    shape = [*wide.shape[:axis], index.numel(), *wide.shape[axis + 1 :]]
    return wide, axis, expand(line, shape)


def _as_before(result: Tensor, x: Tensor) -> Tensor:
    return result if x.ndim else reshape_op(result, shape=())


def fill(x: Tensor, value: Any) -> Tensor:
    """Return a copy of `x` with `value`, a number or a 0-d tensor, in place of every element.

    Raises RuntimeError for a tensor with dimensions.
    """
    _refuse_dimensions("fill", value)
    value = cast(value, x.dtype) if isinstance(value, Tensor) else x.dtype.type(value).item()
    everywhere = cast(REGISTRY["ones_like"](x.detach()), dtypes.bool_)
    return where(everywhere, value, x)


def _refuse_dimensions(name: str, value: Any) -> None:
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"{name}_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s); use {'copy_' if name == 'fill' else 'index_copy'}"
        )


@method
def index_fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return a copy of `x` with `value`, a number or a 0-d tensor, in its slices `index`.

    Raises IndexError for positions out of range.
    """
    size = x.shape[normal_axis(dim, x.ndim)] if x.ndim else 1
    if index.dtype.kind == "i":  # they may count from the end
        index = where(lt(index, 0), index + size, index)
    wide, axis, places = _lines("index_fill_", x, dim, index)
    _refuse_dimensions("index_fill", value)
    if isinstance(value, Tensor):  # positions that repeat count once in its gradient
        nowhere = cast(REGISTRY["zeros_like"](wide.detach()), dtypes.bool_)
        filled = where(scatter_op(nowhere, places, True, dim=axis), cast(value, x.dtype), wide)
    else:
        filled = scatter_op(wide, places, x.dtype.type(value).item(), dim=axis)
    return _as_before(filled, x)


@method
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return a copy of `x` with the slices of `source` in place of its slices `index`.

    Raises IndexError for positions out of range, RuntimeError for other shapes and dtypes.
    """
    wide, axis, places = _lines("index_copy_", x, dim, index)
    source = source if source.ndim or not places.ndim else reshape_op(source, shape=(1,))
    if source.shape != places.shape or source.dtype != x.dtype:
        raise RuntimeError(
            f"index_copy_(): expected source of shape {list(places.shape)} and dtype {x.dtype}, "
            f"got shape {list(source.shape)} of {source.dtype}"
        )
    return _as_before(scatter_op(wide, places, source, dim=axis), x)


@method
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return `x` with the elements of `source`, in order, where `mask` (broadcast) is True.

    Raises RuntimeError where `source` has too few, or another dtype.
    """
    if source.dtype != x.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{x.dtype} and {source.dtype}; convert with .to()"
        )
    shape = np.broadcast_shapes(tuple(x.shape), tuple(_checked_mask(mask, "masked_scatter").shape))
    wide, mask = broadcast_to(x, shape), broadcast_to(mask, shape)
    numbers = cumsum(cast(reshape_op(mask, shape=(mask.numel(),)), dtypes.int64), 0)
    ones = value_range(numbers._whole())[1]
    if ones > source.numel():
        raise RuntimeError(
            "masked_scatter: source nElements must be >= the number of ones in mask, got "
            f"{source.numel()} for {ones}"
        )
    if not source.numel():
        return REGISTRY["clone"](wide)
    places = clamp(sub(numbers, 1), min=0)
    taken = index_select_op(reshape_op(source, shape=(source.numel(),)), places, dim=0)
    return where(mask, reshape_op(taken, shape=shape), wide)


@method
def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return a copy of `x` with `source` at the positions `index` of the flattened tensor.

    With `accumulate` it is added there, and repeats add up.  Raises IndexError for positions out of
    range, RuntimeError for another number of elements.
    """
    if index.numel() != source.numel() or source.dtype != x.dtype:
        raise RuntimeError(
            f"put_(): expected source of {index.numel()} elements of {x.dtype}, as many as index, "
            f"got {source.numel()} of {source.dtype}"
        )
    count = x.numel()
    flat = reshape_op(index, shape=(index.numel(),))
    if index.numel():
        flat = where(flat.lt(0), flat + count, flat)
        flat = _checked_index(flat, count, 0, "put_", IndexError)
    line, values = reshape_op(x, shape=(count,)), reshape_op(source, shape=(index.numel(),))
    put_into = scatter_add if accumulate else scatter
    return reshape_op(put_into(line, 0, flat, values), shape=tuple(x.shape))


@method
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy of `x` with `src` in place of `x.select(dim, index)`."""
    axis = axis_of(x, dim, "select_scatter")
    return _written(x, (*(slice(None),) * axis, index), src, "select_scatter")


@method
def slice_scatter(
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return a copy of `x` with `src` in place of its slice start:end:step along `dim`."""
    axis = axis_of(x, dim, "slice_scatter")
    return _written(x, (*(slice(None),) * axis, slice(start, end, step)), src, "slice_scatter")


@method
def diagonal_scatter(
    x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return a copy of `x` with `src` in place of `x.diagonal(offset, dim1, dim2)`."""
    before = diagonal(x, offset, dim1, dim2)
    if src.shape != before.shape:
        raise RuntimeError(
            "diagonal_scatter: expected src to have a size equal to the slice of self, "
            f"{list(before.shape)}, got {list(src.shape)}"
        )
    place = {"offset": offset, "dim1": normal_axis(dim1, x.ndim), "dim2": normal_axis(dim2, x.ndim)}
    shape = tuple(x.shape)
    there = diagonal_into_op(REGISTRY["ones_like"](before.detach()), shape=shape, **place)
    return where(eq(there, 0), x, diagonal_into_op(cast(src, x.dtype), shape=shape, **place))


def _written(x: Tensor, index: tuple, src: Tensor, name: str) -> Tensor:
    shape = x.detach()[index].shape
    if src.shape != shape:
        raise RuntimeError(
            f"{name}: expected src to have a size equal to the slice of self, {list(shape)}, got "
            f"{list(src.shape)}"
        )
    return index_put_op(x, cast(src, x.dtype), index=normal_index(x, index), accumulate=False)


def _scatter_extreme(
    xp: Any, x: Any, index: Any, src: Any, *, dim: int, largest: bool, include_self: bool
) -> Any:
    result = x.copy()
    numbers = _numbers_along(xp, x, index, dim)
    if not include_self:
        result.reshape(-1)[numbers] = _least(x.dtype, largest)
    flat, values = result.reshape(-1), src.reshape(-1)
    if xp is np:
        (np.maximum if largest else np.minimum).at(flat, numbers.reshape(-1), values)
        return result
    places, winners = _last_of_each(xp, numbers.reshape(-1), _rising(values, largest))
    combine = xp.maximum if largest else xp.minimum
    flat[places] = combine(flat[places], values[winners])
    return result


def _rising(values: Any, largest: bool) -> Any:
    """Return what is largest where the values are most extreme; NaN stays NaN."""
    if largest:
        return values
    return -values if values.dtype.kind == "f" else ~values


def _last_of_each(xp: Any, numbers: Any, keys: Any) -> tuple:
    """Return the distinct numbers, and where each has its greatest key; NaN is the greatest."""
    order = xp.argsort(keys, kind="stable")
    order = order[xp.argsort(numbers[order], kind="stable")]
    ordered = numbers[order]
    last = xp.ones(ordered.shape, bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], order[last]


def _least(dtype: np.dtype, largest: bool) -> Any:
    """Return the number that every other one takes the place of."""
    if dtype.kind == "b":
        return not largest
    if dtype.kind == "f":
        return -np.inf if largest else np.inf
    limits = np.iinfo(dtype)
    return limits.min if largest else limits.max


def _scatter_extreme_gradients(
    g: Tensor, x: Tensor, index: Tensor, src: Tensor, out: Tensor, dim: int, include_self: bool,
) -> tuple:  # fmt: skip
    """Those that are the extreme share its gradient evenly."""
    of_x = cast(eq(x, out), g.dtype)
    if not include_self:
        of_x = scatter_op(of_x, index, 0, dim=dim)
    of_src = cast(eq(src, gather_op(out, index, dim=dim)), g.dtype)
    shares = clamp(scatter_add_op(of_x, index, of_src, dim=dim), min=1)
    share = div(g, shares)
    return mul(share, of_x), None, mul(gather_op(share, index, dim=dim), of_src)


scatter_extreme_op = Op(
    "scatter_extreme", _scatter_extreme, _scatter_extreme_gradients, taylor="nested"
)


def _scatter_product(x: Tensor, index: Tensor, src: Tensor, dim: int, include_self: bool) -> Tensor:
    """Return `x` times all of `src` at their places, without divisions: zeros do no harm.

    In the order of their places, factors of one stand side by side, that of `x` last: each takes
    in as many before it as it has taken in so far, and twice as many are done after each step.
    """
    count, size = index.shape[dim], x.shape[dim]
    if not index.numel():
        return clone(x)
    base = x if include_self else scatter_op(x, index, 1, dim=dim)
    inside = [slice(0, length, 1) for length in index.shape]
    inside[dim] = slice(0, size, 1)
    whole = all(one.stop == length for one, length in zip(inside, x.shape, strict=True))
    part = base if whole else slice_op(base, index=tuple(inside))
    line = reshape_op(positions(np.arange(size), x), shape=(-1, *(1,) * (x.ndim - 1 - dim)))
    places = cat([index, cast(expand(line, part.shape), index.dtype)], dim)
    order = argsort_op(places, dim=dim, descending=False)
    places = gather_op(places, order, dim=dim)
    values = gather_op(cat([src, part], dim), order, dim=dim)
    step = 1
    while step <= count:
        rest = count + size - step
        before, after = narrow(values, dim, 0, rest), narrow(values, dim, step, rest)
        of_one = eq(narrow(places, dim, 0, rest), narrow(places, dim, step, rest))
        after = mul(after, where(of_one, before, REGISTRY["ones_like"](before.detach())))
        values = cat([narrow(values, dim, 0, step), after], dim)
        step *= 2
    where_ordered = argsort_op(order, dim=dim, descending=False)
    found = gather_op(values, narrow(where_ordered, dim, count, size), dim=dim)
    return found if whole else index_put_op(base, found, index=tuple(inside), accumulate=False)


def _checked_reduce(name: str, reduce: str, choices: tuple[str, ...]) -> None:
    if reduce not in choices:
        raise RuntimeError(
            f"{name}(): reduce must be {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, "
            f"got {reduce!r}"
        )


@method
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy of `x` with `src` taken into it at `index` along `dim`; repeats all count.

    reduce        "sum", "prod", "mean", "amax" or "amin"; of equal extremes all share the gradient.
    include_self  whether the element of `x` counts as well where something is taken in.
    """
    _checked_reduce("scatter_reduce", reduce, ("sum", "prod", "mean", "amax", "amin"))
    if reduce == "prod" and x.dtype.kind == "b":
        reduce = "amin"  # true where all are
    if reduce == "prod":
        wide, axis, places, src = checked_scatter("scatter_reduce", x, dim, index, src)
        return _as_before(_scatter_product(wide, places, src, axis, include_self), x)
    if reduce.startswith("a"):
        wide, axis, places, src = checked_scatter("scatter_reduce", x, dim, index, src)
        found = scatter_extreme_op(
            wide, places, src, dim=axis, largest=reduce == "amax", include_self=include_self
        )
        return _as_before(found, x)
    base = x if include_self else scatter(x, dim, index, 0)
    total = scatter_add(base, dim, index, src)
    if reduce == "sum":
        return total
    ones = REGISTRY["ones_like"](total.detach())
    counts = ones if include_self else scatter(ones, dim, index, 0)
    counts = scatter_add(counts, dim, index, REGISTRY["ones_like"](src.detach()))
    counts = clamp(counts, min=1)
    return div(total, counts, rounding_mode=None if x.dtype.kind in "fc" else "floor")


@method
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return a copy of `x` with the slices of `source` taken into its slices `index`.

    reduce        "prod", "mean", "amax" or "amin", and
    include_self  as in `scatter_reduce`; for sums there is `index_add`.
    Raises IndexError for positions out of range, RuntimeError for other shapes and dtypes.
    """
    _checked_reduce("index_reduce", reduce, ("prod", "mean", "amax", "amin"))
    wide, axis, places = _lines("index_reduce", x, dim, index)
    line = source if source.ndim else reshape_op(source, shape=(1,))
    if line.shape != places.shape or source.dtype != x.dtype:
        raise RuntimeError(
            f"index_reduce(): expected source of shape {list(places.shape)} and dtype {x.dtype}, "
            f"got shape {list(source.shape)} of {source.dtype}"
        )
    found = scatter_reduce(wide, axis, places, line, reduce, include_self=include_self)
    return _as_before(found, x)
