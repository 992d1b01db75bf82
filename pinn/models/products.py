"""What models have in common whose unknowns are sums of products of networks' outputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import autograd as T
from pinn.equations.outputs import run_columns


def factor_names(unknowns: Sequence[str], terms: int) -> list[str]:
    """Return the names of a network's outputs, `terms` for each unknown."""
    return [f"{name}{k}" for name in unknowns for k in range(terms)]


def sums_of(unknowns: int, terms: int, dtype: T.dtype, device: str) -> T.Tensor:
    """Return the matrix (unknowns, outputs) that adds up each unknown's products.

    A product with it takes all derivatives at once.
    """
    sums = np.kron(np.eye(unknowns), np.ones((1, terms)))
    return T.tensor(sums, dtype=dtype, device=device)


def run_joined(network: T.nn.Module, columns: Sequence[T.Tensor]) -> T.Tensor:
    """Return a network's outputs as one tensor from a column (n, 1) for each coordinate."""
    pieces = run_columns(network, columns)
    return pieces[0] if len(pieces) == 1 else T.cat(list(pieces), dim=1)
