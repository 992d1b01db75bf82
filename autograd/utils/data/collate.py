"""What becomes of a list of items: one item of the same kind, whose tensors have a row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...ops.creation.create import as_tensor, tensor
from ...ops.layout.join import stack
from ...tensor import Tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Return a batch of items of one kind as one.

    Tensors and arrays are stacked, Python's floats become a tensor of float64, integers one of
    int64, texts stay a list; in mappings, named tuples, tuples and lists that holds of each entry
    (a tuple becomes a list).  Raises TypeError for other kinds, RuntimeError for items of
    different lengths or shapes.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "USO":
        if isinstance(first, np.generic):
            return as_tensor(np.stack(batch))
        return stack([as_tensor(item) for item in batch])
    if isinstance(first, float):
        return tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, Sequence):
        return _sequences(batch)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first).__name__}; pass a collate_fn"
    )


def _like(first: Any, made: Any) -> Any:
    """Return a mapping or list as one of the class of `first`, where that can be made of it."""
    try:
        return type(first)(made)
    except TypeError:  # its constructor takes something else
        return made


def _sequences(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError(
            "each element in list of batch should be of equal size, got lengths "
            f"{sorted({len(item) for item in batch})}"
        )
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if isinstance(first, tuple):
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    return _like(first, columns)


def default_convert(data: Any) -> Any:
    """Return an item with its arrays as tensors; what is neither array nor container stays."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "USO":
        return as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        parts = [default_convert(value) for value in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(value) for value in data])
    return data
