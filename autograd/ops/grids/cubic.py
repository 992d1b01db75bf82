"""What a point has of the elements near it in cubic convolution (Keys 1981).

A weight is one cubic of the distance up to 1, another one from 1 to 2, and 0 beyond.  Its slope at
1, from where on it is below 0, is free: -1/2 is exact for parabolas, -3/4 is sharper.
"""

from __future__ import annotations

import numpy as np

from ...devices import put
from ...tensor import Tensor

SHARP, EXACT = -0.75, -0.5
OFFSETS = (-1, 0, 1, 2)
"""Where the elements that a point reads are, from the one before it on."""


def cubic(distance: np.ndarray, slope: float) -> np.ndarray:
    """Return the weights of elements at distances of any sign."""
    x = np.abs(distance)
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = slope * (((x - 5) * x + 8) * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def cubic_shares(after: Tensor) -> Tensor:
    """Return the sharp weights of the elements at `OFFSETS`, along a new last dimension.

    after  how far points are from the element before them, in [0, 1).
    """
    a, t = SHARP, after.unsqueeze(-1)
    # of t^3, t^2, t and 1, for each of the four
    columns = [
        [a, a + 2, -a - 2, -a],
        [-2 * a, -a - 3, 2 * a + 3, a],
        [a, 0.0, -a, 0.0],
        [0.0, 1.0, 0.0, 0.0],
    ]
    third, second, first, none = (
        Tensor(put(np.array(column, after.dtype), after.device)) for column in columns
    )
    return ((third * t + second) * t + first) * t + none
