"""Python's collector of cycles, which recordings make look at the same objects over and over."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# So many objects more than were freed are made before it looks. A recording keeps all that it
# makes, a dozen objects an operation: looked at as often as Python does by itself, that took more
# time than all else of recordings of ten thousand operations.
_MANY = 100_000

_lock = threading.Lock()
_under_way = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the collector look rarely while something large is made; threads may overlap."""
    global _under_way, _before
    with _lock:
        if _under_way == 0:
            _before = gc.get_threshold()
            if 0 < _before[0] < _MANY:  # 0: whoever switched it off wants it so
                gc.set_threshold(_MANY, *_before[1:])
        _under_way += 1
    try:
        yield
    finally:
        with _lock:
            _under_way -= 1
            if _under_way == 0:
                gc.set_threshold(*_before)
