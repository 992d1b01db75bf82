"""The largest and smallest elements, and where they are."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

from ...tensor import Tensor, method
from ..elementwise.arithmetic import mul
from ..layout.shape import normal_axes, normal_axis, reshape_op
from ..registry import Op
from .reduce import count, keep

__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"]


class Extremum(NamedTuple):
    """The extreme elements along a dimension and their indices there."""

    values: Tensor
    indices: Tensor


class Extrema(NamedTuple):
    """The least and the largest elements."""

    min: Tensor
    max: Tensor


def _tie_shares(xp: Any, x: Any, extreme: Any, out: Any = None, *, axes: tuple) -> Any:
    ties = (x == extreme).astype(x.dtype)
    return xp.true_divide(ties, ties.sum(axis=axes, keepdims=True), out=out)


tie_shares_op = Op("tie_shares", _tie_shares)
"""The weights of the elements equal to the extreme one: they share its gradient evenly."""


def _gradient(g: Tensor, x: Tensor, out: Tensor, axes: tuple) -> Tensor:
    shape = x._data.shape
    shares = tie_shares_op(x, keep(out, shape, axes), axes=axes)
    return mul(shares, keep(g, shape, axes))


amax_op = Op(
    "amax",
    lambda xp, x, out=None, *, axes, keepdims: x.max(axis=axes, keepdims=keepdims, out=out),
    {"x": _gradient},
    taylor="nested",
)
amin_op = Op(
    "amin",
    lambda xp, x, out=None, *, axes, keepdims: x.min(axis=axes, keepdims=keepdims, out=out),
    {"x": _gradient},
    taylor="nested",
)
argmax_op = Op(
    "argmax",
    lambda xp, x, out=None, *, dim, keepdims: xp.argmax(x, axis=dim, keepdims=keepdims, out=out),
)
argmin_op = Op(
    "argmin",
    lambda xp, x, out=None, *, dim, keepdims: xp.argmin(x, axis=dim, keepdims=keepdims, out=out),
)


def _check(name: str, x: Tensor, axes: tuple, whole: bool, error: type = IndexError) -> None:
    if x._data.dtype.kind == "c":
        raise RuntimeError(
            f"{name}(): complex numbers have no order, got {x._data.dtype}; use abs() or real"
        )
    if count(x._data.shape, axes):
        return
    if whole:
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0 (shape "
            f"{list(x.shape)}). Specify one of non-zero size with the 'dim' argument"
        )
    empty = [k for k in axes if x._data.shape[k] == 0]
    raise IndexError(
        f"{name}(): Expected reduction dim {empty[0]} to have non-zero size, got shape "
        f"{list(x.shape)}; nothing has no extreme element"
    )


def _extreme(name: str, op: Op, x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    axes = normal_axes(dim, x.ndim)
    _check(name, x, axes, dim is None or dim == (), RuntimeError)
    return op(x, axes=axes, keepdims=keepdim)


@method
def amax(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Return the largest elements over `dim` (all by default); ties share the gradient evenly.

    Raises IndexError for a dimension without elements, RuntimeError for no elements at all.
    """
    return _extreme("amax", amax_op, x, dim, keepdim)


@method
def amin(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Return the smallest elements over `dim` (all by default); ties share the gradient evenly.

    Raises IndexError for a dimension without elements, RuntimeError for no elements at all.
    """
    return _extreme("amin", amin_op, x, dim, keepdim)


@method
def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Extrema:
    """Return (`amin`, `amax`) over one dimension, or all."""
    return Extrema(amin(x, dim, keepdim), amax(x, dim, keepdim))


def _where(name: str, op: Op, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    if dim is None or x.ndim == 0:
        if dim is not None:
            normal_axis(dim, 0)
        _check(name, x, tuple(range(x.ndim)), True)
        found = op(reshape_op(x, shape=(x._data.size,)), dim=0, keepdims=False)
        return reshape_op(found, shape=(1,) * x.ndim) if keepdim else found
    axis = normal_axis(dim, x.ndim)
    _check(name, x, (axis,), False)
    return op(x, dim=axis, keepdims=keepdim)


@method
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the largest element along `dim` (of the flat tensor by default).

    The first of several; IndexError where there is no element.
    """
    return _where("argmax", argmax_op, x, dim, keepdim)


@method
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the smallest element along `dim` (of the flat tensor by default).

    The first of several; IndexError where there is no element.
    """
    return _where("argmin", argmin_op, x, dim, keepdim)


def _max_or_min(
    name: str, arg: Op, whole: Op, x: Tensor, dim: Any, keepdim: bool, other: Tensor | None
) -> Any:
    pairwise = dim if isinstance(dim, Tensor) else other
    if pairwise is not None:
        return x.maximum(pairwise) if name == "max" else x.minimum(pairwise)
    if dim is None:
        return _extreme(name, whole, x, None, keepdim)
    indices = _where(name, arg, x, dim, True)
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        return Extremum(reshape_op(x, shape=()), indices)
    values = x.gather(axis, indices)
    if not keepdim:
        shape = (*x._data.shape[:axis], *x._data.shape[axis + 1 :])
        values, indices = reshape_op(values, shape=shape), reshape_op(indices, shape=shape)
    return Extremum(values, indices)


@overload
def max(x: Tensor) -> Tensor: ...


@overload
def max(x: Tensor, dim: int, keepdim: bool = False) -> Extremum: ...


@overload
def max(x: Tensor, other: Tensor) -> Tensor: ...


@method
def max(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the largest element; with `dim` (values, indices) along it.

    Without `dim` ties share the gradient evenly; with it the indexed element gets all.
    `max(x, y)` of two tensors is `maximum(x, y)`.
    """
    return _max_or_min("max", argmax_op, amax_op, x, dim, keepdim, other)


@overload
def min(x: Tensor) -> Tensor: ...


@overload
def min(x: Tensor, dim: int, keepdim: bool = False) -> Extremum: ...


@overload
def min(x: Tensor, other: Tensor) -> Tensor: ...


@method
def min(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest element; with `dim` (values, indices) along it.

    Without `dim` ties share the gradient evenly; with it the indexed element gets all.
    `min(x, y)` of two tensors is `minimum(x, y)`.
    """
    return _max_or_min("min", argmin_op, amin_op, x, dim, keepdim, other)
