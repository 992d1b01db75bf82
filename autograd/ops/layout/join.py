"""Joining tensors and splitting them: cat, stack, split, unbind and their relatives.

The gradient of a join is a split and the other way round, so that taking a tensor apart into many
pieces costs one pass backward.  The pieces of a split are views.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import devices
from ...tensor import Tensor, method
from ..registry import Op, refuse_mixed
from .shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    checked_tensors,
    meshgrid,
    normal_axis,
    reshape_op,
)

__all__ = [
    "cartesian_prod",
    "cat",
    "chunk",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
    "vstack",
]


def _cat_rule(g: Tensor, xs_shapes: tuple, dim: int) -> Sequence[Tensor]:
    return split_op(g, sizes=tuple(shape[dim] for shape in xs_shapes), dim=dim)


def _row_major(xs: tuple) -> bool:
    """Return whether a join of these is row-major by itself, without memory made for it."""
    for x in xs:
        if not x.flags.c_contiguous:
            return False
    return True


def _cat(xp: Any, *xs: Any, out: Any = None, dim: int) -> Any:
    if out is None and not _row_major(xs):
        shape = list(xs[0].shape)
        shape[dim] = sum(x.shape[dim] for x in xs)
        out = xp.empty(shape, xs[0].dtype)
    return xp.concatenate(xs, axis=dim, out=out)


def _stack(xp: Any, *xs: Any, out: Any = None, dim: int) -> Any:
    if out is None and not _row_major(xs):
        shape = xs[0].shape
        out = xp.empty((*shape[:dim], len(xs), *shape[dim:]), xs[0].dtype)
    return xp.stack(xs, axis=dim, out=out)


def _cat_places(shapes: Sequence[tuple], attributes: dict) -> list[tuple]:
    dim, stop, places = attributes["dim"] % len(shapes[0]), 0, []
    for shape in shapes:
        start, stop = stop, stop + shape[dim]
        places.append((*(slice(None),) * dim, slice(start, stop)))
    return places


def _stack_places(shapes: Sequence[tuple], attributes: dict) -> list[tuple]:
    dim = attributes["dim"] % (len(shapes[0]) + 1)
    return [(*(slice(None),) * dim, k) for k in range(len(shapes))]


cat_op = Op(
    "cat",
    _cat,
    _cat_rule,
    dtype="promote",
    linear=True,
    taylor="join",
    joins=_cat_places,
)


def _along(dim: int, item: Any) -> tuple:
    """Return the index that applies `item` to dimension `dim` and gives an array, also 0-d."""
    return (*(slice(None),) * dim, item, Ellipsis)


def _split_forward(xp: Any, x: Any, *, sizes: tuple, dim: int) -> tuple:
    parts, start = [], 0
    for size in sizes:
        parts.append(x[_along(dim, slice(start, start + size))])
        start += size
    return tuple(parts)


split_op = Op(
    "split",
    _split_forward,
    {"x": lambda g, dim: cat_op(*g, dim=dim)},
    linear=True,
    view=True,
    outputs=0,
)
stack_op = Op(
    "stack",
    _stack,
    lambda g, dim: unbind_op(g, dim=dim),
    dtype="promote",
    linear=True,
    joins=_stack_places,
)
unbind_op = Op(
    "unbind",
    lambda xp, x, *, dim: tuple(x[_along(dim, k)] for k in range(x.shape[dim])),
    {"x": lambda g, dim: stack_op(*g, dim=dim)},
    linear=True,
    view=True,
    outputs=0,
)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along `dim`; all other sizes must agree, dtypes are promoted.

    1-d tensors without elements are skipped.  Raises ValueError for an empty list, RuntimeError for
    0-d tensors and sizes that differ.
    """
    given = checked_tensors(tensors, "cat")
    for position, tensor in enumerate(given):
        if tensor.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated; "
                "use stack"
            )
    kept = [x for x in given if x.shape != (0,)] or [given[0]]
    first = kept[0]
    axis = normal_axis(dim, first.ndim)
    for position, tensor in enumerate(given):
        if tensor.shape == (0,):
            continue
        if tensor.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim} "
                f"for tensor number {position} in the list"
            )
        for k, (size, other) in enumerate(zip(first.shape, tensor.shape, strict=True)):
            if size != other and k != axis:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {size} "
                    f"but got size {other} in dimension {k} for tensor number {position} in the "
                    "list."
                )
    return cat_op(*kept, dim=axis)


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new dimension `dim`; dtypes are promoted."""
    given = checked_tensors(tensors, "stack")
    for position, tensor in enumerate(given):
        if tensor.shape != given[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(given[0].shape)} at "
                f"entry 0 and {list(tensor.shape)} at entry {position}"
            )
    return stack_op(*given, dim=normal_axis(dim, given[0].ndim + 1))


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors joined along dimension 1 (0 for 1-d tensors)."""
    given = atleast_1d(list(checked_tensors(tensors, "hstack")))
    return cat(given, dim=0 if given[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors joined along dimension 0; 1-d tensors are rows."""
    return cat(atleast_2d(list(checked_tensors(tensors, "vstack"))), dim=0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors joined along dimension 2."""
    return cat(atleast_3d(list(checked_tensors(tensors, "dstack"))), dim=2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors joined along dimension 1; those of one dimension or none are columns."""
    given = checked_tensors(tensors, "column_stack")
    columns = [x if x.ndim > 1 else reshape_op(x, shape=(x.numel(), 1)) for x in given]
    return cat(columns, dim=1)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of elements of k 1-d tensors, one a row (n, k), the last the fastest.

    A single tensor is returned itself.  Raises RuntimeError for other numbers of dimensions, for
    different dtypes, and without tensors.
    """
    given = checked_tensors(tensors, "cartesian_prod")
    for x in given:
        if x.ndim != 1:
            raise RuntimeError(
                f"cartesian_prod: Expect a 1D vector, but got shape {list(x.shape)}; "
                "flatten() it first"
            )
    refuse_mixed("cartesian_prod", *given)
    if len(given) == 1:
        return given[0]
    columns = [reshape_op(x, shape=(x.numel(),)) for x in meshgrid(*given)]
    return stack(columns, dim=1)


def _splittable(x: Tensor, dim: int, name: str) -> int:
    if x.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor; reshape it first")
    return normal_axis(dim, x.ndim)


@method
def split(x: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of `x` along `dim`: parts of one size (the last may be smaller), or of a list.

    Raises RuntimeError when a list does not add up to the size of `dim`.
    """
    axis = _splittable(x, dim, "split")
    whole = x.shape[axis]
    if hasattr(split_size_or_sections, "__iter__"):
        sizes = tuple(size.__index__() for size in split_size_or_sections)
        if sum(sizes) != whole or any(size < 0 for size in sizes):
            raise RuntimeError(
                "split_with_sizes expects split_sizes to sum exactly to "
                f"{whole} (input tensor's size at dimension {axis}), but got "
                f"split_sizes={list(sizes)}"
            )
    else:
        size = split_size_or_sections.__index__()
        if size < 0 or (size == 0 and whole):
            raise RuntimeError(
                f"split expects split_size be non-negative and able to cover dimension {axis} of "
                f"size {whole}, but got split_size={size}"
            )
        starts = range(0, whole, size) if whole else (0,)
        sizes = tuple(min(size, whole - start) for start in starts)
    return split_op(x, sizes=sizes, dim=axis) if sizes else ()


@method
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of `x` along `dim` of these sizes; RuntimeError where they do not add up."""
    return split(x, list(split_sizes), dim)


@method
def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most `chunks` views of `x` along `dim`, of one size but for the last."""
    axis = _splittable(x, dim, "chunk")
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if x.shape[axis] == 0:
        return split_op(x, sizes=(0,) * chunks, dim=axis)
    return split(x, -(-x.shape[axis] // chunks), axis)


unsafe_chunk, unsafe_split, unsafe_split_with_sizes = chunk, split, split_with_sizes
for _name in ("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"):
    method(globals()[_name], name=_name)


@method
def tensor_split(x: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return views of `x` along `dim`: n parts of nearly one size, or parts cut at indices."""
    axis = _splittable(x, dim, "tensor_split")
    whole = x.shape[axis]
    if isinstance(indices_or_sections, Tensor) and indices_or_sections.ndim == 0:
        indices_or_sections = indices_or_sections.item()
    if hasattr(indices_or_sections, "__iter__"):
        cuts = [operator.index(k) for k in indices_or_sections]
        cuts = [min(max(k + whole if k < 0 else k, 0), whole) for k in cuts]
        starts, ends = [0, *cuts], [*cuts, whole]
        if all(a <= b for a, b in zip(starts, ends, strict=True)):
            sizes = tuple(b - a for a, b in zip(starts, ends, strict=True))
            return split_op(x, sizes=sizes, dim=axis)
        raise RuntimeError(f"tensor_split: indices must not fall, got {cuts}")
    parts = operator.index(indices_or_sections)
    if parts < 1:
        raise RuntimeError(f"number of sections must be larger than 0, got {parts}")
    small, larger = divmod(whole, parts)
    sizes = (small + 1,) * larger + (small,) * (parts - larger)
    return split_op(x, sizes=sizes, dim=axis)


def _split_along(name: str, least: int, dim: int, doc: str) -> Any:
    def function(x: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        if x.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension"
                f"{'s' if least > 1 else ''}, but got a tensor with {x.ndim} dimensions!"
            )
        axis = min(dim, x.ndim - 1)
        sections = indices_or_sections
        if isinstance(sections, int) and (sections <= 0 or x.shape[axis] % sections):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the "
                f"dimension {x.shape[axis]} is not divisible by the split_size {sections}!"
            )
        return tensor_split(x, sections, axis)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return method(function)


hsplit = _split_along(
    "hsplit", 1, 1, "Return `x` split along its second dimension (of 1-d, the first) as views."
)
vsplit = _split_along("vsplit", 2, 0, "Return `x` split along its first dimension as views.")
dsplit = _split_along("dsplit", 3, 2, "Return `x` split along its third dimension as views.")


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of r elements of a 1-d tensor, in their order, one a row.

    With replacement an element may come again.  Raises RuntimeError for other shapes, and r < 0.
    """
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    if r == 0:
        return input[:0]
    chosen = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return input[Tensor(devices.put(chosen, input.device))]


@method
def unbind(x: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the slices of `x` along `dim` as views without that dimension."""
    axis = normal_axis(dim, x.ndim)
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return unbind_op(x, dim=axis) if x.shape[axis] else ()


def _iterate(x: Tensor) -> Iterator[Tensor]:
    if x.ndim == 0:
        raise TypeError("iteration over a 0-d tensor; use .item(), or reshape(-1) first")
    return iter(unbind(x))


method(_iterate, name="__iter__")
