"""How a model is run at points given by columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import autograd as T


def coordinate_columns(points: np.ndarray, dtype, device) -> list[T.Tensor]:
    """Return a leaf of shape (n, 1) that requires grad for each coordinate of points (n, d).

    Columns that are leaves of their own have well-defined gradients each; slices of one (n, d)
    tensor would be its children, on which the model does not depend.
    """
    return [
        T.tensor(points[:, j : j + 1], dtype=dtype, device=device, requires_grad=True)
        for j in range(points.shape[1])
    ]


def run_model(module: T.nn.Module, columns: Sequence[T.Tensor]) -> T.Tensor:
    """Return a model's outputs at points given by columns, (n, unknowns).

    A model with a method forward_columns gets the coordinates apart, as
    pinn.conditions.hard.HardModel asks.
    """
    apart = getattr(module, "forward_columns", None)
    return module(T.cat(list(columns), dim=1)) if apart is None else apart(columns)
