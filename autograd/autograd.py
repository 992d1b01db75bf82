"""What `torch.autograd` holds: derivatives, grad modes, custom functions and their checks."""

from __future__ import annotations

from . import functional
from .engine import backward, grad
from .function import Function, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .graph import Node
from .modes import (
    detect_anomaly,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from .multi_grad_hook import register_multi_grad_hook
from .saved import saved_tensors_hooks
from .tensor import Tensor as Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Node",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "saved_tensors_hooks",
    "set_detect_anomaly",
    "set_grad_enabled",
]


class graph:  # noqa: N801 - torch.autograd.graph is a module
    """The names of `torch.autograd.graph`."""

    Node = Node
    register_multi_grad_hook = staticmethod(register_multi_grad_hook)
    saved_tensors_hooks = saved_tensors_hooks


class function:  # noqa: N801 - torch.autograd.function is a module
    """The names of `torch.autograd.function`."""

    Function = Function
    once_differentiable = once_differentiable
