"""The clipping of gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ... import devices, dtypes
from ...ops.creation.create import tensor
from ...ops.matrices.norm import vector_norm
from ...tensor import Tensor


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [tensor._grad for tensor in tensors if tensor._grad is not None]


def _norm(tensors: list[Tensor], norm_type: float, error_if_nonfinite: bool) -> float:
    norm_type = float(norm_type)  # also of "inf"
    norms = [vector_norm(one.detach(), norm_type).item() for one in tensors if one.numel()]
    total = float(np.linalg.norm(norms, norm_type)) if norms else 0.0
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite "
            f"({total}), so it cannot be clipped; set error_if_nonfinite=False to go on"
        )
    return total


def _as_tensor(total: float, tensors: list[Tensor]) -> Tensor:
    return tensor(total, dtype=dtypes.real_of(tensors[0].dtype), device=tensors[0].device)


def _clip(grads: list[Tensor], max_norm: float, total: float) -> None:
    scale = max_norm / (total + 1e-6)
    if not scale >= 1:  # also for NaN, which then shows in every gradient
        for grad in grads:
            with devices.current(grad.device):
                grad._data *= scale
            grad._version[0] += 1


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Return the joint norm of tensors, a 0-d tensor; 0 of none.

    RuntimeError for a norm that is not finite, if `error_if_nonfinite`.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return tensor(0.0)
    return _as_tensor(_norm(tensors, norm_type, error_if_nonfinite), tensors)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor
) -> None:
    """Scale the gradients in place to `max_norm`, where `total_norm`, theirs, is larger."""
    _clip(_gradients(parameters), max_norm, float(total_norm))


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
    total = _norm(grads, norm_type, error_if_nonfinite)
    _clip(grads, max_norm, total)
    return _as_tensor(total, grads)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clamp every element of the gradients to [-clip_value, clip_value], in place."""
    for grad in _gradients(parameters):
        xp = devices.namespace_of(grad._data)
        with devices.current(grad.device):
            xp.clip(grad._data, -clip_value, clip_value, out=grad._data)
        grad._version[0] += 1
