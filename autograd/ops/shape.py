"""Operations that rearrange elements: reshape, permute, expand, join, split."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor, method
from .registry import Op


def _sum_to(xp: Any, x: Any, out: Any = None, *, shape: tuple) -> Any:
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + k for k, size in enumerate(shape) if size == 1 and x.shape[extra + k] != 1
    )
    summed = x.sum(axis=axes, keepdims=True) if axes else x
    result = xp.asarray(summed).reshape(shape)
    if out is None:
        return result
    out[...] = result
    return out


sum_to_op = Op(
    "sum_to", _sum_to, {"x": lambda g, x_shape: expand_op(g, shape=x_shape)}, linear=True
)
expand_op = Op(
    "expand",
    lambda xp, x, out=None, *, shape: xp.broadcast_to(x, shape),
    {"x": lambda g, x_shape: sum_to_op(g, shape=x_shape)},
    linear=True,
    view=True,
)
reshape_op = Op(
    "reshape",
    lambda xp, x, out=None, *, shape: x.reshape(shape),
    {"x": lambda g, x_shape: reshape_op(g, shape=x_shape)},
    linear=True,
    view=True,
)


def _inverse(axes: tuple) -> tuple:
    inverse = [0] * len(axes)
    for position, axis in enumerate(axes):
        inverse[axis] = position
    return tuple(inverse)


permute_op = Op(
    "permute",
    lambda xp, x, out=None, *, axes: x.transpose(axes),
    {"x": lambda g, axes: permute_op(g, axes=_inverse(axes))},
    linear=True,
    view=True,
)


def normal_axis(dim: int, ndim: int, what: str = "dim") -> int:
    """Return `dim` counted from the front; IndexError when it is out of range."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected {what} to be in the range of [{-limit}, "
            f"{limit - 1}], but got {dim})"
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


def shape_arguments(shape: tuple) -> tuple:
    """Return the sizes of `f(2, 3)` and `f((2, 3))` alike."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    return tuple(int(size) for size in shape)


@method
def reshape(x: Tensor, *shape: Any) -> Tensor:
    """Return `x` with another shape (one size may be -1), a view where memory allows it."""
    sizes = shape_arguments(shape)
    try:
        return reshape_op(x, shape=sizes)
    except ValueError as error:
        raise RuntimeError(
            f"shape {list(sizes)} is invalid for a tensor of {x.numel()} elements (shape "
            f"{list(x.shape)}); the sizes must multiply to {x.numel()}"
        ) from error


@method
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the view of `x` with two dimensions exchanged."""
    axes = list(range(x.ndim))
    a, b = normal_axis(dim0, x.ndim), normal_axis(dim1, x.ndim)
    if axes:
        axes[a], axes[b] = axes[b], axes[a]
    return permute_op(x, axes=tuple(axes))


@method
def t(x: Tensor) -> Tensor:
    """Return the transpose of a tensor of at most two dimensions."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but got {x.ndim}; "
                           "use transpose(dim0, dim1)")
    return x if x.ndim < 2 else transpose(x, 0, 1)


@method
def expand(x: Tensor, *shape: Any) -> Tensor:
    """Return `x` broadcast to `shape` as a view; -1 keeps a size."""
    sizes = list(shape_arguments(shape))
    offset = len(sizes) - x.ndim
    for position, size in enumerate(sizes):
        if size == -1:
            sizes[position] = x.shape[position - offset]
    try:
        return expand_op(x, shape=tuple(sizes))
    except ValueError as error:
        raise RuntimeError(
            f"cannot expand a tensor of shape {list(x.shape)} to {sizes}; sizes must be equal, "
            "or 1 in the tensor"
        ) from error


Tensor.T = property(lambda self: permute_op(self, axes=tuple(reversed(range(self.ndim)))))
Tensor.mT = property(lambda self: transpose(self, -2, -1))
