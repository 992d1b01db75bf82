"""The order in which items are taken, and where one batch ends and the next begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from ... import devices
from ...random import Generator, default_generator
from ...tensor import Tensor

Taken = TypeVar("Taken", covariant=True)


class Sampler(Generic[Taken]):
    """The base of all orders: a subclass defines `__iter__`, and `__len__` where it is known."""

    def __iter__(self) -> Iterator[Taken]:
        raise NotImplementedError(
            f"{type(self).__name__} defines no __iter__(), which gives the numbers of items"
        )


class _Ordered(Sampler[int]):
    """A sampler that has all numbers of a pass at once."""

    def _order(self) -> np.ndarray:
        raise NotImplementedError

    def __iter__(self) -> Iterator[int]:
        yield from self._order().tolist()


class SequentialSampler(_Ordered):
    """All items in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def _order(self) -> np.ndarray:
        return np.arange(len(self.data_source))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(_Ordered):
    """All items in random order, anew in each pass.

    replacement  draw each by itself, so that one may come again.
    num_samples  how many are drawn; as many as there are by default.  Without replacement those
                 beyond come from another order of all.
    generator    whose numbers are used; those of `manual_seed` by default.
    Raises TypeError and ValueError for other arguments.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got {replacement!r}")
        if num_samples is not None:
            _check_count(num_samples)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many items a pass has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def _order(self) -> np.ndarray:
        draws, count = _draws(self.generator), len(self.data_source)
        if self.replacement:
            return draws.integers(0, count, self.num_samples)
        orders = [draws.permutation(count) for _ in range(-(-self.num_samples // max(count, 1)))]
        return np.concatenate([np.empty(0, np.int64), *orders])[: self.num_samples]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(_Ordered):
    """The given numbers in random order, anew in each pass."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def _order(self) -> np.ndarray:
        numbers = np.asarray(self.indices, np.int64)
        return numbers[_draws(self.generator).permutation(len(numbers))]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Ordered):
    """Numbers drawn with probabilities in proportion to `weights`, which need not add up to 1.

    Without replacement none comes twice.  ValueError for weights that are no probabilities of one
    dimension, and for more draws without replacement than there are weights above 0.
    """

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got {replacement!r}")
        given = devices.put(weights._data, devices.CPU) if isinstance(weights, Tensor) else weights
        self.weights = np.asarray(given, np.float64)
        if self.weights.ndim != 1 or not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise ValueError(
                "weights should be a 1d sequence of numbers >= 0, one of them above 0, but given "
                f"weights have shape {list(self.weights.shape)}"
            )
        if not replacement and num_samples > np.count_nonzero(self.weights):
            raise ValueError(
                f"cannot draw {num_samples} different items where "
                f"{np.count_nonzero(self.weights)} weights are above 0; pass replacement=True"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def _order(self) -> np.ndarray:
        odds = self.weights / self.weights.sum()
        draws = _draws(self.generator)
        return draws.choice(len(odds), self.num_samples, replace=self.replacement, p=odds)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` numbers of a sampler; with `drop_last` none that is shorter.

    Raises ValueError for a size that is not a positive integer.
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size!r}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(
                f"drop_last should be a boolean value, but got drop_last={drop_last!r}"
            )
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for number in self.sampler:
            batch.append(number)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def _arrays(self) -> Iterator[np.ndarray] | None:
        """Give the batches as arrays, where the sampler has its numbers at once; else None."""
        kind = type(self.sampler)
        if type(self) is not BatchSampler or not issubclass(kind, _Ordered):
            return None
        return self._pieces(self.sampler) if kind.__iter__ is _Ordered.__iter__ else None

    def _pieces(self, sampler: _Ordered) -> Iterator[np.ndarray]:
        order = sampler._order()
        for begin in range(0, len(order), self.batch_size):
            piece = order[begin : begin + self.batch_size]
            if len(piece) == self.batch_size or not self.drop_last:
                yield piece


def _check_count(count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={count!r}"
        )


def _draws(generator: Generator | None) -> np.random.Generator:
    return (default_generator if generator is None else generator).numpy
