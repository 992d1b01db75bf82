"""A correction, and what rows that took no part in finding it say of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinn.estimates.linearised import Ridge

# Chance makes no more of this many standard deviations; rows beside each other are not independent.
_CHANCE = 4.0
# A correction that does more to other rows than they ask for, by this factor, has fitted its own.
_OVERDONE = 2.0
# How much more than another a correction may leave and be about as good.
AS_GOOD = 1.1


@dataclass(frozen=True, eq=False)
class Witness:
    """Rows of a residual that took no part, without a correction and with it."""

    before: np.ndarray
    after: np.ndarray

    @cached_property
    def left(self) -> float:
        """|after| / |before|; infinite where that is no number."""
        whole = float(np.linalg.norm(self.before))
        left = float(np.linalg.norm(self.after)) / whole if whole > 0 else np.inf
        return left if np.isfinite(left) else np.inf

    @property
    def confirms(self) -> bool:
        """Whether the correction is found in these rows too, beyond chance and not overdone.

        With c what the correction changes, the rows ask for b c with b = -before.c / |c|^2 by least
        squares, and b is uncertain by |before| / (|c| sqrt(rows)) where the two have nothing in
        common.
        """
        change = self.after - self.before
        size, whole = float(np.linalg.norm(change)), float(np.linalg.norm(self.before))
        if not (np.isfinite(size) and size > 0 and whole > 0):
            return False
        asked = -float(self.before @ change) / size**2
        return asked * _OVERDONE >= 1 and self.certainty >= _CHANCE

    @property
    def certainty(self) -> float:
        """By how many standard deviations rows and correction have more in common than chance."""
        change = self.after - self.before
        sizes = float(np.linalg.norm(change)) * float(np.linalg.norm(self.before))
        if not (np.isfinite(sizes) and sizes > 0):
            return 0.0
        return -float(self.before @ change) / sizes * np.sqrt(len(change))


@dataclass(frozen=True, eq=False)
class Correction:
    """A direction of the numbers that move, and what found it.

    held: the rows that were held back. after: what it leaves of all rows, scaled, (rows,).
    """

    solver: Ridge
    direction: np.ndarray
    held: Witness
    after: np.ndarray

    @property
    def left(self) -> float:
        """What it leaves of the rows that were held back."""
        return self.held.left


def plausible(tried: list[Correction], best: Correction) -> list[Correction]:
    """Return the corrections that the rows held back allow beside the best one.

    Those that leave about as little, and of smaller ridges, which find more of what there is and of
    what is not there, all that are more than chance.
    """
    return [
        one for one in tried
        if one.left <= AS_GOOD * best.left
        or one.solver.ridge < best.solver.ridge and one.held.certainty >= _CHANCE
    ]  # fmt: skip
