"""Rules of what works along dimensions: sums, extremes, running sums, orders, transforms."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..ops.registry import REGISTRY, cast
from ..tensor import Tensor
from .rules import Application, rule


@rule(
    "sum", "mean", "var", "std", "all", "any", "count_nonzero", "amax", "amin", "logsumexp",
    "vector_norm",
)  # fmt: skip
def _over_axes(call: Application) -> Tensor:
    return call.done(call.args[0], axes=tuple(axis + 1 for axis in call.attributes["axes"]))


@rule("tie_shares")
def _over_axes_of_two(call: Application) -> Tensor:
    axes = tuple(axis + 1 for axis in call.attributes["axes"])
    return call.done(*call.all_spread(), axes=axes)


@rule(
    "argmax", "argmin", "argsort", "prod", "cumsum", "cumprod", "logcumsumexp", "running_place",
    "shifted", "recurrence", "softmax", "log_softmax", "fft_half_spectrum", "fft_from_half",
    "window_sums", "spread_over_windows",
)  # fmt: skip
def _along_dim(call: Application) -> Any:
    dim = call.attributes["dim"]
    return call.done(*call.all_spread(), dim=dim + (dim >= 0))


@rule("fft_spectrum")
def _along_dims(call: Application) -> Tensor:
    return call.done(call.args[0], dims=tuple(dim + 1 for dim in call.attributes["dims"]))


def _in_order(x: Tensor) -> Tensor:
    """Return the elements of each example in order, (examples, count); NaN is the greatest."""
    size, *shape = x._data.shape
    rows = REGISTRY["reshape"](x, shape=(size, math.prod(shape)))
    return REGISTRY["gather"](rows, REGISTRY["argsort"](rows, dim=1, descending=False), dim=1)


@rule("median")
def _median(call: Application) -> Tensor:
    """Take the middle one of the elements of each example in order, or the NaN among them."""
    x = call.args[0]
    count = math.prod(x._data.shape[1:])
    if not count:
        return REGISTRY["new_full"](x, shape=(call.size,), value=float("nan"))
    values = _in_order(x)
    middle = REGISTRY["slice"](values, index=(slice(None), (count - 1) // 2))
    last = REGISTRY["slice"](values, index=(slice(None), count - 1))  # NaN is the greatest
    return REGISTRY["where"](REGISTRY["isnan"](last), last, middle)


@rule("nanmedian")
def _nanmedian(call: Application) -> Tensor:
    """Take the middle one of what is not NaN, which comes first; NaN where there is nothing."""
    x = call.args[0]
    if not math.prod(x._data.shape[1:]):
        return REGISTRY["new_full"](x, shape=(call.size,), value=float("nan"))
    values = _in_order(x)
    numbers = REGISTRY["count_nonzero"](REGISTRY["eq"](values, values), axes=(1,))
    middle = REGISTRY["floor_divide"](REGISTRY["maximum"](REGISTRY["sub"](numbers, 1), 0), 2)
    found = REGISTRY["gather"](values, REGISTRY["reshape"](middle, shape=(call.size, 1)), dim=1)
    return REGISTRY["reshape"](found, shape=(call.size,))


@rule("in_bins")
def _in_bins(call: Application) -> Tensor:
    """Add what each element counts to the bin it is in; the last bin is closed on both sides."""
    rows, weights, edges = call.all_spread()
    number = edges._data.shape[1] - 1
    boundaries = edges if call.has_examples[2] else call.args[2]  # one line serves all faster
    places = REGISTRY["sub"](REGISTRY["searchsorted"](boundaries, rows, right=True), 1)
    last = REGISTRY["slice"](edges, index=(slice(None), slice(number, number + 1)))
    places = REGISTRY["where"](REGISTRY["eq"](rows, last), number - 1, places)
    # NaN is sorted behind the last end; what lies outside is counted in a bin that is dropped
    outside = REGISTRY["logical_or"](REGISTRY["lt"](places, 0), REGISTRY["ge"](places, number))
    places = REGISTRY["where"](outside, number, places)
    counts = REGISTRY["new_full"](
        cast(edges, dtypes.float64), shape=(call.size, number + 1), value=0
    )
    added = REGISTRY["ones_like"](rows) if weights is None else weights
    counts = REGISTRY["scatter_add"](counts, places, cast(added, dtypes.float64), dim=1)
    return cast(
        REGISTRY["slice"](counts, index=(slice(None), slice(0, number))), edges.dtype
    )


@rule("searchsorted")
def _searchsorted(call: Application) -> Tensor:
    if call.rank(0) == 1 and not call.has_examples[0]:
        return call.done(*call.args)
    boundaries, values = call.all_spread()
    if call.rank(0) > 1:
        return call.done(boundaries, values)
    shape = values._data.shape  # one line of boundaries for values of any rank
    count = math.prod(shape[1:])
    reshape = REGISTRY["reshape"]
    found = call.done(boundaries, reshape(values, shape=(call.size, count)))
    return reshape(found, shape=shape)
