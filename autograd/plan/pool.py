"""The threads that recorded steps share."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache


@lru_cache(maxsize=1)
def worker_pool() -> ThreadPoolExecutor:
    """Return the pool that all recorded steps of the process share."""
    return ThreadPoolExecutor(max_workers=64, thread_name_prefix="autograd-plan")


# a forked child has none of the parent's threads
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=worker_pool.cache_clear)
