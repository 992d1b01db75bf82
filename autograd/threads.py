"""How many threads matrix products take: BLAS's own number, held to one where one is faster.

BLAS has one number of threads for the whole process.  Whoever wants one thread holds the library,
and the last one to let go gives it back the number it had, so holds may nest and overlap between
threads.  See docs/decisions/0008-threads.md.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

_SMALL = 1 << 24
"""Multiplications of a product that takes one thread: a millisecond of one core at most."""

_TINY, _TINY_WITH_VECTOR = 1 << 18, 1 << 13
"""Up to so many BLAS takes one thread untold; the second where a matrix meets a vector."""

# OpenBLAS as numpy and scipy build it carries a prefix, and a suffix for 64-bit integers.
_PREFIXES = ("", "scipy_")
_SUFFIXES = ("", "64_", "_64")


class Blas:
    """One loaded BLAS library.

    get, put  read and write its number of threads.
    usual     that number while nobody holds the library, valid where `users` is not 0.
    users     how many hold it to one thread.
    """

    __slots__ = ("get", "put", "usual", "users")

    def __init__(self, get: Callable[[], int], put: Callable[[int], Any]) -> None:
        self.get = get
        self.put = put
        self.usual = 1
        self.users = 0


_lock = threading.Lock()
_generation = 0  # counts the forks that this process has behind it
_libraries: dict[str, Blas] = {}
_chosen: int | None = None


def _hold(libraries: Sequence[Blas]) -> int:
    with _lock:
        for library in libraries:
            if not library.users:
                library.usual = library.get()
                if library.usual != 1:
                    library.put(1)
            library.users += 1
        return _generation


def _let_go(libraries: Sequence[Blas], generation: int) -> None:
    with _lock:
        if generation != _generation:
            return  # held before a fork: the child has started anew
        for library in libraries:
            library.users -= 1
            if not library.users and library.usual != 1:
                library.put(library.usual)


def _start_anew() -> None:
    """In a forked child: those who held a library in other threads are not there to let go."""
    global _lock, _generation
    _lock = threading.Lock()
    _generation += 1
    for library in _libraries.values():
        if library.users:
            library.users = 0
            library.put(library.usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


# ---- which libraries there are


def loaded_libraries() -> list[Blas]:
    """Return every BLAS that is loaded by now (numpy's; later perhaps another one of scipy's)."""
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    with _lock:
        for one in found:
            if one.filepath not in _libraries:
                _libraries[one.filepath] = _library(one)
    return [_libraries[one.filepath] for one in found]


def _library(controller: Any) -> Blas:
    if controller.internal_api == "openblas":
        # PyDLL keeps the interpreter's lock: calls this short must not invite a switch of threads
        library = ctypes.PyDLL(controller.filepath)
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                get = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
                put = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
                if get is not None and put is not None:
                    get.restype, get.argtypes = ctypes.c_int, ()
                    put.restype, put.argtypes = None, (ctypes.c_int,)
                    return Blas(get, put)
    return Blas(controller.get_num_threads, controller.set_num_threads)


@cache
def numpy_libraries() -> tuple[Blas, ...]:
    """Return the BLAS of numpy's matrix products; all there are where that cannot be told."""
    libraries = loaded_libraries()
    own = [blas for path, blas in _libraries.items() if "numpy" in path]
    return tuple(own or libraries)


# ---- holding them


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold numpy's BLAS to one thread inside the block, in all threads of the process."""
    libraries = numpy_libraries()
    generation = _hold(libraries)
    try:
        yield
    finally:
        _let_go(libraries, generation)


@contextmanager
def one_thread_everywhere() -> Iterator[None]:
    """Hold every BLAS that is loaded by now to one thread inside the block."""
    libraries = loaded_libraries()
    generation = _hold(libraries)
    try:
        yield
    finally:
        _let_go(libraries, generation)


def _is_large(x: Any, y: Any) -> bool:
    """Return whether one product is large: a batch may be many small ones."""
    rows = x.shape[-2] if x.ndim > 1 else 1
    return rows * x.shape[-1] * y.shape[-1] > _SMALL


def matmul(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    """Compute `x @ y`; on the host a small product takes one thread."""
    columns = y.shape[-1]
    work = x.size * columns
    if x.shape[-1] == 1 and x.ndim == y.ndim == 2:
        return xp.multiply(x, y, out=out)  # a column times a row: BLAS is slower
    if xp is not np or (work > _SMALL and _is_large(x, y)):
        return xp.matmul(x, y) if out is None else xp.matmul(x, y, out=out)
    if work <= _TINY:
        with_vector = columns == 1 or x.ndim < 2 or y.ndim < 2 or x.shape[-2] == 1
        if work <= _TINY_WITH_VECTOR or not with_vector:
            return np.matmul(x, y, out=out)
    libraries = numpy_libraries()
    for library in libraries:
        if library.get() != 1:
            break
    else:  # nothing to hold; BLAS reads the number once, when the product starts
        return np.matmul(x, y, out=out)
    generation = _hold(libraries)
    try:
        return np.matmul(x, y, out=out)
    finally:
        _let_go(libraries, generation)


# ---- what users choose


def set_num_threads(count: int, /) -> None:
    """Let large matrix products on the host take `count` threads, and recorded steps `count` cores.

    Products of up to 2^24 multiplications, and those inside recorded steps, take one thread in any
    case.  It is numpy's BLAS that is told, for the whole process: products that the library does
    not make follow too.  The default is what BLAS starts with (OPENBLAS_NUM_THREADS, or a thread a
    core), and a core each for recorded steps.
    Raises RuntimeError for anything but a positive int, ValueError for one beyond 32 bits.
    """
    global _chosen
    if isinstance(count, bool) or not isinstance(count, int):
        raise RuntimeError(
            f"set_num_threads expects an int, but got {type(count).__name__}; pass the number of "
            "threads that a large product may take"
        )
    if count < 1:
        raise RuntimeError(
            f"set_num_threads expects a positive integer, but got {count}; 1 is one thread"
        )
    if count >= 1 << 31:
        raise ValueError(f"set_num_threads: {count} threads overflow a 32-bit number; pass fewer")
    libraries = numpy_libraries()
    with _lock:
        _chosen = count
        for library in libraries:
            if library.users:
                library.usual = count  # from when the last holder lets go
            else:
                library.put(count)


def get_num_threads() -> int:
    """Return how many threads a large matrix product on the host takes."""
    libraries = numpy_libraries()
    with _lock:
        found = [library.usual if library.users else library.get() for library in libraries]
    return max(found, default=_chosen or os.cpu_count() or 1)


def cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers() -> int:
    """Return how many cores a recorded step takes where nobody says: those chosen, or all."""
    return _chosen or cores()
