"""Rules of what works along dimensions: sums, extremes, running sums, orders, transforms."""

from __future__ import annotations

import math
from typing import Any

from ..ops.registry import REGISTRY
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
    "argmax", "argmin", "argsort", "prod", "cumsum", "cumprod", "shifted", "recurrence", "softmax",
    "log_softmax", "fft_half_spectrum", "fft_from_half", "window_sums", "spread_over_windows",
)  # fmt: skip
def _along_dim(call: Application) -> Any:
    dim = call.attributes["dim"]
    return call.done(*call.all_spread(), dim=dim + (dim >= 0))


@rule("fft_spectrum")
def _along_dims(call: Application) -> Tensor:
    return call.done(call.args[0], dims=tuple(dim + 1 for dim in call.attributes["dims"]))


@rule("median")
def _median(call: Application) -> Tensor:
    """Take the middle one of the elements of each example in order, or the NaN among them."""
    x = call.args[0]
    count = math.prod(x._data.shape[1:])
    if not count:
        return REGISTRY["new_full"](x, shape=(call.size,), value=float("nan"))
    rows = REGISTRY["reshape"](x, shape=(call.size, count))
    order = REGISTRY["argsort"](rows, dim=1, descending=False)
    values = REGISTRY["gather"](rows, order, dim=1)
    middle = REGISTRY["slice"](values, index=(slice(None), (count - 1) // 2))
    last = REGISTRY["slice"](values, index=(slice(None), count - 1))  # NaN is the greatest
    return REGISTRY["where"](REGISTRY["isnan"](last), last, middle)


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
