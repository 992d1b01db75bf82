"""Numbers of chunks, the lanes that they belong to, and the cache that a chunk should fit."""

from __future__ import annotations

from functools import lru_cache

LANES = 16


def even_pieces(count: int, least: int) -> int:
    """Return a number of pieces: even, and all of one size, where that can be.

    At least `least`, or up to an eighth less where only that saves a second program.
    """
    if least == 1:
        return 1
    even = least + least % 2
    more = range(even, min(count, even + even // 2) + 1, 2)
    fewer = range(even - 2, max(1, least - least // 8 - 1), -2)
    for pieces in (*more, *fewer):
        if count % pieces == 0:
            return pieces
    return min(even, count)


def lanes_of(chunks: int) -> list[list[int]]:
    """Return the chunks of each lane: neighbours, as evenly as can be."""
    count = min(LANES, chunks)
    edges = [chunks * k // count for k in range(count + 1)]
    return [list(range(a, b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


@lru_cache(maxsize=1)
def l2_cache_bytes() -> int:
    """Return the size of one core's L2 cache, 1 MiB where the system does not tell."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index2/size") as file:
            text = file.read().strip()
    except OSError:
        return 1 << 20
    units = {"K": 1 << 10, "M": 1 << 20}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)
