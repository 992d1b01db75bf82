"""What a device was asked to do, counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Counts:
    """What a device was asked to do.

    launches          of kernels: each operation of arrays that is no view, each kernel of ours,
                      and each graph, whatever it holds.
    uploads           copies from the host to the device.
    downloads         copies from the device to the host, of single numbers too.
    synchronisations  times that the host waited for the device; each download is one.
    allocations       arrays that memory was taken for, but those that copies make.
    sent, fetched     bytes of these copies; counts are equal whatever they are.
    """

    launches: int = 0
    uploads: int = 0
    downloads: int = 0
    synchronisations: int = 0
    allocations: int = 0
    sent: int = field(default=0, compare=False)
    fetched: int = field(default=0, compare=False)


_counting: list[Counts] = []


@contextmanager
def counted() -> Iterator[Counts]:
    """Count what the strict test device is asked to do inside the context."""
    found = Counts()
    _counting.append(found)
    try:
        yield found
    finally:
        _counting.remove(found)


def launch() -> None:
    """Count a launch."""
    for one in _counting:
        one.launches += 1


def upload(nbytes: int) -> None:
    """Count a copy to the device."""
    for one in _counting:
        one.uploads += 1
        one.sent += nbytes


def download(nbytes: int) -> None:
    """Count a copy to the host, which waits for the device."""
    for one in _counting:
        one.downloads += 1
        one.fetched += nbytes
    wait()


def wait() -> None:
    """Count a time that the host waits for the device."""
    for one in _counting:
        one.synchronisations += 1


def allocation() -> None:
    """Count memory that is taken."""
    for one in _counting:
        one.allocations += 1
