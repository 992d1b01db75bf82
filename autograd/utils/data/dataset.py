"""Data sets: items by their number, or one after the other."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from ...devices import put
from ...ops.creation.create import randperm
from ...random import Generator
from ...tensor import Tensor

Item = TypeVar("Item", covariant=True)


class Dataset(Generic[Item]):
    """The base of all data sets: a subclass defines `__getitem__` of a number, and `__len__`.

    One that has `__getitems__` of a list of numbers is asked for a batch at once.
    """

    def __getitem__(self, index: Any) -> Item:
        raise NotImplementedError(
            f"{type(self).__name__} defines no __getitem__(index), which returns an item"
        )

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])

    def _whole(self, indices: np.ndarray) -> list[Tensor] | None:
        """Return the collated items at `indices`, where that needs no item by itself; else None."""
        return None


class IterableDataset(Dataset[Item]):
    """A data set whose items come one after the other: a subclass defines `__iter__`."""

    def __iter__(self) -> Iterator[Item]:
        raise NotImplementedError(
            f"{type(self).__name__} defines no __iter__(), which gives the items"
        )


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors of one length: item k has the k-th row of each.

    Raises ValueError for tensors of different lengths.
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        lengths = {tensor.shape[0] if tensor.ndim else None for tensor in tensors}
        if len(lengths) != 1 or None in lengths:
            raise ValueError(
                "Size mismatch between tensors: expected tensors with as many rows each, got "
                f"shapes {[list(tensor.shape) for tensor in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def _whole(self, indices: np.ndarray) -> list[Tensor] | None:
        if type(self).__getitem__ is not TensorDataset.__getitem__:
            return None
        return [tensor[Tensor(put(indices, tensor.device))] for tensor in self.tensors]


class StackDataset(Dataset):
    """Data sets of one length side by side: item k is the tuple (or dict) of their items k.

    Given by position they make tuples, by name dicts.  Raises ValueError for none, for both ways,
    and for different lengths.
    """

    def __init__(self, *args: Dataset, **kwargs: Dataset) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError(
                "StackDataset takes data sets by position, for tuples, or by name, for dicts; got "
                f"{len(args)} and {len(kwargs)}"
            )
        self.datasets: Any = args or kwargs
        members = args or tuple(kwargs.values())
        lengths = [_length(member) for member in members]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets: they have {lengths} items")
        self._count = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._count


class Subset(Dataset[Item]):
    """The items of a data set at `indices`, in that order."""

    def __init__(self, dataset: Dataset[Item], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Item:
        if isinstance(index, (list, tuple)):
            return self.dataset[[self.indices[k] for k in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Item]:
        chosen = [self.indices[k] for k in indices]
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[k] for k in chosen]

    def __len__(self) -> int:
        return len(self.indices)

    def _whole(self, indices: np.ndarray) -> list[Tensor] | None:
        kind = type(self)
        plain = (kind.__getitem__, kind.__getitems__) == (Subset.__getitem__, Subset.__getitems__)
        if not plain or not isinstance(self.dataset, Dataset):
            return None
        chosen = map(self.indices.__getitem__, indices.tolist())
        return self.dataset._whole(np.fromiter(chosen, np.int64, len(indices)))


class ConcatDataset(Dataset[Item]):
    """The items of data sets, one set after the other.

    cumulative_sizes  where each ends.
    Raises ValueError for no data set, TypeError for one that has no length.
    """

    datasets: list[Dataset[Item]]

    def __init__(self, datasets: Iterable[Dataset[Item]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable; pass at least one")
        self.cumulative_sizes = list(accumulate(_length(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> Item:
        if index < 0:
            if -index > len(self):
                raise ValueError(
                    f"absolute value of index should not exceed dataset length: got {index} for "
                    f"{len(self)} items"
                )
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        if which == len(self.datasets):
            raise IndexError(f"index {index} is out of range for {len(self)} items")
        begins = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - begins]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def _length(dataset: Any) -> int:
    """Return the number of items; TypeError where a data set does not say it."""
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise TypeError(
            f"{type(dataset).__name__} has no length; expected a data set with __getitem__ and "
            "__len__"
        )
    return len(dataset)


def random_split(
    dataset: Dataset[Item], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Item]]:
    """Return a data set in parts of random items, none in two.

    lengths  the numbers of items, which add up to all; or fractions that add up to 1: each part has
             the whole number below, and what is left goes to the first parts, one item each.
    Raises ValueError for others.
    """
    count = _length(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = _shares(count, lengths)
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != count:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! Got "
            f"{list(lengths)} for {count} items"
        )
    order = randperm(count, generator=generator).tolist()
    ends = list(accumulate(sizes))
    return [
        Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)
    ]


def _shares(count: int, fractions: Sequence[float]) -> list[int]:
    for position, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {position} is not between 0 and 1: {fraction}")
    sizes = [math.floor(count * fraction) for fraction in fractions]
    for k in range(count - sum(sizes)):
        sizes[k % len(sizes)] += 1
    for position, size in enumerate(sizes):
        if not size:
            warnings.warn(
                f"Length of split at index {position} is 0. This might result in an empty dataset.",
                UserWarning,
                stacklevel=3,
            )
    return sizes
