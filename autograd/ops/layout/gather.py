"""Reading and adding along one dimension with an index tensor: gather, scatter, index_select.

The index is an input, not an attribute: changing it in place before the backward pass is noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, modes
from ...devices import CPU, put
from ...tensor import Tensor, method
from ..elementwise.arithmetic import mul
from ..registry import REGISTRY, Op, cast, into
from .index import (
    add_at,
    axis_of,
    flat_position_op,
    multiply_at,
    new_zeros,
    numbered,
    positions,
    slice_op,
    value_range,
    wrapped,
)
from .shape import clone, expand, normal_axis, reshape_op

__all__ = [
    "gather",
    "index_add",
    "index_select",
    "repeat_interleave",
    "scatter",
    "scatter_add",
    "take",
    "take_along_dim",
]


def _narrowed(array: Any, index: Any, dim: int) -> Any:
    """Return the corner of `array` that `index` covers: all of `dim`, its size elsewhere."""
    return array[tuple(slice(None) if k == dim else slice(s) for k, s in enumerate(index.shape))]


def _gather(xp: Any, x: Any, index: Any, out: Any = None, *, dim: int) -> Any:
    return into(out, xp.take_along_axis(_narrowed(x, index, dim), index, axis=dim))


def _numbers_along(xp: Any, x: Any, index: Any, dim: int) -> Any:
    """Return the row-major numbers of the elements of `x` at `index` along `dim`."""
    if index.dtype.kind == "i":
        index = index.astype(np.int64, copy=False)  # numbers may be larger than positions
    step, numbers, others = 1, index, None
    for k in reversed(range(x.ndim)):
        if k == dim:
            numbers = index if step == 1 else index * step
        elif index.shape[k] > 1:
            line = (xp.arange(index.shape[k]) * step).reshape(-1, *(1,) * (x.ndim - 1 - k))
            others = line if others is None else others + line
        step *= x.shape[k]
    return numbers if others is None else numbers + others


def _scatter(xp: Any, x: Any, index: Any, src: Any, out: Any = None, *, dim: int) -> Any:
    result = x.copy()
    result.reshape(-1)[_numbers_along(xp, x, index, dim)] = src
    return into(out, result)


def _scatter_add(xp: Any, x: Any, index: Any, src: Any, out: Any = None, *, dim: int) -> Any:
    result = x.copy()
    add_at(xp, result, _numbers_along(xp, x, index, dim), src)
    return into(out, result)


def _scatter_multiply(xp: Any, x: Any, index: Any, src: Any, *, dim: int) -> Any:
    result = x.copy()
    multiply_at(xp, result, _numbers_along(xp, x, index, dim), src)
    return result


def _index_add(xp: Any, x: Any, index: Any, source: Any, out: Any = None, *, dim: int) -> Any:
    result = x.copy()
    numbers = index if x.ndim == 1 else xp.take(numbered(xp, x.shape), index, axis=dim)
    add_at(xp, result, numbers, source)
    return into(out, result)


gather_op = Op(
    "gather",
    _gather,
    {"x": lambda g, index, x_shape, dim: scatter_add_op(new_zeros(g, x_shape), index, g, dim=dim)},
    taylor="linear",
)
scatter_add_op = Op(
    "scatter_add",
    _scatter_add,
    {"x": lambda g: g, "src": lambda g, index, dim: gather_op(g, index, dim=dim)},
    taylor="linear",
)
scatter_op = Op(
    "scatter",
    _scatter,
    {
        "x": lambda g, index, dim: scatter_op(g, index, 0, dim=dim),
        "src": lambda g, index, dim: gather_op(g, index, dim=dim),
    },
    taylor="linear",
)
scatter_multiply_op = Op("scatter_multiply", _scatter_multiply)
index_select_op = Op(
    "index_select",
    lambda xp, x, index, out=None, *, dim: into(out, xp.take(x, index, axis=dim)),
    {"x": lambda g, index, x_shape, dim: index_add_op(new_zeros(g, x_shape), index, g, dim=dim)},
    taylor="linear",
)
index_add_op = Op(
    "index_add",
    _index_add,
    {"x": lambda g: g, "source": lambda g, index, dim: index_select_op(g, index, dim=dim)},
    taylor="linear",
)


def _shaped(copied: Tensor, shape: tuple | None) -> Tensor:
    """Return a result in the shape of a 0-d tensor that was worked on as one of shape (1,)."""
    if shape is None or copied.shape == shape:
        return copied
    return clone(reshape_op(copied, shape=tuple(shape)))


def _checked_index(index: Any, size: int, axis: int, name: str, error: type) -> Tensor:
    """Return an index tensor whose elements lie in [0, size); `error` otherwise."""
    if index.dtype.kind != "i" and index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int64 for index, got {index.dtype}")
    if not index.numel():
        return cast(index, dtypes.int64)
    low, high = value_range(index._whole())
    if low < 0 or high >= size:
        raise error(
            f"index {low if low < 0 else high} is out of bounds for dimension {axis} with size "
            f"{size}"
        )
    return index


def _along_checked(name: str, x: Tensor, dim: int, index: Any) -> tuple[Tensor, int, Tensor]:
    """Return x, the axis and the index of gather and scatter, all of at least one dimension."""
    axis = normal_axis(dim, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    index = _checked_index(index, size, axis, name, RuntimeError)
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor, got "
            f"{index.ndim} and {x.ndim} in {name}()"
        )
    x = x if x.ndim else reshape_op(x, shape=(1,))
    index = index if index.ndim else reshape_op(index, shape=(1,))
    for k, (ours, theirs) in enumerate(zip(index.shape, x.shape, strict=True)):
        if k != axis and ours > theirs:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index.shape)} to be no "
                f"larger than self {list(x.shape)} apart from dimension {axis}"
            )
    return x, axis, index


@method
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return `x[..., index[i, j, ...], ...]` along `dim`, of the shape of `index`.

    Raises RuntimeError for positions out of range and shapes that do not match; an empty index may
    have any shape and dtype.
    """
    if not index.numel():
        return reshape_op(reshape_op(x, shape=(-1,))[:0], shape=tuple(index.shape))
    wide, axis, places = _along_checked("gather", x, dim, index)
    return _shaped(gather_op(wide, places, dim=axis), index.shape)


