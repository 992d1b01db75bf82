"""Arrays that a solver's text is for: of numpy or of a device, and tensors where it is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd as T
from autograd.devices import namespace_of


def functions_of(array: Any) -> Any:
    """Return the library whose functions take an array: numpy, cupy, or autograd for a tensor."""
    return T if isinstance(array, T.Tensor) else namespace_of(array)


def chosen(mask: Any, there: Any, elsewhere: Any) -> Any:
    """Return one array where a mask is true and the other elsewhere.

    mask: of the arrays' kind, or of numpy where they are tensors.
    """
    functions = functions_of(there)
    if functions is T and isinstance(mask, np.ndarray):
        mask = T.tensor(mask, device=there.device)
    return functions.where(mask, there, elsewhere)
