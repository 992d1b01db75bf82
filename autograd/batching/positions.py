"""Rules of what reads and writes at positions: slices, indices, gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices
from ..ops.layout.index import _parts
from ..ops.registry import REGISTRY
from ..tensor import Tensor
from .rules import Application, of_one_shape, rule

_ALL = slice(None)


def _one_more(index: tuple, size: int) -> tuple:
    """Return a normal index that takes all examples, and of each what it takes of one.

    Arrays apart from each other give dimensions that come first, before those of slices; an array
    that takes each example keeps the examples before them.
    """
    arrays = _parts(index)[1] or ()
    at = [k for k, item in enumerate(arrays) if not isinstance(item, slice)]
    if not at or at[-1] - at[0] < len(at):
        return (_ALL, *index)
    first = arrays[at[0]]
    rank = max(arrays[k].ndim for k in at)
    lines = np.arange(size).reshape(-1, *(1,) * rank)
    return (devices.put(lines, devices.device_of(first)), *index)


def _rank_at(index: tuple, rank: int) -> int:
    """Return the number of dimensions of what a normal index takes of a tensor."""
    basic, arrays = _parts(index)
    left = rank + sum(item is None for item in basic) - sum(type(item) is int for item in basic)
    at = [item for item in arrays or () if not isinstance(item, slice)]
    return left - len(at) + max(item.ndim for item in at) if at else left


@rule("slice")
def _slice(call: Application) -> Tensor:
    return call.done(call.args[0], index=(_ALL, *call.attributes["index"]))


@rule("index")
def _index(call: Application) -> Tensor:
    return call.done(call.args[0], index=_one_more(call.attributes["index"], call.size))


@rule("embed")
def _embed(call: Application) -> Tensor:
    index, shape = call.attributes["index"], call.attributes["shape"]
    x = call.aligned(0, max(_rank_at(index, len(shape)), call.rank(0)))
    return call.done(x, index=_one_more(index, call.size), shape=(call.size, *shape))


@rule("index_put")
def _index_put(call: Application) -> Tensor:
    index = call.attributes["index"]
    values, rank = call.args[1], _rank_at(index, call.rank(0))
    if call.has_examples[1]:
        extra = call.rank(1) - rank  # leading ones, which an index_put takes away
        if extra > 0:
            shape = (call.size, *values._data.shape[1 + extra :])
            values = REGISTRY["reshape"](values, shape=shape)
        else:
            values = call.aligned(1, rank)
    return call.done(call.spread(0), values, index=_one_more(index, call.size))


@rule("gather", "scatter", "scatter_add", "scatter_multiply", "scatter_extreme")
def _along_dim(call: Application) -> Tensor:
    return call.done(*call.all_spread(), dim=call.attributes["dim"] + 1)


@rule("index_select")
def _index_select(call: Application) -> Tensor:
    dim = call.attributes["dim"]
    x, index = call.args
    if not call.has_examples[1]:
        return call.done(x, index, dim=dim + 1)
    reshape, permute = REGISTRY["reshape"], REGISTRY["permute"]
    count = index._data.shape[1]
    flat = reshape(index, shape=(call.size * count,))
    if not call.has_examples[0]:
        shape = x._data.shape
        found = call.done(x, flat, dim=dim)
        found = reshape(found, shape=(*shape[:dim], call.size, count, *shape[dim + 1 :]))
        others = (k for k in range(len(shape) + 1) if k != dim)
        return permute(found, axes=(dim, *others))
    rows, back = _lines_first(x, dim)
    found = call.done(rows, _in_all_lines(index, x._data.shape[dim + 1]), dim=0)
    return back(found, count)


@rule("index_add")
def _index_add(call: Application) -> Tensor:
    dim = call.attributes["dim"]
    x, index, source = call.spread(0), call.args[1], call.spread(2)
    if not call.has_examples[1]:
        return call.done(x, index, source, dim=dim + 1)
    size = x._data.shape[dim + 1]
    rows, back = _lines_first(x, dim)
    added, _ = _lines_first(source, dim)
    return back(call.done(rows, _in_all_lines(index, size), added, dim=0), size)


def _lines_first(x: Tensor, dim: int) -> tuple[Tensor, Any]:
    """Return x (examples, ...) with the examples and `dim` of each as one dimension, the first.

    And the way back, where `dim` may have another size.
    """
    shape = x._data.shape
    axes = (0, dim + 1, *(k for k in range(1, len(shape)) if k != dim + 1))
    moved = REGISTRY["permute"](x, axes=axes)
    size, _, *rest = moved._data.shape
    rows = REGISTRY["reshape"](moved, shape=(size * shape[dim + 1], *rest))

    def back(found: Tensor, count: int) -> Tensor:
        whole = REGISTRY["reshape"](found, shape=(size, count, *rest))
        return REGISTRY["permute"](whole, axes=tuple(map(axes.index, range(len(axes)))))

    return rows, back


def _in_all_lines(index: Tensor, size: int) -> Tensor:
    """Return positions (examples, n) in lines of a size as those in all lines, joined."""
    examples, count = index._data.shape
    starts = np.arange(examples).reshape(-1, 1) * size
    index = REGISTRY["flat_position"](index, lengths=(size,), dims=(0,))  # counted from the front
    moved = REGISTRY["add"](index, Tensor(devices.put(starts, index.device)))
    return REGISTRY["reshape"](moved, shape=(examples * count,))


@rule("weighted_read", "weighted_add", "weighted_match")
def _weighted(call: Application) -> Tensor:
    """Examples are further samples, of which each has its own places and weights."""
    reshape = REGISTRY["reshape"]
    whole = call.all_spread()
    samples = whole[0]._data.shape[1]
    merged = [reshape(x, shape=(call.size * samples, *x._data.shape[2:])) for x in whole]
    found = call.done(*merged)
    return reshape(found, shape=(call.size, samples, *found._data.shape[1:]))


rule("around", "grid_shares", "grid_slopes")(of_one_shape)  # of each point by itself
