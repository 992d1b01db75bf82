"""Ranks: processes that run one program together and share out the lanes of recorded steps.

Every rank runs the same program with the same numbers, and so takes the same decisions. What is
shared out is the work over points: each computes some of the lanes, the lanes' sums are exchanged
and added in their order, so that all ranks hold the same bits, whatever their number. What may
differ between processes (the clock, callbacks, signals, a failure) is agreed upon: rank 0 says it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class RankFailed(RuntimeError):
    """A rank has failed, and the others end with it."""


class Ranks(ABC):
    """The processes that share the work; all methods but `interrupt` are called by all of them.

    number: which of them this is, from 0. neighbours: how many are on this machine, and share its
    cores.
    """

    number: int
    neighbours: int

    @property
    @abstractmethod
    def size(self) -> int:
        """How many share the work now: one inside `agreed`, and after a failure."""

    @abstractmethod
    def share(self, lanes: int) -> range:
        """Return the lanes of this rank: neighbours, as evenly as can be."""

    @abstractmethod
    def gather(
        self,
        sums: Any,
        lanes: int,
        joined: Sequence[Any] = (),
        edges: Sequence[int] = (),
    ) -> Any:
        """Return rows whose sum, in their order, is that of all lanes; what is joined is completed.

        They are (lanes, size), those of all lanes, or (1, size), what they come to: the bits are
        the same. sums: of the lanes of `share(lanes)`, (lanes here, size). joined: arrays whose
        rows edges[k] to edges[k + 1] belong to lane k, with those of this rank's lanes written. All
        of them lie on one device, where the rows returned are, too; GPUs are not waited for if they
        exchange among themselves.
        """

    def exchange(
        self,
        sums: Any,
        lanes: int,
        joined: Sequence[Any] = (),
        edges: Sequence[int] = (),
    ) -> Any:
        """Return the sum of all lanes, in their order, (size,); see `gather`."""
        return in_order(self.gather(sums, lanes, joined, edges))

    @abstractmethod
    def complete(self, array: np.ndarray, lanes: int, edges: Sequence[int]) -> None:
        """Complete an array of the host in place, as what `gather` joins; nothing is added.

        array: dense, its rows one after the other; ValueError for another.
        """

    @abstractmethod
    def settle(self) -> None:
        """Wait until what GPUs exchange has arrived: before a result is copied to the host.

        That copy would wait for ever where a rank has failed; this ends with its failure.
        """

    @abstractmethod
    def agreed(self, ask: Callable[[], T], alike: np.ndarray | None = None) -> T:
        """Return what `ask` gives on rank 0, which alone calls it, to all.

        What it raises there ends all ranks: there with that exception, elsewhere with RankFailed,
        but KeyboardInterrupt is that everywhere. alike: numbers that all ranks should hold; raises
        RankFailed where they do not. Inside `ask` recorded steps are computed by rank 0 alone.
        """

    @abstractmethod
    def meet(self) -> None:
        """Wait until all ranks are here, as they do for whatever they exchange or agree upon."""

    @abstractmethod
    def clock(self) -> float:
        """Return the seconds of rank 0's clock when they last met, as of time.perf_counter."""

    @abstractmethod
    def interrupt(self) -> None:
        """Raise KeyboardInterrupt on all ranks when they next meet; asked on rank 0.

        At once where it is by itself.
        """

    @abstractmethod
    def together(self) -> Any:
        """A block that all ranks enter and leave together.

        An exception that ends it on one of them ends it on the others with RankFailed. Ctrl-C is
        rank 0's: KeyboardInterrupt is raised on all, where they meet.
        """


class OneRank(Ranks):
    """A process by itself."""

    number, size, neighbours = 0, 1, 1

    def share(self, lanes: int) -> range:
        return range(lanes)

    def gather(
        self,
        sums: Any,
        lanes: int,
        joined: Sequence[Any] = (),
        edges: Sequence[int] = (),
    ) -> Any:
        return sums

    def complete(self, array: np.ndarray, lanes: int, edges: Sequence[int]) -> None:
        return None

    def settle(self) -> None:
        return None

    def agreed(self, ask: Callable[[], T], alike: np.ndarray | None = None) -> T:
        return ask()

    def meet(self) -> None:
        return None

    def clock(self) -> float:
        return time.perf_counter()

    def interrupt(self) -> None:
        raise KeyboardInterrupt

    @contextmanager
    def together(self) -> Iterator[None]:
        yield


ALONE = OneRank()


def in_order(sums: Any) -> Any:
    """Return the sum of the rows of an array, one after the other, as a new array."""
    if type(sums) is np.ndarray and sums.shape[1] > 1:
        return np.add.reduce(sums, axis=0)  # a single column would be added pairwise
    total = sums[0].copy()
    for row in sums[1:]:
        total += row
    return total
