"""What a solver does with arrays of a device in a step: as it is recorded, or as it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from autograd.devices import Device, backend
from autograd.plan.lanes.cuda.transfers import copy
from autograd.plan.unbound import Unbound


class Rule(Protocol):
    """A function of numbers that the host knows and of arrays (float64) that a device has.

    `count`: how many numbers `scalars` returns. `is_launches`: whether a call launches kernels of
    ours alone, as far as is known.
    """

    count: int
    is_launches: bool

    def scalars(self, *numbers: float) -> list[float]:
        """Return what a call with these numbers reads on the device."""

    def __call__(
        self, numbers: Sequence[float], scalars: Any, *arrays: Any,
        out: Mapping[int, Any] | None = None, kept: dict | None = None,
    ) -> list[Any]:  # fmt: skip
        """Return the results, those in `out` where they are wanted.

        scalars: an array of the device. kept: memory of what is between, from call to call.
        """


class Recorded:
    """A function of tensors, recorded: the numbers are tensors too. Raises as `Unbound` does."""

    is_launches = True

    def __init__(
        self, fn: Callable, numbers: int, shapes: Sequence[tuple[int, ...]], device: Device
    ) -> None:
        self._call = Unbound(fn, numbers, shapes, device)
        self.count, self.scalars = self._call.count, self._call.scalars

    def __call__(
        self, numbers: Sequence[float], scalars: Any, *arrays: Any,
        out: Mapping[int, Any] | None = None, kept: dict | None = None,
    ) -> list[Any]:  # fmt: skip
        return self._call(scalars, *arrays, out=out, kept=kept)


class AsWritten:
    """A function of numbers and of arrays of a device, called as it is."""

    count, is_launches = 0, False

    def __init__(self, fn: Callable, device: Device) -> None:
        self._fn, self._xp = fn, backend(device.type).xp

    def scalars(self, *numbers: float) -> list[float]:
        return []

    def __call__(
        self, numbers: Sequence[float], scalars: Any, *arrays: Any,
        out: Mapping[int, Any] | None = None, kept: dict | None = None,
    ) -> list[Any]:  # fmt: skip
        with np.errstate(all="ignore"):
            found = list(self._fn(*numbers, *arrays))
        if out:
            own = [(self._xp.ascontiguousarray(found[k]), place) for k, place in out.items()]
            copy(self._xp, [(source, place) for source, place in own if place.size])
        return found
