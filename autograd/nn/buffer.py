"""Tensors that a module owns and no optimizer moves."""

from __future__ import annotations

from ..tensor import Tensor


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned to an attribute.

    data        a Tensor, whose memory is shared; its graph is left behind.
    persistent  whether it is in the module's `state_dict()`.
    TypeError when `data` is not a Tensor.
    """

    persistent = True

    def __init__(self, data: Tensor, *, persistent: bool = True) -> None:
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Buffer: expected a Tensor, got {type(data).__name__}; wrap the values with "
                "autograd.tensor(...) first"
            )
        super().__init__(data._elements("Buffer()"))
        self._version = data._version
        self.persistent = persistent
