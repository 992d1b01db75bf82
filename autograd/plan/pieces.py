"""Numbers of chunks, the lanes that they belong to, and the cache that a chunk should fit."""

from __future__ import annotations

from functools import lru_cache

_LANES = 16
_MOST_LANES = 256
_LANE_POINTS = 1024


def lanes_for(points: int) -> int:
    """Return into how many lanes so many points are put, for any number of threads and ranks.

    Enough for the cores of a machine; with very many points more, for the ranks that share them.
    """
    return min(max(_LANES, points // _LANE_POINTS), _MOST_LANES)


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


def lanes_of(chunks: int, points: int) -> list[range]:
    """Return the chunks of each lane: neighbours, as evenly as can be."""
    count = min(lanes_for(points), chunks)
    edges = [chunks * k // count for k in range(count + 1)]
    return [range(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]


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
