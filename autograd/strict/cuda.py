"""What `cupy.cuda` has, for the strict test device: devices, of which one is current."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from . import graphs


class _Thread(threading.local):
    """The number of the device that is current in this thread, and those that were before."""

    index = 0

    def __init__(self) -> None:
        self.before: list[int] = []


_thread = _Thread()


def current() -> int:
    """Return the number of the device that kernels run on, and new arrays lie on."""
    return _thread.index


def check(index: int) -> None:
    """Raise what cupy does for a kernel on an array of a device that is not current.

    Where GPUs reach each other's memory cupy only warns, and what is new lies on the wrong one.
    """
    if index != _thread.index:
        raise ValueError(
            f"The device where the array resides ({index}) is different from the current device "
            f"({_thread.index}). Peer access is unavailable between these devices."
        )


class Cuda:
    """The module: so many devices, each a GPU of its own.

    attributes: what each has, under cupy's names. places: what each is to the machine.
    """

    Stream = graphs.Stream
    using_allocator = staticmethod(graphs.using_allocator)

    def __init__(self, attributes: dict[str, int], count: int = 2) -> None:
        self.attributes = attributes
        self.places = [f"0000:{k:02x}:00.0" for k in range(count)]
        self.runtime = SimpleNamespace(
            getDeviceCount=lambda: count,
            deviceGetPCIBusId=lambda index: self.places[index],
            streamQuery=lambda stream: 0,
        )

    def Device(self, index: int | None = None) -> HostDevice:  # noqa: N802 - cupy's name
        """Return a device by number, which a block makes current; None for the one that is."""
        found = current() if index is None else index
        if not 0 <= found < len(self.places):
            raise ValueError(f"device {found}: there are {len(self.places)}")
        return HostDevice(found, self.attributes)

    def get_current_stream(self) -> Any:
        """Return the stream that kernels run in."""
        return SimpleNamespace(ptr=0, synchronize=lambda: None)


class HostDevice:
    """A device, which `with` makes current for a while and `use` for good."""

    def __init__(self, index: int, attributes: dict[str, int]) -> None:
        self.id, self.attributes = index, attributes

    def use(self) -> HostDevice:
        """Make it current in this thread."""
        _thread.index = self.id
        return self

    def __enter__(self) -> HostDevice:
        _thread.before.append(_thread.index)
        return self.use()

    def __exit__(self, *_: object) -> None:
        _thread.index = _thread.before.pop()
