"""What a reference solution is: a name, the problem it answers, and a way to evaluate it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pinn.schema.errors import refuse

Points = Mapping[str, np.ndarray]
Constants = Mapping[str, float]


@dataclass(frozen=True)
class Reference:
    """A solution known independently of any network.

    name         what a config calls it
    unknowns     the unknowns it gives, in order
    coordinates  the coordinates it needs
    constants    the constants it needs
    source       the one problem it answers, how it is computed, and where that comes from
    evaluate     (points, constants) -> values: dicts of mutually broadcastable arrays by
                 coordinate and of numbers by constant; gives float64 arrays of the broadcast
                 shape by unknown; ValueError when a coordinate or constant is missing or outside
                 the range in which the reference is accurate
    """

    name: str
    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]
    constants: tuple[str, ...]
    source: str
    evaluate: Callable[[Points, Constants], dict[str, np.ndarray]]

    def fitting(
        self, unknowns: Iterable[str], coordinates: Iterable[str], constants: Iterable[str]
    ) -> Reference:
        """Return the reference itself; DeclarationError for a problem that lacks what it needs."""
        for kind, needed, present in (
            ("unknowns", self.unknowns, tuple(unknowns)),
            ("coordinates", self.coordinates, tuple(coordinates)),
            ("constants", self.constants, tuple(constants)),
        ):
            if any(name not in present for name in needed):
                refuse(
                    f"reference {self.name!r} needs the {kind} {', '.join(needed)}; "
                    f"this problem has {', '.join(present) or 'none'}"
                )
        return self


def require(
    reference: str, kind: str, names: tuple[str, ...], given: Mapping[str, object]
) -> None:
    """Raise ValueError naming the first of `names` that is missing from `given`."""
    for name in names:
        if name not in given:
            raise ValueError(
                f"reference {reference!r} needs the {kind} {', '.join(map(repr, names))}; "
                f"{name!r} is missing, the problem has {', '.join(map(repr, given)) or 'none'}: "
                f"declare {name!r} or leave the reference out"
            )
