"""Elements rearranged or repeated: flip, roll, repeat, pad, diagonals, triangles.

All but `diagonal` copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tensor import Tensor, method
from ..registry import Op, into
from .gather import index_select
from .index import padded, positions
from .join import cat
from .shape import (
    atleast_2d,
    checked_tensors,
    clone,
    movedim,
    normal_axes,
    normal_axis,
    reshape_op,
    shape_arguments,
    sum_to_op,
    transpose,
    writable_as,
)

__all__ = [
    "block_diag",
    "constant_pad_nd",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "flip",
    "fliplr",
    "flipud",
    "pad",
    "roll",
    "rot90",
    "tile",
    "tril",
    "triu",
]


# ---- order and repetition of elements


flip_op = Op(
    "flip",
    lambda xp, x, out=None, *, axes: (
        xp.flip(x, axes).copy("K") if out is None else into(out, xp.flip(x, axes))
    ),
    {"x": lambda g, axes: flip_op(g, axes=axes)},
    linear=True,
)


def _roll(xp: Any, x: Any, out: Any = None, *, shifts: tuple, axes: tuple | None) -> Any:
    if axes is None:
        return into(out, xp.roll(x.reshape(-1), shifts[0]).reshape(x.shape))
    return into(out, xp.roll(xp.ascontiguousarray(x), shifts, axis=axes))


roll_op = Op(  # axes None: the elements in row-major order
    "roll",
    _roll,
    {"x": lambda g, shifts, axes: roll_op(g, shifts=tuple(-s for s in shifts), axes=axes)},
    linear=True,
)


@method
def flip(x: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Return a copy of `x` with the elements along `dims` in reverse order."""
    axes = shape_arguments(order, dims)
    return flip_op(x, axes=normal_axes(axes, x.ndim) if axes else ())


@method
def fliplr(x: Tensor) -> Tensor:
    """Return a copy of `x` reversed along dimension 1."""
    if x.ndim < 2:
        raise RuntimeError(f"fliplr: Input must be >= 2-d, got shape {list(x.shape)}")
    return flip(x, 1)


@method
def flipud(x: Tensor) -> Tensor:
    """Return a copy of `x` reversed along dimension 0."""
    if x.ndim < 1:
        raise RuntimeError("flipud: Input must be >= 1-d, got a 0-d tensor")
    return flip(x, 0)


