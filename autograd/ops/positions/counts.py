"""How often values come: counts in bins, of integers, of runs; which are among others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...devices import put
from ...tensor import Tensor, as_tensor, method
from ..elementwise.compare import eq, logical_not
from ..elementwise.piecewise import clamp
from ..layout.index import value_range
from ..layout.shape import normal_axis, reshape_op
from ..registry import REGISTRY, Op, cast
from .order import searchsorted, sort

__all__ = ["bincount", "histc", "histogram", "isin", "unique_consecutive"]


def _bincount(xp: Any, x: Any, weights: Any, *, minlength: int) -> Any:
    found = xp.bincount(x, weights, minlength)
    return found.astype(np.int64 if weights is None else weights.dtype)


bincount_op = Op("bincount", _bincount, shaped_by_values=True)


@method
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each integer from 0 to the largest comes in the 1-d `x`, or its weights.

    minlength  the least number of counts.
    Without gradient.  Raises RuntimeError for other shapes, negative numbers and numbers that are
    no integers.
    """
    if x.ndim != 1 or x.dtype.kind not in "iu" or value_range(x._whole())[0] < 0:
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs, got "
            f"{x.dtype} of shape {list(x.shape)}"
        )
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    if weights is None:
        return bincount_op(x, None, minlength=minlength)
    if weights.shape != x.shape:
        raise RuntimeError(
            "weights should be 1-d and have the same length as input, got "
            f"{list(weights.shape)} and {list(x.shape)}"
        )
    weights = weights if weights.dtype == dtypes.float32 else cast(weights, dtypes.float64)
    return bincount_op(x, weights.detach(), minlength=minlength)


def _limits(
    name: str, x: Any, low: float, high: float, told: bool, margin: float
) -> tuple[float, float]:
    """Return the ends of the bins: those of the values where they are not told.

    margin  how far they lie around a single value.
    """
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min, got {low} and {high}")
    if not told and x.numel():
        x._elements("the range of a histogram, where it is not told,")
        low, high = float(x.detach().min().item()), float(x.detach().max().item())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"{name}: range of {low}, {high} is not finite; pass min and max")
    return (low - margin, high + margin) if low == high else (low, high)


def _in_bins(xp: Any, x: Any, weights: Any, edges: Any) -> Any:
    """Return the sum of the weights in each bin; the last one is closed on both sides."""
    places = xp.searchsorted(edges, x, side="right") - 1
    places = xp.where(x == edges[-1], len(edges) - 2, places)
    inside = (places >= 0) & (places < len(edges) - 1) & (x == x)
    # what lies outside is counted in a bin that is dropped
    counted = xp.bincount(xp.where(inside, places, len(edges) - 1), weights, len(edges))
    return counted[: len(edges) - 1].astype(edges.dtype)


in_bins_op = Op("in_bins", _in_bins)


@method
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Return how many elements lie in each of `bins` even bins from `min` to `max`, as `x`'s dtype.

    Both 0 stand for the least and the largest element; what lies outside is not counted.  Raises
    RuntimeError for no bins and for ends that are not finite.
    """
    if bins <= 0:
        raise RuntimeError(f"bins must be > 0, got {bins}")
    if x.dtype.kind != "f":
        raise RuntimeError(f"histc is not implemented for {x.dtype}; convert with .float()")
    low, high = _limits("histc", x, min, max, told=min != max, margin=1.0)
    edges = np.linspace(low, high, bins + 1).astype(x.dtype)
    flat = reshape_op(x.detach(), shape=(x.numel(),))
    return in_bins_op(flat, None, Tensor(put(edges, x.device)))


class Histogram(NamedTuple):
    """The counts in the bins, and the ends of these, one more."""

    hist: Tensor
    bin_edges: Tensor


@method
def histogram(
    x: Tensor,
    bins: Any,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Return how many elements lie in each bin, and the ends of the bins.

    bins     a number of even bins, in `range` or from the least to the largest element; or their
             ends as a rising 1-d tensor.
    weight   what each element counts; density: divide so that the integral is 1.
    Without gradient.  Raises RuntimeError for dtypes that are not floating point and bins that do
    not fit.
    """
    if x.dtype.kind != "f":
        raise RuntimeError(f"histogram: expected a floating point dtype, got {x.dtype}")
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins.numel() < 2 or bins.dtype != x.dtype or range is not None:
            raise RuntimeError(
                f"histogram: expected the ends of the bins as a 1-d tensor of {x.dtype}, without "
                f"range, got shape {list(bins.shape)} of {bins.dtype}"
            )
        edges = bins.detach()
    else:
        if bins <= 0:
            raise RuntimeError(f"histogram: bins must be > 0, got {bins}")
        between = range or ((0, 0) if x.numel() else (0, 1))
        low, high = _limits("histogram", x, *between, told=range is not None, margin=0.5)
        edges = Tensor(put(np.linspace(low, high, bins + 1).astype(x.dtype), x.device))
    if weight is not None and weight.shape != x.shape:
        raise RuntimeError(
            "histogram: expected weight in the shape of the input, "
            f"{list(x.shape)}, got {list(weight.shape)}"
        )
    flat = reshape_op(x.detach(), shape=(x.numel(),))
    weights = None if weight is None else reshape_op(weight.detach(), shape=(x.numel(),))
    counts = in_bins_op(flat, weights, edges)
    if density:
        counts = counts / (counts.sum() * edges.diff())
    return Histogram(counts, edges)


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return where `elements` are among `test_elements`; with `invert` where they are not.

    One of them may be a number.  `assume_unique` changes nothing.
    """
    if not isinstance(elements, Tensor):
        elements = as_tensor(elements, test_elements)
    if not isinstance(test_elements, Tensor):
        test_elements = as_tensor(np.asarray(test_elements), elements)
    kind = dtypes.result_type(elements, test_elements)
    kind = dtypes.uint8 if kind.kind == "b" else kind
    x = cast(elements.detach(), kind)
    among = cast(reshape_op(test_elements.detach(), shape=(test_elements.numel(),)), kind)
    if not among.numel():
        found = REGISTRY["zeros_like"](cast(x, dtypes.bool_))
    else:
        ordered = sort(among).values
        places = clamp(searchsorted(ordered, x), max=among.numel() - 1)
        found = eq(ordered[places], x)
    return logical_not(found) if invert else found


def _runs(xp: Any, x: Any, *, dim: int | None) -> tuple:
    flat = x.reshape(-1) if dim is None else xp.moveaxis(x, dim, 0)
    count = flat.shape[0]
    rows = flat.reshape(count, -1) if count else flat.reshape(0, 1)
    begins = xp.ones(count, bool)
    if count > 1:
        begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = xp.nonzero(begins)[0]
    ends = xp.concatenate([starts[1:], xp.full(min(count, 1), count, starts.dtype)])
    values = flat[starts]
    inverse = (xp.cumsum(begins) - 1).astype(np.int64)
    if dim is None:
        inverse = inverse.reshape(x.shape)
    else:
        values = xp.moveaxis(values, 0, dim)
    return xp.ascontiguousarray(values), inverse, (ends - starts).astype(np.int64)


unique_consecutive_op = Op("unique_consecutive", _runs, outputs=3, shaped_by_values=True)


@method
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the elements of `x` (slices along `dim`) without those equal to the one before.

    With return_inverse also the run that each is in, with return_counts also the lengths of runs.
    """
    axis = None if dim is None else normal_axis(dim, x.ndim)
    values, inverse, counts = unique_consecutive_op(x.detach(), dim=axis)
    results = [values]
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    return tuple(results) if len(results) > 1 else values
