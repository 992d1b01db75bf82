"""Positions of values: nonzero, sort, topk, median, quantile, searchsorted, unique."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ... import dtypes
from ...devices import CPU, put
from ...tensor import Tensor, as_tensor, method
from ..elementwise.arithmetic import div, mul, sub
from ..elementwise.compare import eq, logical_and, logical_or, ne
from ..elementwise.piecewise import ceil, floor, lerp, round, where
from ..layout.gather import gather_op
from ..layout.index import narrow
from ..layout.shape import clone, movedim, normal_axis, reshape_op
from ..reductions.reduce import kept_shape
from ..reductions.running import scanned
from ..registry import Op, cast

__all__ = [
    "argsort",
    "argwhere",
    "bucketize",
    "kthvalue",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "nonzero",
    "quantile",
    "searchsorted",
    "sort",
    "topk",
    "unique",
]


def _nonzero(xp: Any, x: Any) -> Any:
    if x.ndim == 0:
        return xp.zeros((int(bool(x != 0)), 0), np.int64)
    return xp.stack(xp.nonzero(x), axis=1).astype(np.int64)


nonzero_op = Op("nonzero", _nonzero, shaped_by_values=True)


@overload
def nonzero(x: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...


@overload
def nonzero(x: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


@method
def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the positions of the elements that are not zero, one a row (n, ndim), int64.

    as_tuple=True gives one 1-d tensor a dimension instead, fit for indexing.
    """
    if as_tuple:
        found = nonzero_op(x if x.ndim else reshape_op(x, shape=(1,)))
        return tuple(found.unbind(1))
    return nonzero_op(x)


@method
def argwhere(x: Tensor) -> Tensor:
    """Return the positions of the elements that are not zero, one a row (n, ndim), int64."""
    return nonzero_op(x)


class Sorted(NamedTuple):
    """What `sort` and `topk` return."""

    values: Tensor
    indices: Tensor


# Lines so many times as long as what is asked of them are not sorted whole, of so many elements.
_FEW, _MANY = 8, 8192


def _argsort(xp: Any, x: Any, *, dim: int, descending: bool, first: int | None = None) -> Any:
    """Return the positions that put lines in order, or the `first` of these."""
    many = xp is np and x.size >= _MANY
    if first is not None and many and 0 < first * _FEW <= x.shape[dim]:
        found = _first_in_order(np.moveaxis(x, dim, -1), first, descending)
        if found is not None:
            return np.ascontiguousarray(np.moveaxis(found, -1, dim))
    if descending:
        # equal elements keep their order: sort the reversed array, and reverse what comes out
        order = xp.flip(xp.argsort(xp.flip(x, dim), axis=dim, kind="stable"), dim)
        order = x.shape[dim] - 1 - order
    else:
        order = xp.argsort(x, axis=dim, kind="stable")
    if first is not None:
        order = order[(slice(None),) * dim + (slice(first),)].copy()
    return order.astype(np.int64, copy=False)


def _first_in_order(x: np.ndarray, first: int, descending: bool) -> np.ndarray | None:
    """Return the first positions along the last dimension; None where there may be NaN.

    The last of them is found by a partition; of those equal to it the first ones are taken.
    """
    at = x.shape[-1] - first if descending else first - 1
    limit = np.partition(x, at, axis=-1)[..., at : at + 1]
    taken = x > limit if descending else x < limit
    equal = x == limit
    left = first - np.count_nonzero(taken, axis=-1, keepdims=True)
    if (np.count_nonzero(equal, axis=-1, keepdims=True) > left).any():
        equal &= np.cumsum(equal, axis=-1) <= left
    taken |= equal
    places = np.nonzero(taken)[-1]
    if places.size != x.size // x.shape[-1] * first or (x.dtype.kind == "f" and np.isnan(x).any()):
        return None
    places = places.reshape(*x.shape[:-1], first)
    order = _argsort(np, np.take_along_axis(x, places, -1), dim=x.ndim - 1, descending=descending)
    return np.take_along_axis(places, order, -1)


argsort_op = Op("argsort", _argsort)


def _wide(x: Tensor, dim: int) -> tuple[Tensor, int]:
    """Return a tensor with one dimension at least, and which one is meant."""
    if x.dtype.kind == "c":
        raise RuntimeError(f"sort: complex numbers have no order, got dtype {x.dtype}; sort .abs()")
    axis = normal_axis(dim, x.ndim)
    return (x if x.ndim else reshape_op(x, shape=(1,))), axis


def _order(x: Tensor, dim: int, descending: bool) -> tuple[Tensor, int, Tensor]:
    wide, axis = _wide(x, dim)
    return wide, axis, argsort_op(wide, dim=axis, descending=bool(descending))


