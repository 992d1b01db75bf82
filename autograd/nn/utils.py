"""Parameters as one vector, and the clipping of gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import devices, dtypes
from ..ops.create import tensor
from ..ops.join import cat
from ..tensor import Tensor
from .module import write


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


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [tensor._grad for tensor in tensors if tensor._grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale the gradients in place so that their joint norm is at most `max_norm`.

    Returns the norm before scaling, a 0-d tensor.  RuntimeError for a norm that is not finite, if
    `error_if_nonfinite`.
    """
    grads = _gradients(parameters)
    if not grads:
        return tensor(0.0)
    if norm_type == math.inf:
        total = max(float(abs(grad._data).max()) if grad.numel() else 0.0 for grad in grads)
    else:
        powers = [float((abs(grad._data) ** norm_type).sum()) for grad in grads]
        total = math.fsum(powers) ** (1 / norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite "
            f"({total}), so it cannot be clipped; set error_if_nonfinite=False to go on"
        )
    scale = max_norm / (total + 1e-6)
    if not scale >= 1:  # also for NaN, which then shows in every gradient
        for grad in grads:
            with devices.current(grad.device):
                grad._data *= scale
            grad._version[0] += 1
    return tensor(total, dtype=dtypes.real_of(grads[0].dtype), device=grads[0].device)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clamp every element of the gradients to [-clip_value, clip_value], in place."""
    for grad in _gradients(parameters):
        xp = devices.namespace_of(grad._data)
        with devices.current(grad.device):
            xp.clip(grad._data, -clip_value, clip_value, out=grad._data)
        grad._version[0] += 1
