"""Activation functions by name. One of a user's own is entered as `ACTIVATIONS["mine"] = f`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import autograd as T
from pinn.schema.kinds import Entry


def gaussian(x: T.Tensor) -> T.Tensor:
    """Return exp(-x*x)."""
    return T.exp(-(x * x))


ACTIVATIONS: dict[str, Callable[[T.Tensor], T.Tensor]] = {
    "tanh": T.tanh,
    "sin": T.sin,
    "cos": T.cos,
    "sigmoid": T.sigmoid,
    "silu": T.nn.functional.silu,
    "gelu": T.nn.functional.gelu,
    "mish": T.nn.functional.mish,
    "softplus": T.nn.functional.softplus,
    "atan": T.atan,
    "gaussian": gaussian,
}
"""Smooth ones only: the second derivative of a piecewise linear network is zero."""

_LINEAR = (
    "it is piecewise linear, so its second derivative is zero and u_xx with it; take tanh or gelu"
)
_REASONS = dict.fromkeys(("relu", "relu6", "leaky_relu", "prelu", "hardtanh"), _LINEAR)

Activation = Annotated[str, Entry(ACTIVATIONS, _REASONS)]
"""The annotation of an activation's name."""