def _shaped(result: Tensor, x: Tensor) -> Tensor:
    """Return a result for `x` that was worked on with one dimension, 0-d where `x` is."""
    return result if x.ndim else clone(reshape_op(result, shape=()))


@method
def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Sorted:
    """Return `values` of `x` in order along `dim`, and `indices` (int64) where they came from.

    Equal elements keep their order; NaN counts as the greatest.
    """
    wide, axis, order = _order(x, dim, descending)
    values = gather_op(wide, order, dim=axis)
    return Sorted(_shaped(values, x), _shaped(order, x))


@method
def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the positions (int64) that put `x` in order along `dim`; NaN counts as greatest."""
    return _shaped(_order(x, dim, descending)[2], x)


@method
def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Sorted:
    """Return the `k` greatest (or least) elements along `dim`, in order, and their positions.

    Raises RuntimeError when there are fewer than `k`.
    """
    wide, axis = _wide(x, dim)
    if not 0 <= k <= wide.shape[axis]:
        raise RuntimeError(
            f"selected index k out of range: k={k} for dimension {axis} of size {wide.shape[axis]}"
        )
    order = argsort_op(wide, dim=axis, descending=bool(largest), first=k)
    values = gather_op(wide, order, dim=axis)
    return Sorted(_shaped(values, x), _shaped(order, x)) if k else Sorted(values, order)


class Median(NamedTuple):
    """The medians along a dimension and their indices there."""

    values: Tensor
    indices: Tensor


def _median(xp: Any, x: Any) -> Any:
    """Return the lower median of a vector, NaN where there is one: sorting puts NaN last."""
    if not x.size:
        return xp.full((), np.nan, x.dtype)
    ordered = xp.sort(x)
    last, middle = ordered[-1:], (x.size - 1) // 2
    return xp.where(last != last, last, ordered[middle : middle + 1]).reshape(())


def _median_gradient(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """The elements equal to the median share its gradient evenly; all NaN are equal."""
    both_nan = logical_and(ne(x, x), ne(out, out))
    same = logical_or(eq(x, out), both_nan)
    return where(same, div(g, cast(same.sum(), g.dtype)), 0)


median_op = Op("median", _median, {"x": _median_gradient}, taylor="nested")


@overload
def median(x: Tensor) -> Tensor: ...


@overload
def median(x: Tensor, dim: int, keepdim: bool = False) -> Median: ...


@method
def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of all elements, or `values` and `indices` of those along `dim`.

    Of an even number of elements it is the lower of the middle two; NaN where there is a NaN.
    Without `dim` equal elements share the gradient evenly.  Raises RuntimeError for bools, complex
    numbers and no integers, IndexError for a dimension without elements.
    """
    if x.dtype.kind in "bc" or (dim is None and x.dtype.kind != "f" and not x.numel()):
        raise RuntimeError(
            f"median(): expected real numbers, got {x.dtype} of shape {list(x.shape)}; "
            "take real or abs(), or convert with .float()"
        )
    if dim is None:
        return median_op(reshape_op(x, shape=(x.numel(),)))
    wide, axis, order = _order(x, dim, False)
    size = wide.shape[axis]
    if not size:
        raise IndexError(
            f"median(): Expected reduction dim {axis} to have non-zero size, got shape "
            f"{list(x.shape)}; nothing has no median"
        )
    numbers = (wide == wide).sum(axis, True)
    place = where(numbers < size, numbers, (size - 1) // 2)  # of the first NaN
    indices = gather_op(order, place, dim=axis)
    values = gather_op(wide, indices, dim=axis)
    shape = kept_shape(x.shape, (axis,)) if keepdim else (*x.shape[:axis], *x.shape[axis + 1 :])
    return Median(*(clone(reshape_op(found, shape=tuple(shape))) for found in (values, indices)))


nanmedian_op = Op(
    "nanmedian",
    lambda xp, x: _median(xp, x[x == x]) if x.size else xp.full((), np.nan, x.dtype),
    {"x": _median_gradient},
    taylor="nested",
)


@overload
def nanmedian(x: Tensor) -> Tensor: ...


@overload
def nanmedian(x: Tensor, dim: int, keepdim: bool = False) -> Median: ...


@method
def nanmedian(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of what is not NaN, of all elements or along `dim`; see `median`.

    NaN where there is nothing else.
    """
    if x.dtype.kind != "f":
        return median(x) if dim is None else median(x, dim, keepdim)
    if dim is None:
        return nanmedian_op(reshape_op(x, shape=(x.numel(),)))
    wide, axis, order = _order(x, dim, False)
    if not wide.shape[axis]:
        return median(x, dim, keepdim)  # which says what is wrong
    numbers = (wide == wide).sum(axis, True)
    place = where(numbers > 0, (numbers - 1) // 2, 0)
    return _at_rank(x, wide, order, place, axis, keepdim)


def _at_rank(
    x: Tensor, wide: Tensor, order: Tensor, place: Tensor, axis: int, keepdim: bool
) -> Median:
    """Return the elements that come at `place` in order along an axis, and their positions."""
    indices = gather_op(order, place, dim=axis)
    values = gather_op(wide, indices, dim=axis)
    shape = kept_shape(x.shape, (axis,)) if keepdim else (*x.shape[:axis], *x.shape[axis + 1 :])
    return Median(*(clone(reshape_op(found, shape=tuple(shape))) for found in (values, indices)))


@method
def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Median:
    """Return the k-th smallest elements along `dim`, k from 1 on, and their indices there.

    NaN counts as the greatest.  Raises RuntimeError for a k that is out of range.
    """
    wide, axis, order = _order(x, dim, False)
    if not 1 <= k <= wide.shape[axis]:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {axis}: k={k} of "
            f"{wide.shape[axis]} elements"
        )
    shape = kept_shape(wide.shape, (axis,))
    place = cast(narrow(order, axis, 0, 1), dtypes.int64) * 0 + (k - 1)
    return _at_rank(x, wide, order, reshape_op(place, shape=tuple(shape)), axis, keepdim)


def _mode_place(xp: Any, ordered: Any) -> Any:
    """Return where the longest run of equal elements ends along the last axis, the first one."""
    new = xp.ones(ordered.shape, bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    places = xp.arange(ordered.shape[-1])
    begins = scanned(xp, xp.where(new, places, 0), ordered.ndim - 1, xp.maximum)
    return xp.argmax(places - begins, axis=-1, keepdims=True).astype(np.int64)


mode_place_op = Op("mode_place", _mode_place)


@method
def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> Median:
    """Return the elements that come most often along `dim`, the least of several, and the index of
    the last of them."""
    wide, axis, order = _order(x, dim, False)
    if not wide.shape[axis]:
        raise IndexError(
            f"mode(): Expected reduction dim {axis} to have non-zero size, got {list(x.shape)}"
        )
    ordered = movedim(gather_op(wide, order, dim=axis), axis, -1)
    place = movedim(mode_place_op(ordered.detach()), -1, axis)
    return _at_rank(x, wide, order, place, axis, keepdim)


@method
def msort(x: Tensor) -> Tensor:
    """Return `x` in order along its first dimension."""
    return sort(x, 0).values if x.ndim else clone(x)


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile_fractions(x: Tensor, q: Any) -> Tensor:
    """Return `q` as a tensor of the dtype and device of `x`, checked."""
    if isinstance(q, Tensor) and q.dtype != x.dtype:
        raise RuntimeError(
            "quantile() q tensor must be same dtype as the input tensor, got "
            f"{q.dtype} and {x.dtype}; convert with .to()"
        )
    if isinstance(q, Tensor) and q.ndim > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, got shape {list(q.shape)}")
    values = put(q._whole(), CPU) if isinstance(q, Tensor) else np.asarray(q)
    if not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {values.tolist()}")
    return q if isinstance(q, Tensor) else as_tensor(np.asarray(q, x.dtype), x)


@method
def quantile(
    x: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the values below which the fractions `q` of the elements along `dim` (all) lie.

    q              a number, or a 1-d tensor of k, which gives a leading dimension of size k.
    interpolation  between the elements on both sides: "linear", "lower", "higher", "midpoint" or
                   "nearest".
    NaN where there is a NaN.  Raises RuntimeError for no elements, for dtypes other than float32
    and float64, for `q` of another dtype or outside [0, 1].
    """
    return _quantile(x, q, dim, keepdim, interpolation, skip=False)


@method
def nanquantile(
    x: Tensor,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the `quantile` of what is not NaN; NaN where there is nothing else."""
    return _quantile(x, q, dim, keepdim, interpolation, skip=True)


def _quantile(
    x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip: bool
) -> Tensor:
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of {INTERPOLATIONS}, got {interpolation!r}"
        )
    if x.dtype.kind != "f" or x.dtype.itemsize < 4:
        raise RuntimeError(
            "quantile() input tensor must be either float or double dtype, got "
            f"{x.dtype}; convert with .float()"
        )
    if not x.numel():
        raise RuntimeError(f"quantile() input tensor must be non-empty, got shape {list(x.shape)}")
    fractions = _quantile_fractions(x, q)
    axis = 0 if dim is None else normal_axis(dim, x.ndim)
    wide = reshape_op(x, shape=(x.numel(),)) if dim is None or x.ndim == 0 else x
    ordered = sort(movedim(wide, axis, -1)).values
    flat = reshape_op(fractions, shape=(fractions.numel(),))
    found = _between(ordered, flat, interpolation, skip)
    axes = tuple(range(x.ndim)) if dim is None else (axis,)
    kept = kept_shape(x.shape, axes)
    shape = kept if keepdim else tuple(s for k, s in enumerate(x.shape) if k not in axes)
    found = movedim(found, -1, 0)
    return reshape_op(found, shape=(*fractions.shape, *shape))


def _between(ordered: Tensor, fractions: Tensor, interpolation: str, skip: bool) -> Tensor:
    """Return what lies at `fractions` (k,) of the last dimension of `ordered`, there (..., k).

    skip  leave out NaN, which come last; with one the quantile is NaN otherwise.
    """
    end = ordered.shape[-1] - 1
    last = narrow(ordered, -1, end, 1)
    if skip:
        numbers = cast((ordered == ordered).sum(-1, True), fractions.dtype)
        places = mul(fractions, where(numbers > 0, sub(numbers, 1), 0))
    else:
        places = where(last == last, mul(fractions, end), end)
    rounded = {"lower": floor, "higher": ceil, "nearest": round}.get(interpolation)
    if rounded is not None:
        return gather_op(ordered, cast(rounded(places), dtypes.int64), dim=ordered.ndim - 1)
    below, above = floor(places), ceil(places)
    low, high = (
        gather_op(ordered, cast(at, dtypes.int64), dim=ordered.ndim - 1)
        for at in (below, above)
    )
    return lerp(low, high, 0.5 if interpolation == "midpoint" else sub(places, below))


def _searchsorted(xp: Any, boundaries: Any, values: Any, *, right: bool) -> Any:
    """Count the boundaries before each value by ranking both together along the last dimension."""
    if boundaries.ndim == 1:
        side = "right" if right else "left"
        return xp.searchsorted(boundaries, values, side=side).astype(np.int64)
    pair = (boundaries, values) if right else (values, boundaries)
    order = xp.argsort(xp.concatenate(pair, axis=-1), axis=-1, kind="stable")
    count = boundaries.shape[-1]
    first = count if right else values.shape[-1]
    from_boundaries = order < count if right else order >= first
    before = xp.cumsum(from_boundaries.astype(np.int64), axis=-1)
    ranks = xp.argsort(order, axis=-1, kind="stable")
    ranks = ranks[..., count:] if right else ranks[..., :first]
    return xp.take_along_axis(before, ranks, axis=-1).astype(np.int64)


searchsorted_op = Op("searchsorted", _searchsorted, dtype="promote")


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where each value would be inserted to keep `sorted_sequence` in order along its last
    dimension; with `sorter`, the positions that sort it, the sequence itself need not be sorted.

    The leading dimensions agree, or `sorted_sequence` has one dimension.  right=False (side "left")
    gives the first such place: `sequence[i-1] < value <= sequence[i]`; right=True the last.
    """
    if side is not None:
        if side not in ("left", "right") or (right and side == "left"):
            raise RuntimeError(
                f"searchsorted: side must be 'left' or 'right' and agree with right={right}, "
                f"got {side!r}"
            )
        right = side == "right"
    values = as_tensor(input, sorted_sequence)
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape or sorter.dtype.kind != "i":
            raise RuntimeError(
                "searchsorted: sorter must hold int64 positions in the shape of the sequence "
                f"{list(sorted_sequence.shape)}, got {sorter.dtype} of shape {list(sorter.shape)}"
            )
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    if sorted_sequence.ndim == 0:
        raise RuntimeError("searchsorted: the sorted sequence needs at least one dimension")
    if sorted_sequence.ndim > 1 and sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got {list(sorted_sequence.shape)} "
            f"and {list(values.shape)}"
        )
    found = searchsorted_op(sorted_sequence, values, right=bool(right))
    return cast(found, np.dtype(np.int32)) if out_int32 else found


def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the number of the bucket between the sorted 1-d `boundaries` that each value is in."""
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"bucketize: boundaries tensor must be 1 dimension, got shape {list(boundaries.shape)}"
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def _unique(xp: Any, x: Any, *, dim: int | None) -> tuple:
    values, inverse, counts = xp.unique(x, return_inverse=True, return_counts=True, axis=dim)
    shape = x.shape if dim is None else (x.shape[dim],)
    return values, inverse.reshape(shape).astype(np.int64), counts.astype(np.int64)


unique_op = Op("unique", _unique, outputs=3, shaped_by_values=True)


@overload
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...


@overload
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[Tensor, ...]: ...


@method
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements of `x` (slices along `dim`) in order.

    With return_inverse also where each element went, with return_counts also how often it came.
    """
    axis = None if dim is None else normal_axis(dim, x.ndim)
    values, inverse, counts = unique_op(x, dim=axis)
    results = [values]
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    return tuple(results) if len(results) > 1 else values
