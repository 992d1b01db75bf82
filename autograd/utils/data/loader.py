"""Batches of a data set, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...random import Generator
from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


class DataLoader:
    """Gives a data set in batches; each `for` loop over it is one pass.

    batch_size     the items of a batch; None gives them one by one, as they are.
    shuffle        take the items in random order, anew in each pass.
    sampler        the order as numbers, in place of `shuffle`.
    batch_sampler  lists of numbers, in place of all of these.
    collate_fn     a function of a list of items that returns the batch; `default_collate` else.
    drop_last      leave out a last batch that is shorter.
    generator      whose numbers `shuffle` uses; those of `manual_seed` by default.
    The items are read in this thread: `num_workers` is 0.  `pin_memory` and `worker_init_fn` are
    accepted, and change nothing.  The rows of a TensorDataset, or of a Subset of one, are read a
    batch at once.  Raises ValueError for arguments that do not go together.
    """

    def __init__(
        self,
        dataset: Dataset | Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler[list[int]] | Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        for name, value in (
            ("num_workers", num_workers), ("timeout", timeout),
            ("multiprocessing_context", multiprocessing_context),
            ("prefetch_factor", prefetch_factor), ("persistent_workers", persistent_workers),
        ):  # fmt: skip
            if value:
                raise ValueError(
                    f"DataLoader: {name}={value!r} is for worker processes, and there are none: "
                    "items are read in this thread; leave it out"
                )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle; pass one of them")
        if batch_sampler is not None and (
            batch_size != 1 or shuffle or sampler is not None or drop_last
        ):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last; it alone decides what is in a batch"
            )
        if batch_sampler is None and batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        self._one_after_the_other = isinstance(dataset, IterableDataset)
        if self._one_after_the_other and (
            shuffle or sampler is not None or batch_sampler is not None
        ):
            raise ValueError(
                "DataLoader: an IterableDataset gives its items in an order of its own; leave out "
                "shuffle, sampler and batch_sampler"
            )
        if sampler is None and not self._one_after_the_other:
            sampler = (
                RandomSampler(dataset, generator=generator) if shuffle
                else SequentialSampler(dataset)
            )  # fmt: skip
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(() if sampler is None else sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn
        self.generator = generator
        self.num_workers = 0
        self.pin_memory = pin_memory
        self.worker_init_fn = worker_init_fn

    def __iter__(self) -> Iterator[Any]:
        if self._one_after_the_other:
            return self._from_iterable()
        if self.batch_sampler is None:
            return (self.collate_fn(self.dataset[k]) for k in self.sampler)  # type: ignore[union-attr]
        whole = self._whole_batches()
        return self._batches() if whole is None else whole

    def _from_iterable(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def _batches(self) -> Iterator[Any]:
        several = getattr(self.dataset, "__getitems__", None)
        for numbers in self.batch_sampler:  # type: ignore[union-attr]
            items = several(numbers) if several else [self.dataset[k] for k in numbers]
            yield self.collate_fn(items)

    def _whole_batches(self) -> Iterator[Any] | None:
        """Give the batches of a data set that has them at once; None where it has not."""
        if self.collate_fn is not default_collate or not isinstance(self.dataset, Dataset):
            return None
        if self.dataset._whole(np.empty(0, np.int64)) is None:
            return None
        batches: Any = self.batch_sampler
        arrays = batches._arrays() if isinstance(batches, BatchSampler) else None
        if arrays is None:
            arrays = (np.asarray(numbers, np.int64) for numbers in batches)
        return map(self.dataset._whole, arrays)

    def __len__(self) -> int:
        """Return the number of batches; TypeError where that is not known."""
        if not self._one_after_the_other:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
