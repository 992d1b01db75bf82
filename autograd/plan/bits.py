"""Whether arrays have the same bits."""

from __future__ import annotations

import numpy as np

_FEW_BYTES = 1 << 12  # so few that a copy is quicker than a comparison by numbers


def has_bits(array: np.ndarray, known: np.ndarray) -> bool:
    """Return whether an array has the bits of another: 0 is not -0, and NaN is itself."""
    if array.nbytes <= _FEW_BYTES:
        return array.shape == known.shape and array.tobytes() == known.tobytes()
    bits = f"u{min(array.itemsize, 8)}"
    one, other = (np.ascontiguousarray(a).view(bits) for a in (array, known))
    return np.array_equal(one, other)
