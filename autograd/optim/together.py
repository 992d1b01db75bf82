"""Small parameters that are moved as one vector: a step is a few calls for all, not for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from .. import devices
from ..tensor import Tensor

MOST = 1 << 14
"""Elements of a small parameter: calls on larger arrays take longer than it takes to begin them."""


class Moved(NamedTuple):
    """A parameter that has a gradient, both as real arrays, and what is remembered of it."""

    parameter: Tensor
    values: Any
    grad: Any
    state: dict[str, Any]

    def kind(self) -> tuple | None:
        """Return what is equal for those that can be moved together; None for one that cannot."""
        values = self.values
        if values.size > MOST:
            return None
        device = devices.device_of(values)
        kind = [values.dtype, device.type, device.index]
        for name, value in self.state.items():
            if isinstance(value, Tensor):
                if value._data.shape != values.shape or value._data.dtype != values.dtype:
                    return None
                value = None
            kind += name, value
        return tuple(kind)


class Together:
    """Parameters of one kind, whose state lies in vectors: what each has are views of these.

    state  the vectors by name, as Tensors, and the numbers that are the same for all.
    """

    def __init__(self, members: Sequence[Moved]) -> None:
        self._parameters = [one.parameter for one in members]
        self._shapes = [one.values.shape for one in members]
        self._arrays = [one.parameter._data for one in members]
        ends = list(accumulate(one.values.size for one in members))
        self._slices = list(map(slice, [0, *ends[:-1]], ends))
        self.state = {
            name: Tensor(joined([one.state[name]._data for one in members]))
            if isinstance(value, Tensor) else value
            for name, value in members[0].state.items()
        }  # fmt: skip
        self._views: list[dict[str, tuple[Tensor, Any]]] = [{} for _ in members]
        self.give(members)

    def are(self, members: Sequence[Moved]) -> bool:
        """Return whether these are the members, with the state that was given to them."""
        if len(members) != len(self._parameters):
            return False
        return all(map(self._is, members, self._parameters, self._arrays, self._views))

    def _is(
        self, one: Moved, parameter: Tensor, array: Any, views: dict[str, tuple[Tensor, Any]]
    ) -> bool:
        state = one.state
        if one.parameter is not parameter or parameter._data is not array:
            return False
        if state.keys() != self.state.keys():
            return False
        for name, value in self.state.items():
            if name in views:
                tensor, part = views[name]
                if state[name] is not tensor or tensor._data is not part:
                    return False
            elif state[name] != value:
                return False
        return True

    def shares(self, members: Sequence[Moved]) -> bool:
        """Return whether a member is one of these."""
        others = {id(one.parameter) for one in members}
        return any(id(parameter) in others for parameter in self._parameters)

    def parts(self, vector: Any) -> list[Any]:
        """Return each member's part of a vector, a view of its shape."""
        return [
            vector[piece].reshape(shape)
            for piece, shape in zip(self._slices, self._shapes, strict=True)
        ]

    def give(self, members: Sequence[Moved]) -> None:
        """Let the members' states be what the common one is now."""
        for name, value in self.state.items():
            if not isinstance(value, Tensor):
                for one in members:
                    one.state[name] = value
            elif name not in self._views[0]:
                for one, views, part in zip(
                    members, self._views, self.parts(value._data), strict=True
                ):
                    one.state[name] = Tensor(part)
                    views[name] = one.state[name], part


def joined(arrays: Sequence[Any]) -> Any:
    """Return arrays as one vector."""
    return devices.namespace_of(arrays[0]).concatenate(arrays, axis=None)
