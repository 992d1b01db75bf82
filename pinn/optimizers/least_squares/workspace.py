"""Memory that outlasts a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd.devices import CPU, Device, backend
from pinn.optimizers.solver import LeastSquares


def place_of(function: LeastSquares) -> Device:
    """Return where a function computes its Jacobian, and what is made of it is best made."""
    there = function.on_device
    return CPU if there is None else there.device


class Workspace:
    """Named float64 arrays of a device that are made once and filled again and again.

    A large array that is made anew at each step takes as long to be mapped by the system, page by
    page, as to be filled.
    """

    def __init__(self, device: Device = CPU) -> None:
        self.device = device
        self._xp = backend(device.type).xp
        self._held: dict[str, Any] = {}

    @classmethod
    def of(cls, function: LeastSquares) -> Workspace:
        """Return memory where a function computes its Jacobian."""
        return cls(place_of(function))

    def array(self, name: str, *shape: int) -> Any:
        """Return an array of a shape, row by row, whose numbers are whatever was there before."""
        size = math.prod(shape)
        held = self._held.get(name)
        if held is None or held.size < size:
            self._held.pop(name, None)  # what is too small is given back first
            held = self._held[name] = self._xp.empty(size, np.float64)
        return held[:size].reshape(shape)
