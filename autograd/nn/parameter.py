"""Tensors that a module owns and an optimizer moves."""

from __future__ import annotations

from ..tensor import Tensor


class Parameter(Tensor):
    """A leaf that requires grad, and that a Module registers when it is assigned to an attribute.

    `data` is a Tensor of any shape, of a floating point or complex dtype (RuntimeError else); its
    memory is shared, its graph is left behind.  TypeError when `data` is not a Tensor.
    """

    __slots__ = ()

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter: expected a Tensor, got {type(data).__name__}; wrap the values with "
                "autograd.tensor(...) first"
            )
        super().__init__(data._elements("Parameter()"), requires_grad)
        self._version = data._version

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"
