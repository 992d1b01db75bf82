"""Shapes: broadcasting, reshape, the order of dimensions, copies.

All but `clone` and `contiguous` are views: they share memory with their input as PyTorch's do
(reshape where memory allows it).  A view operation takes no `out`: it writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes, modes
from ...devices import share_memory
from ...tensor import Tensor, method
from ..elementwise.arithmetic import conj_of
from ..registry import Op, cast, into

__all__ = [
    "adjoint",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "clone",
    "flatten",
    "meshgrid",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]


# ---- arguments


def normal_axis(dim: int, ndim: int) -> int:
    """Return `dim` counted from the front; IndexError when it is out of range."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], "
            f"but got {dim})"
        )
    return dim % limit


def normal_axes(dim: int | tuple | list | None, ndim: int) -> tuple:
    """Return `dim` (None: all dimensions) as a tuple counted from the front, without repeats."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    axes = tuple(normal_axis(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"a dimension appears more than once in dim={dim}")
    return axes if ndim else ()


def shape_arguments(shape: tuple, keyword: Any = None) -> tuple:
    """Return the sizes of `f(2, 3)`, `f((2, 3))` and `f(keyword=(2, 3))` alike."""
    if keyword is not None:
        if shape:
            raise TypeError(f"sizes are given twice: {shape} and {keyword}; give them once")
        shape = tuple(keyword) if isinstance(keyword, (tuple, list)) else (keyword,)
    elif len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    return tuple(size.__index__() for size in shape)


def _resolved(sizes: tuple, x: Tensor) -> tuple:
    """Return the sizes of a reshape of `x` with a -1 replaced by the size that fits."""
    known, missing = 1, None
    for position, size in enumerate(sizes):
        if size == -1 and missing is None:
            missing = position
        elif size < 0:
            raise RuntimeError(
                "only one dimension can be inferred"
                if size == -1
                else f"invalid shape dimension {size} in {list(sizes)}; "
                "sizes are >= 0, or one -1 for the size that fits"
            )
        else:
            known *= size
    count = x.numel()
    if missing is not None and known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous; write the size out"
        )
    if missing is not None and known and count % known == 0:
        sizes = (*sizes[:missing], count // known, *sizes[missing + 1 :])
    elif missing is not None or known != count:
        raise RuntimeError(
            f"shape '{list(sizes)}' is invalid for input of size {count} (shape {list(x.shape)}); "
            f"the sizes must multiply to {count}"
        )
    return sizes


def checked_tensors(tensors: Any, name: str) -> tuple[Tensor, ...]:
    """Return a sequence of tensors as a tuple; TypeError for anything else.

    An empty one is a ValueError in cat and a RuntimeError elsewhere, as in PyTorch.
    """
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise TypeError(
            f"{name}(): expected a tuple or list of Tensors, got {type(tensors).__name__}"
        )
    tensors = tuple(tensors)
    if not tensors:
        error = ValueError if name == "cat" else RuntimeError
        raise error(f"{name}(): expected a non-empty list of Tensors")
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {position} of the list, but got "
                f"{type(tensor).__name__}; wrap it with autograd.tensor(...)"
            )
    return tensors


# ---- broadcasting


_WIDE = 512
# Lines of at most so many elements, and so many lines, are worth a pass a column.
_SHORT, _MANY = 8, 128


def _has_short_lines(xp: Any, x: Any, axes: tuple) -> bool:
    """Return whether many lines of a few neighbours each are to be reduced, on the host."""
    if xp is not np or axes != (x.ndim - 1,) or x.ndim < 2 or not x.flags.c_contiguous:
        return False
    length = x.shape[-1]
    return 1 < length <= _SHORT and x.size >= _MANY * length and x.dtype.kind in "fc"


def sum_of(xp: Any, x: Any, axes: tuple, keepdims: bool = False, out: Any = None) -> Any:
    """Return the sum over `axes` in the dtype of `x`.

    The rows of a narrow matrix are summed several at a time, and its columns one to another:
    numpy's loops over a row have to be long to be fast.
    """
    if axes == (0,) and x.ndim == 2 and x.flags.c_contiguous:
        rows, width = x.shape
        together = _WIDE // width if width else 0
        if together > 1 and rows > 2 * together:
            whole = rows - rows % together
            wide = x[:whole].reshape(-1, together * width).sum(axis=0, dtype=x.dtype)
            parts = xp.concatenate([wide.reshape(together, width), x[whole:]])
            return parts.sum(axis=0, dtype=x.dtype, keepdims=keepdims, out=out)
    if _has_short_lines(xp, x, axes):
        columns = x.reshape(-1, x.shape[-1]).T
        total = columns[0] + columns[1]
        for column in columns[2:]:
            np.add(total, column, out=total)
        return into(out, total.reshape(x.shape[:-1] + (1,) * keepdims))
    return x.sum(axis=axes, dtype=x.dtype, keepdims=keepdims, out=out)


def _sum_to(xp: Any, x: Any, out: Any = None, *, shape: tuple) -> Any:
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + k for k, size in enumerate(shape) if size == 1 and x.shape[extra + k] != 1
    )
    summed = sum_of(xp, x, axes, keepdims=True) if axes else x.copy()
    return into(out, xp.asarray(summed).reshape(shape))


sum_to_op = Op(
    "sum_to", _sum_to, {"x": lambda g, x_shape: expand_op(g, shape=x_shape)}, linear=True
)


def writable_as(view: Any, source: Any) -> Any:
    """Return a view that may be written into where its source may be (some of numpy's may not)."""
    if hasattr(view, "setflags") and source.flags.writeable:
        view.setflags(write=True)
    return view


def _expand(xp: Any, x: Any, *, shape: tuple) -> Any:
    if xp is np and x.ndim == 0:  # as of a sum over all, which takes broadcast_to ten times as long
        return np.ndarray(shape, x.dtype, x, strides=(0,) * len(shape))
    return writable_as(xp.broadcast_to(x, shape), x)


expand_op = Op(
    "expand",
    _expand,
    {"x": lambda g, x_shape: sum_to_op(g, shape=x_shape)},
    linear=True,
    view=True,
)


@method
def expand(x: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Return `x` broadcast to the sizes as a view; -1 keeps a size.

    Raises RuntimeError when a size other than 1 would change.
    """
    asked = shape_arguments(sizes, size)
    if any(wanted < -1 for wanted in asked):
        raise RuntimeError(f"invalid shape dimension in {list(asked)}; use >= 0, or -1 to keep")
    offset = len(asked) - x.ndim
    if offset < 0:
        raise RuntimeError(
            f"the number of sizes provided ({len(asked)}) must be greater or equal to the number "
            f"of dimensions in the tensor ({x.ndim}), got {list(asked)} for shape {list(x.shape)}"
        )
    target = []
    for position, wanted in enumerate(asked):
        present = x.shape[position - offset] if position >= offset else None
        if wanted == -1 and present is None:
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, "
                f"non-existing dimension {position}; write the size out"
            )
        if present not in (None, 1) and wanted not in (-1, present):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size "
                f"({present}) at non-singleton dimension {position}. Target sizes: {list(asked)}. "
                f"Tensor sizes: {list(x.shape)}"
            )
        target.append(present if wanted == -1 else wanted)
    return expand_op(x, shape=tuple(target))


@method
def expand_as(x: Tensor, other: Tensor) -> Tensor:
    """Return the view of `x` broadcast to the shape of `other`."""
    return expand(x, other.shape)


@method
def sum_to_size(x: Tensor, *size: Any) -> Tensor:
    """Return `x` summed to `size`, which broadcasts to its shape; RuntimeError where it does not.

    What `expand` does, transposed; integers sum to int64.
    """
    sizes = shape_arguments(size)
    fits = len(sizes) <= x.ndim and all(
        small in (1, large) for small, large in zip(sizes[::-1], x.shape[::-1], strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"size {list(sizes)} is not expandable to size {list(x.shape)}; each dimension, from "
            "the last one on, has to be 1 or as large"
        )
    if sizes == x.shape:
        return x
    return sum_to_op(cast(x, dtypes.int64) if x.dtype.kind in "biu" else x, shape=sizes)


@method
def broadcast_to(x: Tensor, size: Sequence[int]) -> Tensor:
    """Return the view of `x` broadcast to `size`; RuntimeError when it does not broadcast."""
    return expand(x, tuple(size))


def broadcast_shapes(*shapes: Any) -> tuple:
    """Return the shape that the shapes broadcast to; RuntimeError when they do not."""
    normal = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in normal), default=0)
    for shape in normal:
        for k in range(1, len(shape) + 1):
            if shape[-k] == 1 or shape[-k] == result[-k]:
                continue
            if result[-k] != 1:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape, got "
                    f"{[list(s) for s in normal]}: sizes {result[-k]} and {shape[-k]} differ at "
                    f"dimension -{k}, and neither is 1"
                )
            result[-k] = shape[-k]
    return type(shapes[0])(result) if shapes and isinstance(shapes[0], tuple) else tuple(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return views of the tensors, all of the shape they broadcast to."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*[x.shape for x in tensors])
    return tuple(expand(x, shape) for x in tensors)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return views of 1-d tensors broadcast to the grid they span.

    indexing "ij": dimension k of each result belongs to tensor k; "xy": the first two exchanged.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    given = checked_tensors(tensors, "meshgrid")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            'meshgrid: indexing must be one of "xy" or "ij", but received: ' + repr(indexing)
        )
    for x in given:
        if x.ndim > 1:
            raise RuntimeError(
                "meshgrid: Expected 0D or 1D tensor in the tensor list but got shape "
                f"{list(x.shape)}; flatten it first"
            )
    shape = tuple(x.numel() for x in given)
    grids = []
    for k, x in enumerate(given):
        line = reshape_op(x, shape=(1,) * k + (shape[k],) + (1,) * (len(given) - k - 1))
        grids.append(expand_op(line, shape=shape))
    if indexing == "xy" and len(given) > 1:
        grids = [transpose(grid, 0, 1) for grid in grids]
    return tuple(grids)


# ---- reshape and what is built on it


reshape_op = Op(
    "reshape",
    lambda xp, x, *, shape: x.reshape(shape),
    {"x": lambda g, x_shape: reshape_op(g, shape=x_shape)},
    linear=True,
    view=True,
)


@method
def reshape(x: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """Return `x` with another shape (one size may be -1), a view where memory allows it.

    Raises RuntimeError when the sizes do not multiply to the number of elements.
    """
    return reshape_op(x, shape=_resolved(shape_arguments(sizes, shape), x))


@method
def reshape_as(x: Tensor, other: Tensor) -> Tensor:
    """Return `x` with the shape of `other`."""
    return reshape(x, other.shape)


@method
def view(x: Tensor, *sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """Return a view of `x` with another shape (one size may be -1), or of its bits in a dtype.

    dtype  given alone: the last dimension has as many elements of it as there are bits.  No
           gradient flows through that view.
    Raises RuntimeError when the shape does not fit the elements, or needs a copy, and where the
    last dimension has no whole number of elements of the dtype, or lies apart in memory.
    """
    if len(sizes) == 1 and isinstance(sizes[0], (np.dtype, type)):
        (dtype,), sizes = sizes, ()
    if dtype is not None:
        return _bits(x, dtypes.as_dtype(dtype))
    shape = _resolved(shape_arguments(sizes, size), x)
    result = reshape_op(x, shape=shape)
    if x.numel() and not share_memory(x._data, result._data):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            f"dimension spans across two contiguous subspaces): shape {list(x.shape)} to "
            f"{list(shape)}. Use .reshape(...) instead."
        )
    return result


bits_op = Op("bits", lambda xp, x, *, dtype: x.view(dtype), view=True)


def _bits(x: Tensor, dtype: np.dtype) -> Tensor:
    """Return the bits of `x` as elements of a dtype: a view that is constant to gradients."""
    old, new = x.dtype.itemsize, dtype.itemsize
    if old != new:
        words = f"to view {x.dtype} as {dtype} (different element sizes)"
        if x.ndim == 0:
            raise RuntimeError(f"view: the tensor cannot be 0-d {words}; reshape it to (1,)")
        if x.shape[-1] * old % new:
            raise RuntimeError(
                f"view: size(-1) must be divisible by {new // old} {words}, got {x.shape[-1]}"
            )
        if x.numel() and x.shape[-1] > 1 and x._data.strides[-1] != old:
            raise RuntimeError(
                f"view: stride(-1) must be 1 {words}, got {x._data.strides[-1] // old}; call "
                "contiguous() first"
            )
    with modes.no_grad():
        return bits_op(x, dtype=dtype)


@method
def view_as(x: Tensor, other: Tensor) -> Tensor:
    """Return the view of `x` with the shape of `other`; RuntimeError when it needs a copy."""
    return view(x, other.shape)


@method
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return `x` with the dimensions `start_dim` to `end_dim` (included) made one.

    A 0-d tensor becomes 1-d; `x` itself is returned when there is nothing to do.
    """
    first, last = normal_axis(start_dim, x.ndim), normal_axis(end_dim, x.ndim)
    if first > last:
        raise RuntimeError(
            "flatten() has invalid args: start_dim cannot come after end_dim, got "
            f"{start_dim} and {end_dim} for shape {list(x.shape)}"
        )
    if x.ndim and first == last:
        return x
    merged = 1
    for size in x.shape[first : last + 1]:
        merged *= size
    return reshape_op(x, shape=(*x.shape[:first], merged, *x.shape[last + 1 :]))


@method
def ravel(x: Tensor) -> Tensor:
    """Return the elements of `x` in row-major order as a 1-d tensor."""
    return reshape_op(x, shape=(x.numel(),))


@method
def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return the view of `x` with dimension `dim` unfolded into `sizes` (one may be -1)."""
    axis = normal_axis(dim, x.ndim)
    sizes = shape_arguments((tuple(sizes) if hasattr(sizes, "__iter__") else sizes,))
    known = 1
    for size in sizes:
        known *= size if size != -1 else 1
    whole = x.shape[axis]
    if -1 in sizes and known and whole % known == 0:
        position = sizes.index(-1)
        sizes = (*sizes[:position], whole // known, *sizes[position + 1 :])
        known = whole
    if not sizes or known != whole or -1 in sizes:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({whole}) in the input tensor of shape {list(x.shape)}"
        )
    return reshape_op(x, shape=(*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


@method
def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return the view of `x` without its dimensions of size 1 (or those among `dim`)."""
    if dim is None:
        axes: tuple = tuple(range(x.ndim))
    else:
        axes = (
            normal_axes(tuple(dim), x.ndim)
            if hasattr(dim, "__iter__") and tuple(dim)
            else (() if hasattr(dim, "__iter__") else (normal_axis(dim, x.ndim),))
        )
    return reshape_op(x, shape=tuple(s for k, s in enumerate(x.shape) if s != 1 or k not in axes))


@method
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Return the view of `x` with a dimension of size 1 inserted at `dim`."""
    axis = normal_axis(dim, x.ndim + 1)
    return reshape_op(x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))


def _at_least(ndim: int, shapes: Any, name: str) -> Any:
    def single(x: Tensor) -> Tensor:
        return x if x.ndim >= ndim else reshape_op(x, shape=shapes(x.shape))

    def function(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            return tuple(single(x) for x in tensors[0])
        return single(tensors[0]) if len(tensors) == 1 else tuple(single(x) for x in tensors)

    function.__name__ = name
    function.__doc__ = (
        f"Return the tensor with at least {ndim} dimensions (a view, itself when it has them); "
        "a tuple of them for several tensors."
    )
    return function


atleast_1d = _at_least(1, lambda shape: (1,), "atleast_1d")
atleast_2d = _at_least(2, lambda shape: (1, *(shape or (1,))), "atleast_2d")
atleast_3d = _at_least(
    3,
    lambda shape: (*shape, 1) if len(shape) == 2 else (1, *(shape or (1,)), 1),
    "atleast_3d",
)

# ---- order of dimensions


def _inverse(axes: tuple) -> tuple:
    inverse = [0] * len(axes)
    for position, axis in enumerate(axes):
        inverse[axis] = position
    return tuple(inverse)


permute_op = Op(
    "permute",
    lambda xp, x, *, axes: x.transpose(axes),
    {"x": lambda g, axes: permute_op(g, axes=_inverse(axes))},
    linear=True,
    view=True,
)


@method
def permute(x: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """Return the view of `x` whose dimension k is dimension `dims[k]` of `x`."""
    axes = shape_arguments(order, dims)
    if len(axes) != x.ndim:
        raise RuntimeError(
            "permute(dims): number of dimensions in the tensor input does not match the length of "
            f"the desired ordering of dimensions, i.e. input.dim() = {x.ndim} is not equal to "
            f"len(dims) = {len(axes)}"
        )
    return permute_op(x, axes=normal_axes(axes, x.ndim))


@method
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the view of `x` with two dimensions exchanged."""
    axes = list(range(x.ndim))
    a, b = normal_axis(dim0, x.ndim), normal_axis(dim1, x.ndim)
    if axes:
        axes[a], axes[b] = axes[b], axes[a]
    return permute_op(x, axes=tuple(axes))


def swapaxes(x: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return the view of `x` with two dimensions exchanged (another name of `transpose`)."""
    return transpose(x, axis0, axis1)


swapdims = transpose
method(swapaxes)
method(swapdims, name="swapdims")


@method
def t(x: Tensor) -> Tensor:
    """Return the transpose of a tensor of at most two dimensions as a view."""
    if x.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D; "
            "use transpose(dim0, dim1)"
        )
    return permute_op(x, axes=tuple(reversed(range(x.ndim))))


@method
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Return the view of `x` with dimensions `source` moved to `destination`, the rest in order."""
    sources = tuple(source) if hasattr(source, "__iter__") else (source,)
    places = tuple(destination) if hasattr(destination, "__iter__") else (destination,)
    if len(sources) != len(places):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({list(sources)}) should contain the same number of dims as destination "
            f"({list(places)})"
        )
    if not sources:
        return permute_op(x, axes=tuple(range(x.ndim)))
    sources, places = normal_axes(sources, x.ndim), normal_axes(places, x.ndim)
    axes = [k for k in range(x.ndim) if k not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        axes.insert(place, axis)
    return permute_op(x, axes=tuple(axes))


moveaxis = movedim
method(moveaxis, name="moveaxis")


@method
def adjoint(x: Tensor) -> Tensor:
    """Return the conjugate of `x` with its last two dimensions exchanged."""
    if x.ndim < 2:
        raise RuntimeError(
            f"adjoint() expects a tensor with at least 2 dimensions, got shape {list(x.shape)}"
        )
    return conj_of(transpose(x, -2, -1))


def _matrix_transpose(x: Tensor) -> Tensor:
    if x.ndim < 2:
        raise RuntimeError(
            "tensor.mT is only supported on matrices or batches of matrices, got shape "
            f"{list(x.shape)}; unsqueeze it first"
        )
    return transpose(x, -2, -1)


def _conjugate_transpose(x: Tensor) -> Tensor:
    if x.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor; use mH"
        )
    return conj_of(t(x))


def _reversed(x: Tensor) -> Tensor:
    return permute_op(x, axes=tuple(reversed(range(x.ndim))))


Tensor.T = property(_reversed)
Tensor.mT = property(_matrix_transpose)
Tensor.mH = property(adjoint)
Tensor.H = property(_conjugate_transpose)

# ---- copies


def _clone(xp: Any, x: Any, out: Any = None, *, layout: str = "K") -> Any:
    if out is not None:
        return into(out, x)
    return x.copy("C" if 0 in x.strides else layout)  # what was expanded has no order to keep


clone_op = Op(
    "clone",
    _clone,
    {"x": lambda g: g},
    linear=True,
    elementwise=True,
)


@method
def clone(x: Tensor) -> Tensor:
    """Return a dense copy of `x`, its dimensions in the same order in memory; gradients flow."""
    return clone_op(x)


@method
def contiguous(x: Tensor) -> Tensor:
    """Return `x` itself when its memory is row-major without gaps, else such a copy."""
    return x if x._data.flags.c_contiguous else clone_op(x, layout="C")
