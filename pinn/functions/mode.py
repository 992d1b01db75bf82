"""The number that a random function has of one of its modes."""

from __future__ import annotations

from pinn.geometry import Family
from pinn.schema import declared


@declared(repr=False)
class Mode(Family):
    """A normal number of mean 0 and deviation 1, an input of the network.

    typical: its value in pictures, which show one function that was drawn.
    """

    typical: float = 0.0

    @property
    def middle(self) -> float:
        return self.typical
