"""Independent random streams from one seed, found by name."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the generator that belongs to `names` under `seed`.

    Each path of names is a child of numpy's SeedSequence(seed). The child is found by a hash of
    its names and not by counting, so a block that is added, removed or given more points leaves
    the numbers of all others as they were. Raises ValueError for a negative seed.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed: expected a whole number, got {seed!r}")
    if seed < 0:
        raise ValueError(f"seed: expected zero or more, got {seed}")
    key = tuple(zlib.crc32(name.encode()) for name in names)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(seed), spawn_key=key)))
