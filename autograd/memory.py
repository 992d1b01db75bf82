"""Memory of arrays: what was freed stays with the process, and lies in large pages.

An eager step makes hundreds of arrays of some megabytes and drops them.  By default glibc hands
such memory back to the system and asks for it again, a page fault for each 4 KiB, which costs more
than the arithmetic; and where each 4 KiB have an address of their own, looking it up is a tenth of
a step.  See docs/decisions/0051-eager-speed.md.
"""

from __future__ import annotations

import ctypes
import os

# malloc.h of glibc: blocks up to the first size are kept, and this much free memory in all
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_LARGEST_BLOCK = 32 << 20  # the most that glibc takes; larger blocks still go back at once
_KEPT = 1 << 30
_USUAL_PAD = 128 << 10
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_")

_IN_LARGE_PAGES = 256 << 20  # addresses, of which those that are used take memory
_LARGE_PAGE = 2 << 20
_ADVICE = 14  # MADV_HUGEPAGE of Linux: numpy gives it for arrays from 4 MiB on


def keep_freed_memory() -> bool:
    """Let glibc keep up to 1 GiB of freed memory, in large pages; return whether it was told.

    Nothing is changed where malloc is not glibc's, or where the environment sets its limits
    (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, MALLOC_TOP_PAD_, GLIBC_TUNABLES).
    """
    told = [name for name in _CHOSEN if name in os.environ]
    if told or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "") or os.name != "posix":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version") or not hasattr(library, "mallopt"):
        return False
    kept = _set(library, _MMAP_THRESHOLD, _LARGEST_BLOCK) and _set(library, _TRIM_THRESHOLD, _KEPT)
    if kept:
        _take_large_pages(library)
    return kept


def _set(library: ctypes.CDLL, name: int, size: int) -> bool:
    return library.mallopt(ctypes.c_int(name), ctypes.c_int(size)) == 1


def _take_large_pages(library: ctypes.CDLL) -> None:
    """Give the memory that malloc takes next large pages, where the system has them on request.

    The heap grows once by more than what is asked for, which takes addresses and no memory.  It
    stays as it is where it could not grow.
    """
    library.malloc.restype = library.sbrk.restype = ctypes.c_void_p
    library.malloc.argtypes, library.free.argtypes = (ctypes.c_size_t,), (ctypes.c_void_p,)
    library.sbrk.argtypes = (ctypes.c_ssize_t,)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    before = library.sbrk(0)
    _set(library, _TOP_PAD, _IN_LARGE_PAGES)
    block = library.malloc(_LARGEST_BLOCK // 2)
    _set(library, _TOP_PAD, _USUAL_PAD)
    first, end = -(-before // _LARGE_PAGE) * _LARGE_PAGE, library.sbrk(0)
    if end - before >= _IN_LARGE_PAGES:
        library.madvise(first, (end - first) // _LARGE_PAGE * _LARGE_PAGE, _ADVICE)
    library.free(block)
