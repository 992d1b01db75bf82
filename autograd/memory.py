"""Freed memory stays with the process: the array made next gets pages that are there already.

An eager step makes hundreds of arrays of some megabytes and drops them.  By default glibc hands
such memory back to the system and asks for it again, a page fault for each 4 KiB, which costs more
than the arithmetic.  See docs/decisions/0051-eager-speed.md.
"""

from __future__ import annotations

import ctypes
import os

# malloc.h of glibc: blocks up to the first size are kept, and this much free memory in all
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST_BLOCK = 32 << 20  # the most that glibc takes; larger blocks still go back at once
_KEPT = 1 << 30
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")


def keep_freed_memory() -> bool:
    """Let glibc keep up to 1 GiB of freed memory; return whether it was told.

    Nothing is changed where malloc is not glibc's, or where the environment sets its limits
    (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES).
    """
    told = [name for name in _CHOSEN if name in os.environ]
    if told or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "") or os.name != "posix":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version") or not hasattr(library, "mallopt"):
        return False
    return all(
        library.mallopt(ctypes.c_int(name), ctypes.c_int(size)) == 1
        for name, size in ((_MMAP_THRESHOLD, _LARGEST_BLOCK), (_TRIM_THRESHOLD, _KEPT))
    )
