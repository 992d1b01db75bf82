"""How far noise in data may have moved a solution, anywhere between some places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

# Between places in more coordinates than these they are too few to tell.
_COORDINATES = 3


@dataclass(frozen=True)
class NoiseBand:
    """One standard error of unknowns and fields at some places.

    places: coordinate -> where these are, (n,), all coordinates of the domain. deviations: name ->
    the standard error there, (n,).
    """

    places: dict[str, list[float]]
    deviations: dict[str, list[float]]

    def at(self, name: str, columns: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Return the standard error of an unknown or field between the places.

        columns: coordinate -> numbers, arrays that broadcast. The thin plate through the places, no
        larger than at any of them; None for a name that is not known, in more than three
        coordinates, and where the places lie in a part of them.
        """
        if name not in self.deviations or len(self.places) > _COORDINATES:
            return None
        own, first = np.unique(np.array(list(self.places.values())).T, axis=0, return_index=True)
        values = np.array(self.deviations[name])[first]
        asked = np.stack(np.broadcast_arrays(*(columns[one] for one in self.places)), axis=-1)
        if own.shape[1] == 1:
            return np.interp(asked[..., 0], own[:, 0], values)
        reach = np.ptp(own, axis=0)
        if not (reach > 0).all() or np.linalg.matrix_rank((own - own[0]) / reach) < len(reach):
            return None  # of places along a line or a plane there is no plate
        from scipy.interpolate import RBFInterpolator

        plate = RBFInterpolator(own / reach, values)
        found = plate(asked.reshape(-1, len(reach)) / reach)
        return found.clip(0.0, values.max()).reshape(asked.shape[:-1])
