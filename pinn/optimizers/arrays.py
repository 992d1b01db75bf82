"""Arrays that a solver's text is for: of numpy, and tensors where its steps are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd as T


def functions_of(array: Any) -> Any:
    """Return the library whose functions take an array: numpy, or autograd for a tensor."""
    return np if isinstance(array, np.ndarray) else T


def chosen(mask: np.ndarray, there: Any, elsewhere: Any) -> Any:
    """Return one array where a mask of the host is true and the other elsewhere."""
    if isinstance(there, np.ndarray):
        return np.where(mask, there, elsewhere)
    return T.where(T.tensor(mask, device=there.device), there, elsewhere)
