"""Points in proportion to a density of the user's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pinn.sampling.points import Points

Density = Callable[[Points], np.ndarray]
"""points -> numbers (n,) >= 0, in proportion to which there are to be points."""

# The largest density is looked for at so many points, and points are tried in such numbers.
_TRIED = 1 << 14
_MOST_DRAWS = 4000


def thinned(even: Callable[[int], Points], n: int, density: Density, rng) -> Points:
    """Return n random points with a density in proportion to `density`, out of even ones.

    Each even point is kept with the probability density / largest (von Neumann's rejection). The
    largest is that of 16384 of them: where the density has a narrower peak than those can see, the
    peak is cut. Raises ValueError for a density that is negative, not finite, or so nearly zero
    that too few points are kept.
    """
    largest = density(even(_TRIED)).max()
    found: list[Points] = []
    missing = n
    for _ in range(_MOST_DRAWS if largest > 0 else 0):
        tried = even(max(_TRIED, n))
        # Those of a boundary come part by part, and the first ones are not to be of its first part.
        tried = tried[rng.permutation(len(tried))]
        kept = tried[np.flatnonzero(rng.random(len(tried)) * largest < density(tried))]
        found.append(kept[:missing])
        missing -= len(found[-1])
        if not missing:
            return Points.joined(found)
    raise ValueError(
        f"found only {n - missing} of {n} points in proportion to the density, which is next to "
        "zero nearly everywhere"
    )
