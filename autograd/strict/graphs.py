"""Streams, graphs and memory of the strict test device: what a capture keeps, and what it refuses.

A stream that captures runs nothing: it keeps the kernels that it is given, with the addresses of
their arrays and the numbers that they are given by value as they are then.  A graph launches these
again, and refuses to where memory has been given back since.  What CUDA refuses within a capture is
refused here, and ends it; so is what CUDA lets pass although the graph would be wrong (memory of
the common pool, which others are given later), and operations of arrays that are no kernels of ours
(some of cupy's take memory, or copy from the host).
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import counts


class CaptureError(RuntimeError):
    """Something was asked for that a capture does not hold."""


class Stream:
    """What `cupy.cuda.Stream` is: within `with`, what is launched goes to it."""

    def __init__(self, *, non_blocking: bool = False) -> None:
        self.non_blocking = non_blocking
        self._nodes: list[_Node] | None = None
        self._invalid = ""

    def __enter__(self) -> Stream:
        _current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.remove(self)

    def is_capturing(self) -> bool:
        """Return whether it keeps what it is given, and does not run it."""
        return self._nodes is not None

    def begin_capture(self, mode: int | None = None) -> None:
        """Keep what is launched from now on."""
        if self._nodes is not None or any(one.is_capturing() for one in _current):
            raise CaptureError("a capture has begun already")
        if not self.non_blocking:
            raise CaptureError("a stream that waits for the default one cannot be captured from")
        self._nodes, self._invalid = [], ""

    def end_capture(self) -> Graph:
        """Return what was kept; CaptureError where something was refused."""
        nodes, self._nodes = self._nodes, None
        if nodes is None:
            raise CaptureError("the stream does not capture")
        if self._invalid:
            raise CaptureError(f"the capture has ended: {self._invalid}")
        return Graph(nodes)

    def synchronize(self) -> None:
        """Wait for what it was given."""
        refuse("a wait")
        counts.wait()

    def keep(self, node: _Node) -> None:
        """Take a kernel into the capture."""
        self._nodes.append(node)

    def end(self, why: str) -> None:
        """End the capture: no graph comes of it."""
        self._invalid = why


class Graph:
    """What `cupy.cuda.Graph` is: kernels that are launched together."""

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self._nodes = tuple(nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def launch(self, stream: Stream | None = None) -> None:
        """Run all kernels, one after the other."""
        refuse("a graph")
        counts.launch()
        for node in self._nodes:
            node.run()


@dataclass(frozen=True)
class _Place:
    """An array as a kernel knows it: an address. owner: what has its memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    owner: Callable[[], Any]

    @classmethod
    def of(cls, array: np.ndarray) -> _Place:
        owner = array if array.base is None else array.base
        return cls(array.ctypes.data, array.shape, array.strides, array.dtype, weakref.ref(owner))

    def array(self, kernel: str) -> np.ndarray:
        """Return what lies there now."""
        if self.owner() is None:
            raise CaptureError(f"kernel {kernel}: memory of the graph was given back since")
        extent = self.dtype.itemsize + sum(
            (n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)
        )
        memory = (ctypes.c_char * extent).from_address(self.address)
        return np.ndarray(self.shape, self.dtype, memory, strides=self.strides)


@dataclass(frozen=True)
class _Node:
    """A kernel of a graph. call: takes its arrays; what it is given by value it has."""

    kernel: str
    call: Callable[[list[np.ndarray]], None]
    places: tuple[_Place, ...]

    def run(self) -> None:
        self.call([place.array(self.kernel) for place in self.places])


_current: list[Stream] = []
_allocators: list[Callable[[int], Any]] = []


def launch(
    kernel: str, loaded: bool, call: Callable[[list[np.ndarray]], None], arrays: list[np.ndarray]
) -> None:
    """Run a kernel with its arrays, or keep it where the stream captures.

    loaded: whether it has been run or looked at before; a capture loads no module.
    """
    if not is_capturing():
        counts.launch()
        call(arrays)
        return
    if not loaded:
        refuse(f"kernel {kernel}, whose module would be loaded now")
    _current[-1].keep(_Node(kernel, call, tuple(map(_Place.of, arrays))))


def is_capturing() -> bool:
    """Return whether the current stream captures."""
    return bool(_current) and _current[-1].is_capturing()


def refuse(what: str) -> None:
    """Raise CaptureError within a capture, and end it."""
    if is_capturing():
        _current[-1].end(what)
        raise CaptureError(f"{what} within a capture")


def allocate(nbytes: int) -> None:
    """Ask for memory: of the allocator of this context, or of the common pool."""
    counts.allocation()
    if _allocators:
        _allocators[-1](nbytes)
    else:
        refuse("memory of the common pool")


@contextmanager
def using_allocator(allocator: Callable[[int], Any]) -> Iterator[None]:
    """Have an allocator asked for memory inside the context."""
    _allocators.append(allocator)
    try:
        yield
    finally:
        _allocators.remove(allocator)
