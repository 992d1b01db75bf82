"""A differentiable tensor with PyTorch's semantics, on numpy and cupy arrays."""

from . import ops  # noqa: F401
from .dtypes import *  # noqa: F403
from .engine import backward, grad
from .modes import (
    detect_anomaly,
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from .ops.arithmetic import *  # noqa: F403
from .ops.create import ones, tensor, zeros
from .tensor import Tensor
