"""A trained network moved along a direction of its numbers, and of waves beside it."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

import autograd as T
from pinn.equations.outputs import run_columns
from pinn.estimates.extension import (
    MODEL,
    Extended,
    Extension,
    places_of,
    side_by_side,
    width_of,
)
from pinn.estimates.waves import Waves
from pinn.geometry import Shape

# The step of a central difference in the numbers of a network, as a share of their size: what it
# leaves out is the square of that, and what rounding adds 1e-16 over it.
_STEP = 1e-6


class Corrected:
    """The networks of an extension moved along a direction: N + N' d + C waves.

    N' d is a central difference of two networks; one that is linear in its numbers is moved itself.
    `parameters.module` gives the values, and `theta` is the vector of the direction. The
    coefficients move as their raw numbers do.
    """

    def __init__(self, extension: Extension) -> None:
        self._extension = extension
        self._made: dict[str, Extended] = {}
        linear = getattr(extension.experiment.model, "linear", False)

        def correct(name: str, network: T.nn.Module, domain: Shape) -> T.nn.Module:
            moved = Extended if linear and name == MODEL else _Corrected
            self._made[name] = moved(network, extension.waves[name], width_of(network, domain))
            return self._made[name]

        self.parameters = extension.built(correct)
        self.theta = np.zeros(self.parameters.size)
        self.move(np.zeros(extension.parameters.size))

    def move(self, direction: np.ndarray) -> None:
        """Take another direction, (size of the extension,)."""
        extension, vector = self._extension, np.zeros(self.parameters.size)

        def put(tensors, numbers: np.ndarray | float) -> None:
            vector[places_of(self.parameters, tensors)] = numbers

        for name, made in self._made.items():
            own = extension.trained[extension.trained_places[name]]
            along = direction[extension.own[name]]
            put([made.heights], direction[extension.heights[name]])
            if not isinstance(made, _Corrected):
                put(made.network.parameters(), own + along)
                continue
            length, size = float(np.linalg.norm(along)), float(np.linalg.norm(own))
            step = _STEP * max(size, 1.0) / length if length > 0 else 1.0
            put(made.network.parameters(), own)
            put(made.ahead.parameters(), own + step * along)
            put(made.behind.parameters(), own - step * along)
            put([made.factor], 1 / (2 * step) if step > 0 else np.inf)  # beyond all numbers
        for old, new in extension.coefficients(self.parameters).values():
            vector[new] = extension.theta[old] + direction[old]
        self.theta = vector
        self.parameters.load(vector)


class _Corrected(Extended):
    """N + factor (N ahead - N behind) + C waves."""

    def __init__(self, network: T.nn.Module, waves: Waves, outputs: int) -> None:
        super().__init__(network, waves, outputs)
        self.ahead, self.behind = copy.deepcopy(network), copy.deepcopy(network)
        # a parameter, so that a recorded program reads it anew
        like = self.heights
        self.factor = T.nn.Parameter(T.zeros(1, dtype=like.dtype, device=like.device))

    def forward_columns(self, columns: Sequence[T.Tensor]) -> T.Tensor:
        ahead, behind = (
            side_by_side(run_columns(one, columns)) for one in (self.ahead, self.behind)
        )
        return super().forward_columns(columns) + (ahead - behind) * self.factor