def checked_scatter(
    name: str, x: Tensor, dim: int, index: Tensor, src: Any
) -> tuple[Tensor, int, Tensor, Any]:
    """Return x, the axis, the index and the part of `src` it covers, of at least one dimension.

    Raises RuntimeError for shapes and dtypes that do not fit, and positions out of range.
    """
    wide, axis, places = _along_checked(name, x, dim, index)
    if isinstance(src, Tensor):
        if src.dtype != x.dtype:
            raise RuntimeError(
                f"{name}(): Expected self.dtype to be equal to src.dtype, got {x.dtype} and "
                f"{src.dtype}; convert with .to()"
            )
        src = src if src.ndim else reshape_op(src, shape=(1,))
        if src.ndim != places.ndim or any(
            a > b for a, b in zip(places.shape, src.shape, strict=True)
        ):
            raise RuntimeError(
                f"Expected index {list(places.shape)} to be no larger than src {list(src.shape)} "
                f"in {name}()"
            )
        if src.shape != places.shape:
            src = slice_op(src, index=tuple(slice(0, size, 1) for size in places.shape))
    return wide, axis, places, src


def _scattered(op: Op, x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    wide, axis, places, src = checked_scatter(op.name, x, dim, index, src)
    return _shaped(op(wide, places, src, dim=axis), x.shape)


@method
def scatter(
    x: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """Return a copy of `x` with `src` (a tensor or a number) written at `index` along `dim`.

    Where positions repeat, one of the values stays and the gradient of `src` is undefined.
    reduce="add" adds `src` there, "multiply" multiplies by it (without gradient, RuntimeError where
    one is asked for); repeats then all count.
    """
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter() needs src (a tensor or a number) or value")
    if reduce is not None:
        return _reduced(x, dim, index, src, reduce)
    return _scattered(scatter_op, x, dim, index, src)


def _reduced(x: Tensor, dim: int, index: Tensor, src: Any, reduce: str) -> Tensor:
    if reduce not in ("add", "multiply"):
        raise RuntimeError(f"scatter(): reduce must be 'add' or 'multiply', got {reduce!r}")
    if not isinstance(src, Tensor):
        src = REGISTRY["ones_like"](reshape_op(x, shape=(-1,))[:1]) * src
        src = expand(cast(src, x.dtype).reshape((1,) * max(x.ndim, 1)), index.shape or (1,))
    if reduce == "add":
        return _scattered(scatter_add_op, x, dim, index, src)
    if x.requires_grad or src.requires_grad:
        raise RuntimeError(
            "scatter(): reduce='multiply' has no derivative; multiply x by the values instead"
        )
    return _scattered(scatter_multiply_op, x, dim, index, src)


@method
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of `x` with `src` added at `index` along `dim`; repeats add up."""
    return _scattered(scatter_add_op, x, dim, index, src)


@method
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Return the elements of `x` at `indices` along `dim` (None: of the flattened `x`).

    Other dimensions are broadcast, negative positions count from the end.  Raises IndexError for
    positions out of range.
    """
    if not isinstance(indices, Tensor) or indices.dtype.kind != "i":
        raise RuntimeError("take_along_dim(): dtype of indices should be Long (an int64 Tensor)")
    if dim is None:
        flat = reshape_op(x, shape=(x.numel(),))
        return take_along_dim(flat, reshape_op(indices, shape=(indices.numel(),)), 0)
    axis = normal_axis(dim, x.ndim)
    if x.ndim != indices.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {x.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    pairs = list(zip(x.shape, indices.shape, strict=True))
    common = [max(a, b) if 0 not in (a, b) else 0 for a, b in pairs]
    wide, places = list(common), list(common)
    wide[axis], places[axis] = x.shape[axis], indices.shape[axis]
    size = x.shape[axis] if x.ndim else 1
    tracer = modes.state.tracer
    if indices.__dispatch__ is not None or (tracer is not None and tracer.varies(indices)):
        indices = flat_position_op(indices, lengths=(size,), dims=(axis,))
    else:
        indices = Tensor(wrapped(indices._data, size, axis))
    return gather(expand(x, wide), axis, expand(indices, places))


@method
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `x` at the 1-d positions `index` of dimension `dim`.

    Raises IndexError for positions out of range.
    """
    axis = normal_axis(dim, x.ndim)
    wide = x if x.ndim else reshape_op(x, shape=(1,))
    if isinstance(index, Tensor) and index.ndim > 1:
        raise IndexError(
            "index_select(): Index is supposed to be a vector, got shape "
            f"{list(index.shape)}; use take_along_dim or x[index]"
        )
    if x.ndim == 0 and isinstance(index, Tensor) and index.numel() != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)"
        )
    index = _checked_index(index, wide.shape[axis], axis, "index_select", IndexError)
    line = index if index.ndim else reshape_op(index, shape=(1,))
    return _shaped(index_select_op(wide, line, dim=axis), x.shape if x.ndim == 0 else None)


@method
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Return a copy of `x` with `alpha * source` added to its slices `index`; repeats add up."""
    if x.ndim == 0 and source.ndim == 0:
        line = reshape_op(x, shape=(1,)), reshape_op(source, shape=(1,))
        return reshape_op(index_add(line[0], dim, index, line[1], alpha=alpha), shape=())
    axis = axis_of(x, dim, "index_add")
    index = _checked_index(index, x.shape[axis], axis, "index_add", IndexError)
    expected = (*x.shape[:axis], index.numel(), *x.shape[axis + 1 :])
    if index.ndim != 1 or tuple(source.shape) != expected:
        raise RuntimeError(
            f"index_add(): source must have shape {list(expected)} for a 1-d index of shape "
            f"{list(index.shape)} along dimension {axis}, got {list(source.shape)}"
        )
    if source.dtype != x.dtype:
        raise RuntimeError(
            f"index_add(): self ({x.dtype}) and source ({source.dtype}) must have the same scalar "
            "type; convert with .to()"
        )
    return index_add_op(x, index, source if alpha == 1 else mul(source, alpha), dim=axis)


@method
def take(x: Tensor, index: Tensor) -> Tensor:
    """Return the elements of the flattened `x` at `index`, of the shape of `index`."""
    return reshape_op(x, shape=(x.numel(),))[index]


def _as_frozen(numbers: Tensor) -> Any:
    """Return numbers that decide a shape, on the host: constants of a recording."""
    tracer = modes.state.tracer
    if tracer is not None:
        if tracer.varies(numbers):
            tracer.refuse("a number of repeats computed from the inputs")
        tracer.value_of(numbers)  # it is recorded again when these are written to
    return put(numbers._elements("a number of repeats"), CPU)


@method
def repeat_interleave(
    x: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Return `x` with each slice along `dim` (None: each element) repeated `repeats` times.

    repeats      a number, or one number a slice.
    output_size  the size along `dim` that is expected; RuntimeError for another one.
    """
    if dim is None:
        x, dim = reshape_op(x, shape=(x.numel(),)), 0
    axis = axis_of(x, dim, "repeat_interleave")
    counts = _as_frozen(repeats).tolist() if isinstance(repeats, Tensor) else repeats
    if np.size(counts) not in (1, x.shape[axis]) or np.any(np.asarray(counts) < 0):
        raise RuntimeError(
            "repeats must be one non-negative number or one a slice "
            f"({x.shape[axis]} along dimension {axis}), got {counts}"
        )
    places = np.repeat(np.arange(x.shape[axis]), counts)
    if output_size is not None and output_size != places.size:
        raise RuntimeError(
            f"repeat_interleave(): output_size is {output_size}, but the repeats add up to "
            f"{places.size}"
        )
    return index_select_op(x, positions(places, x), dim=axis)