@method
def rot90(x: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return `x` turned by k quarters in the plane of two dimensions, from the first to the second.

    Raises RuntimeError unless the two differ, and for fewer dimensions than two.
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.ndim}; unsqueeze()")
    first, second = (normal_axis(dim, x.ndim) for dim in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, got {tuple(dims)}")
    turned = flip(x, *{1: (second,), 2: (first, second), 3: (first,)}.get(k % 4, ()))
    return transpose(turned, first, second).contiguous() if k % 2 else turned


@method
def roll(x: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return a copy of `x` shifted along `dims` with wrap-around (without dims: flattened)."""
    amounts = tuple(shifts) if hasattr(shifts, "__iter__") else (shifts,)
    if dims is None or (hasattr(dims, "__iter__") and not tuple(dims)):
        if len(amounts) != 1:
            raise RuntimeError(
                f"roll: shifts and dimensions must align. shifts: {len(amounts)}, dims: 0"
            )
        return roll_op(x, shifts=(amounts[0].__index__(),), axes=None)
    places = tuple(dims) if hasattr(dims, "__iter__") else (dims,)
    if len(amounts) != len(places):
        raise RuntimeError(
            f"roll: shifts and dimensions must align. shifts: {len(amounts)}, dims: {len(places)}"
        )
    axes = tuple(normal_axis(d, x.ndim) for d in places)
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {places[0]} but tensor has no dimensions")
    return roll_op(x, shifts=tuple(s.__index__() for s in amounts), axes=axes)


@method(name="unfold")
def _unfold(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows of `size` elements along `dimension`, every `step`, in a new last dimension.

    A copy.  Raises RuntimeError for windows that are longer than the dimension, and for step <= 0.
    """
    axis = normal_axis(dimension, x.ndim)
    wide = x if x.ndim else reshape_op(x, shape=(1,))
    length = wide.shape[axis]
    if not 0 <= size <= length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    starts = np.arange(0, length - size + 1, step)
    places = positions((starts[:, None] + np.arange(size)).ravel(), x)
    found = index_select(wide, axis, places)
    shape = (*wide.shape[:axis], len(starts), size, *wide.shape[axis + 1 :])
    found = movedim(reshape_op(found, shape=shape), axis + 1, -1)
    return found if x.ndim else reshape_op(found, shape=(size,))


def _tile_rule(g: Tensor, x_shape: tuple, reps: tuple) -> Tensor:
    shape = (1,) * (len(reps) - len(x_shape)) + tuple(x_shape)
    blocks = tuple(k for pair in zip(reps, shape, strict=True) for k in pair)
    ones = tuple(k for size in shape for k in (1, size))
    summed = sum_to_op(reshape_op(g, shape=blocks), shape=ones)
    return reshape_op(summed, shape=tuple(x_shape))


tile_op = Op(
    "tile",
    lambda xp, x, out=None, *, reps: into(out, xp.tile(x, reps)),
    {"x": _tile_rule},
    linear=True,
)


@method
def repeat(x: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Return a copy of `x` laid out `repeats[k]` times along dimension k (counted from the last).

    Raises RuntimeError when there are fewer repeats than dimensions.
    """
    reps = shape_arguments(sizes, repeats)
    if len(reps) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: got {list(reps)} for shape {list(x.shape)}; use tile to fill in ones"
        )
    if any(r < 0 for r in reps):
        raise RuntimeError(f"Trying to create tensor with negative dimension: repeats {list(reps)}")
    return tile_op(x, reps=reps)


@method
def tile(x: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
    """Return a copy of `x` laid out `dims` times; missing leading counts are 1."""
    reps = shape_arguments(sizes, dims)
    return repeat(x, (1,) * (x.ndim - len(reps)) + reps)


# ---- diagonals and triangles


def _diagonal_view(xp: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Return a diagonal that shares memory."""
    return writable_as(xp.diagonal(x, offset, dim1, dim2), x)


def _diagonal_into(
    xp: Any, x: Any, out: Any = None, *, shape: tuple, offset: int, dim1: int, dim2: int
) -> Any:
    target = xp.zeros(shape, x.dtype) if out is None else out
    if out is not None:
        target[...] = 0
    _diagonal_view(xp, target, offset, dim1, dim2)[...] = x
    return target


diagonal_op = Op(
    "diagonal",
    lambda xp, x, *, offset, dim1, dim2: _diagonal_view(xp, x, offset, dim1, dim2),
    {
        "x": lambda g, x_shape, offset, dim1, dim2: diagonal_into_op(
            g, shape=x_shape, offset=offset, dim1=dim1, dim2=dim2
        )
    },
    linear=True,
    view=True,
)
diagonal_into_op = Op(  # zeros of `shape` with the input on a diagonal
    "diagonal_into",
    _diagonal_into,
    {
        "x": lambda g, offset, dim1, dim2: diagonal_op(g, offset=offset, dim1=dim1, dim2=dim2),
    },
    linear=True,
)


@method
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the view of a diagonal of the dimensions `dim1`, `dim2`; it is the last dimension.

    `offset` > 0 is above the main diagonal.
    """
    a, b = normal_axis(dim1, x.ndim), normal_axis(dim2, x.ndim)
    if a == b or x.ndim < 2:
        raise RuntimeError(
            f"diagonal dimensions cannot be identical {dim1}, {dim2} (shape {list(x.shape)})"
        )
    return diagonal_op(x, offset=offset, dim1=a, dim2=b)


@method
def diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return zeros with the last dimension of `x` on a diagonal of the new `dim1`, `dim2`."""
    if x.ndim == 0:
        raise IndexError("diag_embed expects at least a 1-dimensional tensor; reshape it first")
    a, b = normal_axis(dim1, x.ndim + 1), normal_axis(dim2, x.ndim + 1)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape = list(x.shape[:-1])
    for axis in sorted((a, b)):
        shape.insert(axis, x.shape[-1] + abs(offset))
    return diagonal_into_op(x, shape=tuple(shape), offset=offset, dim1=a, dim2=b)


@method
def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with the 1-d `x` on a diagonal, or a copy of a diagonal of the 2-d `x`."""
    if x.ndim == 1:
        return diag_embed(x, diagonal)
    if x.ndim == 2:
        return clone(diagonal_op(x, offset=diagonal, dim1=0, dim2=1))
    raise RuntimeError(
        f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D; use diagonal() or diag_embed()"
    )


@method
def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """Return a square matrix with the elements of `x` in row-major order on its diagonal."""
    return diag_embed(reshape_op(x, shape=(x.numel(),)), offset)


def block_diag(*tensors: Tensor) -> Tensor:
    """Return the matrix with the tensors (n_k, m_k) along its diagonal and zeros elsewhere.

    A 1-d tensor is a row, a 0-d one a single element; dtypes are promoted.  Raises RuntimeError for
    more dimensions.
    """
    for position, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                "block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {x.ndim} dimensions"
            )
    blocks = atleast_2d(list(checked_tensors(tensors, "block_diag")))
    total, before, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        after = total - before - x.shape[1]
        rows.append(padded(x, [(0, 0), (before, after)], 0))
        before += x.shape[1]
    return cat(rows, dim=0)


tril_op = Op(
    "tril",
    lambda xp, x, out=None, *, diagonal: into(out, xp.tril(x, diagonal)),
    {"x": lambda g, diagonal: tril_op(g, diagonal=diagonal)},
    linear=True,
)
triu_op = Op(
    "triu",
    lambda xp, x, out=None, *, diagonal: into(out, xp.triu(x, diagonal)),
    {"x": lambda g, diagonal: triu_op(g, diagonal=diagonal)},
    linear=True,
)


def _checked_matrix(x: Tensor, name: str) -> Tensor:
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: input tensor must have at least 2 dimensions, got shape {list(x.shape)}"
        )
    return x


@method
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy of the matrices `x` with zeros above a diagonal."""
    return tril_op(_checked_matrix(x, "tril"), diagonal=diagonal)


@method
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy of the matrices `x` with zeros below a diagonal."""
    return triu_op(_checked_matrix(x, "triu"), diagonal=diagonal)


# ---- padding


def pad(
    x: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Return `x` with elements added at both ends of its last dimensions.

    pad   (before, after) of the last dimension, then of the one before it, and so on; negative
          counts take elements away.
    mode  "constant" (filled with `value`, 0 by default), "reflect" (mirrored without the edge),
          "replicate" (the edge repeated) or "circular" (wrapped around).
    Raises RuntimeError for an odd number of counts, too many of them, and results of negative size.
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(
            f"Unrecognised padding mode {mode!r}; the known ones are constant, reflect, replicate "
            "and circular"
        )
    if mode != "constant" and value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument, got {value}')
    widths = _pad_widths(x, pad)
    if mode == "constant":
        return padded(x, widths, 0 if value is None else value)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            source = _pad_positions(x.shape[axis], before, after, mode, axis)
            x = index_select(x, axis, positions(source, x))
    return x


def constant_pad_nd(x: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """Return `nn.functional.pad(x, pad, "constant", value)`."""
    return padded(x, _pad_widths(x, pad), value)


def _pad_widths(x: Tensor, pad: Sequence[int]) -> list[tuple[int, int]]:
    """Return how much is added before and after each dimension, from the first one on."""
    counts = shape_arguments((tuple(pad),))
    if len(counts) % 2 or len(counts) > 2 * x.ndim:
        raise RuntimeError(
            "Padding length must be divisible by 2 and at most twice the number of dimensions of "
            f"the input: got {len(counts)} counts for shape {list(x.shape)}"
        )
    widths = [(0, 0)] * (x.ndim - len(counts) // 2) + [
        (counts[k], counts[k + 1]) for k in range(len(counts) - 2, -1, -2)
    ]
    for axis, (before, after) in enumerate(widths):
        if x.shape[axis] + before + after < 0:
            raise RuntimeError(
                f"The input size {x.shape[axis]}, plus negative padding {before} and {after}, "
                f"resulted in a negative output size at dimension {axis}"
            )
    return widths


def _pad_positions(size: int, before: int, after: int, mode: str, axis: int) -> list[int]:
    """Return the source position of each element along a padded dimension."""
    left = size + min(before, 0) + min(after, 0)
    limit = {"reflect": size - 1, "circular": size if left > 0 else 0, "replicate": None}[mode]
    if size == 0 or (limit is not None and max(before, after) > limit):
        raise RuntimeError(
            f"Padding size should be less than the corresponding input dimension for mode "
            f"{mode!r}: got padding {(before, after)} at dimension {axis} of size {size}"
        )
    wanted = range(-before, size + after)
    if mode == "replicate":
        return [min(max(k, 0), size - 1) for k in wanted]
    if mode == "circular":  # what is taken away is not wrapped around
        first = max(-before, 0)
        return [first + (k - first) % left for k in wanted]
    return [abs(k) if k < size else 2 * (size - 1) - k for k in wanted]
