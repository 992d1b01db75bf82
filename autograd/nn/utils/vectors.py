"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ...ops.layout.join import cat
from ...tensor import Tensor
from ..module import write


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements as one vector of shape (n,); gradients flow through it."""
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copy a vector of shape (n,) into the parameters, in place, in order.

    ValueError when the sizes do not add up to n; nothing is written then.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor, got {type(vec).__name__}")
    parameters = list(parameters)
    total = sum(parameter.numel() for parameter in parameters)
    if vec.shape != (total,):
        raise ValueError(
            f"vector_to_parameters: the parameters have {total} elements, the vector has shape "
            f"{list(vec.shape)}; it must be [{total}]"
        )
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        write(parameter, vec._data[start:stop].reshape(parameter.shape))
        start = stop
